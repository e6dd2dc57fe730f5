"""torch.nn.parallel.comm (layer 8): copies between CUDA devices by hand; without CUDA everything is as in PyTorch's CPU build."""

from __future__ import annotations

from ..._core import publish as _publish
from ...cuda._need import lacks as _lacks

__all__ = ["broadcast", "broadcast_coalesced", "gather", "reduce_add", "reduce_add_coalesced", "scatter"]


def broadcast(tensor, devices=None, *, out=None):
    """Refused."""
    if (devices is None) == (out is None):
        raise RuntimeError(f"Exactly one of 'devices' and 'out' must be specified, but got devices={devices} and out={out}")
    _lacks("_broadcast" if devices is not None else "_broadcast_out")


def broadcast_coalesced(tensors, devices, buffer_size=10485760):
    """Refused."""
    _lacks("_broadcast_coalesced")


def reduce_add(inputs, destination=None):
    """Refused."""
    for i, x in enumerate(inputs):
        if x.device.type == "cpu":
            raise AssertionError(f"reduce_add expects all inputs to be on GPUs, but input {i} is on CPU")
    _lacks("_nccl_reduce")


def reduce_add_coalesced(inputs, destination=None, buffer_size=10485760):
    """Refused."""
    for parts in zip(*inputs):
        reduce_add(parts, destination)


def scatter(tensor, devices=None, chunk_sizes=None, dim=0, streams=None, *, out=None):
    """Refused."""
    _lacks("_scatter" if out is None else "_scatter_out")


def gather(tensors, dim=0, destination=None, *, out=None):
    """Refused."""
    _lacks("_gather" if out is None else "_gather_out")


__getattr__ = _publish.missing("torch.nn.parallel.comm")
