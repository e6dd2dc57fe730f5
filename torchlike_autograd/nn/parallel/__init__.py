"""torch.nn.parallel (layer 8) as a PyTorch without devices and process groups has it: one process, no copies of modules."""

from __future__ import annotations

from ..._core import publish as _publish
from .data_parallel import DataParallel, data_parallel
from .distributed import DistributedDataParallel
from .parallel_apply import parallel_apply
from .replicate import replicate
from .scatter_gather import gather, scatter

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel", "gather", "parallel_apply", "replicate", "scatter"]
__getattr__ = _publish.missing("torch.nn.parallel")
