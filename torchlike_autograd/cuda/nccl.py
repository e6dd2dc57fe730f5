"""torch.cuda.nccl (layer 8): XLA moves data between devices; without NVIDIA's library everything is as in PyTorch's CPU build."""

from __future__ import annotations

from .._core import publish as _publish
from .._core.saying import warn as _warn
from ._need import lacks

__all__ = ["all_gather", "all_reduce", "broadcast", "reduce", "reduce_scatter"]


def is_available(tensors) -> bool:
    """False, with a warning."""
    _warn("PyTorch is not compiled with NCCL support", UserWarning)
    return False


def version():
    """Refused."""
    lacks("_nccl_version")


def unique_id():
    """Refused."""
    lacks("_nccl_unique_id")


def all_reduce(inputs, outputs=None, op=0, streams=None, comms=None):
    """Refused."""
    lacks("_nccl_all_reduce")


def reduce(inputs, output=None, root=0, op=0, streams=None, comms=None, *, outputs=None):
    """Refused."""
    lacks("_nccl_reduce")


def broadcast(inputs, root=0, streams=None, comms=None):
    """Refused."""
    lacks("_nccl_broadcast")


def all_gather(inputs, outputs, streams=None, comms=None):
    """Refused."""
    lacks("_nccl_all_gather")


def reduce_scatter(inputs, outputs, op=0, streams=None, comms=None):
    """Refused."""
    lacks("_nccl_reduce_scatter")


__getattr__ = _publish.missing("torch.cuda.nccl")
