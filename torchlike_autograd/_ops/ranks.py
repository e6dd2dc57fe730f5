"""Which element comes first (layer 2): the places of extremes, of the k best, and the order of a sort.

NaN counts as greatest, zeros of both signs as equal, and equals keep their order.  XLA compares the pairs of an argmax or an argsort one by one, through a
comparison that it calls; it makes vectors of plain reductions, and sorts plain integers several times as fast.  So the first extreme is a reduction of places, and
a sort is one of integers that hold a key of 32 bits above the place; keys of 64 bits take two such sorts, of the lower half and then of the upper.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

__all__ = ["extreme", "first_extreme", "order", "ordered", "pick"]

_FEW = 8  # this part of a row at most is looked for by itself
_HALF, _LOW = 32, 0xFFFFFFFF


def pick(x, indices, axis):
    """The elements at `indices` along an axis; their gradients go back to these places."""
    return jnp.take_along_axis(x, indices, axis=axis, mode="promise_in_bounds")


def ordered(x):
    """bool as numbers, for comparisons."""
    return x.astype(jnp.uint8) if x.dtype == bool else x


def extreme(x, axes, keepdims, greatest):
    """The greatest (or smallest) over axes (None: all), NaN where there is one: XLA's own reduction of many elements loses NaN on some processors."""
    best = (jnp.max if greatest else jnp.min)(x, axis=axes, keepdims=keepdims)
    if not jnp.issubdtype(x.dtype, jnp.floating):
        return best
    nan = jnp.sum(jnp.where(jnp.isnan(x), x, jnp.zeros_like(x)), axis=axes, keepdims=keepdims)
    return jnp.where(jnp.isnan(nan), nan, best)


def first_extreme(x, axis, greatest):
    """The first index of a NaN or else of the greatest (or smallest) along an axis; the axis stays, with size 1."""
    x, n = jax.lax.stop_gradient(ordered(x)), x.shape[axis]
    place = jax.lax.broadcasted_iota(jnp.int32, x.shape, axis)
    best = (jnp.max if greatest else jnp.min)(x, axis, keepdims=True)
    rank = jnp.min(jnp.where(x != x, place, jnp.where(x == best, place + n, 2 * n)), axis, keepdims=True)
    return jnp.where(rank < n, rank, rank - n).astype(jnp.int64)


def order(x, axis, descending=False, k=None):
    """The indices (int64) that sort x along an axis, all of them or the first `k`."""
    x = _plain(jax.lax.stop_gradient(ordered(x)))
    if k is not None and k * _FEW <= x.shape[axis] and x.dtype == jnp.float32:
        return jax.lax.top_k(x if descending else -x, k, axis=axis)[1].astype(jnp.int64)
    key = _key(x)
    places = _places(~key if descending else key, axis)
    return places if k is None else jax.lax.slice_in_dim(places, 0, k, axis=axis)


def _plain(x):
    """One zero and one NaN, which no sign makes smallest."""
    if not jnp.issubdtype(x.dtype, jnp.floating):
        return x
    return jnp.where(x == 0, jnp.zeros_like(x), jnp.where(jnp.isnan(x), jnp.full_like(x, jnp.nan), x))


def _key(x):
    """Signed integers, of 64 bits where x has as many and of 32 otherwise, that order as x does."""
    if x.dtype in (jnp.bfloat16, jnp.float16):
        x = x.astype(jnp.float32)
    if jnp.issubdtype(x.dtype, jnp.floating):
        bits = jax.lax.bitcast_convert_type(x, jnp.int32 if x.dtype == jnp.float32 else jnp.int64)
        return jnp.where(bits < 0, bits ^ jnp.iinfo(bits.dtype).max, bits)
    if x.dtype in (jnp.uint32, jnp.uint64):
        signed = jnp.int32 if x.dtype == jnp.uint32 else jnp.int64
        return jax.lax.bitcast_convert_type(x, signed) ^ jnp.iinfo(signed).min
    return x if x.dtype == jnp.int64 else x.astype(jnp.int32)


def _places(key, axis):
    if key.dtype == jnp.int32:
        return _sorted_places(key.astype(jnp.int64), axis)
    lower = _sorted_places((key & _LOW) - (1 << _HALF - 1), axis)
    return pick(lower, _sorted_places(pick(key >> _HALF, lower, axis), axis), axis)


def _sorted_places(key, axis):
    """The places of keys that 32 bits hold, smallest first."""
    place = jax.lax.broadcasted_iota(jnp.int64, key.shape, axis)
    return jax.lax.sort((key << _HALF) | place, dimension=axis, is_stable=True) & _LOW
