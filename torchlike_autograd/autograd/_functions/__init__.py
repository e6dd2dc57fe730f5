"""torch.autograd._functions (layer 7): Functions of PyTorch's early days."""

from __future__ import annotations

import math

from ..function import Function

__all__ = ["Resize", "Type"]


class Type(Function):
    """`Type.apply(x, dtype)`: x as another type."""

    @staticmethod
    def forward(ctx, i, dest_type):
        """Convert."""
        ctx.input_type = i.dtype
        return i.type(dest_type)

    @staticmethod
    def backward(ctx, grad_output):
        """Convert back."""
        return grad_output.to(ctx.input_type), None


class Resize(Function):
    """`Resize.apply(x, sizes)`: x in another shape of as many elements."""

    @staticmethod
    def forward(ctx, tensor, sizes):
        """Reshape; RuntimeError where the number of elements differs."""
        if math.prod(sizes) != tensor.numel():
            raise RuntimeError(f"requested resize to {'x'.join(map(str, sizes))} ({math.prod(sizes)} elements in total), but the given tensor has a size of "
                               f"{'x'.join(map(str, tensor.shape))} ({tensor.numel()} elements). autograd's resize can only change the shape of a given "
                               "tensor, while preserving the number of elements. ")
        ctx.input_sizes = tensor.shape
        return tensor.contiguous().view(*sizes)

    @staticmethod
    def backward(ctx, grad_output):
        """The shape from before."""
        return grad_output.contiguous().view(ctx.input_sizes), None
