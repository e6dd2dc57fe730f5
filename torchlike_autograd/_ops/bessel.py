"""Bessel functions and Airy's function of torch.special (layer 2), computed in double precision.  torch knows no gradient of them.

Far out by Hankel's asymptotic series, near zero by polynomials, piece by piece, for what is left when the singular parts are taken off.  Their coefficients are
computed once, from integrals of analytic functions by the trapezoidal rule, which converges exponentially for them.
"""

from __future__ import annotations

import functools
import math

import jax.numpy as jnp
import numpy as np
from jax.scipy import special as js

from .conventions import only
from .registry import NONE, Promote, at, call, op, real

_INF, _NAN, _GAMMA = float("inf"), float("nan"), 0.57721566490153286
_FAR = 25.0
_ANGLES = 2 * math.pi * (np.arange(128) + 0.5) / 128
_STEPS = 0.15 * np.arange(65)
_KS = np.arange(1, 31)


# Series

_DEGREE = 12
_POWERS = np.array([np.pad(np.polynomial.chebyshev.cheb2poly(np.eye(_DEGREE + 1)[k]), (0, _DEGREE - k)) for k in range(_DEGREE + 1)])  # of Chebyshev's polynomials


@functools.cache
def _coefficients(function, low, high, pieces):
    """Of polynomials in [-1, 1] that are a function of arrays on each of some pieces of an interval, the highest power first: degrees x pieces."""
    nodes = np.cos(math.pi * (np.arange(_DEGREE + 1) + 0.5) / (_DEGREE + 1))
    starts = low + (high - low) / pieces * np.arange(pieces)
    values = function((starts[:, None] + (high - low) / pieces * (nodes + 1) / 2).reshape(-1)).reshape(pieces, -1)
    series = np.polynomial.chebyshev.chebvander(nodes, _DEGREE).T @ values.T * 2 / (_DEGREE + 1)
    series[0] /= 2
    series[np.abs(series) < 1e-16 * np.abs(series).max()] = 0  # rounding errors, which powers would enlarge
    return (_POWERS.T @ series)[::-1]


def _piecewise(function, low, high, pieces, x):
    """The function by its polynomials, for x between the ends.  (One series over the whole would take a recurrence, which XLA does not run as one loop.)"""
    place = (x - low) * (pieces / (high - low))
    piece = jnp.clip(jnp.floor(place), 0, pieces - 1)
    t, piece, out = 2 * (place - piece) - 1, piece.astype(jnp.int32), 0.0
    for c in _coefficients(function, low, high, pieces):
        out = out * t + jnp.asarray(c)[piece]
    return out


def _near(function, x):
    """A function of |x| up to `_FAR`."""
    return _piecewise(function, 0.0, _FAR, 25, jnp.minimum(x, _FAR))


def _turning(x):
    """(cos, sin) of x sin(angle) along a new last dim."""
    phase = x[:, None] * np.sin(_ANGLES)
    return np.cos(phase), np.sin(phase)


def _j0(x):
    return _turning(x)[0].mean(-1)


def _j1(x):
    """J1(x) / x."""
    return (_turning(x)[1] * np.sin(_ANGLES)).mean(-1) / x


def _y0(x):
    """What Neumann's series of Y0 adds to the logarithm."""
    weights = ((-1.0) ** _KS / _KS) @ np.cos(2 * _KS[:, None] * _ANGLES)
    return (_turning(x)[0] * weights).mean(-1)


def _y1(x):
    """What that of Y1 adds to the logarithm and the pole, divided by x."""
    weights = ((-1.0) ** _KS * (2 * _KS + 1) / (_KS * (_KS + 1))) @ np.sin((2 * _KS[:, None] + 1) * _ANGLES)
    return (_turning(x)[1] * weights).mean(-1) / x


def _asymptotic(x, count, following):
    """(P, Q) of an asymptotic series whose terms go to them in turn, two of each sign: following(term k, k) is the term after it."""
    term, parts = jnp.ones_like(x), [jnp.zeros_like(x), jnp.zeros_like(x)]
    for k in range(count):
        parts[k % 2] = parts[k % 2] + (-term if k % 4 in (2, 3) else term)
        term = following(term, k)
    return parts


def _hankel(x, order):
    """(amplitude times P, times Q, the phase) of the asymptotic series for large x."""
    x = jnp.where(x > _FAR, x, 2 * _FAR)
    p, q = _asymptotic(x, 24, lambda a, k: a * (4 * order * order - (2 * k + 1) ** 2) / ((k + 1) * 8 * x))
    scale = jnp.sqrt(2 / (math.pi * x))
    return scale * p, scale * q, x - (order / 2 + 0.25) * math.pi


# Bessel functions

def _unbounded(x, out):
    return jnp.where(jnp.isinf(x), _NAN, out)


def _j(x, order):
    size = jnp.abs(x)
    near = _near(_j1, size) * size if order else _near(_j0, size)
    p, q, phase = _hankel(size, order)
    out = jnp.where(size <= _FAR, near, p * jnp.cos(phase) - q * jnp.sin(phase))
    return _unbounded(x, jnp.where(jnp.isnan(x), x, jnp.where(x < 0, -out, out) if order else out))


def _y(x, order):
    log = jnp.log(jnp.where(x > 0, x, 1.0) / 2)
    if order == 0:
        near = 2 / math.pi * ((log + _GAMMA) * _j(x, 0) - 2 * _near(_y0, x))
    else:
        near = -2 * _j(x, 0) / (math.pi * jnp.where(x > 0, x, 1.0)) + 2 / math.pi * ((log + _GAMMA - 1) * _j(x, 1) - x * _near(_y1, x))
    p, q, phase = _hankel(x, order)
    out = jnp.where(x <= _FAR, near, p * jnp.sin(phase) + q * jnp.cos(phase))
    return _unbounded(x, jnp.where(x == 0, -_INF, jnp.where(x < 0, _NAN, jnp.where(jnp.isnan(x), x, out))))


@functools.cache
def _of_inverse(order):
    """exp(z) sqrt(z) K_order(z) as a function of 1 / z."""
    def function(inverse):
        z = 1 / inverse
        width = np.sqrt(np.maximum(z, 1.0))
        t = _STEPS / width[:, None]
        values = np.exp(-z[:, None] * (2 * np.sinh(t / 2) ** 2)) * np.cosh(order * t) * np.where(_STEPS == 0, 0.5, 1.0)
        return values.sum(-1) * 0.15 / width * np.sqrt(z)

    return function


def _scaled_k(z, order):
    """exp(z) K_order(z) for z of at least 2/3."""
    return _piecewise(_of_inverse(order), 0.0, 1.5, 12, 1 / z) / jnp.sqrt(z)


def _k_series(x, order):
    """K_order near zero."""
    y, log = x * x / 4, jnp.log(x / 2)
    term, harmonic, total = jnp.ones_like(x), 0.0, jnp.zeros_like(x)
    for k in range(16):
        if order == 0:
            total = total + term * (harmonic - _GAMMA - log)
            term = term * y / (k + 1) ** 2
        else:
            total = total + term * (log - (2 * (harmonic - _GAMMA) + 1 / (k + 1)) / 2)
            term = term * y / ((k + 1) * (k + 2))
        harmonic += 1 / (k + 1)
    return total if order == 0 else 1 / x + x / 2 * total


def _k(x, order, scaled):
    small = x < 1
    low = _k_series(jnp.where(small & (x > 0), x, 1.0), order)
    high = _scaled_k(jnp.where(small | jnp.isinf(x) | jnp.isnan(x), 1.0, x), order)
    out = jnp.where(small, low * jnp.exp(jnp.where(small, x, 0.0)), high) if scaled else jnp.where(small, low, high * jnp.exp(-jnp.where(small, 1.0, x)))
    out = jnp.where(x == _INF, 0.0, out)
    return jnp.where(jnp.isnan(x), x, jnp.where(x == 0, _INF, jnp.where(x < 0, _NAN, out)))


# Airy's function

def _airy_series(x):
    cube, f, g, first, second = x ** 3, jnp.ones_like(x), x, jnp.zeros_like(x), jnp.zeros_like(x)
    for k in range(20):
        first, second = first + f, second + g
        f, g = f * cube / ((3 * k + 2) * (3 * k + 3)), g * cube / ((3 * k + 3) * (3 * k + 4))
    return first / (3 ** (2 / 3) * math.gamma(2 / 3)) - second / (3 ** (1 / 3) * math.gamma(1 / 3))


def _airy_middle(x):
    """Ai left of zero: twice the real part of exp(i pi/3) Ai(-x exp(i pi/3)), by an integral along a path of descent."""
    z = -x
    zeta = 2 / 3 * z ** 1.5
    scale = np.sqrt(np.maximum(zeta, 1.0))
    s = np.concatenate([-_STEPS[:0:-1], _STEPS]) / scale[:, None]
    angle = np.tanh(s * (2 / math.pi))
    t, slope = s - 1j * (math.pi / 2) * angle, 1 + 1j * (angle * angle - 1)
    k = (np.exp(-1j * zeta[:, None] * np.cosh(t)) * np.cosh(t / 3) * slope).sum(-1) * (0.15 / scale / 2)
    return 2 * np.real(np.exp(0.5j * math.pi) * k) * np.sqrt(z / 3) / math.pi


def _airy_far(z):
    """Ai(-z) for large z, by its asymptotic series."""
    zeta = 2 / 3 * z ** 1.5
    p, q = _asymptotic(z, 20, lambda a, k: a * ((6 * k + 1) * (6 * k + 3) * (6 * k + 5) / (216 * (k + 1) * (2 * k + 1))) / zeta)
    phase = zeta + math.pi / 4
    return (jnp.sin(phase) * p - jnp.cos(phase) * q) / (math.sqrt(math.pi) * z ** 0.25)


_AIRY_FAR = -11.5


def _airy(x):
    right, middle, left = (x >= 1) & (x < 104), (x < -2) & (x >= _AIRY_FAR), (x < _AIRY_FAR) & jnp.isfinite(x)
    z = jnp.where(right, x, 1.0)
    zeta = 2 / 3 * z ** 1.5
    up = jnp.sqrt(z / 3) * _scaled_k(zeta, 1 / 3) * jnp.exp(-zeta) / math.pi
    down = jnp.where(left, _airy_far(jnp.where(left, -x, 12.0)), _piecewise(_airy_middle, _AIRY_FAR, -2.0, 28, jnp.where(middle, x, -3.0)))
    near = _airy_series(jnp.where((x >= -2) & (x < 1), x, 0.0))
    out = jnp.where(right, up, jnp.where(left | middle, down, jnp.where(x >= 104, 0.0, near)))
    return _unbounded(x, jnp.where(jnp.isnan(x), x, out))


_FUNCTIONS = {
    "bessel_j0": lambda x: _j(x, 0), "bessel_j1": lambda x: jnp.where(x == 0, x, _j(x, 1)), "bessel_y0": lambda x: _y(x, 0), "bessel_y1": lambda x: _y(x, 1),
    "modified_bessel_i0": lambda x: _unbounded(x, js.i0(x)), "modified_bessel_i1": lambda x: jnp.where(x == 0, 0.0, _unbounded(x, js.i1(x))),
    "modified_bessel_k0": lambda x: _k(x, 0, False), "modified_bessel_k1": lambda x: _k(x, 1, False),
    "scaled_modified_bessel_k0": lambda x: _k(x, 0, True), "scaled_modified_bessel_k1": lambda x: _k(x, 1, True), "airy_ai": _airy,
    "spherical_bessel_j0": lambda x: jnp.where(jnp.isinf(x), 0.0, jnp.where(x == 0, 1.0, jnp.sin(x) / jnp.where(x == 0, 1.0, x)))}
_PLACES = (0.0, -1.0, 1.0, 30.0, _INF, -_INF, _NAN, 800.0, 0.3, -0.3, 2.5, -2.5, 3.5, -3.5, 24.0, 26.0, 103.0, 1e-8)


def _function(name, compute):
    """The entry; two of them call their parameter x."""
    def value(x):
        """A special function of each element."""
        return compute(only(f"{name}_cpu", x, "d").astype(jnp.float64)).astype(x.dtype)

    def value_of_self(self):
        return value(self)

    value_of_self.__doc__ = value.__doc__
    by_x = name in ("airy_ai", "spherical_bessel_j0")
    op(f"special_{name}(Tensor {'x' if by_x else 'self'}) -> Tensor", derivative=NONE, promote=Promote.FLOAT, opmath=False, inplace=False, method=False,
       names=(f"torch.special.{name}",), kinks=[call(at(*_PLACES, grad=False))],
       samples=[call(real(2, 3, grad=False)), call(real(5, low=0.0, high=4.0, grad=False)), call(real(4, low=0.1, high=40.0, dtype="float32", grad=False))],
       )(value if by_x else value_of_self)


for _name, _compute in _FUNCTIONS.items():
    _function(_name, _compute)
