"""Tensors of at least so many dims (layer 7)."""

from __future__ import annotations

from .._core import words
from .._core.composite import composite
from .._tensor import Tensor
from .shape import reshaped, view_of


@composite("torch.atleast_1d")
def atleast_1d(*tensors):
    """0-dim tensors as one element."""
    return _each("atleast_1d", tensors, lambda t: reshaped(t, (1,)) if not t.ndim else t)


@composite("torch.atleast_2d")
def atleast_2d(*tensors):
    """Vectors as one row."""
    return _each("atleast_2d", tensors, lambda t: reshaped(t, (1, 1)) if not t.ndim else view_of(t, "unsqueeze", dim=0) if t.ndim == 1 else t)


@composite("torch.atleast_3d")
def atleast_3d(*tensors):
    """Matrices with a last dim of 1, vectors as one row of them."""

    def deepen(t):
        if not t.ndim:
            return reshaped(t, (1, 1, 1))
        t = view_of(t, "unsqueeze", dim=0) if t.ndim == 1 else t
        return view_of(t, "unsqueeze", dim=-1) if t.ndim == 2 else t

    return _each("atleast_3d", tensors, deepen)


def _each(name, tensors, f):
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return f(tensors[0])
    if len(tensors) == 1:
        if not isinstance(tensors[0], (tuple, list)):
            raise words.complaint(name, True, _ONE_OR_MANY, tensors, {}) or TypeError(f"{name}() expects tensors")
        tensors = tensors[0]
    for i, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {words.type_name(t)}")
    return tuple([f(t) for t in tensors])


_ONE_OR_MANY = [words.Signature("(Tensor input)"), words.Signature("(tuple of Tensors tensors)")]

__all__ = ["atleast_1d", "atleast_2d", "atleast_3d"]
