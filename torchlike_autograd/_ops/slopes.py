"""How draws move with their parameters (layer 2): the derivatives of gamma and Dirichlet draws, as torch computes them.

A draw x of a family with the distribution function F(x; a) moves with its parameter by dx/da = -(dF/da) / (dF/dx): its place in the distribution stays
what it is.  Near the ends the series of F is used, for large parameters the approximation F = Phi(w) + phi(w) (1/w - 1/u) of Lugannani and Rice, near the
mean its Taylor series, else a rational function of logarithms.  Where torch passes from one to the other, and after how many terms its series end, was
measured; the rational functions were fitted to its values (`compat_matrix/fit_draws.py`).  The exact derivatives are up to 3e-3 off these.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax.scipy import special as js

__all__ = ["beta_slope", "gamma_slope"]

_SMALL, _SMALL_TERMS, _LARGE_SHAPE, _NEAR = 0.8, 5, 8, 0.1
_LEFT, _LEFT_TERMS, _RIGHT, _RIGHT_TERMS, _LARGE_PARTS = 2.5, 10, 0.75, 8, 6

# Coefficients of numerators and denominators, of all products of powers of the variables in lexicographic order
_GAMMA_ABOVE = np.array([
    0.16009398, -0.094634809, 0.025146376, -0.0030648343, 0.53487893, 0.1298071, 0.065735949, -0.0015649758, 0.040121004, -0.0065914022, -0.0026286047,
    -0.0013441777])
_GAMMA_BELOW = np.array([
    1, 0.32668115, 0.10406089, 0.0014179084, 0.16639465, 0.020070113, -0.0035938915, -0.00058392623, 0.017050642, -0.0021309326, 0.00085092367,
    -1.5247877e-07])
_BETA_ABOVE = np.array([
    1.003668233, -0.010611074883, -0.065788833399, 0.01201642863, 0.6336835991, -0.3557432599, 0.05486251648, -0.001465281033, -0.03276231906,
    0.0044741074452, 0.002429354597, -0.0001557569013, 0.221950385, -0.3187676331, 0.017999157431, 0.01074823814, -0.2951249643, 0.06219954479,
    0.01535556598, 0.001550077057, 0.02155310298, 0.004170831599, 0.001292462449, 6.976601077e-05, -0.059808414329, 0.0084419164988, 0.01085618172,
    0.002319392565, 0.02911413504, 0.01400243777, -0.002721828457, 0.00075104118099, 0.005900514878, -0.001936558688, -9.4954467279e-06, 5.3855585969e-05])
_BETA_BELOW = np.array([
    1, -0.029240219343, -0.044383426609, 0.0072858098249, 0.6357567472, -0.3473456711, 0.05454656494, -0.002407477521, -0.03301322327, 0.0048452194141,
    0.00231480583, -0.0002307248149, 0.5925320577, -0.1757678135, 0.01505928619, 0.00056451527294, 0.1014815858, -0.06589186703, 0.01272886114,
    -0.00073166469561, -0.0072584818651, 0.0010961954861, 0.00039349942229, -4.12701925e-05, 0.06469649321, -0.0236701437, 0.0029020964741,
    -5.8969630803e-05, 0.001925008108, -0.002869809258, 0.0008000589141, -6.0637132281e-05, -0.00034774073361, 6.9597564877e-05, 1.0972875069e-05,
    -1.6509646929e-06])


def _polynomial(variables, degrees, coefficients):
    """The sum of c x^i y^j ... over all powers below `degrees`, by Horner's rule in each variable."""
    x, rest = variables[0], variables[1:]
    rows = np.reshape(coefficients, (degrees[0], -1))
    out = 0
    for row in rows[::-1]:
        out = out * x + (_polynomial(rest, degrees[1:], row) if rest else row[0])
    return out


def _stirling(z, terms=2):
    """The quotient of the gamma function and Stirling's formula, as a series in 1/z."""
    return 1 + 1 / (12 * z) + (1 / (288 * z * z) if terms > 1 else 0)


def _choose(cases, otherwise):
    """The first case (mask, function, arguments) whose mask holds; elsewhere its arguments are replaced by the last entry's, harmless ones."""
    out = otherwise
    for mask, f, args, harmless in reversed(cases):
        out = jnp.where(mask, f(*(jnp.where(mask, a, h) for a, h in zip(args, harmless))), out)
    return out


# Gamma draws

def gamma_slope(a, x):
    """dx/da of a gamma draw x of shape a and rate one."""
    small, large = x < _SMALL, (x >= _SMALL) & (a > _LARGE_SHAPE)
    near = large & (x >= (1 - _NEAR) * a) & (x <= (1 + _NEAR) * a)
    cases = [(small, _gamma_series, (a, x), (1, 0.5)), (near, _gamma_near_mean, (a, x), (10, 10)), (large & ~near, _gamma_far, (a, x), (10, 20)),
             (~(small | large), _gamma_rational, (a, x), (2, 2))]
    return _choose(cases, jnp.full_like(x, jnp.nan))


def _gamma_series(a, x):
    """From x^a times the sum of (-x)^k / (k! (a + k)), the lower incomplete gamma function."""
    term, total, slope = jnp.ones_like(x), 1 / a, 1 / (a * a)
    for k in range(1, _SMALL_TERMS + 1):
        term = term * -x / k
        total, slope = total + term / (a + k), slope + term / ((a + k) * (a + k))
    out = x * jnp.exp(x) * (slope - (jnp.log(x) - js.digamma(a)) * total)
    return jnp.where(jnp.isnan(out), 0, out)


def _gamma_far(a, x):
    """With d = x/a - 1: w^2 = 2 a (d - log(1 + d)), u = sqrt(a) d."""
    d, log = x / a - 1, jnp.log(x / a)
    root = jnp.sign(d) * jnp.sqrt(2 * (d - log))
    return (1 + d) * _stirling(a) * (log / d + ((2 + d) / (2 * d * d) - log / root**3) / a)


def _gamma_near_mean(a, x):
    """The same to the second order in d."""
    d = x / a - 1
    return _stirling(a) * (1 + d / 2 - d * d / 6 + (1 / 12 + 47 / 1080 * d - 13 / 864 * d * d) / a)


def _gamma_rational(a, x):
    variables = jnp.log(x / a), jnp.log(a)
    return jnp.exp(_polynomial(variables, (3, 4), _GAMMA_ABOVE) / _polynomial(variables, (3, 4), _GAMMA_BELOW))


# Beta draws

def beta_slope(x, a, b):
    """dx/da / (1 - x) of a beta draw x with the concentrations a and b: what a Dirichlet draw's other parts lose is in proportion to them."""
    total = a + b
    spread = total * x * (1 - x)
    left = (x <= 0.5) & (spread < _LEFT)
    right = (x >= 0.5) & (spread < _RIGHT) & ~left
    large = (a > _LARGE_PARTS) & (b > _LARGE_PARTS) & ~left & ~right
    near = large & (jnp.abs(x - a / total) <= _NEAR * jnp.sqrt(a * b / (total + 1)) / total)
    args = (x, a, b)
    cases = [(left, _beta_series, args, (0.1, 1, 1)), (right, _beta_series_from_one, args, (0.9, 1, 1)), (near, _beta_near_mean, args, (0.5, 9, 9)),
             (large & ~near, _beta_far, args, (0.7, 9, 9)), (~(left | right | large), _beta_rational, args, (0.5, 2, 2))]
    return _choose(cases, jnp.full_like(x, jnp.nan))


def _beta_series(x, a, b):
    """From x^a times the sum of (1 - b)_k x^k / (k! (a + k)), the incomplete beta function."""
    term, total, slope = jnp.ones_like(x), 1 / a, 1 / (a * a)
    for k in range(1, _LEFT_TERMS + 1):
        term = term * (k - b) * x / k
        total, slope = total + term / (a + k), slope + term / ((a + k) * (a + k))
    level = jnp.log(x) - js.digamma(a) + js.digamma(a + b)
    return x * (1 - x) ** -b * (slope - level * total)


def _beta_series_from_one(x, a, b):
    """The same from the other end, y = 1 - x: the derivative of y^b times the sum of (1 - a)_k y^k / (k! (b + k)) in a."""
    y = 1 - x
    term, turn, total, slope = jnp.ones_like(y), jnp.zeros_like(y), 1 / b, jnp.zeros_like(y)
    for k in range(1, _RIGHT_TERMS + 1):
        turn = (turn * (k - a) - term) * y / k
        term = term * (k - a) * y / k
        total, slope = total + term / (b + k), slope + turn / (b + k)
    return x ** (1 - a) * ((js.digamma(a + b) - js.digamma(a)) * total + slope)


def _beta_far(x, a, b):
    """With t = a + b: w^2 / 2 = a log(a / (t x)) + b log(b / (t (1 - x))), u = (t x - a) q, q^2 = t / (a b)."""
    t = a + b
    q, log = jnp.sqrt(t / (a * b)), jnp.log(a / (t * x))
    w = jnp.sign(x - a / t) * jnp.sqrt(2 * (a * log + b * jnp.log(b / (t * (1 - x)))))
    u = (t * x - a) * q
    moved = (x - 1) * q + u / 2 * (1 / t - 1 / a)
    return -x * q * _stirling(a) * _stirling(b) / _stirling(t) * (log / u - log / w**3 + moved / (u * u))


def _beta_near_mean(x, a, b):
    """(1 - x) times the same to the first order in y = x - m, m = a / t and n = b / t: the poles of the second order cancel."""
    t = a + b
    m, n = a / t, b / t
    y, mn = x - m, m * n
    e1, e2, e3 = 2 / 3 * (1 / n**2 - 1 / m**2) * mn, (1 / m**3 + 1 / n**3) * mn / 2, 2 / 5 * (1 / n**4 - 1 / m**4) * mn  # w^2 = t y^2 / mn (1 + e1 y + ...)
    p1, p2, p3 = -1.5 * e1, 15 / 8 * e1**2 - 1.5 * e2, 15 / 4 * e1 * e2 - 35 / 16 * e1**3 - 1.5 * e3  # w^-3 in the same way
    l1, l2, l3 = -1 / (2 * m), 1 / (3 * m * m), -1 / (4 * m**3)  # log(1 + y / m)
    r2, r3 = l2 + l1 * p1 + p2, l3 + l2 * p1 + l1 * p2 + p3
    h0, h1 = 1 / (m * t) - n * r2 / t**2, l1 / (m * t) - n * r3 / t**2
    correction = _stirling(a, 1) * _stirling(b, 1) / _stirling(t, 1)
    return correction * (mn * h0 + y * ((n - m) * h0 + mn * h1)) / (1 - x)


def _beta_rational(x, a, b):
    """A correction to x (digamma(a + b) - digamma(a)) / b."""
    u = jnp.log(x)
    v = jnp.log(a) - u
    variables = u, v, jnp.log(a + b) - v
    ratio = _polynomial(variables, (3, 3, 4), _BETA_ABOVE) / _polynomial(variables, (3, 3, 4), _BETA_BELOW)
    return ratio * x * (js.digamma(a + b) - js.digamma(a)) / b
