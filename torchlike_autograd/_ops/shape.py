"""Views and rearrangement (layer 2)."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from .._core.shapes import wrap_dim
from .registry import SMOOTH, call, fails, op, real


def _select_layout(shape, strides, offset, *, dim, index):
    d = wrap_dim(dim, len(shape), scalar_ok=False)
    i = index + shape[d] if index < 0 else index
    return shape[:d] + shape[d + 1:], strides[:d] + strides[d + 1:], offset + i * strides[d]


def _select_write(base, new, *, dim, index):
    d = wrap_dim(dim, base.ndim)
    return jax.lax.dynamic_update_index_in_dim(base, jnp.expand_dims(new, d), _wrapped(index, base.shape[d]), d)


def _wrapped(index, size):
    return jnp.where(index < 0, index + size, index)


@op("select.int(Tensor(a) self, int dim, int index) -> Tensor(a)", node="SelectBackward0", lift=("index",), write=_select_write, layout=_select_layout,
    samples=[call(real(3, 2), 0, 1), call(real(3, 2), -1, -1)], kinks=SMOOTH,
    errors=[fails(call(real(()), 0, 0), IndexError, "select() cannot be applied to a 0-dim tensor.")])
def select(self, *, dim, index):
    """One index of a dim, which disappears."""
    if self.ndim == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    d = wrap_dim(dim, self.ndim)
    return jax.lax.dynamic_index_in_dim(self, _wrapped(index, self.shape[d]), d, keepdims=False)
