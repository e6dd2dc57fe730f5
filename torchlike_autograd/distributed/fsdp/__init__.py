"""torch.distributed.fsdp (layer 8): parameters sharded over processes.

There is one process here, which holds whole arrays or sharded ones (`torch.distributed.tensor`): what programs ask about is here, what shards refuses.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..._core import publish as _publish
from ..._core.dtypes import dtype
from ...nn.modules.module import Module
from . import api as api
from . import wrap as wrap
from .api import (
    BackwardPrefetch,
    CPUOffload,
    FullOptimStateDictConfig,
    FullStateDictConfig,
    LocalOptimStateDictConfig,
    LocalStateDictConfig,
    MixedPrecision,
    OptimStateDictConfig,
    ShardedOptimStateDictConfig,
    ShardedStateDictConfig,
    ShardingStrategy,
    StateDictConfig,
    StateDictSettings,
    StateDictType,
)

__all__ = ["BackwardPrefetch", "CPUOffload", "CPUOffloadPolicy", "FSDPModule", "FullOptimStateDictConfig", "FullStateDictConfig",
           "FullyShardedDataParallel", "LocalOptimStateDictConfig", "LocalStateDictConfig", "MixedPrecision", "MixedPrecisionPolicy", "OffloadPolicy",
           "OptimStateDictConfig", "ShardedOptimStateDictConfig", "ShardedStateDictConfig", "ShardingStrategy", "StateDictConfig", "StateDictSettings",
           "StateDictType", "fully_shard"]


@dataclass(frozen=True)
class MixedPrecisionPolicy:
    """The dtypes of sharded parameters, of their sums and of results."""

    param_dtype: dtype | None = None
    reduce_dtype: dtype | None = None
    output_dtype: dtype | None = None
    cast_forward_inputs: bool = True


@dataclass
class OffloadPolicy:
    """Sharded parameters stay where they are."""


@dataclass
class CPUOffloadPolicy(OffloadPolicy):
    """Sharded parameters wait in the host's memory."""

    pin_memory: bool = True


class FSDPModule:
    """The class that `fully_shard` adds to a module: none has it here."""

    def __new__(cls, *args, **kwargs):
        raise NotImplementedError("torch.distributed.fsdp.FSDPModule: there is one process here; shard arrays by torch.distributed.tensor")


class FullyShardedDataParallel(Module):
    """A module whose parameters are sharded over processes: cannot be made here."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError("torch.distributed.fsdp.FullyShardedDataParallel: there is one process here; shard arrays by torch.distributed.tensor")


def fully_shard(module, *, mesh=None, reshard_after_forward=None, shard_placement_fn=None, mp_policy=None, offload_policy=None, ignored_params=None,
                dp_mesh_dims=None):
    """NotImplementedError: shard arrays by torch.distributed.tensor."""
    raise NotImplementedError("torch.distributed.fsdp.fully_shard: there is one process here; shard arrays by torch.distributed.tensor")


__getattr__ = _publish.missing("torch.distributed.fsdp")
