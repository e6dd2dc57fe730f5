"""Extremes, medians, sorting: results that are chosen among the elements (layer 2)."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp

from .._core import dtypes
from .._core.shapes import reduce_dims, wrap_dim
from .compare import maximum, minimum, of_real
from .conventions import char_name, larger_tangent, only, smaller_tangent
from .memory import by_question, like_first
from .ranks import extreme, first_extreme, order, ordered, pick
from .reduce import total, type_of
from .registry import NONE, SMOOTH, Promote, at, call, fails, op, real
from .tracing import fori_loop

_NAN = float("nan")
_PAIR = ("values", "indices")
_INDEX = {"self": ("result1",)}
_TIES = [call(at(1.0, 2.0, 2.0)), call(at(1.0, _NAN, 2.0, _NAN))]
_TIES_DIM = [call(at([[1.0, 2.0, 2.0], [3.0, 1.0, 1.0]]), 1), call(at(1.0, _NAN, 2.0, _NAN), 0)]
_DIMS = [call(real(2, 3), 1), call(real(2, 3, 2), -2, True), call(real(()), 0), call(real(0, 2), 1)]
_OUTSIDE = fails(call(real(2, 3), 2), IndexError, "Dimension out of range (expected to be in range of [-2, 1], but got 2)")


# Helpers

def nonempty(name, x, axes, error=IndexError):
    """torch's error for a reduction without identity over a dim of size 0."""
    for d in axes:
        if x.shape[d] == 0:
            raise error(f"{name}: Expected reduction dim {d} to have non-zero size.")


def _chosen(x, indices, axis, keepdim):
    """(values, indices) of one element per row, `indices` having size 1 along the axis."""
    values = pick(x, indices, axis)
    return (values, indices) if keepdim else (jnp.squeeze(values, axis), jnp.squeeze(indices, axis))


def _by_row(select, x, dim, keepdim):
    """Apply `select(x, axis) -> indices` along a dim; a 0-dim tensor is one row of one element."""
    axis = wrap_dim(dim, x.ndim)
    if x.ndim == 0:
        return x, jnp.zeros((), jnp.int64)
    return _chosen(x, select(x, axis), axis, keepdim)


def _check_rows(name, x, dim):
    axis = wrap_dim(dim, x.ndim)
    if x.ndim:
        nonempty(name, x, (axis,))


# Extremes: gradients are shared by equals without `dim`, and go to the chosen index with it

@partial(jax.custom_jvp, nondiff_argnums=(1, 2, 3, 4))
def _shared(x, axes, keepdims, greatest, nan_shares):
    """max or min over axes; equals share the gradient (NaNs among themselves where `nan_shares`)."""
    return extreme(x, axes, keepdims, greatest)


@_shared.defjvp
def _(axes, keepdims, greatest, nan_shares, primals, tangents):
    x = primals[0]
    full = extreme(x, axes, True, greatest)
    mask = x == full
    if nan_shares:
        mask = mask | jnp.isnan(x)
    count = total(mask.astype(x.dtype), axes, True)
    if nan_shares:  # torch 2.13 fills the gradient in where the mask is, and multiplies by it otherwise: 0 or NaN of a NaN
        share = jnp.where(mask, tangents[0], 0) / count
    else:
        share = tangents[0] * jnp.where(count == 0, jnp.nan, mask.astype(x.dtype) / jnp.where(count == 0, 1, count))  # nobody's share of a NaN is NaN
    return full if keepdims else jnp.squeeze(full, axes), total(share, axes, keepdims)


def _shared_tangent(out, primals, tangents):
    """In forward mode the mean over the elements that equal the result: NaN equals nothing; 0 of nothing."""
    if primals[0].size == 0:
        return jnp.zeros_like(out)
    mask = (primals[0] == out).astype(out.dtype)
    return total(tangents[0] * mask, None) / total(mask, None)


def _extreme_of_all(name, x, greatest):
    if x.size == 0:
        raise RuntimeError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.")
    only(f"{name}_all", x, "bifu")
    return _shared(x, tuple(range(x.ndim)), False, greatest, True)


def _extreme_along(name, x, dim, keepdim, greatest):
    _check_rows(f"{name}()", x, dim)
    if jnp.iscomplexobj(x):
        raise RuntimeError(f"{name}(): does not support complex input")
    return _by_row(partial(first_extreme, greatest=greatest), x, dim, keepdim)


_TWO = [call(real(3), real(3)), call(real(2, 3), real(3))]
_TWO_TIES = [call(at(1.0, 2.0, _NAN, 3.0), at(1.0, 3.0, 2.0, _NAN))]
_TWO_ERRORS = [fails(call(real(2), real(3)), RuntimeError, "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0")]
_NO_DIM = [fails(call(real(0)), RuntimeError,
                 "Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.")]
_EMPTY_DIM = [_OUTSIDE, fails(call(real(0, 3), 0), IndexError, "Expected reduction dim 0 to have non-zero size.")]


@op("max(Tensor self) -> Tensor", node="MaxBackward1", saves={"self": ("self", "result")}, samples=[call(real(2, 3)), call(real(()))], kinks=_TIES,
    tangent=_shared_tangent, errors=_NO_DIM)
def max(self):
    """The greatest element; equals share the gradient."""
    return _extreme_of_all("max", self, True)


@op("max.other(Tensor self, Tensor other) -> Tensor", node="MaximumBackward0", tangent=larger_tangent, promote=Promote.RESULT, inplace=False,
    saves={"self": ("self", "other"), "other": ("self", "other")}, samples=_TWO, kinks=_TWO_TIES, errors=_TWO_ERRORS, check=of_real("maximum"))
def max_other(self, other):
    """The greater of two."""
    return maximum(self, other)


@op("max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", node="MaxBackward0", fields=_PAIR, saves=_INDEX, samples=_DIMS,
    kinks=_TIES_DIM, errors=_EMPTY_DIM)
def max_dim(self, *, dim, keepdim=False):
    """The greatest along a dim and its first index, which takes the gradient."""
    return _extreme_along("max", self, dim, keepdim, True)


@op("min(Tensor self) -> Tensor", node="MinBackward1", saves={"self": ("self", "result")}, samples=[call(real(2, 3)), call(real(()))], kinks=_TIES,
    tangent=_shared_tangent, errors=_NO_DIM)
def min(self):
    """The smallest element; equals share the gradient."""
    return _extreme_of_all("min", self, False)


@op("min.other(Tensor self, Tensor other) -> Tensor", node="MinimumBackward0", tangent=smaller_tangent, promote=Promote.RESULT, inplace=False,
    saves={"self": ("self", "other"), "other": ("self", "other")}, samples=_TWO, kinks=_TWO_TIES, errors=_TWO_ERRORS, check=of_real("minimum"))
def min_other(self, other):
    """The smaller of two."""
    return minimum(self, other)


@op("min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", node="MinBackward0", fields=_PAIR, saves=_INDEX, samples=_DIMS,
    kinks=_TIES_DIM, errors=_EMPTY_DIM)
def min_dim(self, *, dim, keepdim=False):
    """The smallest along a dim and its first index, which takes the gradient."""
    return _extreme_along("min", self, dim, keepdim, False)


def _extreme_over(name, x, dim, keepdim, greatest):
    if x.size == 0 and len(dim) == 0:
        raise RuntimeError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.")
    axes = reduce_dims(dim, x.ndim)
    nonempty(f"{name}()", x, dim if dim and x.ndim else axes)
    only("max_values_cpu" if greatest else "min_values_cpu", x, "bifu")
    return _shared(x, axes, keepdim, greatest, False)


_OVER = [call(real(2, 3)), call(real(2, 3, 2), (0, 2)), call(real(2, 3), 1, True), call(real(()), 0)]


@op("amax(Tensor self, int[1]? dim=[], bool keepdim=False) -> Tensor", node="AmaxBackward0", saves={"self": ("self", "result")}, samples=_OVER,
    kinks=[*_TIES, call(at([[1.0, 2.0, 2.0], [3.0, 3.0, 3.0]]), 1)], errors=_EMPTY_DIM)
def amax(self, *, dim=(), keepdim=False):
    """The greatest over dims; equals share the gradient."""
    return _extreme_over("amax", self, dim or (), keepdim, True)


@op("amin(Tensor self, int[1]? dim=[], bool keepdim=False) -> Tensor", node="AminBackward0", saves={"self": ("self", "result")}, samples=_OVER,
    kinks=[*_TIES, call(at([[1.0, 2.0, 2.0], [3.0, 3.0, 3.0]]), 1)], errors=_EMPTY_DIM)
def amin(self, *, dim=(), keepdim=False):
    """The smallest over dims; equals share the gradient."""
    return _extreme_over("amin", self, dim or (), keepdim, False)


@op("aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)", node="AminmaxBackward0", fields=("min", "max"),
    saves={"self": ("self", "result0", "result1")}, samples=[call(real(2, 3)), call(real(2, 3), dim=1), call(real(2, 3), dim=0, keepdim=True)], kinks=_TIES)
def aminmax(self, *, dim=None, keepdim=False):
    """The smallest and the greatest."""
    if dim is None and self.size == 0:
        raise RuntimeError("aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.")
    axes = reduce_dims(dim, self.ndim)
    nonempty("aminmax", self, axes)
    if dim is not None and self.ndim == 0 and jnp.iscomplexobj(self):
        raise RuntimeError(f"aminmax not implemented for {char_name(self)}")
    only("aminmax_cpu", self, "bif")
    return _shared(self, axes, keepdim, False, False), _shared(self, axes, keepdim, True, False)


def _place(name, x, dim, keepdim, greatest):
    """argmax and argmin: the first of equals, the first NaN."""
    if x.dtype == bool or jnp.iscomplexobj(x):
        raise RuntimeError(f"{name}(): does not support {'bool' if x.dtype == bool else 'complex'} input")
    if dim is None and x.size == 0:
        raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
    if dim is not None:
        _check_rows(f"{name}()", x, dim)
    if dim is not None:
        return _by_row(partial(first_extreme, greatest=greatest), x, dim, keepdim)[1]
    out = first_extreme(x.reshape(-1), 0, greatest)
    return out.reshape((1,) * x.ndim if keepdim else ())


_PLACES = [call(real(2, 3)), call(real(2, 3), 1), call(real(2, 3), 0, True), call(real(()), 0)]


@op("argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", derivative=NONE, samples=_PLACES, kinks=[*_TIES, *_TIES_DIM], errors=_EMPTY_DIM)
def argmax(self, *, dim=None, keepdim=False):
    """The first index of the greatest."""
    return _place("argmax", self, dim, keepdim, True)


@op("argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", derivative=NONE, samples=_PLACES, kinks=[*_TIES, *_TIES_DIM], errors=_EMPTY_DIM)
def argmin(self, *, dim=None, keepdim=False):
    """The first index of the smallest."""
    return _place("argmin", self, dim, keepdim, False)


# Sorting

def _sort(x, dim, descending):
    axis = wrap_dim(dim, x.ndim)
    if jnp.iscomplexobj(x):
        raise RuntimeError(" Sort does not support complex dtypes on CPU")
    if x.ndim == 0:
        return x, jnp.zeros((), jnp.int64)
    indices = order(x, axis, descending)
    return pick(x, indices, axis), indices


_SORTS = [call(real(3, 4)), call(real(3, 4), 0), call(real(5), -1, True), call(real(())), call(real(0))]
_STABLE = [call(real(3, 4), stable=True), call(real(5), stable=True, descending=True)]
_STABLE_TIES = [call(at(3.0, 1.0, 2.0, 1.0, 3.0), stable=True), call(at(3.0, 1.0, _NAN, 1.0, 3.0), stable=True, descending=True)]
_SORT_ERRORS = [_OUTSIDE, fails(call(real(2, dtype="complex128")), RuntimeError, "Sort does not support complex dtypes on CPU")]


@op("sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)", lies=like_first, node="SortBackward0", fields=_PAIR, saves=_INDEX, samples=_SORTS,
    kinks=SMOOTH, errors=_SORT_ERRORS)
def sort(self, *, dim=-1, descending=False):
    """Sorted along a dim, with the indices."""
    return _sort(self, dim, descending)


@op("sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)", lies=like_first, node="SortBackward1", fields=_PAIR,
    saves=_INDEX, samples=_STABLE, kinks=_STABLE_TIES)
def sort_stable(self, *, stable, dim=-1, descending=False):
    """Sorted along a dim, equals in their order."""
    return _sort(self, dim, descending)


@op("argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor", lies=like_first, derivative=NONE, out=False, samples=_SORTS, kinks=SMOOTH, errors=_SORT_ERRORS)
def argsort(self, *, dim=-1, descending=False):
    """The indices that sort along a dim."""
    return _sort(self, dim, descending)[1]


@op("argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor", derivative=NONE, lies=like_first, samples=_STABLE, kinks=_STABLE_TIES)
def argsort_stable(self, *, stable, dim=-1, descending=False):
    """The indices that sort along a dim, equals in their order."""
    return _sort(self, dim, descending)[1]


@op("msort(Tensor self) -> Tensor", lies=like_first, node="SortBackward0", samples=[call(real(3, 2)), call(real(()))], kinks=SMOOTH)
def msort(self):
    """Sorted along the first dim."""
    return _sort(self, 0, False)[0]


@op("topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)", node="TopkBackward0", fields=_PAIR,
    saves=_INDEX, samples=[call(real(5), 2), call(real(3, 4), 2, 0), call(real(3, 4), 2, 1, False), call(real(()), 1)], kinks=[call(at(1.0, _NAN, 3.0), 2)],
    errors=[fails(call(real(3), 4), RuntimeError, "selected index k out of range")])
def topk(self, *, k, dim=-1, largest=True, sorted=True):
    """The k greatest (or smallest) along a dim, best first."""
    axis = wrap_dim(dim, self.ndim)
    if not 0 <= k <= (self.shape[axis] if self.ndim else 1):
        raise RuntimeError("selected index k out of range")
    if self.dtype == bool or jnp.iscomplexobj(self):
        raise RuntimeError(f"{'topk does not support bool' if self.dtype == bool else ' topk does not support complex'} dtypes on CPU")
    if self.ndim == 0:
        return self, jnp.zeros((), jnp.int64)
    indices = order(self, axis, largest, k)
    return pick(self, indices, axis), indices


# Choice by rank

@op("kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)", node="KthvalueBackward0", fields=_PAIR, saves=_INDEX,
    samples=[call(real(5), 2), call(real(3, 4), 1, 0), call(real(3, 4), 2, 1, True), call(real(()), 1)], kinks=[call(at(1.0, _NAN, 3.0), 2)],
    errors=[fails(call(real(3), 4), RuntimeError, "kthvalue(): selected number k out of range for dimension 0")])
def kthvalue(self, *, k, dim=-1, keepdim=False):
    """The k-th smallest along a dim, counted from 1."""
    _check_rows("kthvalue()", self, dim)
    axis = wrap_dim(dim, self.ndim)
    if not 1 <= k <= (self.shape[axis] if self.ndim else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {axis}")
    only("kthvalue_cpu", self, "if")
    return _by_row(lambda x, a: jax.lax.slice_in_dim(order(x, a, k=k), k - 1, k, axis=a), self, dim, keepdim)


def _isnan(x):
    return jnp.isnan(x) if jnp.issubdtype(x.dtype, jnp.floating) else jnp.zeros(x.shape, bool)


def _middle(skip_nan):
    """Select the lower of the middle ones: the first NaN if there is one, or of what is no NaN."""

    def select(x, axis):
        bad = _isnan(x)
        ranked = order(x, axis)
        good = jnp.sum(jnp.logical_not(bad), axis=axis, keepdims=True, dtype=jnp.int64)
        n = x.shape[axis]
        if skip_nan:
            rank = jnp.maximum(good - 1, 0) // 2
        else:
            rank = jnp.where(good < n, good, (n - 1) // 2)
        return pick(ranked, rank, axis)

    return select


@partial(jax.custom_jvp, nondiff_argnums=(1,))
def _median_value(x, skip_nan):
    return x[_middle(skip_nan)(x, 0)[0]]


@_median_value.defjvp
def _(skip_nan, primals, tangents):
    x = primals[0]
    out = _median_value(x, skip_nan)
    mask = jnp.where(jnp.isnan(out), jnp.isnan(x), x == out)
    return out, jnp.sum(jnp.where(mask, tangents[0], 0)) / jnp.sum(mask.astype(x.dtype))


def _nan_as(dtype):
    """NaN as torch's cast has it: the least int32 or int64, as bits; 0 of other integers."""
    if jnp.issubdtype(dtype, jnp.inexact):
        return jnp.asarray(_NAN, dtype)
    return jnp.asarray(1 << 63 if dtype == jnp.uint64 else jnp.iinfo(dtype).min if dtype.itemsize > 3 else 0, dtype)


def _median_of_all(x, skip_nan):
    if x.size == 0:
        return total(x, None) | True if x.dtype == bool else total(x, None) + _nan_as(x.dtype)
    only("median_cpu", x, "if")
    return _median_value(x.reshape(-1), skip_nan)


def _median_along(x, dim, keepdim, skip_nan):
    _check_rows("median()", x, dim)
    only("median_out", x, "if")
    return _by_row(_middle(skip_nan), x, dim, keepdim)


_MEDIAN_TIES = [call(at(2.0, 1.0, 2.0, 3.0, 2.0)), call(at(4.0, 1.0, 3.0, 2.0)), call(at(_NAN, 1.0, _NAN)), call(at(_NAN, _NAN))]
_MEDIAN_DIM = [call(at([[_NAN, 2.0, 1.0], [4.0, 1.0, 3.0]]), 1)]


@op("median(Tensor self) -> Tensor", node="MedianBackward0", saves={"self": ("self", "result")}, real_only=True, samples=[call(real(5)), call(real(2, 3)), call(real(0))],
    kinks=_MEDIAN_TIES, out=False, tangent=_shared_tangent)
def median(self):
    """The lower median; all elements equal to it share the gradient."""
    return _median_of_all(self, False)


@op("median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", node="MedianBackward1", fields=_PAIR, saves=_INDEX,
    samples=_DIMS, kinks=_MEDIAN_DIM, errors=_EMPTY_DIM)
def median_dim(self, *, dim, keepdim=False):
    """The lower median along a dim and its index."""
    return _median_along(self, dim, keepdim, False)


@op("nanmedian(Tensor self) -> Tensor", node="NanmedianBackward0", saves={"self": ("self", "result")}, real_only=True, samples=[call(real(5)), call(real(2, 3))],
    kinks=_MEDIAN_TIES, out=False, tangent=_shared_tangent)
def nanmedian(self):
    """The lower median of what is not NaN."""
    return _median_of_all(self, True)


@op("nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", node="NanmedianBackward1", fields=_PAIR, saves=_INDEX,
    samples=_DIMS, kinks=_MEDIAN_DIM, errors=_EMPTY_DIM)
def nanmedian_dim(self, *, dim, keepdim=False):
    """The lower median of what is not NaN along a dim, and its index."""
    return _median_along(self, dim, keepdim, True)


_INSERTED = 16  # torch's sort inserts one by one up to here


def _sorted_for_mode(x, axis):
    """The indices that sort x; with NaNs in a short row, the order that insertion leaves, since no comparison with NaN holds (torch 2.13's `mode`).

    Longer rows with NaNs have them last here, and where the partitions of its sort leave them there.
    """
    if not jnp.issubdtype(x.dtype, jnp.floating) or not 1 < x.shape[axis] <= _INSERTED:
        return order(x, axis)
    x = jax.lax.stop_gradient(x)
    return jax.lax.cond(jnp.any(jnp.isnan(x)), lambda x: _inserted(x, axis), lambda x: order(x, axis), x)


def _inserted(x, axis):
    """The indices that insertion sort leaves: an element goes to the front if it is less than the first, else behind the last that is not greater."""
    rows = jnp.moveaxis(x, axis, -1)
    place = jax.lax.broadcasted_iota(jnp.int64, rows.shape, rows.ndim - 1)

    def step(i, ranked):
        new = jax.lax.dynamic_slice_in_dim(rows, i, 1, axis=-1)
        less = new < jnp.take_along_axis(rows, ranked, axis=-1)
        last = jnp.max(jnp.where(~less & (place < i), place, -1), axis=-1, keepdims=True)
        at = jnp.where(less[..., :1], 0, last + 1)
        moved = jnp.where(place > 0, jnp.roll(ranked, 1, axis=-1), ranked)
        return jnp.where(place == at, i, jnp.where((place > at) & (place <= i), moved, ranked)).astype(ranked.dtype)

    return jnp.moveaxis(fori_loop(1, rows.shape[-1], step, place), -1, axis)


def _most_frequent(x, axis):
    """The last index of the most frequent value, of several the smallest."""
    ranked = _sorted_for_mode(x, axis)
    values = pick(ordered(x), ranked, axis)
    place = jax.lax.broadcasted_iota(jnp.int64, x.shape, axis)
    n = x.shape[axis]
    ahead = jax.lax.slice_in_dim(values, 1, n, axis=axis) != jax.lax.slice_in_dim(values, 0, n - 1, axis=axis)
    starts = jnp.concatenate([jnp.ones_like(jax.lax.slice_in_dim(place, 0, 1, axis=axis), dtype=bool), ahead], axis=axis)
    run = place - jax.lax.cummax(jnp.where(starts, place, 0), axis=axis)
    best = first_extreme(run, axis, True)
    return pick(ranked, best, axis)


@op("mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)", node="ModeBackward0", fields=_PAIR, saves=_INDEX, real_only=True,
    samples=[call(real(5)), *_DIMS], kinks=[call(at(1.0, 2.0, 2.0, 3.0, 3.0)), call(at([[3.0, 2.0, 3.0, 2.0], [1.0, 1.0, 2.0, 2.0]]), 1)], errors=_EMPTY_DIM)
def mode(self, *, dim=-1, keepdim=False):
    """The most frequent value along a dim and its last index."""
    _check_rows("mode()", self, dim)
    if self.ndim:
        only("mode_cpu", self, "bif")
    return _by_row(_most_frequent, self, dim, keepdim)


# Quantiles

def _quantile(x, q, dim, keepdim, interpolation, skip_nan):
    axis = None if dim is None else wrap_dim(dim, x.ndim)
    rows = x.reshape(-1) if axis is None or x.ndim == 0 else jnp.moveaxis(x, axis, -1)
    at_rank = _at_quantile(rows, q.reshape(-1), interpolation, skip_nan)
    out = jnp.moveaxis(at_rank, -1, 0)
    if keepdim and x.ndim:
        shape = [1] * x.ndim if axis is None else [*x.shape[:axis], 1, *x.shape[axis + 1:]]
        out = out.reshape((out.shape[0], *shape))
    return out if q.ndim else out[0]


def _at_quantile(rows, q, interpolation, skip_nan):
    n = rows.shape[-1]
    ranked = pick(rows, order(rows, rows.ndim - 1), rows.ndim - 1)
    q = q.reshape((1,) * (rows.ndim - 1) + (-1,))
    if skip_nan:
        kept = jnp.sum(jnp.logical_not(jnp.isnan(rows)), axis=-1, keepdims=True).astype(rows.dtype)
        rank = q * (kept - 1)
        rank = jnp.where(rank < 0, 0, rank)
    else:
        rank = jnp.where(jnp.isnan(ranked[..., -1:]), n - 1, q * (n - 1))
    if interpolation in ("lower", "higher", "nearest"):
        rank = {"lower": jnp.floor, "higher": jnp.ceil, "nearest": jnp.round}[interpolation](rank)
    below = jnp.clip(jax.lax.stop_gradient(jnp.floor(rank)).astype(jnp.int64), 0, n - 1)
    low = pick(ranked, below, rows.ndim - 1)
    if interpolation not in ("linear", "midpoint"):
        return low
    above = jnp.clip(jax.lax.stop_gradient(jnp.ceil(rank)).astype(jnp.int64), 0, n - 1)
    high = pick(ranked, above, rows.ndim - 1)
    weight = jnp.full_like(rank, 0.5) if interpolation == "midpoint" else rank - below.astype(rank.dtype)
    weight = jnp.broadcast_to(weight, low.shape)
    return jnp.where(jax.lax.stop_gradient(weight) < 0.5, low + weight * (high - low), high - (high - low) * (1 - weight))


def _check_quantile(x, q, interpolation):
    if interpolation not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise RuntimeError(f"quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}")
    if x.size == 0:
        raise RuntimeError("quantile() input tensor must be non-empty")
    if q is not None and q.ndim > 1:
        raise RuntimeError("quantile() q must be a scalar or 1D tensor")
    if type_of(x) not in (dtypes.float32, dtypes.float64):
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if q is not None and q.dtype != x.dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")


def _scalar_quantile(x, q, dim, keepdim, interpolation, skip_nan):
    if isinstance(q, float) and not 0 <= q <= 1:
        raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q:g}")
    _check_quantile(x, None, interpolation)
    return _quantile(x, jnp.asarray(q).astype(x.dtype), dim, keepdim, interpolation, skip_nan)


_IN_RANGE = {"guard": lambda self, q, **_: jnp.any(jnp.logical_not((q >= 0) & (q <= 1))),
             "guard_error": lambda code, *_, **__: RuntimeError("quantile() q values must be in the range [0, 1]")}
def _fixed_ranks(*, interpolation, **_):
    """Only between ranks does the quantile depend on where it is asked for."""
    return () if interpolation == "linear" else ("q",)


_OUT_OF_RANGE = {"q": lambda q, flat: not 0 <= q <= 1}
_QUANTILES = [call(real(3, 4), 0.3), call(real(3, 4), 0.3, 1, True)] + [
    call(real(5), 0.3, interpolation=m) for m in ("lower", "higher", "nearest", "midpoint")]
_MANY = [call(real(3, 4), at(0.0, 0.25, 1.0), 1), call(real(3, 4), at(0.5, 0.9, grad=False))]
_QUANTILE_TIES = [call(at([[1.0, _NAN, 2.0], [1.0, 2.0, 2.0], [_NAN, _NAN, _NAN]]), 0.5, 1)]
_QUANTILE_ERRORS = [fails(call(real(0), 0.5), RuntimeError, "quantile() input tensor must be non-empty"),
                    fails(call(real(3), 1.5), RuntimeError, "quantile() q must be in the range [0, 1] but got 1.5")]


@op("quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor", lies=by_question, node="SqueezeBackward4", **_IN_RANGE,
    nondiff=_fixed_ranks, samples=_MANY,
    kinks=SMOOTH, errors=[fails(call(real(3), real(2, 2)), RuntimeError, "quantile() q must be a scalar or 1D tensor")])
def quantile(self, q, *, dim=None, keepdim=False, interpolation="linear"):
    """Quantiles along a dim, one for each q in a new first dim."""
    _check_quantile(self, q, interpolation)
    return _quantile(self, q, dim, keepdim, interpolation, False)


@op("quantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor", node="SqueezeBackward4", lift=("q",),
    bake=_OUT_OF_RANGE, samples=_QUANTILES, kinks=_QUANTILE_TIES, errors=_QUANTILE_ERRORS)
def quantile_scalar(self, *, q, dim=None, keepdim=False, interpolation="linear"):
    """One quantile along a dim."""
    return _scalar_quantile(self, q, dim, keepdim, interpolation, False)


@op("nanquantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor", lies=by_question, node="SqueezeBackward4", **_IN_RANGE,
    nondiff=_fixed_ranks, samples=_MANY,
    kinks=SMOOTH)
def nanquantile(self, q, *, dim=None, keepdim=False, interpolation="linear"):
    """Quantiles of what is not NaN."""
    _check_quantile(self, q, interpolation)
    return _quantile(self, q, dim, keepdim, interpolation, True)


@op("nanquantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor", node="SqueezeBackward4",
    lift=("q",), bake=_OUT_OF_RANGE, samples=_QUANTILES, kinks=_QUANTILE_TIES)
def nanquantile_scalar(self, *, q, dim=None, keepdim=False, interpolation="linear"):
    """One quantile of what is not NaN."""
    return _scalar_quantile(self, q, dim, keepdim, interpolation, True)

