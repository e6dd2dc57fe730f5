"""torch._higher_order_ops.while_loop (layer 8): a function of its own results for as long as another says so."""

from .._control import while_loop

__all__ = ["while_loop"]
