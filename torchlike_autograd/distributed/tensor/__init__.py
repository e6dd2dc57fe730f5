"""torch.distributed.tensor (layer 8): tensors spread over processes; there are none here: JAX's sharded arrays are what a tensor may live on."""

from __future__ import annotations

from ..._core import publish as _publish
from ..._core.overriding import disabled_impl
from ..._tensor import Tensor

__all__ = ["DTensor"]


class DTensor(Tensor):
    """A tensor spread over processes: none is ever made here."""

    __torch_function__ = disabled_impl

    def __new__(cls, *args, **kwargs):
        raise NotImplementedError("torch.distributed.tensor.DTensor: there are no processes to spread a tensor over; shard its JAX array")


__getattr__ = _publish.missing("torch.distributed.tensor")
