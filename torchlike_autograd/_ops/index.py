"""Reading and writing by index tensors (layer 2)."""

from __future__ import annotations

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np

from .._core.dtypes import from_numpy_dtype
from .._core.shapes import broadcast, wrap_dim
from .casts import convert
from .conventions import straight, type_words, wide
from .memory import indexed, like_first
from .norm import norm_of
from .opened import is_int64
from .places import (
    LONGS,
    added,
    along,
    along_dim,
    at_least_1d,
    char,
    first_offence,
    in_range,
    library,
    long,
    matching_entries,
    of_arrays,
    offender,
    out_of_bounds,
    put_last,
    taken,
    truth,
    where_elements_are,
    where_entries_are,
)
from .registry import NONE, SMOOTH, at, call, fails, op, real

# Indexing with several tensors at once: the places of advanced indices among the dims are structure

def _spread(indices, dims, ndim):
    """The full index tuple, with the indices in the given dims."""
    out = [slice(None)] * ndim
    for d, i in zip(dims, indices):
        out[d] = i.astype(jnp.int64)
    return tuple(out)


def indexed_shape(shape, shapes, dims):
    """The shape of an indexing result; torch's error where index tensors do not broadcast."""
    try:
        common = broadcast(*shapes)
    except RuntimeError:
        raise IndexError("shape mismatch: indexing tensors could not be broadcast together with shapes " + ", ".join(str(list(s)) for s in shapes)) from None
    adjacent = dims[-1] - dims[0] == len(dims) - 1
    left = shape[:dims[0]] if adjacent else tuple([n for d, n in enumerate(shape) if d not in dims and d < dims[-1]])
    right = shape[dims[-1] + 1:]
    return (*left, *common, *right) if adjacent else (*common, *left, *right)


def _same_rank(indices):
    rank = max(i.ndim for i in indices)
    return [i.reshape((1,) * (rank - i.ndim) + i.shape) for i in indices]


@of_arrays
def _each_in_range(self, indices, *rest, dims, **_):
    """The code of `first_of_several`; nobody looks where nothing is read."""
    return 0 if 0 in _places_read(self, indices, dims) else first_of_several(self.shape, indices, dims)


def first_of_several(shape, indices, dims):
    """0, or the code of the first value out of range times 16 plus the number of its index tensor.

    The first in what is read, by rows: not all values of one index tensor come before those of the next.
    """
    common, code, first = broadcast(*[i.shape for i in indices]), 0, 0
    for n, (index, d) in enumerate(zip(indices, dims)):
        own, place = first_offence(index, shape[d], -shape[d])
        at, where = _place_among(common, index.shape, place), library(index).where
        sooner = (own != 0) & ((code == 0) | (at < first))
        code, first = where(sooner, own * 16 + n, code), where(sooner, at, first)
    return code


def _place_among(common, shape, place):
    """Where an element of an array of this shape comes first among those that it is broadcast to."""
    at, below, step = 0, 1, 1
    for own, n in zip(reversed(shape), reversed(common)):
        at = at + place // below % own * step
        below, step = below * own, step * n
    return at


def several_error(code, shape, *_, dims, **__):
    """The error of `_each_in_range`."""
    return IndexError(f"index {offender(code // 16)} is out of bounds for dimension {code % 16} with size {shape[dims[code % 16]]}")


_SEVERAL = {"guard": _each_in_range, "guard_error": several_error}


def _places_read(self, indices, dims):
    """The shape of what is read or written; torch's error where the indices name places of a dim of size 0."""
    shapes = [i.shape for i in indices]
    shape = indexed_shape(self.shape, shapes, dims)
    if any(self.shape[d] == 0 for d in dims) and 0 not in broadcast(*shapes):
        raise IndexError("index is out of bounds for dimension with size 0")
    return shape


@op("_index(Tensor self, Tensor[] indices, int[] dims) -> Tensor", node="IndexBackward0", lies=indexed, names=(), zero_second=True, saves={"self": ("indices",)},
    **_SEVERAL, samples=[call(real(3, 4), (long(0, 2, 0),), (0,)), call(real(3, 4, 2), (long([[0], [1]]), long(0, 1)), (0, 2))], kinks=SMOOTH)
def _index(self, indices, *, dims):
    """Elements at index tensors, broadcast together, in the dims given; all of the other dims."""
    _places_read(self, indices, dims)
    if len(dims) == 1:
        return taken(self, indices[0].astype(jnp.int64), dims[0], negative=True)
    return self.at[_spread(_same_rank(indices), dims, self.ndim)].get(mode="clip")


@op("_index_put(Tensor self, Tensor[] indices, Tensor values, int[] dims, bool accumulate) -> Tensor", node="IndexPutBackward0", names=(),
    saves={"self": ("indices",), "values": ("indices",)}, inplace=False, **_SEVERAL, samples=[call(real(3, 4), (long(0, 2),), real(2, 4), (0,), False),
    call(real(3, 4), (long(0, 0),), real(4), (0,), True)], kinks=[call(real(2), (long(0, 0),), real(2), (0,), False)])
def _index_put(self, indices, values, *, dims, accumulate):
    """`values` written (or added) at the places that `_index` reads."""
    values = broadcast_values(values, _places_read(self, indices, dims))
    check_put_dtype(self, values)
    full = _spread(_same_rank(indices), dims, self.ndim)
    if accumulate:
        return self.at[full].max(values, mode="clip") if self.dtype == bool else self.at[full].add(values, mode="clip")
    wrapped = [_wrap(i, n) for i, n in zip(full, self.shape)]
    return put_last(self, values, [i for i in wrapped if not isinstance(i, slice)], [None if not isinstance(i, slice) else i for i in wrapped])


@op("_index_put_repeated(Tensor self, Tensor[] indices, Tensor values, int[] dims, bool accumulate, int[] repeated) -> Tensor", node=None, names=(),
    derivative=NONE, out=False, **_SEVERAL, samples=[call(real(3, 4, grad=False), (long(0, 2),), real(2, 4, grad=False), (0,), False, (1,))], kinks=SMOOTH)
def _index_put_repeated(self, indices, values, *, dims, accumulate, repeated):
    """`_index_put` to a tensor whose elements are one along the dims `repeated`, which become 1: what is written last remains, all that is added counts."""
    how = {"dims": dims, "accumulate": accumulate}
    once = functools.reduce(lambda x, d: jax.lax.slice_in_dim(x, 0, 1, axis=d), repeated, self)
    if accumulate:
        added = _index_put(jnp.zeros_like(self), indices, values, **how)
        return once | jnp.any(added, repeated, keepdims=True) if self.dtype == bool else once + jnp.sum(added, repeated, keepdims=True, dtype=self.dtype)
    new = _index_put(self, indices, values, **how)
    shape = indexed_shape(self.shape, [i.shape for i in indices], dims)
    turn = _index_put(jnp.full(self.shape, -1, jnp.int64), indices, jnp.arange(math.prod(shape)).reshape(shape), **how)
    for d in repeated:
        last = jnp.argmax(turn, d, keepdims=True)
        new, turn = (jnp.take_along_axis(x, last, d) for x in (new, turn))
    return jnp.where(turn >= 0, new, once)


def _wrap(index, size):
    return index if isinstance(index, slice) else jnp.where(index < 0, index + size, index)


def check_put_dtype(self, values):
    """index_put does not convert."""
    if values.dtype != self.dtype:
        raise RuntimeError(f"Index put requires the source and destination dtypes match, got {char(self)} for the destination and {char(values)} for the source.")


def broadcast_values(values, shape):
    """Values of an indexed assignment in the shape of its places."""
    extra = values.ndim - len(shape)
    if extra > 0 or any(n not in (1, m) for n, m in zip(values.shape, shape[-values.ndim:] if values.ndim else ())):
        raise RuntimeError(f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to indexing result of shape {list(shape)}")
    return jnp.broadcast_to(values, shape)


@op("_mask_put(Tensor self, Tensor mask, Tensor values, int dim) -> Tensor", node="IndexPutBackward0", names=(), scalars=("values",),
    saves={"self": ("mask",), "values": ("mask",)}, samples=[call(real(3, 4), truth([True, False, True]), 1.5, 0), call(real(2, 2), truth([[True, False], [True, True]]),
    real(()), 0)], kinks=SMOOTH)
def _mask_put(self, mask, values, *, dim):
    """One value written where a mask over the dims from `dim` on is true: needs no data."""
    full = mask.reshape((1,) * dim + mask.shape + (1,) * (self.ndim - dim - mask.ndim))
    return jnp.where(full, convert(values.reshape(()), from_numpy_dtype(self.dtype)), self)


# One dim, one vector of indices

def _out_of_range(value, shape, size, *, dim=0, **_):
    """torch 2.13 has another kernel for the second dim."""
    if len(shape) > 1 and wrap_dim(dim, len(shape)) == 1:
        return RuntimeError(f"INDICES element is out of DATA bounds, id={value} axis_dim={size}")
    return IndexError("index out of range in self")


_OUT_OF_RANGE = in_range(along_dim, _out_of_range)


def _are_rows(x, d):
    """Whether the entries of a dim are whole rows or columns."""
    return x.ndim > 1 and d in (0, x.ndim - 1)


def _vector(index):
    return index.reshape(-1).astype(jnp.int64)


@op("index_select(Tensor self, int dim, Tensor index) -> Tensor", node="IndexSelectBackward0", zero_second=True, saves={"self": ("index",)},
    **_OUT_OF_RANGE, samples=[call(real(3, 4), 0, long(0, 2, 0)), call(real(3, 4), -1, long(3)), call(real(()), 0, long(0))], kinks=SMOOTH,
    errors=[fails(call(real(3, 4), 0, long(3)), IndexError, "index out of range in self"),
            fails(call(real(3, 4), 0, long([[0]])), IndexError, "index_select(): Index is supposed to be a vector"),
            fails(call(real(3, 4), 0, at(0.0, grad=False)), RuntimeError, "index_select(): Expected dtype int32 or int64 for index")])
def index_select(self, index, *, dim):
    """The entries of a dim that `index` names."""
    d = wrap_dim(dim, self.ndim)
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if index.dtype not in LONGS:
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    if not self.ndim and index.size != 1:
        raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {index.size} value(s)")
    if self.ndim and self.shape[d] == 0 and index.size:
        if self.ndim == 1:
            raise IndexError("index out of range in self")
        raise RuntimeError("index_select(): self indexing axis dim should be positive")
    x = at_least_1d(self)
    out = taken(wide(x) if _are_rows(x, d) else x, _vector(index), d).astype(x.dtype)  # its gradient is index_add's
    return out.reshape(()) if self.ndim == 0 else out


def _added_source(self, index, source, d):
    if index.ndim > 1:
        raise IndexError("index_add_(): Index is supposed to be a vector, but got dim: " + f"{index.ndim} with type: {char(index)} and size: {list(index.shape)}")
    if index.dtype not in LONGS:
        raise RuntimeError(f"index_add_(): Expected dtype int32/int64 for index but got: {char(index)}")
    if self.dtype != source.dtype:
        raise RuntimeError(f"index_add_(): self ({char(self)}) and source ({char(source)}) must have the same scalar type")
    matching_entries("index_add_", self, index, source, d)


def _added_outside(value, shape, size, **keywords):
    return out_of_bounds(RuntimeError)(value, shape, size, **keywords) if len(shape) > 1 else IndexError("index out of range in self")


def _added_tangent(out, primals, tangents, *, dim, alpha=1):
    """In forward mode a complex alpha counts as it does in the sum; in the gradient torch does not conjugate it."""
    t, u = (jnp.zeros_like(x) if v is None else v for x, v in zip((primals[0], primals[2]), (tangents[0], tangents[2])))
    return index_add(t, primals[1], u, dim=dim, alpha=alpha)


@op("index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor", node="IndexAddBackward0", lift=("alpha",), inplace=True, tangent=_added_tangent,
    saves={"source": ("index", "source")}, **in_range(where_elements_are, _added_outside), samples=[call(real(3, 4), 0, long(0, 2), real(2, 4)), call(real(3, 4), 1, long(1, 1), real(3, 2), alpha=2.5)], kinks=SMOOTH,
    errors=[fails(call(real(3), 0, long(3), real(1)), IndexError, "index out of range in self"),
            fails(call(real(3, 2), 0, long(3), real(1, 2)), RuntimeError, "index 3 is out of bounds for dimension 0 with size 3"),
            fails(call(real(3), 0, long(0), real(2)), RuntimeError, "index_add_(): Number of indices (1) should be equal to source.size(dim): (2), for dim: 0")])
def index_add(self, index, source, *, dim, alpha=1):
    """alpha * source added to the entries of a dim that `index` names."""
    d = wrap_dim(dim, self.ndim)
    _added_source(self, index, source, d)
    if self.size == 0:
        return self
    x, source = at_least_1d(self), at_least_1d(source)
    if self.dtype == bool:
        return x.at[along(x.ndim, d, _vector(index))].max(source & convert(alpha, from_numpy_dtype(self.dtype)), mode="clip", wrap_negative_indices=False).reshape(self.shape)
    alpha = convert(alpha, from_numpy_dtype(self.dtype))
    if jnp.iscomplexobj(alpha):
        scaled = source * alpha if x.ndim == 1 else jnp.where(alpha == 1, source, source * alpha)  # rows are added as they are: infinity times 1 + 0j is not
        source = straight(scaled, source * jnp.conj(alpha))  # torch 2.13: it enters the gradient as it is, not conjugated
    else:
        source, plain = source * alpha, source
    out = added(x, _vector(index), d, source)
    if _are_rows(x, d) and (whole := wide(x)) is not x:  # torch 2.13 adds those of halves that are not scaled as scatter_add does
        out = jnp.where(alpha == 1, added(whole, _vector(index), d, wide(plain)).astype(x.dtype), out)
    return out.reshape(self.shape)


def _copied_source(self, index, source, d):
    if index.ndim > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {index.ndim})")
    if self.ndim and source.ndim and self.ndim != source.ndim:
        raise IndexError("index_copy_(): When source and destination are not scalars, their dimensionality must match. Source dimensionality "
                         f"({source.ndim}), destination dimensionality ({self.ndim})")
    if not is_int64(index):
        raise RuntimeError(f"index_copy_(): Expected a long tensor for index, but got {char(index)}")
    if self.dtype != source.dtype:
        raise RuntimeError(f"index_copy_(): self and source expected to have the same dtype, but got (self) {char(self)} and (source) {char(source)}")
    rest = lambda s: tuple([n for k, n in enumerate(s) if k != d])  # noqa: E731
    have, get = rest(self.shape), rest(source.shape) if source.ndim else ()
    if not source.ndim and index.size != 1:
        raise IndexError(f"index_copy_(): When source is scalar, index should have one element (got {index.size})")
    if have != get:
        words = [" ".join(map(str, s)) for s in (have, get)]  # torch 2.13 counts the dim of the source as the first
        raise RuntimeError("index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: "
                           f"{words[0]} at dimension {d} and source slice shape: {words[1]} at dimension 0.")
    if source.ndim and index.size != source.shape[d]:
        raise IndexError(f"index_copy_(): Number of indices ({index.size}) should be equal to source.size(dim) ({source.shape[d]})")


@op("index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor", node="IndexCopyBackward0", inplace=True,
    saves={"self": ("index",), "source": ("index", "source")}, **in_range(where_entries_are, out_of_bounds(IndexError, "index_copy_(): ")), samples=[call(real(3, 4), 0, long(0, 2), real(2, 4)), call(real(3, 4), 1, long(1), real(3, 1))],
    kinks=[call(real(3, 2), 0, long(1, 1), real(2, 2))],
    errors=[fails(call(real(3), 0, long(3), real(1)), IndexError, "index_copy_(): index 3 is out of bounds for dimension 0 with size 3"),
            fails(call(real(3), 0, long(0), real(2)), IndexError, "index_copy_(): Number of indices (1) should be equal to source.size(dim) (2)")])
def index_copy(self, index, source, *, dim):
    """source written to the entries of a dim that `index` names."""
    d = wrap_dim(dim, self.ndim)
    _copied_source(self, index, source, d)
    if self.size == 0 and (not index.size or self.shape[d]):
        return self
    x = at_least_1d(self)
    return put_last(x, at_least_1d(source), (_vector(index),), along(x.ndim, d, None)).reshape(self.shape)


def _both_ways(shape, *, dim, **_):
    n = where_entries_are(shape, dim=dim)[0]
    return n, -n


_ENTRIES = in_range(_both_ways, out_of_bounds(IndexError))


def _filled_entries(self, index, value, dim):
    d = wrap_dim(dim, self.ndim)
    if not is_int64(index):
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if index.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    x = at_least_1d(self)
    n = x.shape[d]
    chosen = jnp.zeros(n, bool).at[_vector(index)].set(True, mode="drop")
    chosen = chosen.reshape([n if k == d else 1 for k in range(x.ndim)])
    return jnp.where(chosen, convert(value, from_numpy_dtype(self.dtype)), x).reshape(self.shape)


@op("index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor", out=False, lies=like_first, node="IndexFillBackward1", saves={"self": ("index",), "value": ("index",)},
    inplace=True, **_ENTRIES, samples=[call(real(3, 4), 0, long(0, 2), real(()))], kinks=[call(real(3), 0, long(0, 0), real(()))],
    errors=[fails(call(real(3), 0, long(0), real(2)), RuntimeError, "index_fill_ only supports a 0-dimensional value tensor, but got tensor with 1 dimension(s).")])
def index_fill_tensor(self, index, value, *, dim):
    """A 0-dim tensor written to the entries of a dim that `index` names."""
    if value.ndim:
        raise RuntimeError(f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.ndim} dimension(s).")
    return _filled_entries(self, index, value, dim)


@op("index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor", out=False, lies=like_first, node="IndexFillBackward0", saves={"self": ("index",)}, lift=("value",),
    inplace=True, **_ENTRIES, samples=[call(real(3, 4), 0, long(0, 2), 1.5), call(real(()), 0, long(0), 2.0)], kinks=SMOOTH,
    errors=[fails(call(real(3), 0, long(3), 1.0), IndexError, "index 3 is out of bounds for dimension 0 with size 3")])
def index_fill(self, index, *, dim, value):
    """One number written to the entries of a dim that `index` names."""
    return _filled_entries(self, index, value, dim)


# The flattened tensor

def _whole(shape, **_):
    return math.prod(shape), -math.prod(shape)


_FLAT = in_range(_whole, lambda value, shape, size, **_: IndexError(f"out of range: tried to access index {value} on a tensor of {size} elements."))


def _flat_places(name, index, size):
    if not is_int64(index):
        raise RuntimeError(f"{name}(): Expected a long tensor for index, but got {char(index)}")
    flat = index.reshape(-1)
    return jnp.where(flat < 0, flat + size, flat)


@op("take(Tensor self, Tensor index) -> Tensor", node="TakeBackward0", zero_second=True, saves={"self": ("self", "index")}, **_FLAT, samples=[call(real(3, 4), long(0, -1, 5)),
    call(real(3, 4), long([[0, 1], [2, 2]]))], kinks=SMOOTH,
    errors=[fails(call(real(3, 4), long(12)), IndexError, "out of range: tried to access index 12 on a tensor of 12 elements."),
            fails(call(real(3), at(0.0, grad=False)), RuntimeError, "take(): Expected a long tensor for index, but got Double")])
def take(self, index):
    """Elements of the flattened tensor."""
    if self.size == 0 and index.size:
        raise IndexError("take(): tried to take from an empty tensor")
    where = _flat_places("take", index, self.size)
    return self.reshape(-1).at[where].get(mode="clip", wrap_negative_indices=False).reshape(index.shape)


@op("put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor", out=False, lies=like_first, node="PutBackward0", inplace=True,
    saves={"self": ("index",), "source": ("index", "source")}, **_FLAT, samples=[call(real(3, 4), long(0, -1), real(2)), call(real(3), long(1, 1), real(2), True)],
    kinks=[call(real(3), long(0, 0), real(2))],
    errors=[fails(call(real(3), long(3), real(1)), IndexError, "out of range: tried to access index 3 on a tensor of 3 elements.")])
def put(self, index, source, *, accumulate=False):
    """source written or added to elements of the flattened tensor."""
    where = _flat_places("put_", index, self.size)
    if self.dtype != source.dtype:
        raise RuntimeError(f"put_(): self and source expected to have the same dtype, but got self.dtype = {char(self)} and source.dtype = {char(source)}")
    if index.size != source.size:
        raise IndexError("put_(): Expected source and index to have the same number of elements, but got source.numel() = "
                         f"{source.size}, index.numel() = {index.size}")
    if self.size == 0 and index.size:
        raise IndexError("put_(): Tried to put elements into an empty tensor")
    flat, src = self.reshape(-1), source.reshape(-1)
    out = _accumulated(flat, where, src) if accumulate else put_last(flat, src, (where,), (None,))
    return out.reshape(self.shape)


def _accumulated(flat, where, src):
    return flat.at[where].max(src, mode="clip") if flat.dtype == bool else flat.at[where].add(src, mode="clip")


# Rows of a table

@op("embedding(Tensor weight, Tensor indices, int padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False) -> Tensor", out=False, node="EmbeddingBackward0", zero_second=True, sparse="sparse",
    tangent=lambda out, primals, tangents, **_: _rows(tangents[0], primals[1], -1), method=False, saves={"weight": ("indices",)},
    **in_range(lambda shape, **_: (shape[0], 0), _out_of_range), samples=[call(real(4, 3), long([[0, 2], [2, 1]])), call(real(4, 3), long(0, 2, 0), 0), call(real(4, 3),
    long(0, 2, 0), -1, True)], kinks=SMOOTH,
    errors=[fails(call(real(4, 3), long(4)), IndexError, "index out of range in self"), fails(call(real(3), long(0)), RuntimeError, "'weight' must be 2-D")])
def embedding(weight, indices, *, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    """Rows of `weight`; the row of padding_idx gets no gradient, the others' may be divided by how often they occur."""
    if weight.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    if indices.dtype not in LONGS:
        raise RuntimeError(f"Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
                           f"{type_words(char(indices))} instead (while checking arguments for embedding)")
    if indices.size and not weight.shape[0]:
        raise RuntimeError("index_select(): self indexing axis dim should be positive")
    if scale_grad_by_freq:
        return _rows_by_frequency(weight, indices, padding_idx)
    return _rows(weight, indices, padding_idx)


def _rows(weight, indices, padding_idx):
    rows = taken(weight, indices, 0)
    if padding_idx >= 0:
        rows = jnp.where((indices == padding_idx)[..., None], jax.lax.stop_gradient(rows), rows)
    return rows


# torch 2.13: the gradient is divided by how often a row occurs, but the derivative of that gradient is not

@functools.partial(jax.custom_vjp, nondiff_argnums=(2,))
def _rows_by_frequency(weight, indices, padding_idx):
    return _rows(weight, indices, padding_idx)


@functools.partial(jax.custom_vjp, nondiff_argnums=(2, 3))
def _table_gradient(g, indices, size, padding_idx):
    counts = jnp.zeros(size, jnp.int64).at[indices.reshape(-1)].add(1, mode="clip")
    g = g / counts[indices][..., None].astype(g.dtype)
    if padding_idx >= 0:
        g = jnp.where((indices == padding_idx)[..., None], jnp.zeros((), g.dtype), g)
    return jnp.zeros((size, g.shape[-1]), g.dtype).at[indices].add(g, mode="clip", wrap_negative_indices=False)


def _no_tangent(indices):
    return np.zeros(indices.shape, jax.dtypes.float0)


_rows_by_frequency.defvjp(lambda weight, indices, padding_idx: (_rows(weight, indices, padding_idx), (indices, weight.shape[0])),
                          lambda padding_idx, kept, g: (_table_gradient(g, kept[0], kept[1], padding_idx), _no_tangent(kept[0])))
_table_gradient.defvjp(lambda g, indices, size, padding_idx: (_table_gradient(g, indices, size, padding_idx), indices),
                       lambda size, padding_idx, indices, t: (_masked_rows(t, indices, padding_idx), _no_tangent(indices)))


def _masked_rows(t, indices, padding_idx):
    rows = taken(t, indices, 0)
    return rows if padding_idx < 0 else jnp.where((indices == padding_idx)[..., None], jnp.zeros((), rows.dtype), rows)


@op("_renormed(Tensor self, Tensor indices, *, float max_norm, float norm_type) -> Tensor", node="torch::autograd::NotImplemented", names=(), nondiff=("indices",),
    samples=[call(real(4, 3), long(0, 2), max_norm=1.0, norm_type=2.0)], kinks=SMOOTH)
def _renormed(self, indices, *, max_norm, norm_type):
    """The rows that `indices` name scaled down to max_norm where their norm is greater; a tangent stays as it is, as in torch, which writes beside autograd."""
    return straight(_scaled_rows(jax.lax.stop_gradient(self), indices, max_norm, norm_type), self)


def _scaled_rows(self, indices, max_norm, norm_type):
    size = norm_of(self, norm_type, (1,), True)
    named = jnp.zeros((self.shape[0], 1), bool).at[indices.reshape(-1)].set(True)
    return jnp.where(named & (size > max_norm), self * (max_norm / (size + 1e-7)), self)
