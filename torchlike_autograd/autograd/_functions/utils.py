"""torch.autograd._functions.utils (layer 7): what Functions of PyTorch's early days used to undo broadcasting."""

from __future__ import annotations

import math

from ..._core import publish as _publish

__all__ = ["maybe_unexpand", "maybe_view"]


def maybe_view(tensor, size, check_same_size=True):
    """`tensor` of another shape; itself where that is its shape (looked at only if `check_same_size`)."""
    return tensor if check_same_size and tuple(tensor.size()) == tuple(size) else tensor.contiguous().view(size)


def maybe_unexpand(tensor, old_size, check_same_size=True):
    """`tensor` summed over the dims by which it had been expanded from `old_size`."""
    if check_same_size and tuple(tensor.size()) == tuple(old_size):
        return tensor
    ahead = tensor.dim() - len(old_size)
    if math.prod(old_size) == 1:
        return tensor.sum().view(old_size)
    wide = [ahead + i for i, n in enumerate(old_size) if n == 1 and tensor.size(ahead + i) != 1]
    for dim in wide:
        tensor = tensor.sum(dim, keepdim=True)
    for _ in range(ahead):
        tensor = tensor.sum(0)
    return tensor


__getattr__ = _publish.missing("torch.autograd._functions.utils")
