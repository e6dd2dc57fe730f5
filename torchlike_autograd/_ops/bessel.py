"""Bessel functions and Airy's function of torch.special (layer 2), computed in double precision.  torch knows no gradient of them.

Near zero by Neumann's and by power series, far out by Hankel's asymptotic series; integrals of analytic functions by the trapezoidal rule, which
converges exponentially for them.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy import special as js

from .conventions import only
from .registry import NONE, Promote, at, call, op, real

_INF, _NAN, _GAMMA = float("inf"), float("nan"), 0.57721566490153286
_FAR = 25.0
_COUNT = 128
_ANGLES = 2 * math.pi * (np.arange(_COUNT) + 0.5) / _COUNT
_STEPS = 0.15 * np.arange(65)


def _mean(values, weights):
    return jnp.mean(values * weights, axis=-1)


def _near(x):
    """(cos, sin) of x sin(angle) along a new last dim, for |x| up to `_FAR`."""
    phase = jnp.where(jnp.abs(x) <= _FAR, x, 0.0)[..., None] * np.sin(_ANGLES).reshape((1,) * x.ndim + (-1,))
    return jnp.cos(phase), jnp.sin(phase)


def _row(values, x):
    return jnp.asarray(values).reshape((1,) * x.ndim + (-1,))


def _hankel(x, order):
    """(amplitude times P, times Q, the phase) of the asymptotic series for large x."""
    x = jnp.where(x > _FAR, x, 2 * _FAR)
    a, parts = jnp.ones_like(x), [jnp.zeros_like(x), jnp.zeros_like(x)]
    for k in range(24):
        parts[k % 2] = parts[k % 2] + (-a if k % 4 in (2, 3) else a)
        a = a * (4 * order * order - (2 * k + 1) ** 2) / ((k + 1) * 8 * x)
    scale = jnp.sqrt(2 / (math.pi * x))
    return scale * parts[0], scale * parts[1], x - (order / 2 + 0.25) * math.pi


def _unbounded(x, out):
    return jnp.where(jnp.isinf(x), _NAN, out)


def _j(x, order):
    size = jnp.abs(x)
    cos, sin = _near(size)
    near = jnp.mean(cos, axis=-1) if order == 0 else _mean(sin, _row(np.sin(_ANGLES), x))
    p, q, phase = _hankel(size, order)
    out = jnp.where(size <= _FAR, near, p * jnp.cos(phase) - q * jnp.sin(phase))
    return _unbounded(x, jnp.where(jnp.isnan(x), x, jnp.where(x < 0, -out, out) if order else out))


def _y(x, order):
    cos, sin = _near(x)
    log = jnp.log(jnp.where(x > 0, x, 1.0) / 2)
    ks = np.arange(1, 31)
    sign = (-1.0) ** ks
    if order == 0:
        weights = (sign / ks) @ np.cos(2 * ks[:, None] * _ANGLES)
        near = 2 / math.pi * ((log + _GAMMA) * _j(x, 0) - 2 * _mean(cos, _row(weights, x)))
    else:
        weights = (sign * (2 * ks + 1) / (ks * (ks + 1))) @ np.sin((2 * ks[:, None] + 1) * _ANGLES)
        near = -2 * _j(x, 0) / (math.pi * jnp.where(x > 0, x, 1.0)) + 2 / math.pi * ((log + _GAMMA - 1) * _j(x, 1) - _mean(sin, _row(weights, x)))
    p, q, phase = _hankel(x, order)
    out = jnp.where(x <= _FAR, near, p * jnp.sin(phase) + q * jnp.cos(phase))
    return _unbounded(x, jnp.where(x == 0, -_INF, jnp.where(x < 0, _NAN, jnp.where(jnp.isnan(x), x, out))))


def _integral(z, order):
    """exp(z) K_order(z) for z of at least about a half."""
    t = _row(_STEPS, z) / jnp.sqrt(jnp.maximum(z, 1.0))[..., None]
    weight = _row(np.where(_STEPS == 0, 0.5, 1.0), z)
    values = jnp.exp(-z[..., None] * (2 * jnp.sinh(t / 2) ** 2)) * jnp.cosh(order * t)
    return jnp.sum(values * weight, axis=-1) * 0.15 / jnp.sqrt(jnp.maximum(z, 1.0))


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
    high = _integral(jnp.where(small | jnp.isinf(x), 1.0, x), order)
    out = jnp.where(small, low * jnp.exp(jnp.where(small, x, 0.0)), high) if scaled else jnp.where(small, low, high * jnp.exp(-jnp.where(small, 1.0, x)))
    out = jnp.where(x == _INF, 0.0, out)
    return jnp.where(jnp.isnan(x), x, jnp.where(x == 0, _INF, jnp.where(x < 0, _NAN, out)))


def _airy_series(x):
    cube, f, g, first, second = x ** 3, jnp.ones_like(x), x, jnp.zeros_like(x), jnp.zeros_like(x)
    for k in range(20):
        first, second = first + f, second + g
        f, g = f * cube / ((3 * k + 2) * (3 * k + 3)), g * cube / ((3 * k + 3) * (3 * k + 4))
    return first / (3 ** (2 / 3) * math.gamma(2 / 3)) - second / (3 ** (1 / 3) * math.gamma(1 / 3))


def _airy_left(z):
    """Ai(-z): twice the real part of exp(i pi/3) Ai(z exp(i pi/3)), by an integral along a path of descent."""
    zeta = 2 / 3 * z ** 1.5
    u = np.concatenate([-_STEPS[:0:-1], _STEPS])
    scale = jnp.sqrt(jnp.maximum(zeta, 1.0))[..., None]
    s = _row(u, z) / scale
    angle = jnp.tanh(s * (2 / math.pi))
    t = jax.lax.complex(s, -(math.pi / 2) * angle)
    slope = jax.lax.complex(jnp.ones_like(angle), angle * angle - 1)
    turned = jnp.exp(-1j * zeta[..., None].astype(t.dtype) * jnp.cosh(t)) * jnp.cosh(t / 3) * slope
    k = jnp.sum(turned, axis=-1) * (0.15 / scale[..., 0] / 2).astype(t.dtype)
    turn = complex(math.cos(math.pi / 3), math.sin(math.pi / 3))
    return 2 * jnp.real(turn * k * complex(math.cos(math.pi / 6), math.sin(math.pi / 6))) * jnp.sqrt(z / 3) / math.pi


def _airy(x):
    right, left = (x >= 1) & (x < 104), (x < -2) & jnp.isfinite(x)
    z = jnp.where(right, x, 1.0)
    zeta = 2 / 3 * z ** 1.5
    up = jnp.sqrt(z / 3) * _integral(zeta, 1 / 3) * jnp.exp(-zeta) / math.pi
    down = _airy_left(jnp.where(left, -x, 2.0))
    near = _airy_series(jnp.where(right | left | (x >= 104) | jnp.isinf(x), 0.0, x))
    return _unbounded(x, jnp.where(right, up, jnp.where(left, down, jnp.where(x >= 104, 0.0, near))))


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
