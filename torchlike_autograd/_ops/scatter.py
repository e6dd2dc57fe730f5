"""Gathering from and scattering to the places that an index tensor names along a dim (layer 2)."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp

from .._core.dtypes import from_numpy_dtype
from .._core.shapes import broadcast, wrap_dim
from .casts import convert
from .conventions import wide
from .places import LONGS, along_dim, at_least_1d, elements, elements_added, in_range, lattice, long, out_of_bounds, put_last, put_linear
from .registry import SMOOTH, UNIMPLEMENTED, call, fails, op, real

_RANGE = in_range(along_dim, out_of_bounds(RuntimeError))

# gather and scatter

def _gather_dim(self, index, dim):
    d = wrap_dim(dim, self.ndim)
    if index.size == 0:
        return d
    if max(index.ndim, 1) != max(self.ndim, 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    for k in range(self.ndim):
        if k != d and index.ndim and index.shape[k] > self.shape[k]:
            raise RuntimeError(
                f"Size does not match at dimension {k} expected index {list(index.shape)} to be no larger than self {list(self.shape)} apart from dimension {d}")
    return d


def _need_long(name, index):
    if index.dtype not in LONGS:
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")


@op("gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor", node="GatherBackward0", zero_second=True, saves={"self": ("self", "index")},
    sparse="sparse_grad", **_RANGE, samples=[call(real(3, 4), 1, long([[0, 3], [1, 1]])), call(real(3), -1, long(2, 2, 0)), call(real(()), 0, long(0))], kinks=SMOOTH,
    errors=[fails(call(real(3, 4), 1, long([[0, 4]])), RuntimeError, "index 4 is out of bounds for dimension 1 with size 4"),
            fails(call(real(3, 4), 1, long(0)), RuntimeError, "Index tensor must have the same number of dimensions as input tensor"),
            fails(call(real(3, 4), 0, long([[0, 1, 2, 1, 0]])), RuntimeError, "Size does not match at dimension 1 expected index [1, 5]")])
def gather(self, index, *, dim, sparse_grad=False):
    """Along a dim, the elements that `index` names; in the other dims its own positions."""
    d = _gather_dim(self, index, dim)
    if index.size:
        _need_long("gather", index)
    if index.size == 0:
        return self.reshape(-1)[:0].reshape(index.shape)
    if self.size == 0:
        return jnp.zeros(index.shape, self.dtype)  # there is nothing to name: the check of the indices says so
    found = elements(wide(at_least_1d(self)), lattice(at_least_1d(index), d))  # its gradient adds up in float32
    return found.astype(self.dtype).reshape(index.shape)


def scatter_dim(self, index, dim, src=None, name="scatter"):
    d = wrap_dim(dim, self.ndim)
    _need_long(name, index)
    if src is not None and src.dtype != self.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if index.size == 0:
        return d
    if max(index.ndim, 1) != max(self.ndim, 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as self tensor")
    if src is not None and max(src.ndim, 1) != max(index.ndim, 1):
        _scatter_src_rank(index, src)
    have, own = at_least_1d(index).shape, at_least_1d(self).shape
    wrong = any(k != d and n > own[k] for k, n in enumerate(have))
    if src is not None and (wrong or any(n > at_least_1d(src).shape[k] for k, n in enumerate(have))):
        raise RuntimeError(f"Expected index {list(index.shape)} to be no larger than self {list(self.shape)} apart from dimension {d} and to be no larger size than "
                           f"src {list(src.shape)}")
    if wrong:
        raise RuntimeError(f"Expected index {list(index.shape)} to be no larger than self {list(self.shape)} apart from dimension {d}")
    return d


def _scatter_src_rank(index, src):
    if 0 < src.ndim < index.ndim and all(n <= m for n, m in zip(index.shape, src.shape)):  # sizes are compared up to the first that is too large
        wrap_dim(src.ndim, src.ndim)
    raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")


def part(src, index, node, compared=False):
    """The part of `src` that `index` covers; as in torch 2.13 there is no gradient for a larger `src` (compared: the formula compares it with the result)."""
    if at_least_1d(src).shape == at_least_1d(index).shape:
        return at_least_1d(src)
    src = at_least_1d(_covered(src, index.shape, node, compared))
    return src if index.size == 0 else src[tuple([slice(0, n) for n in at_least_1d(index).shape])]


def _covered(src, shape, node, compared):
    @jax.custom_jvp
    def same(x):
        return x

    @same.defjvp
    def _(primals, tangents):
        if compared:
            broadcast(src.shape, shape)
        if len(src.shape) == len(shape) and all(m in (1, n) for m, n in zip(src.shape, shape)):  # one row for none: a sum of nothing
            return same(*primals), tangents[0]
        raise RuntimeError(f"Function {node} returned an invalid gradient at index 1 - got {list(shape)} but expected shape compatible with {list(src.shape)}")

    return same(src)


def _scattered(self, index, src, d, how):
    """`how(array, lattice, src)` on arrays with at least one dim."""
    if index.size == 0 or self.size == 0:  # there is nothing to name: the check of the indices says so
        return self
    return how(at_least_1d(self), lattice(at_least_1d(index), d), src).reshape(self.shape)


def _set(x, where, src, put=put_last):
    return put(x, jnp.broadcast_to(src, where[0].shape if len(where) == 1 else jnp.broadcast_shapes(*[w.shape for w in where])), where, (None,) * len(where))


def _set_tangent(x, where, src):
    return _set(x, where, src, put_linear)


def in_float(f):
    """f(x, where, src, ...) in float32 where that is half precision: torch's scatter rounds once, not at each element."""
    @functools.wraps(f)
    def rounded_once(x, where, src, *rest):
        return f(wide(x), where, wide(src), *rest).astype(x.dtype)
    return rounded_once


@in_float
def _add(x, where, src):
    if x.dtype == bool:
        return x.at[where].max(src, mode="clip", wrap_negative_indices=False)
    return elements_added(x, where, src)


@in_float
def _multiply(x, where, src):
    if x.dtype == bool:
        return x.at[where].min(src.astype(bool), mode="clip", wrap_negative_indices=False)
    return x.at[where].multiply(src, mode="clip", wrap_negative_indices=False)


def _scattered_tangent(how):
    """In forward mode a `src` larger than the index is no error."""
    def tangent(out, primals, tangents, *, dim):
        index, (t, _, u) = primals[1], tangents
        return _scattered(t, index, at_least_1d(u)[tuple([slice(n) for n in at_least_1d(index).shape])], wrap_dim(dim, t.ndim), how)
    return tangent


@op("scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", node="ScatterBackward0", saves={"self": ("index",), "src": ("index",)}, inplace=True,
    tangent=_scattered_tangent(_set_tangent), **_RANGE, samples=[call(real(3, 4), 0, long([[0, 1, 2, 0]]), real(2, 4)), call(real(3), 0, long(2, 0), real(2)), call(real(()), 0, long(0), real(1))],
    kinks=[call(real(3), 0, long(1, 1), real(2))],
    errors=[fails(call(real(3, 4), 0, long([[0, 1, 2, 3]]), real(1, 4)), RuntimeError, "index 3 is out of bounds for dimension 0 with size 3"),
            fails(call(real(3, 4), 0, long(0), real(1, 4)), RuntimeError, "Index tensor must have the same number of dimensions as self tensor"),
            fails(call(real(3), 0, long(0), real(1, dtype="float32")), RuntimeError, "scatter(): Expected self.dtype to be equal to src.dtype")])
def scatter(self, index, src, *, dim):
    """Elements of `src` written where `index` says."""
    d = scatter_dim(self, index, dim, src)
    return _scattered(self, index, part(src, index, "ScatterBackward0"), d, _set)


def _reduction(reduce):
    if reduce not in ("add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    return _add if reduce == "add" else _multiply


@op("scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor", node="torch::autograd::NotImplemented", derivative=UNIMPLEMENTED,
    inplace=True, **_RANGE, samples=[call(real(3, grad=False), 0, long(0, 0), real(2, grad=False), reduce="add")], kinks=SMOOTH)
def scatter_reduced(self, index, src, *, dim, reduce):
    """Elements of `src` added or multiplied in."""
    d = scatter_dim(self, index, dim, src)
    return _scattered(self, index, part(src, index, "ScatterBackward0"), d, _reduction(reduce))


@op("scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor", node="ScatterBackward1", saves={"self": ("index",)}, lift=("value",), inplace=True,
    **_RANGE, samples=[call(real(3, 4), 0, long([[0, 1, 2, 0]]), 1.5)], kinks=SMOOTH)
def scatter_value(self, index, *, dim, value):
    """One number written where `index` says."""
    d = scatter_dim(self, index, dim)
    return _scattered(self, index, convert(value, from_numpy_dtype(self.dtype)), d, _set)


@op("scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor", node="torch::autograd::NotImplemented",
    derivative=UNIMPLEMENTED, lift=("value",), inplace=True, **_RANGE, samples=[call(real(3, grad=False), 0, long(0, 0), 2.0, reduce="multiply")], kinks=SMOOTH)
def scatter_value_reduced(self, index, *, dim, value, reduce):
    """One number added or multiplied in."""
    d = scatter_dim(self, index, dim)
    src = jnp.broadcast_to(convert(value, from_numpy_dtype(self.dtype)), at_least_1d(index).shape)
    return _scattered(self, index, src, d, _reduction(reduce))


@op("scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", node="ScatterAddBackward0", saves={"src": ("index",)}, inplace=True,
    tangent=_scattered_tangent(_add), **_RANGE, samples=[call(real(3, 4), 0, long([[0, 1, 2, 0], [0, 0, 0, 0]]), real(2, 4)), call(real(3), -1, long(2, 2), real(2))], kinks=SMOOTH)
def scatter_add(self, index, src, *, dim):
    """Elements of `src` added where `index` says."""
    d = scatter_dim(self, index, dim, src)
    return _scattered(self, index, part(src, index, "ScatterAddBackward0"), d, _add)


