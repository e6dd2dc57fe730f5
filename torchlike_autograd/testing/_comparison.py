"""`assert_close` (layer 8) with PyTorch's tolerances and words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .._core import dtypes, layouts
from .._core.saying import warn
from .._functions.data import as_tensor
from .._tensor import Tensor

__all__ = ["assert_allclose", "assert_close"]

_TOLERANCES = {"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7), "complex64": (1.3e-6, 1e-5),
               "complex128": (1e-7, 1e-7)}


def assert_close(actual, expected, *, allow_subclasses=True, rtol=None, atol=None, equal_nan=False, check_device=True, check_dtype=True, check_layout=True,
                 check_stride=False, msg=None):
    """AssertionError unless both agree within tolerances of their dtype (or given ones), element by element of nested containers."""
    _both_or_neither(rtol, atol)
    options = {"rtol": rtol, "atol": atol, "equal_nan": equal_nan, "check_dtype": check_dtype, "check_stride": check_stride, "check_device": check_device,
               "check_layout": check_layout}
    found = None
    try:
        pairs = list(_pairs(actual, expected, (), allow_subclasses))
        for a, b, compare, at in pairs:
            found = compare(a, b, **options)
            if found is not None:
                found = _placed(found, at)
                break
    except _Mismatch as e:
        found = _placed(e.args[0], e.at)
    if found is not None:
        raise AssertionError(msg(found) if callable(msg) else msg if msg is not None else found)


def assert_allclose(actual, expected, rtol=None, atol=None, equal_nan=True, msg=""):
    """The older form of `assert_close`, with larger tolerances; deprecated."""
    warn("`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future release. Please use `torch.testing.assert_close()` "
         "instead. You can find detailed upgrade instructions in https://github.com/pytorch/pytorch/issues/61844.", FutureWarning)
    if not isinstance(actual, Tensor):
        actual = as_tensor(actual)
    if not isinstance(expected, Tensor):
        expected = as_tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        rtol, atol = map(max, zip(*(_OLDER.get(t.dtype.name, (0.0, 0.0)) for t in (actual, expected))))
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, check_stride=False, msg=msg or None)


_OLDER = {"float16": (1e-3, 1e-3), "float32": (1e-4, 1e-5), "float64": (1e-5, 1e-8)}  # dtype: (rtol, atol)


class _Mismatch(Exception):
    def __init__(self, text, at):
        super().__init__(text)
        self.at = at


def _placed(text, at):
    return f"{text}\n\nThe failure occurred for item {''.join(f'[{k!r}]' for k in at)}" if at else text


def _is_number(x):
    return isinstance(x, (int, float, complex, np.number)) and not isinstance(x, (bool, np.bool_))


def _pairs(a, b, at, allow_subclasses):
    """(actual, expected, comparison, place) of everything that can be compared."""
    if isinstance(a, Sequence) and not isinstance(a, str) and isinstance(b, Sequence) and not isinstance(b, str):
        if len(a) != len(b):
            raise _Mismatch(f"The length of the sequences mismatch: {len(a)} != {len(b)}", at)
        for i, (x, y) in enumerate(zip(a, b)):
            yield from _pairs(x, y, (*at, i), allow_subclasses)
    elif isinstance(a, Mapping) and isinstance(b, Mapping):
        _same_keys(a, b, at)
        for k in sorted(a) if _sortable(a) else a:
            yield from _pairs(a[k], b[k], (*at, k), allow_subclasses)
    elif a is None or b is None:
        yield a, b, _compare_none, at
    elif isinstance(a, (bool, np.bool_)) and isinstance(b, (bool, np.bool_)):
        yield a, b, _compare_bools, at
    elif _is_number(a) and _is_number(b):
        yield a, b, _compare_numbers, at
    elif _like_tensors(a, b, allow_subclasses):
        yield a, b, _compare_tensors, at
    else:
        raise TypeError(_placed(f"No comparison pair was able to handle inputs of type {type(a)} and {type(b)}.", at))


def _sortable(mapping):
    try:
        sorted(mapping)
    except TypeError:
        return False
    return True


def _same_keys(a, b, at):
    if set(a) != set(b):
        raise _Mismatch(f"The keys of the mappings do not match:\nMissing keys in the actual mapping: {sorted(set(b) - set(a))}\nAdditional keys in the actual "
                        f"mapping: {sorted(set(a) - set(b))}", at)


def _like_tensors(a, b, allow_subclasses):
    ok = isinstance(a, type(b)) or isinstance(b, type(a)) if allow_subclasses else type(a) is type(b)
    return ok and isinstance(a, (Tensor, np.ndarray)) and isinstance(b, (Tensor, np.ndarray))


def _compare_none(a, b, **options):
    return None if a is b else f"None mismatch: {a} is not {b}"


def _compare_bools(a, b, **options):
    return None if bool(a) is bool(b) else f"Booleans mismatch: {a} is not {b}"


def _tolerances(names, rtol, atol):
    if rtol is not None:
        return rtol, atol
    pairs = [_TOLERANCES.get(n, (0.0, 0.0)) for n in names]
    return max(p[0] for p in pairs), max(p[1] for p in pairs)


def default_tolerances(*inputs, dtype_precisions=None):
    """(rtol, atol) for tensors or dtypes: the largest of any of them."""
    names = []
    for x in inputs:
        dtype = getattr(x, "dtype", x)
        if not isinstance(dtype, dtypes.dtype):
            raise TypeError(f"Expected a torch.Tensor or a torch.dtype, but got {type(x)} instead.")
        names.append(dtype)
    table = [dtype_precisions.get(d, (0.0, 0.0)) for d in names] if dtype_precisions else [_TOLERANCES.get(d.name, (0.0, 0.0)) for d in names]
    return max(p[0] for p in table), max(p[1] for p in table)


def get_tolerances(*inputs, rtol, atol, id=()):
    """(rtol, atol) as they are given, both or neither (ValueError; torch raises a class of its own here), else those of `default_tolerances`."""
    _both_or_neither(rtol, atol)
    return default_tolerances(*inputs) if rtol is None else (rtol, atol)


def _both_or_neither(rtol, atol):
    if (rtol is None) != (atol is None):
        raise ValueError(f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {'rtol' if rtol is None else 'atol'}.")


def _number_dtype(x):
    return "complex128" if isinstance(x, (complex, np.complexfloating)) else "float64" if isinstance(x, (float, np.floating)) else "int64"


def _compare_numbers(a, b, rtol, atol, equal_nan, check_dtype, **options):
    if check_dtype and type(a) is not type(b):
        return f"The (d)types do not match: {type(a)} != {type(b)}."
    rtol, atol = _tolerances((_number_dtype(a), _number_dtype(b)), rtol, atol)
    if a == b or (equal_nan and a != a and b != b) or abs(a - b) <= atol + rtol * abs(b) < np.inf:
        return None
    return _scalars(a, b, rtol, atol)


def _scalars(a, b, rtol, atol):
    difference = abs(a - b)
    relative = np.inf if b == 0 else difference / abs(b)
    equal = rtol == atol == 0
    return (f"Scalars are not {'equal' if equal else 'close'}!\n\nExpected {b} but got {a}.\nAbsolute difference: {difference}{_allowed(atol, equal)}\n"
            f"Relative difference: {relative}{_allowed(rtol, equal)}")


def _allowed(x, equal):
    return "" if equal else f" (up to {x} allowed)"


def _compare_tensors(a, b, rtol, atol, equal_nan, check_dtype, check_stride, check_device, check_layout):
    a, b = [x if isinstance(x, Tensor) else as_tensor(x) for x in (a, b)]
    one_layout = a.layout == b.layout
    strided = one_layout and a.layout == layouts.strided
    attributes = [("shape", a.shape, b.shape, True), ("layout", a.layout, b.layout, check_layout),
                  ("device", a.device, b.device, check_device), ("dtype", a.dtype, b.dtype, check_dtype),
                  ("stride()", *(x.stride() if strided else None for x in (a, b)), check_stride)]
    for name, x, y, asked in attributes:
        if asked and x != y:
            return f"The values for attribute '{name}' do not match: {x} != {y}."
    if a.is_meta or b.is_meta:
        return None  # no values to compare
    rtol, atol = _tolerances((a.dtype.name, b.dtype.name), rtol, atol)
    if one_layout and not strided:
        return _compare_sparse(a, b, rtol, atol, equal_nan)
    a, b = (x if x.layout == layouts.strided else x.to_dense() for x in (a, b))
    return _compare_values("Tensor-likes", a, b, rtol, atol, equal_nan)


def _compare_sparse(a, b, rtol, atol, equal_nan):
    """Of one layout: the indices have to be equal, the values close."""
    kind = str(a.layout).rpartition("_")[2].upper()
    if kind == "COO" and a.sparse_dim() != b.sparse_dim():
        return f"The number of sparse dimensions in sparse COO tensors does not match: {a.sparse_dim()} != {b.sparse_dim()}"
    if kind == "COO" and not (a.is_coalesced() and b.is_coalesced()):  # sums keep more places apart than torch's do, until they are coalesced
        a, b = a.coalesce(), b.coalesce()
    if a._nnz() != b._nnz():
        return f"The number of specified values in sparse {kind} tensors does not match: {a._nnz()} != {b._nnz()}"
    for name, x, y, exact in _sparse_parts(kind, a, b):
        text = _compare_values(f"Sparse {kind} {name}", x, y, *(0.0, 0.0) if exact else (rtol, atol), equal_nan)
        if text is not None:
            return text
    return None


def _sparse_parts(kind, a, b):
    """[(name, part of a, the same of b, whether they have to be equal)] of two sparse tensors of one layout."""
    names = ("_indices",) if kind == "COO" else ("crow_indices", "col_indices") if kind in ("CSR", "BSR") else ("ccol_indices", "row_indices")
    parts = [(name.lstrip("_"), *(getattr(x, name)() for x in (a, b)), True) for name in names]
    return [*parts, ("values", *(x._values() if kind == "COO" else x.values() for x in (a, b)), False)]


def _compare_values(what, a, b, rtol, atol, equal_nan):
    common = _common_dtype(a.dtype, b.dtype)
    x, y = [t.detach().to(common)._tl_numpy() for t in (a, b)]
    with np.errstate(all="ignore"):
        return _compare_arrays(x, y, rtol, atol, equal_nan, what)


def _common_dtype(a, b):
    """What both are compared in; wide unsigned integers, which promote to nothing, count as int64 beside another dtype."""
    if a is b:
        return a
    return dtypes.promote_types(*(dtypes.int64 if d in (dtypes.uint16, dtypes.uint32, dtypes.uint64) else d for d in (a, b)))


def _apart(x, y, rtol, atol):
    """(absolute differences, relative ones, where they are allowed), each rounded to the dtype as torch rounds them."""
    kind = x.dtype
    if kind.kind in "bui":
        close = (x == y) if rtol == atol == 0 else np.isclose(x, y, rtol=rtol, atol=atol)
        x, y = x.astype(np.int64), y.astype(np.int64)
        difference = np.abs(x - y)
        return difference, difference.astype(np.float32) / np.abs(y).astype(np.float32), close
    if kind.itemsize > 2:
        difference = np.abs(x - y)
        return difference, difference / np.abs(y), np.isclose(x, y, rtol=rtol, atol=atol)

    def rounded(a):
        return a.astype(kind).astype(np.float32)

    x, y = x.astype(np.float32), y.astype(np.float32)
    difference = np.abs(rounded(x - y))
    allowed = rounded(np.float32(atol) + rounded(np.float32(rtol) * np.abs(y)))
    return difference, rounded(difference / np.abs(y)), (x == y) | (np.isfinite(difference) & (difference <= allowed))


def _compare_arrays(x, y, rtol, atol, equal_nan, what="Tensor-likes"):
    difference, relative, near = _apart(x, y, rtol, atol)
    if equal_nan:
        near = near | ((x != x) & (y != y))
    if near.all():
        return None
    if x.ndim == 0:
        return _scalars(x.item(), y.item(), rtol, atol)
    equal = rtol == atol == 0
    n, bad = x.size, int((~near).sum())
    lines = [f"{what} are not {'equal' if equal else 'close'}!", "", f"Mismatched elements: {bad} / {n} ({bad / n:.1%})"]
    for name, d, allowed in (("absolute", difference, atol), ("relative", relative, rtol)):
        d = np.where(near, 0, d)
        at = np.unravel_index(int(np.argmax(d)), d.shape)
        place = tuple(int(i) for i in at)
        lines.append(f"Greatest {name} difference: {d[at].item()} at index {place}{_allowed(allowed, equal)}")
    return "\n".join(lines)
