"""Random numbers as functions of their parameters (layer 2): the numbers come as an input, the derivatives are implicit ones.

A draw x of a family of distributions with distribution function F(x; a) moves with its parameter by dx/da = -(dF/da) / (dF/dx), the draw's place in
the distribution staying what it is.  Near the ends torch computes these derivatives by short series, which are the same here; elsewhere by
approximations that are up to 3e-3 off (usually less than 1e-4), where they are exact here.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax
from jax.scipy import special as js

from .conventions import aligned, char_name, partials
from .registry import SMOOTH, UNIMPLEMENTED, at, call, fails, op, real

# Where torch uses a short series, and the power after which it is cut (torch 2.13, measured)
_SMALL_X, _SMALL_TERMS = 0.8, 5
_LEFT, _LEFT_TERMS, _RIGHT, _RIGHT_TERMS = 2.5, 10, 0.75, 8
_MOST_TERMS = 20_000


def _gamma_slope(a, x):
    """dx/da of a gamma draw x of shape a and rate one."""
    small = x < _SMALL_X
    far = lax.random_gamma_grad(a, jnp.where(small, 1, x))
    return jnp.where(small, _gamma_slope_near_zero(a, jnp.where(small, x, 0.5)), far)


def _gamma_slope_near_zero(a, x):
    """The same by the series of the lower incomplete gamma function: x^a times the sum of (-x)^k / (k! (a + k))."""
    term, total, slope = jnp.ones_like(x), 1 / a, 1 / (a * a)
    for k in range(1, _SMALL_TERMS + 1):
        term = term * -x / k
        total, slope = total + term / (a + k), slope + term / ((a + k) * (a + k))
    out = x * jnp.exp(x) * (slope - (jnp.log(x) - js.digamma(a)) * total)
    return jnp.where(jnp.isnan(out), 0, out)


def _beta_slope(x, a, b):
    """dx/da / (1 - x) of a beta draw x with the concentrations a and b: what a Dirichlet draw's other parts lose is in proportion to them."""
    spread = (a + b) * x * (1 - x)
    left = (x <= 0.5) & (spread < _LEFT)
    right = (x >= 0.5) & (spread < _RIGHT) & ~left
    middle = jnp.where(left | right, 0.5, x)
    return jnp.where(left, _beta_slope_at_zero(x, a, b), jnp.where(right, _beta_slope_at_one(1 - x, a, b), _beta_slope_inside(middle, a, b)))


def _beta_slope_at_zero(x, a, b):
    """By the series of the incomplete beta function: x^a times the sum of (1 - b)_k x^k / (k! (a + k))."""
    term, total, slope = jnp.ones_like(x), 1 / a, 1 / (a * a)
    for k in range(1, _LEFT_TERMS + 1):
        term = term * (k - b) * x / k
        total, slope = total + term / (a + k), slope + term / ((a + k) * (a + k))
    level = jnp.log(x) - js.digamma(a) + js.digamma(a + b)
    return x * (1 - x) ** -b * (slope - level * total)


def _beta_slope_at_one(y, a, b):
    """The same from the other end, y = 1 - x: the derivative of y^b times the sum of (1 - a)_k y^k / (k! (b + k)) in a."""
    term, turn, total, slope = jnp.ones_like(y), jnp.zeros_like(y), 1 / b, jnp.zeros_like(y)
    for k in range(1, _RIGHT_TERMS + 1):
        turn = (turn * (k - a) - term) * y / k
        term = term * (k - a) * y / k
        total, slope = total + term / (b + k), slope + turn / (b + k)
    return (1 - y) ** (1 - a) * ((js.digamma(a + b) - js.digamma(a)) * total + slope)


def _beta_slope_inside(x, a, b):
    left = x <= (a + 1) / (a + b + 2)
    y = jnp.where(left, x, 1 - x)
    p, q = jnp.where(left, a, b), jnp.where(left, b, a)
    total, by_first, by_second = _beta_series(y, p, q)
    level = jnp.log(x) + js.digamma(a + b) - js.digamma(a)
    from_left, from_right = (level - 1 / p) * total + by_first, level * total + by_second
    return x / p * jnp.where(left, -from_left, from_right)


def _beta_series(y, p, q):
    """F = sum of (p + q)_n / (p + 1)_n y^n, of which y^p (1 - y)^q F / (p B(p, q)) is the incomplete beta function, and its derivatives in p and in q."""

    def more(state):
        n, term, *_, running = state
        return (n < _MOST_TERMS) & running

    def step(state):
        n, term, up, low, total, by_first, by_second, _ = state
        term = term * (p + q + n) / (p + 1 + n) * y
        up, low = up + 1 / (p + q + n), low + 1 / (p + 1 + n)
        new = total + term, by_first + term * (up - low), by_second + term * up
        tiny = jnp.finfo(y.dtype).eps / 8
        return n + 1, term, up, low, *new, jnp.any(term * (1 + up) > tiny * new[0])

    one, zero = jnp.ones_like(y), jnp.zeros_like(y)
    return lax.while_loop(more, step, (jnp.zeros((), y.dtype), one, zero, zero, one, zero, zero, jnp.asarray(True)))[4:7]


def _in_double(f, *arrays):
    """f of the arrays in float64, rounded back."""
    return f(*(x.astype(jnp.float64) for x in arrays)).astype(arrays[0].dtype)


def _same_types(expected, *others):
    for x in others:
        if x.dtype != expected.dtype:
            raise RuntimeError(f"Found dtype {char_name(x)} but expected {char_name(expected)}")


@partials(lambda t, out, a, drawn: t * _in_double(_gamma_slope, a, out), None)
def _gamma_draw(a, drawn):
    return drawn


@op("_drawn_gamma(Tensor self, Tensor drawn) -> Tensor", node="StandardGammaBackward0", names=(), second="_standard_gamma_grad", nondiff=("drawn",),
    saves={"self": ("self", "result")}, samples=[call(real(3, low=0.5), at(0.3, 0.05, 0.7, grad=False))], kinks=[call(at(2.0, 0.01), at(0.0, 1e-30, grad=False))])
def _drawn_gamma(self, drawn):
    """Gamma draws of the shapes `self`, with the implicit derivative."""
    return _gamma_draw(self, drawn)


@op("_standard_gamma_grad(Tensor self, Tensor output) -> Tensor", node="StandardGammaGradBackward0", derivative=UNIMPLEMENTED, method=False, nondiff=("output",),
    samples=[call(real(3, low=0.5, grad=False), at(0.3, 0.05, 0.7, grad=False))], kinks=[call(at(2.0, 0.01, grad=False), at(0.0, 1e-30, grad=False))],
    errors=[fails(call(at(2.0, grad=False), at(2.0, grad=False, dtype="float32")), RuntimeError, "Found dtype Float but expected Double"),
            fails(call(at(2, dtype="int64", grad=False), at(2, dtype="int64", grad=False)), NotImplementedError, "\"_standard_gamma_grad_cpu\" not implemented for 'Long'")])
def _standard_gamma_grad(self, output):
    """The derivative of gamma draws in their shapes."""
    _same_types(self, output)
    if self.dtype not in (jnp.float32, jnp.float64):
        raise NotImplementedError(f"\"_standard_gamma_grad_cpu\" not implemented for '{char_name(self)}'")
    a, x = jnp.broadcast_arrays(*aligned(self, output))
    return _in_double(_gamma_slope, a, x)


@op("_dirichlet_grad(Tensor x, Tensor alpha, Tensor total) -> Tensor", node="torch::autograd::NotImplemented", derivative=UNIMPLEMENTED, method=False,
    samples=[call(at(1e-4, 2e-5, grad=False), at(0.5, 1.5, grad=False), at(1.0, 4.0, grad=False))], kinks=SMOOTH,
    errors=[fails(call(at(0.5, grad=False), at(2.0, grad=False, dtype="float32"), at(3.0, grad=False)), RuntimeError, "Found dtype Float but expected Double")])
def _dirichlet_grad(x, alpha, total):
    """The derivative of Dirichlet draws in their own concentrations; `total` is the sum of the concentrations."""
    _same_types(x, alpha, total)
    if x.dtype not in (jnp.float32, jnp.float64):
        raise NotImplementedError(f"\"_dirichlet_grad_cpu\" not implemented for '{char_name(x)}'")
    x, alpha, total = jnp.broadcast_arrays(*aligned(x, alpha, total))
    return _in_double(lambda x, a, t: _beta_slope(x, a, t - a), x, alpha, total)


# Draws through which backward raises

@op("_drawn_dirichlet(Tensor self, Tensor drawn) -> Tensor", node="torch::autograd::NotImplemented", derivative=UNIMPLEMENTED, second="aten::_sample_dirichlet", names=(),
    nondiff=("drawn",), samples=[call(real(3, low=0.5, grad=False), real(3, grad=False))], kinks=SMOOTH)
def _drawn_dirichlet(self, drawn):
    """Dirichlet draws."""
    return drawn


@op("_drawn_binomial(Tensor count, Tensor prob, Tensor drawn) -> Tensor", node="torch::autograd::NotImplemented", derivative=UNIMPLEMENTED, second="aten::binomial", names=(),
    nondiff=("drawn",), samples=[call(real(3, low=0.5, grad=False), real(3, grad=False), real(3, grad=False))], kinks=SMOOTH)
def _drawn_binomial(count, prob, drawn):
    """Binomial draws."""
    return drawn
