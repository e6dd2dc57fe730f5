"""torch._custom_ops (layer 8): the first form of torch.library."""

from ._core import publish as _publish
from .library import register_fake as impl_abstract

__all__ = ["impl_abstract"]
__getattr__ = _publish.missing("torch._custom_ops")
