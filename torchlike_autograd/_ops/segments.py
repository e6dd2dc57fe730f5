"""Reductions into places named by an index: `scatter_reduce`, `index_reduce` (layer 2)."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np

from .._core.dtypes import FLOAT, from_numpy_dtype
from .._core.shapes import broadcast, contiguous_strides, wrap_dim
from .conventions import only, partials, straight
from .places import along_dim, at_least_1d, elements, elements_added, in_range, lattice, long, matching_entries, out_of_bounds
from .ranks import order
from .registry import SMOOTH, call, fails, op, real
from .scatter import in_float, part, scatter_dim


def _flat(shape, places):
    """Where elements lie in an array of this shape, for their places in each dim."""
    return sum(i * step for i, step in zip(places, contiguous_strides(shape)))


def _touched(shape, places):
    return jnp.zeros(shape, bool).at[places].set(True, mode="clip", wrap_negative_indices=False)


def _added(x, places, src):
    if x.dtype == bool:
        return x.at[places].max(src, mode="clip", wrap_negative_indices=False)
    return elements_added(x, places, src)


def _total(x, places, src, include_self):
    base = x if include_self else jnp.where(_touched(x.shape, places), jnp.zeros((), x.dtype), x)
    return _added(base, places, src)


def _average(x, places, src, include_self, rounded=lambda f: f):
    kind = x.dtype if jnp.issubdtype(x.dtype, jnp.floating) else jnp.int64  # torch counts in the type that it divides in
    count = rounded(_added)(jnp.full(x.shape, int(include_self), kind), places, jnp.ones(src.shape, kind))
    count = jnp.maximum(count, 1).astype(x.dtype)
    total = rounded(_total)(x, places, src, include_self)
    return total / count if from_numpy_dtype(x.dtype).category >= FLOAT else jnp.floor_divide(total, count)


@partials(lambda t, out, x: t * jnp.where(jnp.isfinite(x), 1, jnp.nan).astype(x.dtype))
def _divided_by(x):
    """Factors: torch's gradient divides the product by each, which tells nothing of infinities and NaN."""
    return x


def _product(x, places, src, include_self):
    """Products by a segmented scan over the elements sorted by place: multiplications only, so that zeros are exact at any order."""
    own = x if include_self else jnp.where(_touched(x.shape, places), jnp.ones((), x.dtype), x)
    where = jnp.concatenate([jnp.arange(x.size, dtype=jnp.int64), jnp.broadcast_to(_flat(x.shape, places), src.shape).reshape(-1)])
    ranked = order(where, 0)
    values = jnp.concatenate([own.reshape(-1), src.reshape(-1)])
    values = _divided_by(values) if jnp.issubdtype(values.dtype, jnp.inexact) else values
    where, values = where[ranked], values[ranked]
    first = jnp.concatenate([jnp.ones(1, bool), where[1:] != where[:-1]])

    def join(left, right):
        before = jnp.where(right[0], jnp.ones((), src.dtype), left[1])  # another place's product may be inf or NaN: it must not meet a gradient of 0
        return left[0] | right[0], jnp.where(right[0], right[1], before * right[1])

    _, running = _so_far(join, (first, values))
    last = _added(jnp.ones(x.shape, jnp.int64), places, jnp.ones(src.shape, jnp.int64))
    return running[jnp.cumsum(last.reshape(-1)) - 1].reshape(x.shape)


def _so_far(join, rows):
    """`jax.lax.associative_scan`, which loses the sign of zeros: it lays results between each other by adding zeros."""
    n = rows[0].shape[0]
    if n < 2:
        return rows
    odd = _so_far(join, join([x[: n - 1 : 2] for x in rows], [x[1::2] for x in rows]))
    if n == 2:
        return [jnp.concatenate([x[:1], y]) for x, y in zip(rows, odd)]
    later = join([y[: (n - 1) // 2] for y in odd], [x[2::2] for x in rows])
    return [_in_turn(jnp.concatenate([x[:1], y]), z) for x, y, z in zip(rows, later, odd)]


def _in_turn(even, odd):
    both = jnp.stack([even[: odd.size], odd], 1).reshape(-1)
    return jnp.concatenate([both, even[odd.size:]])


def _extreme(greatest):
    def reduce(x, places, src, include_self):
        touched = _touched(x.shape, places)
        lowest = _lowest(x.dtype, greatest)
        base = x if include_self else jnp.where(touched, lowest, x)
        target = base.at[places]
        result = (target.max if greatest else target.min)(src, mode="clip", wrap_negative_indices=False)
        if from_numpy_dtype(x.dtype).category < FLOAT:
            return result
        result = jax.lax.stop_gradient(result)
        # torch 2.13 counts self among the equals even where it is not included
        mine, theirs = (x == result).astype(x.dtype), (src == elements(result, places)).astype(x.dtype)
        shares = _added(mine, places, theirs)
        own = x / shares * mine
        if not include_self:  # nothing, also where NaN leaves no equals to share among
            own = jnp.where(touched, jnp.zeros((), x.dtype), x / jnp.where(touched, 1, shares) * mine)
        return straight(result, _added(own, places, src / elements(shares, places) * theirs))

    return reduce


def _lowest(dtype, greatest):
    if dtype == bool:  # noqa: E721 - a NumPy dtype
        return jnp.asarray(not greatest)
    if jnp.issubdtype(dtype, jnp.integer):
        info = jnp.iinfo(dtype)
        return jnp.asarray(info.min if greatest else info.max, dtype)
    return jnp.asarray(-jnp.inf if greatest else jnp.inf, dtype)


_ALSO = {"max": "amax", "min": "amin"}  # torch 2.13 takes these in the forward pass
_REDUCTIONS = {"sum": _total, "mean": _average, "prod": _product, "amax": _extreme(True), "amin": _extreme(False)}
_ROUNDED_ONCE = {**_REDUCTIONS, "sum": in_float(_total), "mean": functools.partial(_average, rounded=in_float), "prod": in_float(_product)}


def _reduced(self, index, src, d, reduce, include_self, reductions=_REDUCTIONS):
    x, index = at_least_1d(self), at_least_1d(index)
    if index.size == 0 or self.size == 0:  # an index into nothing is told of when someone looks
        return self
    return reductions[reduce](x, lattice(index, d), src.reshape(index.shape), include_self).reshape(self.shape)


def _without_gradient(x, reduce):
    @jax.custom_jvp
    def same(x):
        return x

    @same.defjvp
    def _(primals, tangents):
        raise RuntimeError(f"Expected 'reduce' to be one of 'sum', 'prod', 'mean', 'amax', 'amin' but got {reduce}.")

    return same(x)


_EVERYTHING = {"self": ("self", "index", "src", "result"), "src": ("self", "index", "src", "result")}


def _reduced_tangent(out, primals, tangents, **how):
    """In forward mode a `src` larger than the index is no error, and extremes do not count a self that is not included, as their gradient does."""
    (x, index, src), (t, _, u) = primals, tangents
    src, u = (at_least_1d(v)[tuple([slice(n) for n in at_least_1d(index).shape])].reshape(index.shape) for v in (src, u))
    if how["reduce"] in ("amax", "amin"):
        d = scatter_dim(x, index, how["dim"], src)
        mine, theirs = (x == out).astype(x.dtype), (src == elements(at_least_1d(out), lattice(at_least_1d(index), d)).reshape(src.shape)).astype(x.dtype)
        total, count = (_reduced(a, index, b, d, "sum", how.get("include_self", True)) for a, b in ((t * mine, u * theirs), (mine, theirs)))
        return total / count
    return jax.jvp(lambda x, src: scatter_reduce(x, index, src, **how), (x, src), (t, u))[1]


def _refuse_larger(types, result, wanted, *, reduce, **_):
    """torch's gradient compares all of `src` with the result at the index."""
    if "self" in wanted and reduce in ("prod", "amax", "amin"):
        broadcast(types["src"].shape, types["index"].shape)


def _refuse_zeros(name, src):
    """torch's error for the second derivative of a product where several zeros meet."""
    def refuse(arrays, shape, *, dim, **_):
        if src not in arrays:  # of no elements: it is not read
            return
        zeros, index = arrays[src] == 0, np.atleast_1d(arrays["index"])
        dim, zeros, count = dim % max(len(shape), 1), np.atleast_1d(zeros), np.zeros(shape or (1,), np.int64)
        if name == "index_reduce":
            np.add.at(count, (*[slice(None)] * dim, index), zeros)
        else:
            places = list(np.indices(index.shape))
            places[dim] = index
            np.add.at(count, tuple(places), zeros[tuple([slice(n) for n in index.shape])])
        if (count > 1).any():
            raise RuntimeError(f"{name}(): Double backward is unsupported for {src} when >1 zeros in {src} are scattered to the same position in self")
    return lambda *, reduce, **_: src if reduce == "prod" else None, refuse


@op("scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> Tensor", node="ScatterReduceBackward0",
    forward=lambda *, reduce, **_: reduce != "prod", tangent=_reduced_tangent, refuses_data=_refuse_zeros("scatter_reduce", "src"),
    **in_range(along_dim, out_of_bounds(RuntimeError)), saves=_EVERYTHING, inplace=True, refuses=_refuse_larger, samples=[call(real(3, 4), 0, long([[0, 1, 2, 0], [0, 0, 0, 0]]), real(2, 4), r) for r in _REDUCTIONS] + [
        call(real(3), 0, long(0, 0), real(2), r, include_self=False) for r in _REDUCTIONS],
    kinks=[call(real(3, low=0.0, high=0.0), 0, long(0, 0), real(2, low=0.0, high=0.0), r) for r in ("prod", "amax", "amin")],
    errors=[fails(call(real(3), 0, long(3), real(1), "sum"), RuntimeError, "index 3 is out of bounds for dimension 0 with size 3")])
def scatter_reduce(self, index, src, *, dim, reduce, include_self=True):
    """Elements of `src` reduced into the places that `index` names."""
    d = scatter_dim(self, index, dim, src)
    if (reduce in ("amax", "amin") and jnp.iscomplexobj(self)) or (reduce == "mean" and self.dtype == bool):
        raise NotImplementedError(f"\"scatter_gather_tensor_cpu_reduce_{reduce}\" not implemented for '{from_numpy_dtype(self.dtype).char_name}'")
    if reduce in _ALSO:
        self, reduce = _without_gradient(self, reduce), _ALSO[reduce]
    if reduce not in _REDUCTIONS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    return _reduced(self, index, part(src, index, "ScatterReduceBackward0", reduce in ("prod", "amax", "amin")), d, reduce, include_self, _ROUNDED_ONCE)


def _reduced_outside(value, shape, size, *, dim, include_self, **_):
    if len(shape) > 1 and not size and include_self:
        return IndexError(f"select(): index {value} out of range for tensor of size {list(shape)} at dimension {wrap_dim(dim, len(shape))}")
    return IndexError("index out of range in self")


_EVERY_SOURCE = {"self": ("self", "index", "source", "result"), "source": ("self", "index", "source", "result")}


def _refuse_short_index(types, result, wanted, *, include_self=True, **_):
    """torch's gradient fills the entries of self that do not count."""
    if not include_self and types["index"].dtype.name == "int32":
        raise IndexError("index_fill_(): Expected dtype int64 for index.")


@op("index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> Tensor", forward=False, refuses_data=_refuse_zeros("index_reduce", "source"), node="IndexReduceBackward0",
    **in_range(along_dim, _reduced_outside), saves=_EVERY_SOURCE, inplace=True, real_only=True, refuses=_refuse_short_index,
    samples=[call(real(3, 4), 0, long(0, 0), real(2, 4), r) for r in ("prod", "mean", "amax", "amin")] + [
        call(real(3, 4), 1, long(3, 3), real(3, 2), r, include_self=False) for r in ("prod", "mean", "amax", "amin")], kinks=SMOOTH,
    errors=[fails(call(real(3), 0, long(0), real(1), "sum"), RuntimeError, "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got sum.")])
def index_reduce(self, index, source, *, dim, reduce, include_self=True):
    """source reduced into the entries of a dim that `index` names."""
    d = wrap_dim(dim, self.ndim)
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    _check_entries(self, index, source, d)
    _check_kernels(self, reduce)
    if self.size == 0:
        return self
    source = at_least_1d(source)
    spread = jnp.broadcast_to(index.reshape([-1 if k == d else 1 for k in range(source.ndim)]), source.shape)
    return _reduced(self, spread, source, d, reduce, include_self)


def _check_kernels(self, reduce):
    """Refuse what torch's kernels do not take: one for vectors, and for slices those of the operators they are joined by."""
    if self.ndim < 2:
        only("index_func_", self, "if")
    elif reduce in ("amax", "amin"):
        only("maximum_cpu" if reduce == "amax" else "minimum_cpu", self, "bif")
    elif reduce == "mean" and self.size:
        only("div_floor_cpu", self, "ifc")


def _check_entries(self, index, source, d):
    if index.ndim > 1:
        raise IndexError(f"index_reduce_(): Index is supposed to be a vector, but got dim: {index.ndim} with type: {from_numpy_dtype(index.dtype).char_name} "
                         f"and size: {list(index.shape)}")
    if index.dtype not in ("int64", "int32"):
        raise RuntimeError(f"index_reduce_(): Expected dtype int32/int64 for index but got: {from_numpy_dtype(index.dtype).char_name}")
    names = [from_numpy_dtype(x.dtype).char_name for x in (self, source)]
    if names[0] != names[1]:
        raise RuntimeError(f"index_reduce_(): self ({names[0]}) and source ({names[1]}) must have the same scalar type")
    matching_entries("index_reduce_", self, index, source, d)
