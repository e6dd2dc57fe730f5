"""Quotients and their two derivatives (layer 2): torch's gradient and its tangent are different formulas."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.custom_derivatives import SymbolicZero

from .conventions import partials

__all__ = ["quotient", "quotient_forward", "ratio"]


# XLA makes a / (b * c) of (a / b) / c, whose product leaves the range where torch divides twice; it does not where a sign stands between the two.
@partials(lambda t, out, x, y: t / y, lambda t, out, x, y: t * quotient(-quotient(x, y), y))
def quotient(x, y):
    """x / y."""
    return x / y


@jax.custom_jvp
def quotient_forward(x, y):
    """x / y in forward mode."""
    return quotient(x, y)


def _quotient_tangent(primals, tangents):
    """(t - u * quotient) / y, where the gradient's formula would subtract infinities."""
    y, (t, u), out = primals[1], tangents, quotient_forward(*primals)
    if type(u) is SymbolicZero:
        return out, jnp.broadcast_to(t / y, out.shape)
    lost = u * out
    return out, (-lost if type(t) is SymbolicZero else t - lost) / y


quotient_forward.defjvp(_quotient_tangent, symbolic_zeros=True)


@partials(lambda t, out, x, y: t / y, lambda t, out, x, y: -t * (x / (y * y)))
def ratio(x, y):
    """x / y, whose gradient divides by the square, where that of `quotient` divides twice."""
    return x / y
