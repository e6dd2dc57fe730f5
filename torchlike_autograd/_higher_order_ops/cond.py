"""torch._higher_order_ops.cond (layer 8): one of two functions."""

from .._control import cond

__all__ = ["cond"]
