"""Views that cut, window or restride, and functional writes through views (layer 2)."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from .._core.shapes import contiguous_strides, numel, wrap_dim
from . import shape
from .casts import copied
from .memory import like_first
from .opened import TANGENTS
from .registry import BODY, SMOOTH, call, fails, op, real, rule
from .shape import _select_write, _slice_write
from .tracing import iota

# The diagonal of two dims

def diagonal_plan(ndim, shape, offset, dim1, dim2):
    """(dim1, dim2, first row, first column, length) of a diagonal; torch's errors."""
    a, b = wrap_dim(dim1, ndim), wrap_dim(dim2, ndim)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    rows, cols = shape[a], shape[b]
    length = max(min(rows, cols - offset), 0) if offset >= 0 else max(min(rows + offset, cols), 0)
    return a, b, max(-offset, 0), max(offset, 0), length


def _diagonal_layout(shape, strides, offset, **kw):
    a, b, row, col, n = diagonal_plan(len(shape), shape, kw["offset_"], kw["dim1"], kw["dim2"])
    rest = [d for d in range(len(shape)) if d not in (a, b)]
    start = offset + (row * strides[a] + col * strides[b] if n else 0)
    return (*[shape[d] for d in rest], n), (*[strides[d] for d in rest], strides[a] + strides[b]), start


def _diagonal_index(self, offset, dim1, dim2):
    a, b, row, col, n = diagonal_plan(self.ndim, self.shape, offset, dim1, dim2)
    i = iota(n)
    return a, b, (Ellipsis, i + row, i + col)


def diagonal_of(self, offset, dim1, dim2):
    """The diagonal of two dims as the last dim."""
    a, b, where = _diagonal_index(self, offset, dim1, dim2)
    return jnp.moveaxis(self, (a, b), (-2, -1)).at[where].get(unique_indices=True, indices_are_sorted=True, mode="promise_in_bounds")


def diagonal_put(base, new, offset, dim1, dim2):
    """`base` with `new` on the diagonal of two dims."""
    a, b, where = _diagonal_index(base, offset, dim1, dim2)
    moved = jnp.moveaxis(base, (a, b), (-2, -1))
    moved = moved.at[where].set(new, unique_indices=True, indices_are_sorted=True, mode="promise_in_bounds")
    return jnp.moveaxis(moved, (-2, -1), (a, b))


@op("diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)", node="DiagonalBackward0",
    layout=lambda shape, strides, start, *, offset, dim1, dim2: _diagonal_layout(shape, strides, start, offset_=offset, dim1=dim1, dim2=dim2),
    write=lambda base, new, *, offset, dim1, dim2: diagonal_put(base, new, offset, dim1, dim2),
    samples=[call(real(3, 4)), call(real(3, 4), 1), call(real(2, 3, 4), -1, 0, 2), call(real(3, 4), 9)], kinks=SMOOTH,
    errors=[fails(call(real(2, 3), 0, 1, 1), RuntimeError, "diagonal dimensions cannot be identical 1, 1"),
            fails(call(real(2)), IndexError, "Dimension out of range (expected to be in range of [-1, 0], but got 1)")])
def diagonal(self, *, offset=0, dim1=0, dim2=1):
    """The diagonal of two dims, as the last dim."""
    return diagonal_of(self, offset, dim1, dim2)


# Several views at once

def _pieces(shape, strides, offset, d, sizes):
    """Layouts of consecutive ranges of a dim."""
    out, start = [], 0
    for n in sizes:
        out.append(((*shape[:d], n, *shape[d + 1:]), strides, offset + start * strides[d]))
        start += n
    return out


def _cut(self, d, sizes):
    out, start = [], 0
    for n in sizes:
        out.append(jax.lax.slice_in_dim(self, start, start + n, 1, d))
        start += n
    return tuple(out)


def _unbind_layout(shape, strides, offset, *, dim):
    d = wrap_dim(dim, len(shape), scalar_ok=False)
    return [(shape[:d] + shape[d + 1:], strides[:d] + strides[d + 1:], offset + i * strides[d]) for i in range(shape[d])]


@op("unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]", node="UnbindBackward0", multi_view=True, layout=_unbind_layout,
    samples=[call(real(3, 2)), call(real(3, 2), -1)], kinks=SMOOTH,
    errors=[fails(call(real(())), IndexError, "Dimension specified as 0 but tensor has no dimensions")])
def unbind(self, *, dim=0):
    """The entries along a dim."""
    d = wrap_dim(wrap_dim(dim, self.ndim), self.ndim, scalar_ok=False)
    return tuple([jax.lax.index_in_dim(self, i, d, keepdims=False) for i in range(self.shape[d])])


def split_sizes(shape, size, dim):
    """(dim, sizes of the pieces) of `split` into equal pieces; torch's errors."""
    if not shape:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    d = wrap_dim(dim, len(shape))
    n = shape[d]
    if size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={size}")
    if size == 0:
        if n:
            raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {n}")
        return d, [0]
    return d, [min(size, n - i) for i in range(0, max(n, 1), size)]


def _split_layout(shape, strides, offset, *, split_size, dim):
    return _pieces(shape, strides, offset, *split_sizes(shape, split_size, dim))


@op("split.Tensor(Tensor(a -> *) self, int split_size, int dim=0) -> Tensor(a)[]", node="SplitBackward0", multi_view=True, layout=_split_layout,
    samples=[call(real(5, 2), 2), call(real(2, 4), 3, -1)], kinks=SMOOTH,
    errors=[fails(call(real(2), 0), RuntimeError, "split_size can only be 0 if dimension size is 0, but got dimension size of 2"),
            fails(call(real(2), -1), RuntimeError, "split expects split_size be non-negative, but got split_size=-1")])
def split(self, *, split_size, dim=0):
    """Equal pieces along a dim, the last one shorter."""
    return _cut(self, *split_sizes(self.shape, split_size, dim))


def _given_sizes(shape, split_sizes, dim):
    if not shape:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    d = wrap_dim(dim, len(shape))
    if any(n < 0 for n in split_sizes):
        raise RuntimeError(f"split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={list(split_sizes)}")
    if sum(split_sizes) != shape[d]:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {shape[d]} (input tensor's size at dimension {dim}), but got split_sizes={list(split_sizes)}")
    return d, split_sizes


def _split_with_sizes_layout(shape, strides, offset, *, split_sizes, dim):
    return _pieces(shape, strides, offset, *_given_sizes(shape, split_sizes, dim))


@op("split_with_sizes(Tensor(a -> *) self, int[] split_sizes, int dim=0) -> Tensor(a)[]", node="SplitWithSizesBackward0", multi_view=True,
    layout=_split_with_sizes_layout, samples=[call(real(5, 2), (2, 0, 3)), call(real(2, 4), (1, 3), -1)], kinks=SMOOTH,
    errors=[fails(call(real(3), (1, 1)), RuntimeError, "split_with_sizes expects split_sizes to sum exactly to 3 (input tensor's size at dimension 0)"),
            fails(call(real(3), (-1, 4)), RuntimeError, "split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes=[-1, 4]")])
def split_with_sizes(self, *, split_sizes, dim=0):
    """Pieces of given sizes along a dim."""
    return _cut(self, *_given_sizes(self.shape, split_sizes, dim))


@op("unsafe_split.Tensor(Tensor self, int split_size, int dim=0) -> Tensor[]", node="UnsafeSplitBackward0", samples=[call(real(5, 2), 2)], kinks=SMOOTH, out=False,
    untracked=True, layout=_split_layout)
def unsafe_split(self, *, split_size, dim=0):
    """`split` whose pieces are not views."""
    return _cut(self, *split_sizes(self.shape, split_size, dim))


@op("unsafe_split_with_sizes(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]", node="UnsafeSplitWithSizesBackward0", samples=[call(real(5), (2, 3))],
    kinks=SMOOTH, out=False, untracked=True, layout=_split_with_sizes_layout)
def unsafe_split_with_sizes(self, *, split_sizes, dim=0):
    """`split_with_sizes` whose pieces are not views."""
    return _cut(self, *_given_sizes(self.shape, split_sizes, dim))


# Windows

_FEW = 16  # elements of a window that are sliced one after the other


def _windows(shape, dimension, size, step):
    """(dim, number of windows) of `unfold`; torch's errors."""
    d = wrap_dim(dimension, len(shape))
    n = shape[d] if shape else 1
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > n:
        raise RuntimeError(f"maximum size for tensor at dimension {d} is {n} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    return d, (n - size) // step + 1


def _unfold_layout(shape, strides, offset, *, dimension, size, step):
    d, n = _windows(shape, dimension, size, step)
    if not shape:
        return (size,), (1,), offset
    return (*shape[:d], n, *shape[d + 1:], size), (*strides[:d], strides[d] * step, *strides[d + 1:], strides[d]), offset


@op("unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)", node="UnfoldBackward0", names=("Tensor.unfold",), layout=_unfold_layout,
    samples=[call(real(7), 0, 3, 2), call(real(2, 5), -1, 2, 1), call(real(()), 0, 1, 1)], kinks=SMOOTH,
    errors=[fails(call(real(2, 3), 1, 4, 1), RuntimeError, "maximum size for tensor at dimension 1 is 3 but size is 4"),
            fails(call(real(2, 3), 1, 2, 0), RuntimeError, "step is 0 but must be > 0")])
def unfold(self, *, dimension, size, step):
    """Windows along a dim, as a new last dim."""
    d, n = _windows(self.shape, dimension, size, step)
    if self.ndim == 0:
        return self.reshape(1)[:size]
    if step < size <= _FEW:  # slices: a gather's way back scatters element by element
        return jnp.stack([jax.lax.slice_in_dim(self, k, k + (n - 1) * step + 1, step, d) for k in range(size)], -1)
    where = (np.arange(n)[:, None] * step + np.arange(size)).reshape(-1)
    out = jnp.take(self, where, axis=d, mode="clip").reshape(*self.shape[:d], n, size, *self.shape[d + 1:])
    return jnp.moveaxis(out, d + 1, -1)


# Any strides over the elements of one tensor

def _positions(shape, strides, offset):
    """Storage positions of the elements of a geometry, flat."""
    out = np.full((), offset, np.int64)
    for n, s in zip(shape, strides):
        out = out[..., None] + np.arange(n) * s
    return out.reshape(-1)


def strided_index(shape, own, size, stride, offset):
    """Where the elements of (size, stride, offset relative to the first element) lie in a tensor of (shape, own strides); None if some do not."""
    have, want = _positions(shape, own, 0), _positions(size, stride, offset)
    order = np.argsort(have, kind="stable")
    if not have.size:
        return want if not want.size else None
    at = np.minimum(np.searchsorted(have[order], want), have.size - 1)
    found = order[at]
    return found if np.array_equal(have[found], want) else None


@op("_as_strided(Tensor(a) self, int[] size, int[] stride, int offset, int[] own, int? storage_offset=None) -> Tensor(a)", node="AsStridedBackward0", names=(),
    layout=lambda shape, strides, start, *, size, stride, offset, own, storage_offset=None: (size, stride, start + offset),
    samples=[call(real(3, 4), (2, 2), (1, 4), 1, (4, 1)), call(real(6), (3, 3), (1, 1), 0, (1,))], kinks=SMOOTH, tangent=BODY)
def _as_strided(self, *, size, stride, offset, own, storage_offset=None):
    """Elements at chosen strides; `own` are the strides of `self`, `offset` counts from its first element (checked by the caller), where `storage_offset`
    is what was asked for, which only the node shows.

    The gradient of a place that `self` shows several times is shared by its elements."""
    index = strided_index(self.shape, own, size, stride, offset)
    if not TANGENTS[0]:
        places = strided_index(self.shape, own, self.shape, own, 0)
        if not np.array_equal(places, np.arange(places.size)):
            return _of_places(self, self, tuple(index.tolist()), tuple(places.tolist())).reshape(size)
    return self.reshape(-1)[index].reshape(size)


@op("_as_strided_beyond(Tensor self, Tensor memory, int[] size, int[] stride, int offset, int[] own, int[] shown, int start, int? storage_offset=None) -> Tensor", node="AsStridedBackward0",
    names=(), nondiff=("memory",), tangent=BODY, samples=[call(real(3), real(3, 4), (2, 2), (1, 4), 0, (4, 1), (4,), 1)], kinks=SMOOTH)
def _as_strided_beyond(self, memory, *, size, stride, offset, own, shown, start, storage_offset=None):
    """`_as_strided` of the memory around a view: the gradient is of the elements that the view shows, at strides `shown` from `start`, shared by its places."""
    index = strided_index(memory.shape, own, size, stride, offset)
    if TANGENTS[0]:
        return memory.reshape(-1)[index].reshape(size)
    places = strided_index(memory.shape, own, self.shape, shown, start)
    return _of_places(self, memory, tuple(index.tolist()), tuple(places.tolist())).reshape(size)


@partial(jax.custom_jvp, nondiff_argnums=(2, 3))
def _of_places(self, memory, index, places):
    return memory.reshape(-1)[np.asarray(index, np.int64)]


@_of_places.defjvp
def _(index, places, primals, tangents):
    places = np.asarray(places, np.int64)
    times = np.bincount(places, minlength=1)[places]
    share = tangents[0].reshape(-1) / times.astype(tangents[0].dtype)
    found = jnp.zeros(primals[1].size, share.dtype).at[places].add(share)
    return _of_places(*primals, index, tuple(places.tolist())), found[np.asarray(index, np.int64)]


# Functional writes through a view

def _check_slice(have, want):
    if tuple(have) != tuple(want):
        raise RuntimeError(f"expected src to have a size equal to the slice of self. src size = {list(have)}, slice size = {list(want)}")


@op("_select_scatter(Tensor self, Tensor src, int dim, int index) -> Tensor", lies=like_first, node="SelectScatterBackward0", names=(), real_only="select_scatter", lift=("index",),
    samples=[call(real(3, 4), real(4), 0, 1)], kinks=SMOOTH)
def _select_scatter(self, src, *, dim, index):
    """`self` with one index of a dim replaced."""
    d = wrap_dim(dim, self.ndim)
    _check_slice(src.shape, self.shape[:d] + self.shape[d + 1:])
    return _select_write(self, copied(src, self.dtype), dim=d, index=index)


@op("_slice_scatter(Tensor self, Tensor src, int dim, int start, *, int length, int step) -> Tensor", lies=like_first, node="SliceScatterBackward0", names=(), real_only="slice_scatter", lift=("start",),
    samples=[call(real(3, 4), real(2, 4), 0, 1, length=2, step=1)], kinks=SMOOTH)
def _slice_scatter(self, src, *, dim, start, length, step):
    """`self` with a range of a dim replaced."""
    _check_slice(src.shape, (*self.shape[:dim], length, *self.shape[dim + 1:]))
    return _slice_write(self, copied(src, self.dtype), dim=dim, start=start, length=length, step=step)


@op("diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor", out=False, lies=like_first, node="DiagonalScatterBackward0",
    samples=[call(real(3, 4), real(3)), call(real(3, 4), real(2), -1)], kinks=SMOOTH,
    errors=[fails(call(real(3, 4), real(4)), RuntimeError, "expected src to have a size equal to the slice of self. src size = [4], slice size = [3]")])
def diagonal_scatter(self, src, *, offset=0, dim1=0, dim2=1):
    """`self` with a diagonal replaced."""
    a, b, _, _, n = diagonal_plan(self.ndim, self.shape, offset, dim1, dim2)
    _check_slice(src.shape, (*[s for d, s in enumerate(self.shape) if d not in (a, b)], n))
    return diagonal_put(self, copied(src, self.dtype), offset, dim1, dim2)


def _scatter_tangent(out, primals, tangents, *, size, stride, storage_offset=None):
    """What torch 2.13's gradients are the transpose of: `self` gets that of the elements replaced."""
    t, u = tangents
    shape = out.shape
    where = strided_index(shape, contiguous_strides(shape), size, stride, storage_offset or 0).reshape(-1)
    total = jnp.zeros(out.size, out.dtype)
    if t is not None:
        total = jnp.where(jnp.zeros(out.size, bool).at[where].set(True), t.reshape(-1), 0)
    if u is not None:
        total = total.at[where].add(u.reshape(-1).astype(out.dtype))
    return total.reshape(shape)


@op("as_strided_scatter(Tensor self, Tensor src, int[] size, int[] stride, int? storage_offset=None) -> Tensor", out=False, node="AsStridedScatterBackward0",
    derivative=rule(_scatter_tangent), tangent=lambda out, primals, tangents, **geometry: as_strided_scatter(*tangents, **geometry),
    samples=[call(real(3, 4), real(4), (4,), (1,)), call(real(3, 4), real(2, 2), (2, 2), (1, 4), 1)], kinks=SMOOTH)
def as_strided_scatter(self, src, *, size, stride, storage_offset=None):
    """`self` (taken as row-major) with the elements of a geometry replaced."""
    _check_slice(src.shape, size)
    where = strided_index(self.shape, contiguous_strides(self.shape), size, stride, storage_offset or 0)
    if where is None:
        need = (sum((n - 1) * s for n, s in zip(size, stride)) + (storage_offset or 0) + 1) * self.dtype.itemsize
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {storage_offset or 0}, and itemsize {self.dtype.itemsize} requiring a storage "
            f"size of {need} are out of bounds for storage of size {numel(self.shape) * self.dtype.itemsize}")
    unique = len(np.unique(where)) == where.size
    flat = self.reshape(-1).at[where].set(copied(src.reshape(-1), self.dtype), unique_indices=unique)
    return flat.reshape(self.shape)


@op("_narrow_copy(Tensor self, int dim, int start, *, int length) -> Tensor", node="NarrowCopyBackward0", names=(), lift=("start",),
    samples=[call(real(3, 4), 0, 1, length=2)], kinks=SMOOTH)
def _narrow_copy(self, *, dim, start, length):
    """A copy of a range of a dim."""
    return jax.lax.dynamic_slice_in_dim(self, start, length, dim, allow_negative_indices=False)


# The same functions under the nodes that torch gives to their in-place forms

def _renamed(schema, node, body, sample):
    op(schema, node=node, names=(), samples=[sample], kinks=SMOOTH)(body)


_renamed("_t_(Tensor self) -> Tensor", "TBackward1", lambda self: shape.t(self), call(real(2, 3)))
_renamed("_transpose_(Tensor self, int dim0, int dim1) -> Tensor", "TransposeBackward1",
         lambda self, *, dim0, dim1: shape.transpose(self, dim0=dim0, dim1=dim1), call(real(2, 3), 0, 1))
_renamed("_as_strided_(Tensor self, int[] size, int[] stride, int offset, int[] own, int? storage_offset=None) -> Tensor", "AsStridedBackward1",
         lambda self, *, size, stride, offset, own, storage_offset=None: _as_strided(self, size=size, stride=stride, offset=offset, own=own), call(real(6), (2,), (2,), 1, (1,)))
_renamed("_unsqueeze_(Tensor self, int dim) -> Tensor", "UnsqueezeBackward1", lambda self, *, dim: shape.unsqueeze(self, dim=dim), call(real(2), 0))
_renamed("_squeeze_(Tensor self) -> Tensor", "SqueezeBackward3", lambda self: shape.squeeze(self), call(real(2, 1)))
_renamed("_squeeze_.dim(Tensor self, int dim) -> Tensor", "SqueezeBackward4", lambda self, *, dim: shape.squeeze_dim(self, dim=dim), call(real(2, 1), 1))
_renamed("_squeeze_.dims(Tensor self, int[] dim) -> Tensor", "SqueezeBackward5", lambda self, *, dim: shape.squeeze_dims(self, dim=dim), call(real(2, 1), (1,)))
