"""Dims, broadcasting, strides (layer 1), with torch's errors."""

from __future__ import annotations

import functools
import math
import os

import numpy as np

__all__ = ["broadcast", "contiguous_strides", "numel", "sized_dim", "wrap_dim", "wrap_dims"]

numel = math.prod
OVERFLOW = "Overflow when unpacking long long"


LARGEST = 2**63 - 1     # elements or bytes that are counted


def exceeds(n, most):
    """Whether there are more elements or bytes than `most`; of symbolic sizes that is not known, and asked again where they are."""
    return isinstance(n, int) and n > most


def check_bytes(shape, itemsize):
    """torch's error for a tensor whose bytes cannot be counted (XLA ends the process)."""
    if exceeds(math.prod(shape) * itemsize, LARGEST):
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)}")


def _memory():
    """The bytes of memory that this machine has, or more where it does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # not told outside POSIX
        return LARGEST


_MEMORY = _memory()


def check_room(shape, itemsize):
    """torch's error for a tensor that memory cannot hold (to read what XLA could not allocate ends the process)."""
    check_bytes(shape, itemsize)
    n = math.prod(shape) * itemsize
    if exceeds(n, _MEMORY):
        raise RuntimeError(f"[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate {n} bytes. "
                           "Error code 12 (Cannot allocate memory)")


class Ints(tuple):
    """Ints in the key of what is remembered: as a tuple 1, 1.0 and True would be equal, which torch tells apart."""

    __slots__ = ()
    __hash__ = tuple.__hash__

    def __eq__(self, other):
        return tuple.__eq__(self, other) and _INT.issuperset(map(type, other))


_INT = frozenset((int,))


def is_long(n: int) -> bool:
    """Whether an int has 64 bits."""
    return -(1 << 63) <= n < 1 << 63


def as_long(n: int) -> int:
    """An int of 64 bits; torch's ValueError for a larger one."""
    if not is_long(n):
        raise ValueError(OVERFLOW)
    return n


def is_index_array(x):
    """Whether this is an array of NumPy's that stands for an int in a list of them."""
    return isinstance(x, np.ndarray) and not x.ndim and x.dtype.kind in "iu"


def wrap_dim(dim: int, ndim: int, *, scalar_ok: bool = True) -> int:
    """`dim` in [0, ndim); IndexError in torch's words.  A 0-dim tensor counts as one dim."""
    n = ndim
    if n == 0 and scalar_ok:
        n = 1
    if not -n <= dim < n:
        as_long(dim)
    if n == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    if not -n <= dim < n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    return dim % n


def sized_dim(dim: int, shape) -> int:
    """`wrap_dim` of a dim whose size is asked for, which a 0-dim tensor does not have."""
    at = wrap_dim(dim, len(shape))
    if not shape:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return at


def wrap_dims(dims, ndim: int) -> tuple:
    """Several dims, each once; RuntimeError for a repeat."""
    out = tuple(wrap_dim(d, ndim) for d in dims)
    for i, d in enumerate(out):
        if d in out[:i]:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    return out


def reduce_dims(dim, ndim: int) -> tuple:
    """The axes that a reduction over `dim` (None, int or a sequence; empty means all) runs over."""
    if dim is None or (not isinstance(dim, int) and len(dim) == 0):
        return tuple(range(ndim))
    if isinstance(dim, int):
        dim = (dim,)
    axes = wrap_dims(dim, ndim)
    return axes if ndim else ()


def broadcast(*shapes) -> tuple:
    """The common shape; RuntimeError naming the sizes and the dimension as torch does."""
    out = shapes[0]
    for other in shapes[1:]:
        if out != other:
            out = _broadcast2(out, other)
    return out


def _broadcast2(a, b):
    n = max(len(a), len(b))
    out = [1] * n
    for i in range(1, n + 1):
        x = a[-i] if i <= len(a) else 1
        y = b[-i] if i <= len(b) else 1
        if x != y and x != 1 and y != 1:
            raise RuntimeError(
                f"The size of tensor a ({x}) must match the size of tensor b ({y}) at non-singleton dimension {n - i}")
        out[-i] = y if x == 1 else x
    return tuple(out)


def contiguous_strides(shape) -> tuple:
    """Row-major strides in elements (a size of 0 counts as 1, as in torch)."""
    out, step = [], 1
    for n in reversed(shape):
        out.append(step)
        step *= max(n, 1)
    return tuple(reversed(out))


row_strides = functools.lru_cache(4096)(contiguous_strides)  # of tuples


def reach(shape, strides, offset=0) -> int:
    """How many elements of memory lie before the end of a geometry."""
    return 0 if 0 in shape else offset + 1 + sum((n - 1) * s for n, s in zip(shape, strides))


NOT_VIEWABLE = ("view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous subspaces). Use "
                ".reshape(...) instead.")


def is_contiguous(shape, strides) -> bool:
    """Whether `strides` lay `shape` out row by row without gaps."""
    if 0 in shape:
        return True
    step = 1
    for n, s in zip(reversed(shape), reversed(strides)):
        if n != 1:
            if s != step:
                return False
            step *= n
    return True


def infer_size(shape, total: int) -> tuple:
    """Resolve one -1 in `shape`, of ints, so that it holds `total` elements (view, reshape)."""
    known, hole = 1, None
    for i, n in enumerate(shape):
        if n == -1:
            if hole is not None:
                raise RuntimeError("only one dimension can be inferred")
            hole = i
        elif n < 0:
            raise RuntimeError(f"invalid shape dimension {n} at index {i} of shape {list(shape)}")
        else:
            known *= n
    if hole is not None:
        if known == 0 and total == 0:
            raise RuntimeError(
                f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified dimension size -1"
                " can be any value and is ambiguous")
        if known and total % known == 0:
            return (*shape[:hole], total // known, *shape[hole + 1:])
    elif known == total:
        return tuple(shape)
    raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {total}")


def view_strides(shape, strides, new_shape):
    """Strides of a view of `new_shape` over (`shape`, `strides`), or None where a copy is needed."""
    if numel(shape) == 0:
        return strides if tuple(shape) == tuple(new_shape) else contiguous_strides(new_shape)
    out, i = [1] * len(new_shape), len(new_shape) - 1
    for size, step in _chunks(shape, strides):
        left = 1
        while i >= 0 and (left < size or new_shape[i] == 1):
            out[i] = left * step
            left *= new_shape[i]
            i -= 1
        if left != size:
            return None
    return tuple(out)


def _chunks(shape, strides):
    """Dims that lie gaplessly behind each other, the last ones first: [(size, innermost stride), ...].  Dims of one element go with those behind them."""
    out, size, step = [], 1, strides[-1] if strides else 1
    for i in range(len(shape) - 1, -1, -1):
        size *= shape[i]
        if i == 0 or (shape[i - 1] != 1 and strides[i - 1] != size * step):
            out.append((size, step))
            size, step = 1, strides[i - 1]
    return out


def check_inside(shape, own, at, size, stride, offset):
    """torch's RuntimeError where strides over one example of a map reach memory that the example does not."""
    end = lambda first, sizes, steps: first + sum((n - 1) * s for n, s in zip(sizes, steps)) + 1 if 0 not in sizes else first  # noqa: E731
    have, want = end(at, shape, own), end(offset, size, stride)
    if want > have or offset < at:
        reach = (f"`result` can access some memory in range [{offset}, {want}], but `tensor` can only access some memory in range [{at}, {have}]."
                 if 0 not in shape else "`tensor` has no storage but the passed-in (size, stride, storage_offset) imply a result with some storage.")
        raise RuntimeError(
            f"result = tensor.as_strided({list(size)}, {list(stride)}, {offset}) can access memory outside of `tensor`. {reach} This is not supported inside "
            "of vmap, please try to rewrite the `as_strided` call as a sequence of PyTorch view operations")
