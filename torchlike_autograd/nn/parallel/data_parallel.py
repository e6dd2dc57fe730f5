"""torch.nn.parallel.data_parallel (layer 8)."""

from __future__ import annotations

from ...autograd import grad_mode
from ..modules.module import Module
from .parallel_apply import parallel_apply
from .replicate import replicate
from .scatter_gather import gather, scatter_kwargs

__all__ = ["DataParallel", "data_parallel"]


class DataParallel(Module):
    """Calls its module: without devices there is nothing to spread the batch over (sharded arrays are JAX's own business)."""

    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        self.module = module
        self.device_ids = []

    def forward(self, *inputs, **kwargs):
        return self.module(*inputs, **kwargs)

    def replicate(self, module, device_ids):
        """`torch.nn.parallel.replicate`."""
        return replicate(module, device_ids, not grad_mode.is_grad_enabled())

    def scatter(self, inputs, kwargs, device_ids):
        """`torch.nn.parallel.scatter_gather.scatter_kwargs` along the batch."""
        return scatter_kwargs(inputs, kwargs, device_ids, dim=self.dim)

    def parallel_apply(self, replicas, inputs, kwargs):
        """`torch.nn.parallel.parallel_apply` on this module's devices."""
        return parallel_apply(replicas, inputs, kwargs, self.device_ids[:len(replicas)])

    def gather(self, outputs, output_device):
        """`torch.nn.parallel.gather` along the batch."""
        return gather(outputs, output_device, dim=self.dim)


def data_parallel(module, inputs, device_ids=None, output_device=None, dim=0, module_kwargs=None):
    """Needs devices: torch's error without them."""
    raise RuntimeError("device type could not be determined")
