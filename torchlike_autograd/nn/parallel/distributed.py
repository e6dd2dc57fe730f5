"""torch.nn.parallel.distributed (layer 9): a module of one process among one."""

from __future__ import annotations

import contextlib

from ..._core.pytree import tree_map
from ..._tensor import Tensor
from ...autograd.function import Function
from ...autograd.grad_mode import is_grad_enabled
from ..modules.module import Module

__all__ = ["DistributedDataParallel"]


class _DDPSink(Function):
    """The node at which torch asks which parameters a pass will not reach."""

    @staticmethod
    def forward(ctx, x):
        """What comes."""
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        """What comes."""
        return g


class DistributedDataParallel(Module):
    """Calls its module; with one process there is nothing to synchronize.  ValueError without a process group.

    Differs from torch: a parameter that gets no gradient is no error in the next pass, as nobody waits for it.
    """

    def __init__(self, module, device_ids=None, output_device=None, dim=0, broadcast_buffers=True, init_sync=True, process_group=None,
                 bucket_cap_mb=None, find_unused_parameters=False, check_reduction=False, gradient_as_bucket_view=False, static_graph=False, **more):
        from ...distributed import distributed_c10d

        super().__init__()
        self.process_group = distributed_c10d.the(process_group)
        if more:
            raise NotImplementedError(f"torch.nn.parallel.DistributedDataParallel with {next(iter(more))}")
        parameters = [p for p in module.parameters() if p.requires_grad]
        if not parameters:
            raise RuntimeError("DistributedDataParallel is not needed when a module doesn't have any parameter that requires a gradient.")
        if device_ids is not None and len(device_ids) > 1:
            raise ValueError("device_ids can only be None or contain a single element.")
        places = {p.device for p in parameters}
        if (device_ids or output_device is not None) and (len(places) > 1 or next(iter(places)).type == "cpu"):
            raise ValueError("DistributedDataParallel device_ids and output_device arguments only work with single-device/multiple-device GPU modules or CPU "
                             f"modules, but got device_ids {device_ids}, output_device {output_device}, and module parameters {places}.")
        self.module, self.device_ids, self.output_device, self.dim = module, device_ids or None, output_device, dim
        self.broadcast_buffers, self.find_unused_parameters, self.static_graph = bool(broadcast_buffers), find_unused_parameters, static_graph
        self.gradient_as_bucket_view, self.require_backward_grad_sync = gradient_as_bucket_view, True

    def forward(self, *inputs, **kwargs):
        """What the module gives."""
        out = self.module(*inputs, **kwargs)
        if not (self.find_unused_parameters or self.static_graph) or not is_grad_enabled():
            return out
        return tree_map(lambda x: _DDPSink.apply(x) if isinstance(x, Tensor) and x.grad_fn is not None else x, out)

    @contextlib.contextmanager
    def no_sync(self):
        """Passes whose gradients wait to be synchronized."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    @contextlib.contextmanager
    def join(self, divide_by_initial_world_size=True, enable=True, throw_on_early_termination=False):
        """Inputs of uneven number, which one process has not."""
        yield

    def register_comm_hook(self, state, hook):
        """NotImplementedError: nothing is communicated."""
        raise NotImplementedError("torch.nn.parallel.DistributedDataParallel.register_comm_hook: one process communicates nothing")
