"""torch._higher_order_ops (layer 8): the operators that take functions, as far as programs call them."""

from .associative_scan import associative_scan
from .cond import cond
from .foreach_map import foreach_map
from .map import map
from .scan import scan
from .while_loop import while_loop

__all__ = ["associative_scan", "cond", "foreach_map", "map", "scan", "while_loop"]
