"""torch.distributed.nn (layer 8): communication with gradients; there are no process groups here."""

from ..._core import publish as _publish
from . import functional
from .functional import all_gather, all_reduce, all_to_all, all_to_all_single, broadcast, gather, reduce, reduce_scatter, scatter

__all__ = ["all_gather", "all_reduce", "all_to_all", "all_to_all_single", "broadcast", "functional", "gather", "reduce", "reduce_scatter", "scatter"]
__getattr__ = _publish.missing("torch.distributed.nn")
