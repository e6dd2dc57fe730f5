"""torch._VF (layer 9): the functions that torch.functional calls; here torch's own, and what only this name has."""

from __future__ import annotations

from numbers import Integral

from ._core.composite import named as _named
from ._core.words import type_name
from ._functions.einsum import einsum as _einsum
from ._functions.search import unique_dim  # noqa: F401
from ._tensor import Tensor

norm = _named("norm")


def einsum(equation, tensors, *, path=None):
    """`torch.einsum` of a tuple of tensors.  The path says which two to multiply next; it is checked, and the compiler orders the products."""
    if not isinstance(equation, str):
        raise TypeError(f"einsum(): argument 'equation' (position 1) must be str, not {type_name(equation)}")
    if not isinstance(tensors, (list, tuple)):
        raise TypeError(f"einsum(): argument 'tensors' (position 2) must be tuple of Tensors, not {type_name(tensors)}")
    if path is not None and not (isinstance(path, (list, tuple)) and all(isinstance(i, Integral) and not isinstance(i, bool) for i in path)):
        raise TypeError(f"einsum(): argument 'path' must be tuple of ints, not {type_name(path)}")
    if not tensors:
        raise RuntimeError("einsum(): must provide at least one operand")
    if path is not None and all(isinstance(x, Tensor) for x in tensors):
        _check_length(path, len(tensors))
    out = _einsum(equation, tensors)
    if path is not None:
        _check_pairs(path, len(tensors))
    return out


def _check_length(path, operands):
    """Each product takes two operands and leaves one."""
    expected = 1 if operands == 1 else 2 * (operands - 1)
    if len(path) != expected:
        raise RuntimeError(f"einsum(): expected contraction path given in path parameter to have size {expected} but got {len(path)}")


def _check_pairs(path, operands):
    """Each pair names two operands of those that are left."""
    for k in range(operands - 1):
        i, j = path[2 * k:2 * k + 2]
        if i == j:
            raise RuntimeError(f"einsum(): invalid contraction ({i}, {j}) cannot contract an operand with itself")
        if not (0 <= i < operands - k and 0 <= j < operands - k):
            raise RuntimeError(f"einsum(): invalid contraction ({i}, {j}) operand index is out of bounds")


def __getattr__(name):
    from . import _api  # cycle: torch has this module

    found = None if name.startswith("__") else getattr(_api, name, None)
    if not callable(found) or isinstance(found, type):
        raise AttributeError(f"module 'torch._VF' has no attribute '{name}'")
    return found
