"""torch._custom_ops (layer 8): the first form of torch.library."""

from ._core import publish as _publish
from .library import register_fake as impl_abstract

_HERE = "torch._custom_ops"
globals().update(_publish.refused(_HERE, "custom_op", "get_ctx", "impl", "impl_backward", "impl_save_for_backward", "_destroy",
                                  why="operators of the first form of torch.library are not here; use torch.library.custom_op"))
__all__ = ["impl_abstract"]
__getattr__ = _publish.missing(_HERE)
