"""torch.fake_quantize_per_tensor_affine and torch.fake_quantize_per_channel_affine (layer 7)."""

from __future__ import annotations

import numpy as np

from .._core import dtypes
from .._core.composite import composite
from .._core.dispatch import run
from .._core.ranges import extent
from .._core.record import thread
from .._core.words import explained
from .._ops import fake_quantize as _fake_quantize_ops
from .._ops.registry import OPS
from .._ops.spec import spec_of
from .._tensor import Tensor, from_array

_ops = _fake_quantize_ops
_TENSORS = "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams"


def _rounded(name, tensors, **statics):
    return run(spec_of(OPS[name], tuple(statics.items()), ("T",) * len(tensors)), list(tensors))[0]


def _refuse_gradients(**tensors):
    for name, t in tensors.items():
        if t._tl_needs and thread.state.grad:
            raise RuntimeError(f"The function '{_TENSORS}' is not differentiable with respect to argument '{name}'. This input cannot have requires_grad True.")


def _check_zero(low, high, least, greatest):
    if least < low or greatest > high:
        raise RuntimeError("`zero_point` must be between `quant_min` and `quant_max`.")


def _is_number(x, kinds):
    return isinstance(x, kinds) and not isinstance(x, (bool, np.bool_))


@composite("torch.fake_quantize_per_tensor_affine")
def fake_quantize_per_tensor_affine(input, scale, zero_point, quant_min, quant_max):
    """`input` rounded to the multiples of `scale` that quant_min to quant_max stand for; the gradient is 1 where it lies between them, 0 elsewhere."""
    bounds = {"quant_min": quant_min, "quant_max": quant_max}
    if isinstance(scale, Tensor) and isinstance(zero_point, Tensor) and _whole(quant_min, quant_max):
        _refuse_gradients(scale=scale, zero_point=zero_point)
        for t in (scale, zero_point):
            if t.numel() != 1:
                raise RuntimeError(f"a Tensor with {t.numel()} elements cannot be converted to Scalar")
        _fake_quantize_ops.check_grid(quant_min, quant_max)
        return _rounded(_TENSORS, (input, scale, zero_point.to(dtypes.int64)), **bounds)
    if isinstance(scale, Tensor) and scale.numel() == 1:
        scale = float(scale)
    if isinstance(zero_point, Tensor) and zero_point.numel() == 1 and not zero_point.dtype.is_floating_point:
        zero_point = int(zero_point)
    if not (_is_number(scale, (float, int, np.floating, np.integer)) and _whole(zero_point, quant_min, quant_max)):
        raise explained("torch.fake_quantize_per_tensor_affine", (input, scale, zero_point, quant_min, quant_max), {}) or TypeError(
            "fake_quantize_per_tensor_affine() received an invalid combination of arguments")
    _fake_quantize_ops.check_grid(quant_min, quant_max)
    _check_zero(quant_min, quant_max, zero_point, zero_point)
    grid = (from_array(np.asarray(x, d.np), d, like=input) for x, d in ((scale, dtypes.float32), (zero_point, dtypes.int64)))
    return _rounded("fake_quantize_per_tensor_affine_cachemask", (input, *grid), **bounds)


def _whole(*numbers):
    return all(_is_number(n, (int, np.integer)) for n in numbers)


_ZEROS = (dtypes.int32, dtypes.float32, dtypes.float16)


@composite("torch.fake_quantize_per_channel_affine")
def fake_quantize_per_channel_affine(input, scale, zero_point, axis, quant_min, quant_max):
    """`fake_quantize_per_tensor_affine` with a scale and a zero point for each place of a dim."""
    if scale.dtype not in (dtypes.float32, dtypes.bfloat16):
        raise RuntimeError(f"Scale must be Float or BFloat16, found {scale.dtype.char_name}")
    if zero_point.dtype not in _ZEROS:
        raise RuntimeError(f"Zero-point must be Int32, Float or Half, found {zero_point.dtype.char_name}")
    _fake_quantize_ops.check_channels(input, scale, zero_point, axis)
    _fake_quantize_ops.check_grid(quant_min, quant_max)
    if zero_point.dtype is dtypes.int32 and zero_point.numel():
        bounds = extent(zero_point) or (int(zero_point.min()), int(zero_point.max()))
        _check_zero(quant_min, quant_max, *bounds)
    if axis < 0:
        raise RuntimeError("`axis` must be between 0 and number of dimensions of input")
    return _rounded("fake_quantize_per_channel_affine_cachemask", (input, scale, zero_point), axis=axis, quant_min=quant_min, quant_max=quant_max)


__all__ = ["fake_quantize_per_channel_affine", "fake_quantize_per_tensor_affine"]
