"""Factories (layer 2): fills and ranges whose values are runtime arguments and whose sizes are structure."""

from __future__ import annotations

import jax.numpy as jnp

from .pointwise import convert
from .registry import NONE, SMOOTH, call, op


def _typed(value, dtype):
    return convert(jnp.asarray(value), dtype)


@op("_full(int[] size, Scalar fill_value, *, ScalarType dtype) -> Tensor", derivative=NONE, names=(), lift=("fill_value",),
    samples=[call((2, 3), 1.5, dtype="float32")], kinks=SMOOTH)
def _full(*, size, fill_value, dtype):
    """A tensor filled with one number."""
    return jnp.broadcast_to(_typed(fill_value, dtype), size)


@op("_ones(*, int[] size, ScalarType dtype) -> Tensor", derivative=NONE, names=(), samples=[call(size=(2, 3), dtype="float32")], kinks=SMOOTH)
def _ones(*, size, dtype):
    """Ones, as the gradient of a root."""
    return jnp.ones(size, dtype.np)


@op("_arange(Scalar start, Scalar step, *, int length, ScalarType dtype) -> Tensor", derivative=NONE, names=(), lift=("start", "step"),
    samples=[call(0, 1, length=3, dtype="int64")], kinks=SMOOTH)
def _arange(*, start, step, length, dtype):
    """start, start + step, ..."""
    work = jnp.float64 if jnp.issubdtype(start.dtype, jnp.inexact) or jnp.issubdtype(step.dtype, jnp.inexact) else jnp.int64
    i = jnp.arange(length, dtype=work)
    return convert(start.astype(work) + i * step.astype(work), dtype)


@op("_linspace(Scalar start, Scalar end, *, int steps, ScalarType dtype) -> Tensor", derivative=NONE, names=(), lift=("start", "end"),
    samples=[call(0.0, 1.0, steps=3, dtype="float32")], kinks=SMOOTH)
def _linspace(*, start, end, steps, dtype):
    """Evenly spaced from start to end: counted from the start in the first half and from the end in the second, as torch does."""
    work = jnp.complex128 if dtype.is_complex else jnp.float64 if not dtype.is_floating_point or dtype.itemsize > 4 else jnp.float32
    start, end = start.astype(work), end.astype(work)
    if steps == 1:
        return convert(start.reshape(1), dtype)
    step = (end - start) / (steps - 1)
    i = jnp.arange(steps).astype(work)
    return convert(jnp.where(jnp.arange(steps) < steps // 2, start + step * i, end - step * (steps - 1 - i)), dtype)


@op("_eye(*, int n, int m, ScalarType dtype) -> Tensor", derivative=NONE, names=(), samples=[call(n=2, m=3, dtype="float32")], kinks=SMOOTH)
def _eye(*, n, m, dtype):
    """Ones on the diagonal."""
    return jnp.eye(n, m, dtype=dtype.np)
