"""Functions whose result's size depends on data (layer 7): they look at their input at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from .._core import dtypes, levels
from .._core.composite import composite
from .._core.dispatch import run
from .._core.errors import mapped_without_rule
from .._core.layouts import channels_last, memory_format
from .._core.nothing import no_nonzero, wanting
from .._core.shapes import contiguous_strides, wrap_dim
from .._core.words import check_flags, type_name
from .._ops import search as _search_ops
from .._ops.memory import dims_in_order
from .._ops.registry import OPS
from .._ops.spec import spec_of
from .._ops.unsigned import WIDE, no_kernel
from .._tensor import Tensor, from_array
from .by_example import by_example
from .norm import into
from .typed import published

_ops = (_search_ops,)


def _plain(a):
    """NumPy values that NumPy can sort (bfloat16 as float32)."""
    return a.astype(np.float32) if a.dtype.kind == "V" or a.dtype.name == "bfloat16" else a


# Where it is not zero

def _places(t):
    levels.refuse_dynamic(t, "nonzero")
    if t.is_meta:
        raise no_nonzero()
    if t.dtype in WIDE:
        raise no_kernel("nonzero_count_cpu", t.dtype)
    a = t._tl_numpy()
    found = np.nonzero(a.reshape(1) if a.ndim == 0 else a)
    return (np.zeros((len(found[0]), 0), np.int64) if a.ndim == 0 else np.stack(found, -1).astype(np.int64)), found


def _listed(t):
    rows, _ = _places(t)
    out = from_array(np.ascontiguousarray(rows), dtypes.int64, like=t)
    out._tl_laid = ((1, rows.shape[0]), 0)
    return out


@composite("torch.nonzero", "Tensor.nonzero")
def nonzero(input, *, out=None, as_tuple=False):
    """The indices of elements that are not zero: rows, or one vector for each dim."""
    check_flags("nonzero", as_tuple=as_tuple)
    if as_tuple:
        if out is not None:
            raise RuntimeError("nonzero does not support the out kwarg when as_tuple is True")
        if levels.hidden_among((input,)):
            raise mapped_without_rule("nonzero_numpy", ". We could not generate a fallback.")
        return tuple(_listed(input if input.ndim else input.detach().reshape(1)).unbind(1))
    found = _listed(input)
    if out is None:
        return found
    return into("nonzero", out, found)


@published("argwhere(Tensor self)")
@by_example
def argwhere(input):
    """The indices of elements that are not zero, as rows."""
    return _listed(input)


@composite("Tensor.nonzero_static")
def tensor_nonzero_static(self, *, size, fill_value=-1):
    """`nonzero` with exactly `size` rows: cut, or filled up."""
    return nonzero_static(self, size=size, fill_value=fill_value)


@composite("torch.nonzero_static")
@by_example
def nonzero_static(input, *, size, fill_value=-1, out=None):
    """`nonzero` with exactly `size` rows: cut, or filled up."""
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    rows, _ = _places(input)
    full = np.full((size, rows.shape[1]), fill_value, np.int64)
    full[:min(size, len(rows))] = rows[:size]
    return into("nonzero_static", out, from_array(full, dtypes.int64, like=input), input)


# Distinct values

def _chosen(name, t, places, dim):
    """The values at the places found, in the graph."""
    spec = spec_of(OPS[name], (("dim", dim),), ("T", "T"))
    return run(spec, (t, from_array(np.ascontiguousarray(places).astype(np.int64), dtypes.int64, like=t)))


def _long(a, like):
    return from_array(np.asarray(a, np.int64, order="C"), dtypes.int64, like=like)


def _answer(values, inverse, counts, want_inverse, want_counts):
    parts = [values] + ([_long(inverse, values)] if want_inverse else []) + ([_long(counts, values)] if want_counts else [])
    return parts[0] if len(parts) == 1 else tuple(parts)


@composite("torch.unique", "Tensor.unique")
def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """Distinct values (or entries of a dim), sorted; each NaN counts for itself."""
    if not isinstance(input, Tensor):
        raise TypeError(f"_unique2(): argument 'input' (position 1) must be Tensor, not {type_name(input)}")
    wanting("_unique2", input)
    if dim is not None and not hasattr(dim, "__index__"):
        raise TypeError(f"unique_dim(): argument 'dim' (position 2) must be int, not {type_name(dim)}")
    check_flags("_unique2" if dim is None else "unique_dim", sorted=sorted, return_inverse=return_inverse, return_counts=return_counts)
    if input.dtype.is_complex:
        raise NotImplementedError(f"\"{'unique' if dim is None else 'unique_dim'}\" not implemented for '{input.dtype.char_name}'")
    if dim is not None:
        return _unique_entries(input, dim, return_inverse, return_counts)
    levels.refuse_dynamic(input, "_unique2")
    a = _plain(input._tl_numpy())
    _, first, inverse, counts = np.unique(a.reshape(-1), return_index=True, return_inverse=True, return_counts=True, equal_nan=False)
    return _answer(_chosen("_unique2", input, first, None), inverse.reshape(a.shape), counts, return_inverse, return_counts)


@composite("torch._unique")
def _unique(input, sorted=True, return_inverse=False):
    """(distinct values, where each element is among them or nothing)."""
    return _with_nothing("_unique", input, return_inverse, False)[:2]


@composite("torch._unique2")
def _unique2(input, sorted=True, return_inverse=False, return_counts=False):
    """(distinct values, where each element is among them or nothing, how often each occurs or nothing)."""
    return _with_nothing("_unique2", input, return_inverse, return_counts)


def _with_nothing(name, input, return_inverse, return_counts):
    if not isinstance(input, Tensor):
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type_name(input)}")
    levels.refuse_dynamic(input, name)
    a, none = _plain(input._tl_numpy()), np.zeros(0, np.int64)
    _, first, inverse, counts = np.unique(a.reshape(-1), return_index=True, return_inverse=True, return_counts=True, equal_nan=False)
    return (_chosen(name, input, first, None), _long(inverse.reshape(a.shape) if return_inverse else none, input),
            _long(counts if return_counts else none, input))


def unique_dim(input, dim, sorted=True, return_inverse=False, return_counts=False):
    """(distinct entries of a dim, where each is among them, how often it occurs)."""
    if not isinstance(input, Tensor):
        raise TypeError(f"unique_dim(): argument 'input' (position 1) must be Tensor, not {type_name(input)}")
    levels.refuse_dynamic(input, "unique_dim")
    return _unique_entries(input, dim, True, True)


def _entries_of(shape, dim):
    """The dim that is meant; torch's errors where there is none, or none whose entries hold anything."""
    if not shape:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    d = wrap_dim(dim, len(shape))
    if any(n == 0 for k, n in enumerate(shape) if k != d):
        raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
    return d


def _inserted(rows):
    """The order of few rows by insertion, where NaN is neither before nor after anything."""
    order = []
    for i, row in enumerate(rows):
        before = [_before(row, rows[k]) for k in order]
        at = 0 if before[:1] == [True] else len(order) - next((n for n, b in enumerate(reversed(before)) if not b), len(order))
        order.insert(at, i)
    return order


def _before(a, b):
    return next((x < y for x, y in zip(a, b) if x < y or x > y), False)


def _unique_entries(input, dim, return_inverse, return_counts):
    a = _plain(input._tl_numpy())
    d = _entries_of(a.shape, dim)
    if a.shape[d] == 0:
        first = inverse = counts = np.zeros(0, np.int64)
    else:
        rows = np.moveaxis(a, d, 0).reshape(a.shape[d], -1)
        order = np.lexsort(rows.T[::-1])
        if rows.dtype.kind == "f" and len(rows) <= 16 and np.isnan(rows).any():
            order = np.asarray(_inserted([r.tolist() for r in rows]))
        new = np.concatenate([[True], (rows[order][1:] != rows[order][:-1]).any(1)])
        group = np.cumsum(new) - 1
        inverse = np.empty(len(rows), np.int64)
        inverse[order] = group
        first, counts = order[new], np.bincount(group)
    return _answer(_chosen("unique_dim", input, first, d), inverse, counts, return_inverse, return_counts)


@composite("torch.unique_consecutive")
def unique_consecutive(*args, **kwargs):
    """As the method; torch 2.13: flags by position say what is computed and, crossed, what is returned: what was not computed is returned empty."""
    def flag(name, place):
        return kwargs.get(f"return_{name}", args[place] if len(args) > place else False)

    out = tensor_unique_consecutive(*args, **kwargs)
    if len(args) < 2:
        return out
    values, *parts = out if isinstance(out, tuple) else (out,)
    none = _long(np.zeros(0, np.int64), values)
    found = dict(zip([name for name, place in (("inverse", 1), ("counts", 2)) if flag(name, place)], parts))
    shown = [found.get(name, none) for name, place in (("inverse", 2), ("counts", 1)) if flag(name, place)]
    return (values, *shown) if shown else values


@composite("Tensor.unique_consecutive")
def tensor_unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """Runs of equal values (or entries of a dim) as one each."""
    if not isinstance(input, Tensor):
        raise TypeError(f"unique_consecutive(): argument 'input' (position 1) must be Tensor, not {type_name(input)}")
    wanting("unique_consecutive", input)
    levels.refuse_dynamic(input, "unique_consecutive")
    if dim is not None and not hasattr(dim, "__index__"):
        raise TypeError(f"unique_consecutive(): argument 'dim' must be int, not {type_name(dim)}")
    check_flags("unique_consecutive", return_inverse=return_inverse, return_counts=return_counts)
    if input.dtype.is_complex:
        kernel = "unique" if dim is None or (dim == 0 and input.ndim == 1) else "unique_dim"
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{input.dtype.char_name}'")
    a = _plain(input._tl_numpy())
    d = None if dim is None else _entries_of(a.shape, dim)
    rows = a.reshape(-1, 1) if d is None else np.moveaxis(a, d, 0).reshape(a.shape[d], a.size // max(a.shape[d], 1))
    new = np.concatenate([[True], (rows[1:] != rows[:-1]).any(1)]) if len(rows) else np.zeros(0, bool)
    group = np.cumsum(new) - 1
    inverse = group.reshape(a.shape) if d is None else group
    counts = np.bincount(group) if len(rows) else np.zeros(0, np.int64)
    return _answer(_chosen("unique_consecutive", input, np.flatnonzero(new), d), inverse, counts, return_inverse, return_counts)


@composite("torch.unravel_index")
def unravel_index(indices, shape):
    """The coordinates in `shape` of flat indices, one tensor for each dim."""
    if indices.dtype.category >= dtypes.FLOAT or indices.dtype is dtypes.bool_:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype!r}")
    if not isinstance(shape, (int, Sequence)):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    shape = tuple(shape) if isinstance(shape, Sequence) else (shape,)
    for n in shape:
        if not isinstance(n, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(n)}")
    if any(n < 0 for n in shape):
        raise ValueError(f"'shape' cannot have negative values, but got {shape}")
    steps = contiguous_strides(shape)
    if not shape or 0 in shape:
        a = indices._tl_numpy()
        if shape and a.size:
            raise RuntimeError("ZeroDivisionError")
        return _long(np.zeros((*a.shape, len(shape)), np.int64), indices).unbind(-1)
    like = {"like": indices} if not indices.is_meta else {}
    size, step = (from_array(np.array(x, np.int64), dtypes.int64, **like) for x in (shape, steps))
    return (indices.unsqueeze(-1).div(step, rounding_mode="floor") % size).unbind(-1)


@composite("torch.is_nonzero", "Tensor.is_nonzero")
def is_nonzero(input):
    """Whether the one element is not zero."""
    return bool(input)


@composite("torch.is_same_size", "Tensor.is_same_size")
def is_same_size(input, other):
    """Whether two tensors have one shape."""
    return input.shape == other.shape


@composite("Tensor.dim_order")
def dim_order(self, *, ambiguity_check=False):
    """The dims from the outermost to the innermost in memory; refused, where asked to, if strides do not tell."""
    formats = [] if isinstance(ambiguity_check, bool) else ambiguity_check
    if not isinstance(formats, list) or not all(isinstance(form, memory_format) for form in formats):
        raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
    shape, strides = tuple(self.shape), self.stride()
    unclear = 1 in shape or any(a == b for a, b in pairwise(strides))
    if ambiguity_check is not False and unclear and sum(self.is_contiguous(memory_format=form) for form in formats) != 1:
        raise RuntimeError("The tensor does not have unique dim order, or cannot map to exact one of the given memory formats.")
    rows, channels = self.is_contiguous(), self.ndim == 4 and self.is_contiguous(memory_format=channels_last)
    if rows and not channels:
        return tuple(range(self.ndim))
    if channels and not rows:
        return 0, 2, 3, 1
    order, told = dims_in_order(shape, strides)
    if ambiguity_check and not told:
        raise RuntimeError("The tensor does not have unique dim order.")
    return order


# Counting

@composite("torch.bincount", "Tensor.bincount")
@by_example
def bincount(input, weights=None, minlength=0):
    """How often each number occurs, or the sum of its weights."""
    wanting("bincount", input)
    if input.dtype.category >= dtypes.FLOAT or input.dtype is dtypes.bool_ or input.dtype in WIDE:
        raise no_kernel("bincount_cpu", input.dtype)
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    a = input._tl_numpy()
    if a.ndim != 1 or (a.size and a.min() < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is not None and tuple(weights.shape) != a.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    size = max(minlength, int(a.max()) + 1 if a.size else 0)
    if weights is None or not a.size:
        return run(spec_of(OPS["_bincount"], (("size", size),), ("T",)), (input,))
    return run(spec_of(OPS["bincount"], (("size", size),), ("T", "T")), (input, weights))


__all__ = ["argwhere", "bincount", "nonzero", "nonzero_static", "unique", "unique_consecutive"]
