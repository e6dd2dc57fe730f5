"""The floating-point arithmetic under PyTorch's CPU random kernels, in NumPy.

Two facts about torch's x86 builds decide the last bit of a normal number:

* the kernels are compiled for AVX2 with contraction, so ``x * scale + shift`` is *one* rounding
  (a fused multiply-add), in float32 and in float64;
* float32 Box-Muller uses the Cephes single-precision ``log`` and ``sincos`` in their 8-lane form,
  while everything computed in float64 calls the C library.

NumPy has no fused multiply-add. :func:`fma32` and :func:`fma64` build it from plain operations,
each correctly rounded; checked against torch 2.13 they reproduce its bits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np

from .speed import native

Array = np.ndarray  # or a NumPy scalar
f4, f8, i4, u4, u8 = np.float32, np.float64, np.int32, np.uint32, np.uint64

_LOW29 = u8(0x1FFF_FFFF)  # the bits of a float64 that a float32 drops
_HALF29 = u8(0x1000_0000)  # exactly half a float32 step
_SPLIT = 134217729.0  # 2**27 + 1


def _two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """``a + b`` and the part that rounding lost (Knuth)."""
    total = a + b
    shadow = total - a
    return total, (a - (total - shadow)) + (b - shadow)


def _split(a: Array) -> tuple[Array, Array]:
    """``a`` as a sum of two 26-bit halves (Veltkamp)."""
    scaled = _SPLIT * a
    high = scaled - (scaled - a)
    return high, a - high


def _two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """``a * b`` and the part that rounding lost (Dekker)."""
    product = a * b
    a_high, a_low = _split(a)
    b_high, b_low = _split(b)
    lost = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, lost


def _to_odd(total: Array, lost: Array) -> Array:
    """Move ``total`` to the neighbour with an odd last bit where a sum was inexact.

    A sum rounded to odd can be rounded once more, to fewer bits, without double-rounding error.
    """
    even = (total.view(u8) & u8(1)) == 0
    return np.where(even & (lost != 0), np.nextafter(total, np.copysign(np.inf, lost)), total)


def fma64(a: Array, b: Array, c: Array) -> Array:
    """``a * b + c`` of float64 arrays, rounded once (Boldo and Melquiond's algorithm)."""
    a, b, c = np.broadcast_arrays(*(np.asarray(value, f8) for value in (a, b, c)))
    with np.errstate(all="ignore"):
        product, product_low = _two_product(a, b)
        addend, addend_low = _two_sum(c, product_low)
        total, total_low = _two_sum(product, addend)
        out = total + _to_odd(*_two_sum(addend_low, total_low))
        return np.where(np.isfinite(out), out, a * b + c)


def _round32(total: Array, product: Array, addend: Array) -> Array:
    """The float64 sum ``total = product + addend`` rounded to float32 as the exact sum would be.

    ``total`` is rounded already, so rounding it again is wrong only where it was inexact and fell
    just half way between two float32 values: about one in half a thousand million, repaired here
    (in place).
    """
    halfway = (total.view(u8) & _LOW29) == _HALF29
    if np.count_nonzero(halfway):  # quicker than any() on short arrays
        _, lost = _two_sum(product[halfway], np.broadcast_to(addend, product.shape)[halfway])
        total[halfway] = _to_odd(total[halfway], lost)
    return total.astype(f4)


def fma32(a: Array, b: Array, c: Array) -> Array:
    """``a * b + c`` of float32 values, rounded once: a float64 holds the product exactly."""
    product, addend = np.asarray(a, f8) * np.asarray(b, f8), np.asarray(c, f8)
    return _round32(product + addend, product, addend)


def affine(x: Array, scale: float, shift: float) -> Array:
    """``x * scale + shift`` in ``x``'s precision, rounded once, as torch's kernels round it."""
    scale, shift = x.dtype.type(scale), x.dtype.type(shift)
    if scale == 1 or shift == 0:
        return x * scale + shift  # only one of the two operations can round
    return (fma64 if x.dtype == f8 else fma32)(x, scale, shift)


@cache
def _same_as_libm(name: str) -> bool:
    """Whether NumPy's float64 loop gives the C library's bits, asked of 4096 probes.

    Where NumPy has a vector routine of its own (AVX-512), a per cent or so of them differ.
    """
    probe = np.modf(np.arange(1, 4097) * 0.6180339887498949)[0] - (name == "log1p")
    return np.array_equal(getattr(np, name)(probe), _each(name, probe))


def _each(name: str, x: Array) -> Array:
    """A function of :mod:`math`, which is the C library's, on each element."""
    if native is not None:
        x = np.ascontiguousarray(x)
        out = np.empty_like(x)
        native.libm(name, x, out)
        return out
    return _each_by_python(name, x)


def _each_by_python(name: str, x: Array) -> Array:
    return np.fromiter(map(getattr(math, name), x.ravel().tolist()), f8, x.size).reshape(x.shape)


def libm(name: str, x: Array) -> Array:
    """``log log1p exp sin cos`` or ``tan`` of a float64 array, as the C library computes it."""
    return getattr(np, name)(x) if _same_as_libm(name) else _each(name, x)


def _horner(coefficients: Sequence[float], x: Array) -> Array:
    """A polynomial in float32 fused multiply-adds, highest coefficient first. ``x`` is float64."""
    value = f8(f4(coefficients[0]))
    for coefficient in coefficients[1:]:
        addend = f8(f4(coefficient))
        product = value * x
        value = _round32(product + addend, product, addend).astype(f8)
    return value


_LOG = (
    7.0376836292e-2,
    -1.1514610310e-1,
    1.1676998740e-1,
    -1.2420140846e-1,
    1.4249322787e-1,
    -1.6668057665e-1,
    2.0000714765e-1,
    -2.4999993993e-1,
    3.3333331174e-1,
)
_LN2_HIGH, _LN2_LOW = f4(0.693359375), f4(-2.12194440e-4)
_SQRT_HALF = f4(0.707106781186547524)


def log_f32(x: Array) -> Array:
    """Cephes ``logf`` for positive, normal float32: ``x = m * 2**e``, a polynomial in ``m - 1``."""
    bits = x.view(u4)
    mantissa = ((bits & u4(0x007F_FFFF)) | u4(0x3F00_0000)).view(f4)  # in [1/2, 1)
    small = (mantissa < _SQRT_HALF).astype(f4)
    exponent = ((bits >> u4(23)).view(np.int32) - np.int32(126)).astype(f4) - small
    r = (mantissa - f4(1)) + mantissa * small
    square = r * r
    y = _horner(_LOG, r.astype(f8)).astype(f4) * r
    y = fma32(y, square, exponent * _LN2_LOW) - square * f4(0.5)
    return (r + y) + exponent * _LN2_HIGH  # the last product is exact: 9 bits times a small integer


_SIN = (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_COS = (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
_QUARTER_PI = (-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8)
_FOUR_OVER_PI = f4(1.27323954473516)


def cis_f32(angle: Array) -> tuple[Array, Array]:
    """Cephes ``cosf`` and ``sinf`` of float32 >= 0: reduction by pi/4, two polynomials."""
    octant = ((angle * _FOUR_OVER_PI).astype(np.int32) + i4(1)) & i4(~1)
    turns = octant.astype(f4)
    for part in _QUARTER_PI:
        angle = fma32(turns, f4(part), angle)
    square = angle * angle
    wide = square.astype(f8)
    near_one = _horner(_COS, wide).astype(f4) * square
    near_one = fma32(near_one, square, square * f4(-0.5)) + f4(1)
    near_zero = _horner(_SIN, wide).astype(f4) * square
    near_zero = fma32(near_zero, angle, angle)
    return _in_octant(octant, near_one.view(i4), near_zero.view(i4))


def _in_octant(octant: Array, near_one: Array, near_zero: Array) -> tuple[Array, Array]:
    """Cosine and sine from the bits of both polynomials: exchanged in odd quadrants, signed."""
    exchange = (near_one ^ near_zero) & -((octant >> i4(1)) & i4(1))
    cosine = near_one ^ exchange ^ (((octant + i4(2)) & i4(4)) << i4(29))
    sine = near_zero ^ exchange ^ ((octant & i4(4)) << i4(29))
    return cosine.view(f4), sine.view(f4)


_TWO_PI = 2.0 * math.pi


def box_muller(uniform: Array, mean: float, std: float) -> Array:
    """Turn uniforms in [0, 1) into normals, in blocks of 16.

    In a block, places 0-7 give the radius (of ``1 - u``, so that the logarithm exists) and places
    8-15 the angle; cosines fill the first eight places of the result, sines the last eight.
    """
    if native is not None and uniform.dtype == f4:
        out = np.empty_like(uniform)
        native.box_muller(uniform, out, mean, std)
        return out
    return _box_muller(uniform, mean, std)


def _box_muller(uniform: Array, mean: float, std: float) -> Array:
    pairs = uniform.reshape(-1, 2, 8)
    inside, turn = 1 - pairs[:, 0], pairs[:, 1]
    if uniform.dtype == f8:
        radius, angle = np.sqrt(-2.0 * libm("log", inside)), _TWO_PI * turn
        cosine, sine = libm("cos", angle), libm("sin", angle)
    else:
        radius = np.sqrt(f4(-2) * log_f32(inside))
        cosine, sine = cis_f32(f4(_TWO_PI) * turn)
    out = np.empty_like(pairs)
    out[:, 0] = affine(radius * cosine, std, mean)
    out[:, 1] = affine(radius * sine, std, mean)
    return out.reshape(-1)
