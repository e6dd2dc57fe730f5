"""torch.distributed.optim (layer 8): optimizers over several processes; there are none here."""

from .._core import publish as _publish
from ..optim.optimizer import Optimizer as _Optimizer

__all__ = ["DistributedOptimizer", "PostLocalSGDOptimizer", "ZeroRedundancyOptimizer"]


class ZeroRedundancyOptimizer(_Optimizer):
    """Needs a process group: torch's error without one."""

    def __init__(self, *args, **kwargs):
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")


class PostLocalSGDOptimizer(ZeroRedundancyOptimizer):
    """As `ZeroRedundancyOptimizer`."""


class DistributedOptimizer:
    """Needs remote processes."""

    def __init__(self, *args, **kwargs):
        raise RuntimeError("RPC has not been initialized. Call torch.distributed.rpc.init_rpc first.")


__getattr__ = _publish.missing("torch.distributed.optim")
