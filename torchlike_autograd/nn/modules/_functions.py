"""torch.nn.modules._functions (layer 8)."""

from __future__ import annotations

from ..._core.publish import load_all
from ..._functions.create import empty_like
from ...autograd.function import Function
from ..functional import pad

_mul = load_all()["torch.mul"]


def _beside(x, before, count):
    """For each channel the sum of `count` channels, from `before` ones in front of it."""
    channels = x.shape[1]
    wide = pad(x, (0, 0, 0, 0, before, count - 1 - before))
    total = wide.narrow(1, 0, channels)
    for i in range(1, count):
        total = total + wide.narrow(1, i, channels)
    return total


class CrossMapLRN2d(Function):
    """input / (k + alpha / size * sum of squares of the channels beside) ** beta, for inputs (N, C, H, W).

    As in torch 2.13 the first channel's square stays in every sum that it should have left, the gradient leaves that out, and of `size` 1 there is none.
    It cannot be differentiated twice.
    """

    @staticmethod
    def forward(ctx, input, size, alpha=1e-4, beta=0.75, k=1):
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        ctx.size, ctx.alpha, ctx.beta, ctx.k = size, alpha, beta, k
        squares = input * input
        half = int((size - 1) / 2 + 1)
        scale = _beside(squares, half - 1, 2 * half - 1)
        if input.shape[1] > half:  # the first square is never taken out again
            scale = scale + pad(squares.narrow(1, 0, 1).expand(-1, input.shape[1] - half, -1, -1), (0, 0, 0, 0, half, 0))
        ctx.scale = scale.mul_(alpha / size).add_(k)
        output = input * ctx.scale.pow(-beta)
        ctx.save_for_backward(input, output)
        return output

    @staticmethod
    def backward(ctx, grad_output):
        input, output = ctx.saved_tensors
        before, channels = int(ctx.size - (ctx.size - 1) / 2), input.shape[1]
        if before >= ctx.size:
            raise RuntimeError(f"start ({before}) + length ({channels}) exceeds dimension size ({channels + ctx.size - 1}).")
        ratio = _mul(grad_output, output, out=empty_like(input)).div_(ctx.scale)
        around = _beside(ratio, before, ctx.size)
        return grad_output * ctx.scale.pow(-ctx.beta) - 2 * ctx.alpha * ctx.beta / ctx.size * input * around, None, None, None, None


__all__ = ["CrossMapLRN2d"]
