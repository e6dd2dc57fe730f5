"""Factories (layer 2): fills and ranges whose values are runtime arguments and whose sizes are structure."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import lax

from .casts import convert
from .conventions import fused
from .registry import NONE, SMOOTH, call, op
from .tracing import iota


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


_LANES = {2: 16, 4: 8, 8: 4}                              # numbers of that many bytes in one vector of PyTorch's kernel of arange


@op("_arange(Scalar start, Scalar step, *, int length, ScalarType dtype) -> Tensor", derivative=NONE, names=(), lift=("start", "step"),
    samples=[call(0, 1, length=3, dtype="int64")], kinks=SMOOTH)
def _arange(*, start, step, length, dtype):
    """start, start + step, ...; of floats as PyTorch's kernel counts them: vectors from a start of their own, which is rounded."""
    exact = not (jnp.issubdtype(start.dtype, jnp.inexact) or jnp.issubdtype(step.dtype, jnp.inexact))
    if exact or not dtype.is_floating_point:
        work = jnp.int64 if exact else jnp.float64
        return convert(start.astype(work) + iota(length, work) * step.astype(work), dtype)
    work = jnp.float32 if dtype.itemsize == 2 else jnp.float64
    start, step = start.astype(work), step.astype(work)
    lanes, i = _LANES[dtype.itemsize], iota(length)
    lane = jnp.where(i < length - length % (2 * lanes), i % lanes, 0)
    base = convert(fused(start, step, (i - lane).astype(work)), dtype)
    return jnp.where(lane == 0, base, convert(fused(base.astype(work), step, lane.astype(work)), dtype))


@op("_linspace(Scalar start, Scalar end, *, int steps, ScalarType dtype) -> Tensor", derivative=NONE, names=(), lift=("start", "end"),
    samples=[call(0.0, 1.0, steps=3, dtype="float32")], kinks=SMOOTH)
def _linspace(*, start, end, steps, dtype):
    """Evenly spaced from start to end: counted from the start in the first half and from the end in the second, as torch does.

    The ends are first brought to `dtype`.  A place is rounded once from float32, float64 and integers; numbers of 16 bits round after each operation.
    """
    start, end = convert(start, dtype), convert(end, dtype)
    if steps == 1:
        return start.reshape(1)
    work = dtype.np if dtype.is_floating_point or dtype.is_complex else np.dtype("float64")
    start, end = start.astype(work), end.astype(work)
    step = (end - start) / lax.optimization_barrier(np.asarray(steps - 1, work))      # XLA multiplies by the reciprocal of a constant it sees
    i = iota(steps)
    near = i < steps // 2
    count = jnp.where(near, i, steps - 1 - i).astype(work)
    return convert(_from_an_end(jnp.where(near, start, end), jnp.where(near, step, -step), count), dtype)


def _from_an_end(end, step, count):
    if step.dtype in (jnp.float32, jnp.float64):
        return fused(end, step, count)
    return end + step * count


@op("_eye(*, int n, int m, ScalarType dtype) -> Tensor", derivative=NONE, names=(), samples=[call(n=2, m=3, dtype="float32")], kinks=SMOOTH)
def _eye(*, n, m, dtype):
    """Ones on the diagonal."""
    return jnp.eye(n, m, dtype=dtype.np)
