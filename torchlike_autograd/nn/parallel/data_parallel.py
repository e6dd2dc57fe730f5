"""torch.nn.parallel.data_parallel (layer 8)."""

from __future__ import annotations

from ..modules.module import Module

__all__ = ["DataParallel", "data_parallel"]


class DataParallel(Module):
    """Calls its module: without devices there is nothing to spread the batch over (sharded arrays are JAX's own business)."""

    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        self.module = module
        self.device_ids = []

    def forward(self, *inputs, **kwargs):
        return self.module(*inputs, **kwargs)


def data_parallel(module, inputs, device_ids=None, output_device=None, dim=0, module_kwargs=None):
    """Needs devices: torch's error without them."""
    raise RuntimeError("device type could not be determined")
