"""torch.nn (layer 8): parameters and the functional operators; modules are not there yet."""

from .._core import publish as _publish
from . import functional
from .parameter import Parameter

__all__ = ["Parameter", "functional"]
__getattr__ = _publish.missing("torch.nn")
