"""torch.nn.parallel.distributed (layer 9): a module of one process among one."""

from __future__ import annotations

import contextlib

from ..._core.pytree import tree_map
from ..._core.saying import warn
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


def synced_buffers(old, new):
    """Whether buffers are synchronized before each pass, by the old spelling and the new one."""
    if old is not None and new is not None:
        warn("Both `broadcast_buffers` and `forward_sync_buffers` were specified. `broadcast_buffers` is deprecated and its value is ignored when "
             "`forward_sync_buffers` is provided.", FutureWarning)
    elif old is not None:
        warn("`broadcast_buffers` is deprecated. Use `forward_sync_buffers` instead. IMPORTANT: unlike `broadcast_buffers=False`, "
             "`forward_sync_buffers=False` still syncs buffers at init. If you rely on buffers NOT being synced at init (e.g. rank-local buffers), keep using "
             "`broadcast_buffers=False` until `init_sync_buffers` is available.", FutureWarning)
    return bool(new if new is not None else True if old is None else old)


class _DDPJoinHook:
    """What a process that has run out of inputs would do."""

    def main_hook(self):
        """Nothing."""

    def post_hook(self, is_last_joiner):
        """Nothing."""


class DistributedDataParallel(Module):
    """Calls its module; with one process there is nothing to synchronize.  ValueError without a process group.

    Differs from torch: a parameter that gets no gradient is no error in the next pass, as nobody waits for it.
    """

    def __init__(self, module, device_ids=None, output_device=None, dim=0, broadcast_buffers=None, init_sync=True, process_group=None,
                 bucket_cap_mb=None, find_unused_parameters=False, check_reduction=False, gradient_as_bucket_view=False, static_graph=False,
                 delay_all_reduce_named_params=None, param_to_hook_all_reduce=None, mixed_precision=None, device_mesh=None,
                 skip_all_reduce_unused_params=False, bucket_cap_mb_list=None, batched_grad_copy=False, forward_sync_buffers=None):
        from ...distributed import distributed_c10d

        super().__init__()
        self.process_group = distributed_c10d.the(process_group)
        if (delay_all_reduce_named_params is None) != (param_to_hook_all_reduce is None):
            raise ValueError("delay_all_reduce_named_params and param_to_hook_all_reduce need to be set at the same time.")
        for name, value in (("delay_all_reduce_named_params", delay_all_reduce_named_params), ("mixed_precision", mixed_precision),
                            ("device_mesh", device_mesh)):
            if value is not None:
                raise NotImplementedError(f"torch.nn.parallel.DistributedDataParallel with {name}")
        self.forward_sync_buffers = synced_buffers(broadcast_buffers, forward_sync_buffers)
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
        self.find_unused_parameters, self.static_graph = find_unused_parameters, static_graph
        self.gradient_as_bucket_view, self.require_backward_grad_sync = gradient_as_bucket_view, True

    @property
    def broadcast_buffers(self):
        """The old name of `forward_sync_buffers`."""
        return self.forward_sync_buffers

    @broadcast_buffers.setter
    def broadcast_buffers(self, value):
        self.forward_sync_buffers = value

    def will_sync_module_buffers(self):
        """Whether the next pass would begin with the buffers of the first process."""
        return bool(self.require_backward_grad_sync and self.forward_sync_buffers and next(self.module.buffers(), None) is not None)

    @property
    def join_device(self):
        """Where the module is."""
        return next(p.device for p in self.module.parameters() if p.requires_grad)

    @property
    def join_process_group(self):
        """The process group."""
        return self.process_group

    def join_hook(self, **kwargs):
        """What stands in for the passes of a process that has run out of inputs: nothing, as there is one process."""
        return _DDPJoinHook()

    def to_kwargs(self, inputs, kwargs, device_id):
        """The arguments of a pass as tuples for one device; tensors on the host stay there."""
        return (tuple(inputs),), (kwargs,)

    def scatter(self, inputs, kwargs, device_ids):
        """NotImplementedError: there is one device."""
        raise NotImplementedError("torch.nn.parallel.DistributedDataParallel.scatter: there is one device")

    def gather(self, outputs, output_device):
        """AssertionError, as torch's for tensors on the host."""
        raise AssertionError("Gather function not implemented for CPU tensors")

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
