"""Filling, selecting and scattering by mask (layer 2)."""

from __future__ import annotations

import jax.numpy as jnp

from .._core.dtypes import from_numpy_dtype
from .._core.shapes import broadcast, numel
from .casts import convert
from .conventions import cxx_name, only
from .memory import elementwise
from .places import char, long, truth
from .registry import SMOOTH, call, fails, op, real

# Masks

def _masked(self, mask, value):
    shape = broadcast(mask.shape, self.shape)
    if mask.dtype != bool:
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {cxx_name(mask)}")
    only("masked_fill", self, "bifc")
    value = value.astype(bool) if self.dtype == bool else value
    return jnp.where(jnp.broadcast_to(mask, shape), convert(value, from_numpy_dtype(self.dtype)), jnp.broadcast_to(self, shape))


@op("masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor", out=False, node="MaskedFillBackward1", saves={"self": ("mask",), "value": ("mask",)}, inplace=True,
    samples=[call(real(2, 3), truth([True, False, True]), real(()))], kinks=SMOOTH,
    errors=[fails(call(real(2), truth([True, False]), real(2)), RuntimeError, "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with 1 dimension(s).")])
def masked_fill_tensor(self, mask, value):
    """A 0-dim tensor where the mask is true."""
    broadcast(mask.shape, self.shape)
    if value.ndim:
        raise RuntimeError(f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.ndim} dimension(s).")
    return _masked(self, mask, value)


@op("masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor", out=False, node="MaskedFillBackward0", saves={"self": ("mask",)}, lift=("value",), inplace=True,
    samples=[call(real(2, 3), truth([True, False, True]), 1.5), call(real(3), truth([[True, False, True], [False] * 3]), 2)], kinks=SMOOTH,
    errors=[fails(call(real(2), long(0, 1), 1.0), RuntimeError, "masked_fill_ only supports boolean masks, but got mask with dtype long int")])
def masked_fill(self, mask, *, value):
    """One number where the mask is true."""
    return _masked(self, mask, value)


@op("_native_dropout(Tensor self, Tensor mask, float scale) -> Tensor", node="NativeDropoutBackward0", lies=elementwise, names=(), lift=("scale",), saves={"self": ("mask",)},
    samples=[call(real(2, 3), truth([True, False, True]), 2.0)], kinks=SMOOTH)
def _native_dropout(self, mask, *, scale):
    """What a mask keeps, scaled."""
    return self * jnp.broadcast_to(mask, self.shape).astype(self.dtype) * scale.astype(self.dtype)


@op("_masked_select(Tensor self, Tensor mask, Tensor places) -> Tensor", node="MaskedSelectBackward0", names=(), zero_second=True, saves={"self": ("self", "mask")}, nondiff=("places",),
    samples=[call(real(3), truth([True, False, True]), long(0, 2))], kinks=SMOOTH)
def _masked_select(self, mask, places):
    """Elements at flat `places` (the true ones of `mask`) of `self` broadcast with the mask."""
    shape = broadcast(self.shape, mask.shape)
    return jnp.broadcast_to(self, shape).reshape(-1).at[places].get(mode="promise_in_bounds", unique_indices=True, indices_are_sorted=True)


def _enough(self, mask, source):
    return (jnp.sum(jnp.broadcast_to(mask, broadcast(mask.shape, self.shape)), dtype=jnp.int64) > source.size).astype(jnp.int64) if mask.dtype == bool else 0


@op("masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor", out=False, node="MaskedScatterBackward0", guard=_enough,
    guard_error=lambda *_, **__: RuntimeError("Number of elements of source < number of ones in mask"), saves={"self": ("mask",), "source": ("mask",)}, inplace=True,
    samples=[call(real(2, 3), truth([[True, False, True], [False, True, False]]), real(5))], kinks=SMOOTH,
    errors=[fails(call(real(2), truth([True, True]), real(1)), RuntimeError, "Number of elements of source < number of ones in mask")])
def masked_scatter(self, mask, source):
    """Elements of source, in order, where the mask is true."""
    shape = broadcast(mask.shape, self.shape)
    if self.dtype != source.dtype:
        raise RuntimeError(f"masked_scatter: expected self and source to have same dtypes but got{char(self)} and {char(source)}")
    if mask.dtype != bool:
        raise RuntimeError(f"masked_scatter_ only supports boolean masks, but got mask with dtype {char(mask)}")
    only("masked_scatter", self, "bifc")
    full = jnp.broadcast_to(mask, shape)
    if source.size == 0 or numel(shape) == 0:
        return jnp.broadcast_to(self, shape)
    order = jnp.cumsum(full.reshape(-1).astype(jnp.int64)) - 1
    taken = source.reshape(-1).at[order].get(mode="clip", wrap_negative_indices=False).reshape(shape)
    return jnp.where(full, taken, jnp.broadcast_to(self, shape))


