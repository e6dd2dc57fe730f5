"""`make_tensor` (layer 8): random tensors for tests, with the numbers that PyTorch's has for a seed."""

from __future__ import annotations

import math

from .._core import dtypes, publish

_BOUNDS = {"bool": (0, 2), "uint8": (0, 10), "integer": (-9, 10), "float": (-9, 9)}


def make_tensor(*shape, dtype, device, low=None, high=None, requires_grad=False, noncontiguous=False, exclude_zero=False, memory_format=None):
    """A tensor of random values in [low, high); -9 to 9 where no bounds are given.

    ValueError for bounds in the wrong order and for integers that require grad, TypeError for types without a rule.
    """
    table = publish.load_all()
    size = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (list, tuple)) else shape
    if noncontiguous and memory_format is not None:
        raise ValueError(f"The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got {noncontiguous=} and {memory_format=}")
    if requires_grad and not (dtype.is_floating_point or dtype.is_complex):
        raise ValueError(f"`requires_grad=True` is not supported for boolean and integral dtypes, but got {dtype=}")
    many = noncontiguous and math.prod(size) > 1
    drawn = (*size[:-1], 2 * size[-1]) if many else size
    out = _draw(table, drawn, dtype, device, low, high)
    if many:
        out = out[..., 1::2]
    elif memory_format is not None:
        out = out.clone(memory_format=memory_format)
    if exclude_zero:
        out[out == 0] = 1 if not (dtype.is_floating_point or dtype.is_complex) else dtypes.finfo(dtype).tiny
    if not isinstance(requires_grad, bool):
        raise RuntimeError("requires_grad must be a bool")
    return out.requires_grad_() if requires_grad else out


def _draw(table, size, dtype, device, low, high):
    empty, randint = table["torch.empty"], table["torch.randint"]
    if dtype.is_complex:
        part = dtype.to_real()
        low, high = _between(low, high, *_BOUNDS["float"], dtypes.finfo(part))
        return table["torch.view_as_complex"](empty((*size, 2), dtype=part, device=device).uniform_(low, high))
    if dtype.is_floating_point:
        low, high = _between(low, high, *_BOUNDS["float"], dtypes.finfo(dtype))
        return empty(size, dtype=dtype, device=device).uniform_(low, high)
    if dtype is dtypes.bool_:
        low, high = _between(low, high, *_BOUNDS["bool"], None)
        return randint(low, high, size, device=device, dtype=dtype)
    low, high = _between(low, high, *_BOUNDS["uint8" if dtype is dtypes.uint8 else "integer"], dtypes.iinfo(dtype))
    return randint(math.floor(low), math.ceil(high), size, device=device, dtype=dtype)


def _between(low, high, default_low, default_high, limits):
    """The bounds, within what the type can hold."""
    low, high = default_low if low is None else low, default_high if high is None else high
    if low != low or high != high:
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    if low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    if limits is None:
        return low, high
    return max(low, limits.min), min(high, limits.max)
