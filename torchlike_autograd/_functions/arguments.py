"""What composites say of arguments that are no tensors (layer 7)."""

from __future__ import annotations

from .._core.words import type_name
from .._tensor import Tensor


def no_tensor(name, at=1, **given):
    """torch's TypeError for the first of some arguments, from position `at` on, that is no Tensor."""
    for i, (word, x) in enumerate(given.items(), at):
        if not isinstance(x, Tensor):
            return TypeError(f"{name}(): argument '{word}' (position {i}) must be Tensor, not {type_name(x)}")
    raise AssertionError("all are tensors")


__all__ = ["no_tensor"]
