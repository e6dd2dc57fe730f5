"""torch.nn.parallel._functions (layer 8): Functions that copy to devices; on this one there is nothing to copy."""

from __future__ import annotations

from ..._core import publish as _publish
from ...autograd.function import Function


class Broadcast(Function):
    """`Broadcast.apply(target_gpus, *inputs)`: an empty tuple without inputs; like PyTorch's, AssertionError with tensors of the CPU."""

    @staticmethod
    def forward(ctx, target_gpus, *inputs):
        """Copies on each device."""
        if not all(i.device.type != "cpu" for i in inputs):
            raise AssertionError("Broadcast function not implemented for CPU tensors")
        raise NotImplementedError("torch.nn.parallel._functions.Broadcast of tensors on other devices")

    @staticmethod
    def backward(ctx, *grad_outputs):
        """Sums of the copies' gradients."""
        raise NotImplementedError("torch.nn.parallel._functions.Broadcast of tensors on other devices")


__getattr__ = _publish.missing("torch.nn.parallel._functions")
