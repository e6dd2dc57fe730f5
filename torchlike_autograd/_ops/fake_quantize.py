"""Rounding to a grid of integers and back, with a gradient as if nothing had been rounded (layer 2)."""

from __future__ import annotations

import functools

import jax.numpy as jnp
import numpy as np

from .._core import dtypes
from .._core.shapes import wrap_dim
from .conventions import char_name, only, partials
from .memory import elementwise
from .registry import SMOOTH, at, call, op, real

_CACHED = {"names": (), "inplace": False, "opmath": False, "out": False, "forward": False, "nondiff": ("scale", "zero_point"), "nondiff_out": (1,),
           "fields": ("output", "mask"), "saves": {"self": ("result1",)}, "kinks": SMOOTH}
_GRID = real(5, low=-1.2, high=1.2)
_SCALE, _ZERO = at([0.1], dtype="float32", grad=False), at([1], dtype="int64", grad=False)
_HUGE = 2.0 ** 63


def _opened(x):
    """Half precision as float32."""
    return x.astype(jnp.float32) if x.dtype.itemsize < 4 else x


def _as_long(q):
    """Floats as the int64 that C makes of them: what does not fit is the least one (and stays a float here)."""
    return jnp.where(jnp.abs(q) < _HUGE, q, -_HUGE)


def _where_inside(q, low, high):
    return (q >= low) & (q <= high)


@partials(lambda t, out, x, y, mask: jnp.where(mask, t, 0), None, None)
def _through(x, rounded, mask):
    return rounded


def _rounded(self, q, zero, scale, low, high, product):
    """(self on the grid, where it lies inside), from the unclipped integers `q`."""
    mask = _where_inside(q, low, high)
    steps = jnp.minimum(jnp.maximum(jnp.where(jnp.isnan(q), low, q), low), high) - zero
    return _through(self, (steps.astype(product) * scale.astype(product)).astype(self.dtype), mask), mask


def _per_tensor(self, scale, zero_point, low, high):
    only("fake_quantize_tensor_cachemask_kernel_type_handling", self, "f")
    scale = scale.astype(jnp.float32).reshape(())
    zero = zero_point.astype(jnp.float32).reshape(())
    x = _opened(self)
    q = jnp.round(x * (1 / scale).astype(x.dtype)) + zero.astype(x.dtype)
    return _rounded(self, q, zero.astype(x.dtype), scale, low, high, jnp.float32)


_SAMPLES = [call(_GRID, _SCALE, _ZERO, -8, 7)]


@op("fake_quantize_per_tensor_affine_cachemask(Tensor self, Tensor scale, Tensor zero_point, int quant_min, int quant_max) -> (Tensor, Tensor)",
    node="FakeQuantizePerTensorAffineCachemaskBackward0", samples=_SAMPLES, **_CACHED)
def fake_quantize_per_tensor_affine_cachemask(self, scale, zero_point, *, quant_min, quant_max):
    """(the nearest of scale * (k - zero_point) for quant_min <= k <= quant_max, where self lies between them)."""
    return _per_tensor(self, scale, zero_point, quant_min, quant_max)


@op("_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, int quant_min, int quant_max) -> (Tensor, Tensor)",
    node="FakeQuantizePerTensorAffineCachemaskTensorQparamsBackward0", samples=_SAMPLES, **_CACHED)
def _fake_quantize_per_tensor_affine_cachemask_tensor_qparams(self, scale, zero_point, *, quant_min, quant_max):
    """The same by a scale and a zero point that are tensors."""
    return _per_tensor(self, scale, zero_point, quant_min, quant_max)


def _along(t, axis, ndim):
    """One number for each place of a dim, to broadcast."""
    return t.reshape([-1 if d == axis else 1 for d in range(ndim)])


@op("fake_quantize_per_channel_affine_cachemask(Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min, int quant_max) -> (Tensor, Tensor)",
    node="FakeQuantizePerChannelAffineCachemaskBackward0",
    samples=[call(real(3, 2), at(0.1, 0.3, dtype="float32", grad=False), at(0, 2, dtype="int32", grad=False), 1, -8, 7),
             call(real(3, 2), at(0.1, 0.3, dtype="float32", grad=False), at(0.25, 2.0, dtype="float32", grad=False), 1, -8, 7)], **_CACHED)
def fake_quantize_per_channel_affine_cachemask(self, scale, zero_point, *, axis, quant_min, quant_max):
    """The same with a scale and a zero point for each place of `axis`; zero points that are no integers are added before rounding."""
    only("fake_quantize_channel_cachemask_cpu_type_handling", self, "f")
    whole = jnp.issubdtype(zero_point.dtype, np.integer)
    scale, zero = (_along(t.astype(jnp.float32), axis, self.ndim) for t in (scale, zero_point))
    x = _opened(self)
    inverse = (1 / scale).astype(x.dtype)
    q = _as_long(jnp.round(x * inverse)) + zero.astype(x.dtype) if whole else _as_long(jnp.round(x * inverse + zero.astype(x.dtype)))
    return _rounded(self, q, zero.astype(x.dtype), scale, quant_min, quant_max, x.dtype)


# With gradients of the scale and the zero point

@functools.cache
def _learned(low, high, exact):
    """f(self, scale, zero point, factor of the last two's gradients), which broadcast; exact: what int64 cannot hold is its least number.

    For the gradients a number lies where the sum of it and the zero point is rounded to, which is not where the forward pass puts it in a tie; and the zero
    point is the integer below it and a half (counted towards 0), where there is one for all.
    """

    def parts(x, scale, zero_point):
        nearest = jnp.round(zero_point) if exact else jnp.trunc(zero_point + 0.5)
        zero, inverse = jnp.clip(nearest, low, high), 1 / scale
        return zero, inverse, jnp.round(x * inverse + zero)

    def of_self(t, out, x, scale, zero_point, factor):
        return jnp.where(_where_inside(parts(x, scale, zero_point)[2], low, high), t, 0)

    def of_scale(t, out, x, scale, zero_point, factor):
        zero, inverse, place = parts(x, scale, zero_point)
        return t * jnp.where(place < low, low - zero, jnp.where(place > high, high - zero, ((place - zero) * scale - x) * inverse)) * factor

    def of_zero(t, out, x, scale, zero_point, factor):
        return jnp.where(_where_inside(parts(x, scale, zero_point)[2], low, high), 0, -t * scale) * factor

    @partials(of_self, of_scale, of_zero, None)
    def learned(x, scale, zero_point, factor):
        zero, q = jnp.clip(jnp.round(zero_point), low, high), jnp.round(x * (1 / scale))
        return _rounded(x, (_as_long(q) if exact else q) + zero, zero, scale, low, high, jnp.float32)[0]

    return learned


def _refuses_wide(types, result, wanted, **statics):
    """torch's errors where its gradient takes float32 only, and one scale."""
    for name, word in (("self", "dY"), ("scale", "scale"), ("zero_point", "zero_point")):
        if types[name].dtype is not dtypes.float32:
            raise RuntimeError(f"Expected {word}_.scalar_type() == ScalarType::Float to be true, but got false.  (Could this error message be improved?  If "
                               "so, please report an enhancement request to PyTorch.)")


def _refuses_several(types, result, wanted, **statics):
    _refuses_wide(types, result, wanted)
    for i, name in ((1, "scale"), (2, "zero_point")):
        shape = types[name].shape
        if name in wanted and shape != (1,):
            raise RuntimeError(f"Function FakeQuantizeLearnablePerTensorAffineBackward0 returned an invalid gradient at index {i} - got [1] but expected shape "
                               f"compatible with {list(shape)}")


_LEARNABLE = {"method": False, "out": False, "inplace": False, "opmath": False, "forward": False, "lift": ("grad_factor",), "kinks": SMOOTH,
              "saves": dict.fromkeys(("self", "scale", "zero_point"), ("self", "scale", "zero_point"))}
_SCALES = at([0.25], dtype="float32"), at([1.0], dtype="float32")
_EVERY = at(-3.0, -0.26, 0.0, 0.24, 0.5, 10.0, 1.625, -2.375, dtype="float32")


@op("_fake_quantize_learnable_per_tensor_affine(Tensor self, Tensor scale, Tensor zero_point, int quant_min, int quant_max, float grad_factor=1.) -> Tensor",
    node="FakeQuantizeLearnablePerTensorAffineBackward0", second="aten::_fake_quantize_learnable_per_tensor_affine_backward", refuses=_refuses_several,
    samples=[call(_EVERY, *_SCALES, -8, 7), call(_EVERY, *_SCALES, -8, 7, 0.5)], **_LEARNABLE)
def _fake_quantize_learnable_per_tensor_affine(self, scale, zero_point, *, quant_min, quant_max, grad_factor):
    """`fake_quantize_per_tensor_affine` that learns its scale and its zero point."""
    only("fake_quantize_tensor_cachemask_kernel_type_handling", self, "f")
    if not scale.ndim or not zero_point.ndim:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    numbers = scale[:1].sum().astype(jnp.float32), zero_point[:1].sum().astype(jnp.float32)
    return _learned(quant_min, quant_max, False)(*_wide(self, *numbers, grad_factor.astype(self.dtype))).astype(self.dtype)


@op("_fake_quantize_learnable_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min, int quant_max, float grad_factor=1.) "
    "-> Tensor", node="FakeQuantizeLearnablePerChannelAffineBackward0", lies=elementwise, second="aten::_fake_quantize_learnable_per_channel_affine_backward",
    refuses=_refuses_wide,
    samples=[call(real(3, 2, dtype="float32"), at(0.125, 0.3, dtype="float32"), at(1.0, 0.0, dtype="float32"), 1, -8, 7, 0.5)], **_LEARNABLE)
def _fake_quantize_learnable_per_channel_affine(self, scale, zero_point, *, axis, quant_min, quant_max, grad_factor):
    """`fake_quantize_per_channel_affine` that learns its scales and its zero points."""
    if scale.dtype not in (jnp.float32, jnp.bfloat16):
        raise RuntimeError(f"Scale must be Float or BFloat16, found {char_name(scale)}")
    check_channels(self, scale, zero_point, axis)
    only("fake_quantize_channel_cachemask_cpu_type_handling", self, "f")
    axis = wrap_dim(axis, self.ndim)
    numbers = [_along(t.astype(jnp.float32), axis, self.ndim) for t in (scale, zero_point)]
    return _learned(quant_min, quant_max, True)(*_wide(self, *numbers, grad_factor.astype(self.dtype))).astype(self.dtype)


def _wide(x, *numbers):
    dtype = jnp.float64 if x.dtype == jnp.float64 else jnp.float32
    return [a.astype(dtype) for a in (x, *numbers)]


def check_channels(x, scale, zero_point, axis):
    """torch's errors for numbers of channels, in its order (only shapes are looked at)."""
    if scale.ndim != 1:
        raise RuntimeError("scale should be a 1-D tensor")
    if zero_point.ndim != 1:
        raise RuntimeError("zero point should be a 1-D tensor")
    if scale.shape[0] != zero_point.shape[0]:
        raise RuntimeError("scale and zero-point need to have the same dimensions")
    if scale.shape[0] != x.shape[wrap_dim(axis, x.ndim)]:
        raise RuntimeError("dimensions of scale and zero-point are not consistent with input tensor")


def check_grid(low, high):
    """torch's error for bounds in the wrong order."""
    if low > high:
        raise RuntimeError("`quant_min` should be less than or         equal to `quant_max`.")


__all__ = ["check_channels", "check_grid"]
