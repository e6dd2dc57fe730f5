"""functorch.experimental.control_flow (layer 8): the branch and the map under their first names."""

from ..._control import cond
from ..._higher_order_ops.map import map

__all__ = ["cond", "map"]
