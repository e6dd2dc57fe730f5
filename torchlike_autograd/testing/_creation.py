"""`make_tensor` (layer 8): random tensors for tests, with the numbers that PyTorch's has for a seed."""

from __future__ import annotations

import math

from .._core import dtypes, publish
from .._core.saying import warn

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
    empty = table["torch.empty"]
    if dtype.is_complex or dtype.is_floating_point:
        part = dtype.to_real() if dtype.is_complex else dtype
        limits = dtypes.finfo(part)
        low, high = _between(low, high, _BOUNDS["float"], limits.min, limits.max, dtype)
        out = empty(size, dtype=dtype, device=device)
        _uniform(table["torch.view_as_real"](out) if dtype.is_complex else out, low, high, limits.max)
        return out
    kind = "bool" if dtype is dtypes.bool_ else "uint8" if dtype is dtypes.uint8 else "integer"
    least, most = (0, 2) if kind == "bool" else (dtypes.iinfo(dtype).min, dtypes.iinfo(dtype).max + (dtype is not dtypes.int64))
    low, high = _between(low, high, _BOUNDS[kind], least, most, dtype)
    return table["torch.randint"](math.ceil(low), math.ceil(high), size, device=device, dtype=dtype)


def _uniform(t, low, high, most):
    """Uniform values, of half of a range that is wider than the type."""
    return t.uniform_(low, high) if high - low <= most else t.uniform_(low / 2, high / 2).mul_(2)


def _between(low, high, usual, least, most, dtype):
    """The bounds, within what the type can hold."""
    if low is None:
        low = max(usual[0], least)
    if high is None:
        high = min(usual[1], most)
    if low != low or high != high:
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    if low == high and (dtype.is_floating_point or dtype.is_complex):
        warn("Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is deprecated since 2.1 and will be removed in 2.3. Use "
             "`torch.full(...)` instead.", FutureWarning)
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    elif high < least or low >= most:
        raise ValueError(f"The value interval specified by `low` and `high` is [{low}, {high}), but {dtype} only supports [{least}, {most})")
    return max(low, least), min(high, most)
