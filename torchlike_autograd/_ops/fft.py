"""Discrete Fourier transforms (layer 2): complex to complex, real to complex, complex to real.

`normalization` is 0 (none), 1 (divide by the root of the number of points) or 2 (divide by it), as torch counts.  All are linear, so JAX's derivative
is torch's; complex to real does not see the imaginary part of the first (and for an even length the middle) entry.
"""

from __future__ import annotations

import math

import jax.numpy as jnp

from .._core import dtypes
from .._core.shapes import wrap_dim
from .conventions import char_name
from .memory import half_transformed, to_reals, transformed
from .reduce import type_of
from .registry import SMOOTH, call, fails, op, real


def _check(x, sizes):
    own = type_of(x)
    if own in (dtypes.float16, dtypes.bfloat16):
        raise RuntimeError(f"MKL FFT doesn't support tensors of type: {own.char_name}")
    if x.size == 0 and all(sizes):
        raise RuntimeError("MKL FFT error: Intel oneMKL DFTI ERROR: Inconsistent configuration parameters")


def _scaled(x, normalization, points):
    if not normalization:
        return x
    return x * jnp.asarray(1 / (math.sqrt(points) if normalization == 1 else points), jnp.finfo(x.dtype).dtype).astype(x.dtype)


def _transformed(x, axes, forward):
    """The unscaled transform along axes."""
    for axis in axes:
        x = jnp.fft.fft(x, axis=axis) if forward else jnp.fft.ifft(x, axis=axis, norm="forward")
    return x


def _points(x, axes):
    return math.prod(x.shape[a] for a in axes)


def _axes(x, dim):
    return tuple(wrap_dim(d, x.ndim) for d in dim)


def _complex(n, *more):
    return [call(real(*shape, dtype="complex128"), *rest) for shape, *rest in (n, *more)]


def _only_complex(x):
    if not jnp.issubdtype(x.dtype, jnp.complexfloating):
        raise RuntimeError(f"Only supports complex dtypes, but found: {char_name(x)}")


@op("_fft_c2c(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor", lies=transformed, node="FftC2CBackward0", names=("torch._fft_c2c",),
    samples=_complex(((4,), [0], 0, True), ((5,), [0], 2, False), ((3, 4), [0, 1], 1, True), ((3, 4), [0], 0, False), ((2, 3, 2, 2), [0, 1, 2, 3], 0, True),
                     ((3,), [], 0, True)), kinks=SMOOTH)
def _fft_c2c(self, *, dim, normalization, forward):
    """The transform of complex numbers along dims."""
    _only_complex(self)
    axes = _axes(self, dim)
    _check(self, [self.shape[a] for a in axes])
    return _scaled(_transformed(self, axes, forward), normalization, _points(self, axes))


@op("_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor", lies=half_transformed, node="FftR2CBackward0", names=("torch._fft_r2c",), saves={"self": ("self",)},
    samples=[call(real(4), [0], 0, True), call(real(5), [0], 2, True), call(real(4), [0], 0, False), call(real(3, 4), [0, 1], 1, True),
             call(real(3, 4), [0, 1], 0, False), call(real(4, 3), [1, 0], 0, True), call(real(1), [0], 0, True), call(real(4, dtype="float32"), [0], 0, True)],
    kinks=SMOOTH, errors=[fails(call(real(4, dtype="float16"), [0], 0, True), RuntimeError, "MKL FFT doesn't support tensors of type: Half")])
def _fft_r2c(self, *, dim, normalization, onesided):
    """The transform of real numbers along dims; onesided: only the first half along the last of them."""
    if not jnp.issubdtype(self.dtype, jnp.floating):
        raise RuntimeError(f"Only supports floating-point dtypes, but found: {char_name(self)}")
    axes = _axes(self, dim)
    _check(self, [self.shape[a] for a in axes])
    wide = jnp.complex128 if self.dtype == jnp.float64 else jnp.complex64
    if onesided:
        out = _transformed(jnp.fft.rfft(self, axis=axes[-1]), axes[:-1], True)
    else:
        out = _transformed(self.astype(wide), axes, True)
    return _scaled(out, normalization, _points(self, axes))


@op("_fft_c2r(Tensor self, int[] dim, int normalization, SymInt last_dim_size) -> Tensor", lies=to_reals, node="FftC2RBackward0", names=("torch._fft_c2r",),
    samples=_complex(((3,), [0], 2, 4), ((3,), [0], 2, 5), ((3, 3), [0, 1], 0, 4), ((3, 4), [1, 0], 1, 5), ((1,), [0], 0, 1)), kinks=SMOOTH)
def _fft_c2r(self, *, dim, normalization, last_dim_size):
    """The transform back to real numbers, of which the second half along the last dim is the mirror image of the first."""
    _only_complex(self)
    axes = _axes(self, dim)
    _check(self, [self.shape[a] for a in axes])
    first = _transformed(self, axes[:-1], False)
    out = jnp.fft.irfft(first, n=last_dim_size, axis=axes[-1], norm="forward")
    return _scaled(out, normalization, _points(out, axes))


__all__ = []
