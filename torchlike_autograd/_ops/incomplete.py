"""The incomplete gamma functions where the usual series and continued fraction lose their digits (layer 2).

Near x = a the usual ones need sqrt(a) terms; Temme's uniform expansion (DLMF 8.12.3-8.12.11): with s = (x - a) / a and eta ** 2 / 2 = s - log(1 + s), eta of the sign of s,

    P(a, x) = erfc(-eta sqrt(a / 2)) / 2 - R        Q(a, x) = erfc(eta sqrt(a / 2)) / 2 + R
    R = exp(-a eta ** 2 / 2) / sqrt(2 pi a) * sum over k of c_k(eta) a ** -k,    c_k(eta) = sum over n of d_kn eta ** n

with the coefficients d_kn computed once, in fractions. Where Q is small because a is, 1 - P would be rounding: `upper_of_small`.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy import special as js

from .tracing import looping

_ZETA = (1.6449340668482264, 1.2020569031595942, 1.0823232337111381, 1.03692775514337, 1.0173430619844492, 1.008349277381923, 1.0040773561979444,
         1.0020083928260821, 1.000994575127818, 1.0004941886041194, 1.000246086553308, 1.0001227133475785, 1.0000612481350588)      # zeta(2), zeta(3), ...
_ORDERS, _POWERS = 20, 25       # of 1 / a, from 20 on, and of eta, below 0.5: both tails are far below the last digit of float64


def near(a, x):
    """Where the expansion holds: a above 20 and x within 30 % of it, or a above 200 and within 4.5 deviations (torch's limits)."""
    apart = jnp.abs(x - a) / a
    return (a > 20) & (apart < 0.3) & jnp.isfinite(a) & ((a < 200) | (apart < 4.5 / jnp.sqrt(a)))


def lower(a, x):
    """P(a, x) where `near`."""
    eta, rest = _parts(a, x)
    return 0.5 * js.erfc(-eta * jnp.sqrt(a / 2)) - rest


def upper(a, x):
    """Q(a, x) where `near`."""
    eta, rest = _parts(a, x)
    return 0.5 * js.erfc(eta * jnp.sqrt(a / 2)) + rest


def small(a, x):
    """Where `upper_of_small` is to be taken: x below 1 and a so small that Q is no difference from 1 (torch's limits)."""
    return (x > 0) & (x < 1) & (a > 0) & (a < jnp.where(x <= 0.5, -0.4 / jnp.log(x), 1.1 * x))


def upper_of_small(a, x):
    """Q(a, x) = 1 - x ** a / Gamma(1 + a) - x ** a / Gamma(a) * sum over n > 0 of (-x) ** n / (n! (a + n)) (from DLMF 8.7.1)."""
    a, x = jnp.broadcast_arrays(a, x)
    count = np.arange(1, 21)
    signed = (-1.0) ** count / np.array([float(math.factorial(n)) for n in count])
    total = jnp.sum(_row(signed, x) * _powers(x, count) / (a[..., None] + _row(count, x)), axis=-1)
    exponent = a * jnp.log(x) - _lgamma_of_one_and(a)
    return -jnp.expm1(exponent) - a * jnp.exp(exponent) * total


def _lgamma_of_one_and(a):
    """log(Gamma(1 + a)) for a > 0; near 0 its Taylor series (DLMF 5.7.3), where 1 + a would round."""
    series = [-np.euler_gamma] + [(-1) ** k * zeta / k for k, zeta in enumerate(_ZETA, 2)]
    return jnp.where(a < 0.05, a * looping(jnp.polyval)(jnp.asarray(series[::-1], a.dtype), a), jax.lax.lgamma(1 + a))


def _parts(a, x):
    a, x = jnp.broadcast_arrays(a, x)
    half = _half_square((x - a) / a)
    eta = jnp.sign(x - a) * jnp.sqrt(2 * half)
    powers = _powers(eta, np.arange(_POWERS))
    orders = jnp.matmul(powers, jnp.asarray(_coefficients().T, eta.dtype), precision=jax.lax.Precision.HIGHEST)
    total = jnp.sum(orders * _powers(1 / a, np.arange(_ORDERS)), axis=-1)
    return eta, jnp.exp(-a * half) / jnp.sqrt(2 * math.pi * a) * total


def _powers(x, exponents):
    """x ** exponents on a new last axis."""
    return x[..., None] ** _row(exponents, x)


def _row(numbers, like):
    """Numbers along a new last axis of `like`."""
    return jnp.asarray(numbers, like.dtype).reshape((1,) * like.ndim + (-1,))


def _half_square(s):
    """s - log(1 + s) without cancellation for |s| < 0.3: log(1 + s) = 2 artanh(v) with v = s / (2 + s), and s - 2 v = s v."""
    v = s / (2 + s)
    series = looping(jnp.polyval)(jnp.asarray([1 / (2 * k + 3) for k in range(12, -1, -1)], s.dtype), v * v)
    return s * v - 2 * v ** 3 * series


@functools.cache
def _coefficients():
    """d_kn as float64 [_ZETA = (1.6449340668482264, 1.2020569031595942, 1.0823232337111381, 1.03692775514337, 1.0173430619844492, 1.008349277381923, 1.0040773561979444,
         1.0020083928260821, 1.000994575127818, 1.0004941886041194, 1.000246086553308, 1.0001227133475785, 1.0000612481350588)      # zeta(2), zeta(3), ...
_ORDERS, _POWERS] (DLMF 8.12.9-8.12.12 in Fractions)."""
    count = _POWERS + 2 * _ORDERS
    first = _first_row(count)
    stirling = _stirling(_ORDERS)
    rows = [first]
    for k in range(1, _ORDERS):
        above = rows[-1]
        rows.append([(-1) ** k * stirling[k] * first[n] + (n + 2) * above[n + 2] for n in range(count - 2 * k)])
    return np.array([[float(d) for d in row[:_POWERS]] for row in rows])


def _lambda_powers(count):
    """a_n of 1 + s = sum over n of a_n eta ** n, of which s' s = eta (1 + s) in eta."""
    a = [Fraction(1), Fraction(1)]           # of s: eta + ...
    series = [Fraction(0), Fraction(1)]
    for n in range(2, count):
        inner = sum(series[j] * (n + 1 - j) * series[n + 1 - j] for j in range(2, n))
        series.append((series[n - 1] - inner) / (n + 1))
        a.append(series[-1])
    return a


def _first_row(count):
    """d_0n: c_0(eta) = 1 / s - 1 / eta (DLMF 8.12.8)."""
    a = _lambda_powers(count + 3)
    inverse = [Fraction(1)]                 # of s / eta = 1 + a_2 eta + ...
    for n in range(1, count + 1):
        inverse.append(-sum(a[j + 1] * inverse[n - j] for j in range(1, n + 1)))
    return inverse[1:]


def _stirling(count):
    """g_k of the series of the gamma function in 1 / a (DLMF 5.11.3-5.11.6)."""
    a = _lambda_powers(2 * count + 2)
    product, out = 1, []
    for k in range(count):
        product *= 2 * k + 1
        out.append(product * a[2 * k + 1])
    return out
