"""torch.cuda.comm (layer 8): the names of torch.nn.parallel.comm."""

from __future__ import annotations

from .._core import publish as _publish
from ..nn.parallel.comm import broadcast, broadcast_coalesced, gather, reduce_add, reduce_add_coalesced, scatter

__all__ = ["broadcast", "broadcast_coalesced", "gather", "reduce_add", "reduce_add_coalesced", "scatter"]
__getattr__ = _publish.missing("torch.cuda.comm")
