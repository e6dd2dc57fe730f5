"""Comparing for `TestCase.assertEqual` (layer 8): looser than `assert_close` about the kinds of things, as tests want it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from unittest import TestCase

import numpy as np

from ..._functions.data import as_tensor
from ..._functions.storages import TypedStorage
from ..._tensor import Tensor
from ...nn import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from ...utils.data.dataset import Subset
from .._comparison import _compare_numbers, _compare_tensors, _placed, _tolerances

_ARRAYS = (Tensor, np.ndarray)
_NUMBERS = (int, float, complex, np.number, np.bool_)
_IN_ORDER = (Sequence, ModuleList, ParameterList, Sequential, Subset)
_NAMED = (Mapping, ModuleDict, ParameterDict)
_BOOLS = (bool, np.bool_)


def difference(x, y, options, at=()):
    """None, or a text that says where two things differ: tensors and arrays within tolerances, numbers with them, containers item by item, others by ==."""
    found = _compare(x, y, options, at)
    return found


def _compare(x, y, options, at):
    x, y = _as_list(x), _as_list(y)
    if x is None or y is None:
        return None if x is y else _placed(f"None mismatch: {x} is not {y}", at)
    if isinstance(x, _ARRAYS) or isinstance(y, _ARRAYS):
        text = _arrays(x, y, options)
        return None if text is None else _placed(text, at)
    if isinstance(x, _NUMBERS) and isinstance(y, _NUMBERS):
        text = _numbers(x, y, options)
        return None if text is None else _placed(text, at)
    for kind, types in (("String", (str, bytes)), ("Set", set)):
        if isinstance(x, types) and isinstance(y, types):
            text = _told(kind, *(str(v) if isinstance(v, str) else v for v in (x, y)))  # NumPy's words show their kind
            return None if text is None else _placed(text, at)
    if isinstance(x, _IN_ORDER) and isinstance(y, _IN_ORDER) and not isinstance(x, str) and not isinstance(y, str):
        return _sequences(x, y, options, at)
    if isinstance(x, _NAMED) and isinstance(y, _NAMED):
        return _mappings(x, y, options, at)
    return None if _same(x, y) else _placed(f"Object comparison failed: {x!r} != {y!r}", at)


def _told(kind, x, y):
    """How unittest tells words or sets apart."""
    try:
        TestCase().assertEqual(x, y)
    except AssertionError as e:
        return f"{kind} comparison failed: {e}"
    return None


def _as_list(x):
    """An array of what is no number is a container of it, a storage one of its elements."""
    if isinstance(x, TypedStorage):
        return as_tensor(x.tolist(), dtype=x.dtype)
    return list(x) if isinstance(x, np.ndarray) and x.ndim and x.dtype.kind in "USOVMm" else x


def _same(x, y):
    return x is y or bool(x == y)


def _sequences(x, y, options, at):
    if len(x) != len(y):
        return _placed(f"The length of the sequences mismatch: {len(x)} != {len(y)}", at)
    return next((t for i, (a, b) in enumerate(zip(x, y)) if (t := _compare(a, b, options, (*at, i))) is not None), None)


def _mappings(x, y, options, at):
    if set(x) != set(y):
        return _placed(f"The keys of the mappings do not match: {list(x)} != {list(y)}", at)
    return next((t for k in x if (t := _compare(x[k], y[k], options, (*at, k))) is not None), None)


def _numbers(x, y, options):
    if isinstance(x, _BOOLS) or isinstance(y, _BOOLS):
        return None if bool(x) == bool(y) else f"Booleans mismatch: {bool(x)} is not {bool(y)}"
    integers = all(isinstance(v, (int, np.integer)) for v in (x, y))
    rtol, atol = _wider(("int64",) if integers else ("complex64",) if any(isinstance(v, complex) for v in (x, y)) else ("float32",), options)
    return _compare_numbers(x, y, rtol=rtol, atol=atol, equal_nan=options["equal_nan"], check_dtype=False)


def _arrays(x, y, options):
    for a, b in ((x, y), (y, x)):
        if not isinstance(a, _ARRAYS):
            if isinstance(a, _NUMBERS):
                return _element(a, b, options, a is x)
            if not isinstance(a, Sequence) or isinstance(a, str):
                return f"Object comparison failed: {x!r} != {y!r}"
            converted = as_tensor(a, dtype=b.dtype if isinstance(b, Tensor) else None)
            x, y = (converted, y) if a is x else (x, converted)
    a, b = [v if isinstance(v, Tensor) else as_tensor(v) for v in (x, y)]
    rtol, atol = _wider((a.dtype.name, b.dtype.name), options)
    return _compare_tensors(a, b, rtol=rtol, atol=atol, equal_nan=options["equal_nan"], check_dtype=options["exact_dtype"],
                            check_stride=options["exact_stride"], check_device=options["exact_device"], check_layout=options["exact_layout"])


def _element(number, array, options, first):
    """A number against an array of one element."""
    size = array.numel() if isinstance(array, Tensor) else array.size
    if size > 1:
        kind = "boolean" if isinstance(number, _BOOLS) else "number"
        raise ValueError(f"Only single element tensor-likes can be compared against a {kind}. Got {size} elements instead.")
    if not size:
        return f"only Tensor-likes with a single element can be compared against a number, but got {size} elements"
    pair = (number, array.item()) if first else (array.item(), number)
    return _numbers(*pair, options)


def _wider(names, options):
    """Given tolerances, or those of the types; never narrower than those of the test."""
    rtol, atol = options["rtol"], options["atol"]
    if rtol is None:
        rtol, atol = _tolerances(names, None, None)
    rtol, atol = max(rtol, options["rel_tol"]), max(atol, options["precision"])
    return (rtol, atol) if math.isfinite(atol) else (rtol, np.finfo(float).max)
