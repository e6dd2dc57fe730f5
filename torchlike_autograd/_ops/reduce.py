"""Reductions (layer 2)."""

from __future__ import annotations

import jax.numpy as jnp

from .._core.shapes import reduce_dims
from .registry import SMOOTH, Promote, call, op, real


@op("sum(Tensor self, *, ScalarType? dtype=None) -> Tensor", node="SumBackward0", promote=Promote.SUM, samples=[call(real(2, 3)), call(real(()))],
    kinks=SMOOTH)
def sum(self, *, dtype=None):  # noqa: A001 - torch's name
    """The sum of all elements."""
    return jnp.sum(self)


@op("sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", node="SumBackward1", promote=Promote.SUM,
    samples=[call(real(2, 3), 1), call(real(2, 3), (0, 1), True)], kinks=SMOOTH)
def sum_dim(self, *, dim, keepdim=False, dtype=None):
    """The sum over dims."""
    return jnp.sum(self, axis=reduce_dims(dim, self.ndim), keepdims=keepdim and self.ndim > 0)
