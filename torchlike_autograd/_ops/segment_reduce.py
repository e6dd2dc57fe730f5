"""Reductions over stretches of a dim given by lengths or offsets: `segment_reduce` (layer 2)."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp

from .._core.dtypes import FLOAT, from_numpy_dtype
from .._core.shapes import wrap_dim
from .conventions import always, straight
from .places import long
from .registry import at, call, fails, op, real

_NAMES = {"max": "amax", "min": "amin", "sum": "sum", "mean": "mean", "prod": "prod", "amax": "amax", "amin": "amin"}
_EMPTY = {"amax": -jnp.inf, "amin": jnp.inf, "sum": 0, "mean": 0, "prod": 1}
_HALVES = (jnp.float16, jnp.bfloat16)


def _bounds(data, lengths, offsets, axis):
    """Where every segment starts and ends along the axis: (..., segments)."""
    given, word = (lengths, "lengths") if lengths is not None else (offsets, "offsets")
    d = wrap_dim(axis, data.ndim)
    if data.ndim < given.ndim:
        raise RuntimeError(f"Expected data.dim() >= {word}_value.dim() to be true, but got false.  (Could this error message be improved?  If so, please report "
                           "an enhancement request to PyTorch.)")
    if d != given.ndim - 1:
        raise RuntimeError(f"segment_reduce(): Expected axis to be the last dimension of {word} but got {d}.")
    if given.dtype not in ("int64", "int32"):
        raise NotImplementedError(f"\"_segment_reduce_{word}_cpu_kernel1\" not implemented for "
                                  f"'{from_numpy_dtype(given.dtype).char_name}'")
    if lengths is None:
        return offsets[..., :-1], offsets[..., 1:]
    ends = jnp.cumsum(lengths, -1)
    return ends - lengths, ends


def _members(data, start, end):
    """Which elements belong to which segment: (..., segments, n, 1...)."""
    d = start.ndim - 1
    place = jnp.arange(data.shape[d]).reshape((1,) * start.ndim + (-1,))
    inside = (place >= start[..., None]) & (place < end[..., None])
    return inside.reshape(inside.shape + (1,) * (data.ndim - d - 1))


def _one_by_one(x, inside, axis, reduce, start):
    """A sum or product that is rounded after each element, as torch does it."""
    together = jnp.multiply if reduce == "prod" else jnp.add
    first = jnp.full(inside.shape[:axis] + x.shape[axis:], start, x.dtype)

    def step(sofar, turn):
        own, here = turn
        return jnp.where(here, together(sofar, jnp.expand_dims(own, axis - 1)), sofar), None

    return jax.lax.scan(step, first, (jnp.moveaxis(x, axis - 1, 0), jnp.moveaxis(inside, axis, 0)))[0]


def _values(x, inside, count, reduce, initial):
    axis = count.ndim
    if reduce in ("sum", "mean", "prod") and x.dtype in _HALVES:
        out = _one_by_one(x, inside, axis, reduce, _EMPTY[reduce] if initial is None else initial.astype(x.dtype))
        return _mean(out, count, initial) if reduce == "mean" else out
    spread = jnp.where(inside, jnp.expand_dims(x, axis - 1), jnp.asarray(_EMPTY[reduce], x.dtype))
    reducer = {"amax": jnp.max, "amin": jnp.min, "prod": jnp.prod}.get(reduce, jnp.sum)
    out = reducer(spread, axis=axis, initial=_EMPTY[reduce]) if reduce in ("amax", "amin") else reducer(spread, axis=axis)
    if initial is not None:
        initial = initial.astype(x.dtype)
        out = {"amax": jnp.maximum, "amin": jnp.minimum, "prod": jnp.multiply}.get(reduce, jnp.add)(out, initial)
    return _mean(out, count, initial) if reduce == "mean" else out


def _mean(total, count, initial):
    size = count.reshape(count.shape + (1,) * (total.ndim - count.ndim))
    return jnp.where(size == 0, jnp.asarray(jnp.nan if initial is None else initial, total.dtype), total / size.astype(total.dtype))


def _parts(out, x, inside, count, reduce, initial):
    """What each element gives to its segment, linear in it and so ordered that the gradient is rounded as torch's: (g * result) / x, g / size."""
    axis = count.ndim
    own, result = jnp.expand_dims(x, axis - 1), jnp.expand_dims(out, axis)
    if reduce == "mean":
        own = own / jnp.maximum(count, 1).reshape(count.shape + (1,) * (result.ndim - count.ndim)).astype(x.dtype)
    elif reduce == "prod":
        now = jax.lax.stop_gradient(own)
        plain = (now != 0) & (now == now)
        others = _others(now, inside, axis) * (1 if initial is None else initial.astype(x.dtype))
        result, others = jnp.where(inside & plain, result, 0), jnp.where(inside & ~plain, others, 0)  # a gradient of 0 times NaN is NaN
        own = jnp.where(plain, own / jnp.where(plain, now, 1) * result, own * others)
    return jnp.where(inside, own, 0).astype(x.dtype)


def _ties(out, x, inside, count):
    """Which elements are the greatest or the least of their segment."""
    own, result = jnp.expand_dims(x, count.ndim - 1), jnp.expand_dims(out, count.ndim)
    return inside & ((own == result) | (jnp.isnan(own) & jnp.isnan(result)))


@functools.partial(jax.custom_vjp, nondiff_argnums=(2,))
def _shared(x, equal, axis):
    """What the elements of a tie have in common.  torch 2.13 divides the gradient among them where it is positive; any other goes to each of them whole."""
    return jnp.sum(jnp.where(equal, jnp.expand_dims(x, axis - 1), 0), axis=axis)


def _shared_forward(x, equal, axis):
    return _shared(x, equal, axis), equal


def _shared_back(axis, equal, g):
    g = jnp.expand_dims(g, axis)
    counts = jnp.maximum(jnp.sum(equal, axis=axis, keepdims=True), 1).astype(g.dtype)
    return jnp.sum(jnp.where(equal, jnp.where(g > 0, g / counts, g), 0), axis=axis - 1), None


_shared.defvjp(_shared_forward, _shared_back)


def _others(own, inside, axis):
    """The product of the other elements of the segment, for those that cannot be divided by."""
    n = own.shape[axis]
    values = jnp.where(inside, own, 1)
    others = jnp.where(jnp.eye(n, dtype=bool).reshape((n, n) + (1,) * (values.ndim - axis - 1)), 1, jnp.expand_dims(values, axis))
    return jnp.prod(others, axis=axis + 1)


def _bad(data, lengths, indices, offsets, *, axis, unsafe, **_):
    if lengths is None or unsafe or lengths.dtype not in ("int64", "int32"):
        return jnp.zeros((), jnp.int64)
    wrong = jnp.any(jnp.sum(lengths, -1) != data.shape[wrap_dim(axis, data.ndim)])
    return jnp.where(jnp.any(lengths < 0), 1, jnp.where(wrong, 2, 0))


_WORDS = {1: "lengths contains negative value!",
          2: "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe."}
_FIVE = real(5)


@op("segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, Tensor? offsets=None, int axis=0, bool unsafe=False, "
    "Scalar? initial=None) -> Tensor", node="SegmentReduceBackward0", names=("torch.segment_reduce", "torch._segment_reduce"), lift=("initial",),
    second="aten::_segment_reduce_backward", zero_second=always, forward=False, nondiff=("lengths", "indices", "offsets"),
    saves={"data": ("data", "lengths", "offsets", "result")}, out=False,
    guard=_bad, guard_error=lambda code, *_, **__: RuntimeError(_WORDS[int(code)]),
    samples=[call(_FIVE, r, lengths=long(3, 2)) for r in ("sum", "mean", "max", "min", "prod")] + [
        call(real(2, 3), r, offsets=long([[0, 1, 3], [0, 2, 3]]), axis=1) for r in ("sum", "max")] + [call(real(3, 2), "mean", lengths=long(1, 2), unsafe=True, initial=2.0)],
    kinks=[call(at(1.0, 3.0, 3.0, 2.0, 5.0), r, lengths=long(3, 0, 2)) for r in ("sum", "mean", "max", "min", "prod")] + [
        call(at(0.0, 2.0, 3.0, float("nan"), 2.0), r, lengths=long(3, 2), initial=2.0) for r in ("max", "min", "prod", "mean")],
    errors=[fails(call(_FIVE, "sum", lengths=long(3, 0)), RuntimeError, _WORDS[2]), fails(call(_FIVE, "sum", lengths=long(6, -1)), RuntimeError, _WORDS[1]),
            fails(call(_FIVE, "sum"), RuntimeError, "Either lengths or offsets must be defined."),
            fails(call(_FIVE, "foo", lengths=long(5)), RuntimeError, "reduce argument must be either sum, prod, mean, amax or amin, got foo"),
            fails(call(real(2, 3), "max", lengths=long(1, 2), axis=1), RuntimeError, "Expected axis to be the last dimension of lengths but got 1."),
            fails(call(long(1, 2), "sum", lengths=long(2)), NotImplementedError, "not implemented for 'Long'")])
def segment_reduce(data, lengths, indices, offsets, *, reduce, axis=0, unsafe=False, initial=None):
    """The sum, mean, max, min or prod of every stretch of the axis; nothing sums to 0, multiplies to 1 and has the mean NaN, unless there is an initial value."""
    if reduce not in _NAMES:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    if lengths is None and offsets is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    own = from_numpy_dtype(data.dtype)
    start, end = _bounds(data, lengths, offsets, axis)
    if own.category != FLOAT:
        raise NotImplementedError(f"\"_segment_reduce_cpu\" not implemented for '{own.char_name}'")
    inside, count, name = _members(data, start, end), end - start, _NAMES[reduce]

    out = jax.lax.stop_gradient(_values(data, inside, count, name, initial))
    if name in ("amax", "amin"):
        return straight(out, _shared(data, _ties(out, jax.lax.stop_gradient(data), inside, count), count.ndim))
    return straight(out, jnp.sum(_parts(out, data, inside, count, name, initial), axis=count.ndim))
