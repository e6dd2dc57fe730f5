"""Running sums, products and extremes for XLA's CPU backend, written as loops (layer 2).

JAX has it add neighbours, then neighbours of these, and so on: some ten passes over the elements, of which XLA computes many anew where it fuses them with what
makes or reads their results (float32, 1000x1000 along the first dim: 4 ms, with its gradient 66).  Here a loop goes along the dim and takes all elements beside
it at once (0.3 ms); where there are few beside it, long rows are cut into blocks, which stand beside each other then.  Sums of single precision are kept in
double precision meanwhile, as PyTorch's are.  Other backends get what they have got.
"""

from __future__ import annotations

import functools
import math

import jax.numpy as jnp
import numpy as np
from jax import lax

from .._core.dtypes import DOUBLED
from .rewriting import rewritten
from .windows import lowest

SHORT = 32  # elements along the dim that XLA fuses well
LONG, FEW = 4096, 16  # elements along the dim and beside it from which, and to which, a row is cut into blocks
_JOINS = {"cumsum": lax.add, "cumprod": lax.mul, "cummax": lax.max, "cummin": lax.min}


def looped(closed):
    """A traced program in which loops stand for running sums, products and extremes, at any depth; itself where it has none."""
    return rewritten(closed, _rule)


def _rule(eqn):
    name, x = eqn.primitive.name, eqn.invars[0].aval if eqn.invars else None
    if name not in _JOINS or x.shape[eqn.params["axis"]] <= SHORT:
        return None
    return functools.partial(_on_the_cpu, eqn, functools.partial(_running, name))


def _on_the_cpu(eqn, running, x):
    axis, reverse = eqn.params["axis"], eqn.params["reverse"]
    return lax.platform_dependent(x, cpu=lambda x: running(x, axis, reverse), default=lambda x: eqn.primitive.bind(x, **eqn.params))


def _running(name, x, axis, reverse):
    n = x.shape[axis]
    # The product of a block may overflow where the product so far, which is small, would not have let it.
    if name == "cumprod" or n < LONG or x.size // n > FEW:
        return _in_turn(name, x, axis, reverse)
    return _in_blocks(name, x, axis, reverse)


def _wide(name, dtype):
    """What sums are kept in."""
    return np.dtype(np.float32 if dtype.itemsize == 2 and jnp.issubdtype(dtype, jnp.floating) else DOUBLED.get(dtype.name, dtype)) if name == "cumsum" else dtype


def _nothing(name, dtype):
    """What leaves the other operand as it is."""
    if name in ("cumsum", "cumprod"):
        return np.asarray(name == "cumprod", dtype)
    return lowest(dtype) if name == "cummax" else jnp.asarray(np.inf if jnp.issubdtype(dtype, jnp.inexact) else jnp.iinfo(dtype).max, dtype)


def _in_turn(name, x, axis, reverse, wide=False):
    """Along an axis, one after the other; wide: whether sums stay in what they are kept in."""
    if axis and math.prod(x.shape[axis + 1:]) < FEW:  # elements that are taken at once lie far apart, at worst at distances that meet in the cache
        return jnp.moveaxis(_in_turn(name, jnp.moveaxis(x, axis, 0), 0, reverse, wide), 0, axis)
    n, kind = x.shape[axis], _wide(name, x.dtype)

    def step(i, state):
        so_far, out = state
        at = n - 1 - i if reverse else i
        so_far = _JOINS[name](so_far, lax.dynamic_slice_in_dim(x, at, 1, axis).astype(kind))
        return so_far, lax.dynamic_update_slice_in_dim(out, so_far.astype(out.dtype), at, axis)

    first = jnp.full([1 if d == axis else s for d, s in enumerate(x.shape)], _nothing(name, kind))
    return lax.fori_loop(np.int32(0), np.int32(n), step, (first, jnp.zeros(x.shape, kind if wide else x.dtype)))[1]


def _in_blocks(name, x, axis, reverse):
    """Within blocks, beside each other; then what comes before each block is joined."""
    n, lead = x.shape[axis], x.shape[:axis]
    length = math.isqrt(n) // 16 * 16 + 17
    count = -(-n // length)
    padded = lax.pad(x, _nothing(name, x.dtype), [(0, count * length - n if d == axis else 0, 0) for d in range(x.ndim)])
    blocks = _in_turn(name, padded.reshape(*lead, count, length, *x.shape[axis + 1:]), axis + 1, reverse, True)
    whole = lax.index_in_dim(blocks, 0 if reverse else length - 1, axis + 1)
    ends = _in_turn(name, whole, axis, reverse)
    before = lax.pad(lax.slice_in_dim(ends, *((1, None) if reverse else (0, count - 1)), axis=axis), _nothing(name, ends.dtype),
                     [((0, 1, 0) if reverse else (1, 0, 0)) if d == axis else (0, 0, 0) for d in range(ends.ndim)])
    out = _JOINS[name](jnp.broadcast_to(before, blocks.shape), blocks).astype(x.dtype)
    return lax.slice_in_dim(out.reshape(*lead, count * length, *x.shape[axis + 1:]), 0, n, axis=axis)


__all__ = ["looped"]
