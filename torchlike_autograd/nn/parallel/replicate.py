"""torch.nn.parallel.replicate (layer 8): there are no copies of modules; one whose tensors are many is sharded (`torch.distributed.tensor`)."""

from __future__ import annotations

import copy

__all__ = ["replicate"]


def replicate(network, devices, detach=False):
    """A module without tensors for every device; AssertionError for one with tensors, as in torch on the CPU."""
    if not list(devices):
        return []
    if next(network.parameters(), None) is not None or next(network.buffers(), None) is not None:
        raise AssertionError("Broadcast function not implemented for CPU tensors")
    return [copy.deepcopy(network) for _ in devices]
