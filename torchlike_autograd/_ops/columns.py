"""Sums and extremes over the first dims of large arrays for XLA's CPU backend, row after row (layer 2).

XLA goes down one column after the other.  Up to some 16,000 columns it takes several at once; beyond, each element is fetched by itself (float32, 8x197x768 over
the first dim, which is the gradient of what is added to every example: 10 ms; here 0.2 ms).  A few rows are added in one expression, which XLA makes part of
what makes them, many in a loop.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from jax import lax

from .rewriting import rewritten

MANY = 1 << 14  # columns up to which XLA is fast
FEW = 16  # rows in one expression
_JOINS = {"reduce_sum": lax.add, "reduce_max": lax.max, "reduce_min": lax.min}


def by_columns(closed):
    """A traced program in which such sums and extremes are taken row by row, at any depth; itself where it has none."""
    return rewritten(closed, _rule)


def _rule(eqn):
    if eqn.primitive.name not in _JOINS:
        return None
    x, out, axes = eqn.invars[0].aval, eqn.outvars[0].aval, eqn.params["axes"]
    if x.dtype.name not in ("float32", "float64") or out.size <= MANY or x.size == out.size or not _are_first(x.shape, axes):
        return None
    return functools.partial(_row_by_row, _JOINS[eqn.primitive.name], shape=out.shape)


def _are_first(shape, axes):
    """Whether axes come before all other dims that count."""
    return math.prod(shape[: max(axes) + 1]) == math.prod(shape[d] for d in axes)


def _row_by_row(join, x, *, shape):
    n = x.size // math.prod(shape)
    rows = lax.reshape(x, (n, *shape))
    if n <= FEW:
        return functools.reduce(join, [lax.index_in_dim(rows, i, keepdims=False) for i in range(n)])
    first = lax.index_in_dim(rows, 0, keepdims=False)
    return lax.fori_loop(np.int32(1), np.int32(n), lambda i, out: join(out, lax.dynamic_index_in_dim(rows, i, keepdims=False)), first)


__all__ = ["by_columns"]
