"""The error function, its complement and its inverse, of floating-point numbers (layer 2)."""

from __future__ import annotations

import math

import jax.numpy as jnp
from jax import lax

from .conventions import partials


@partials(lambda t, out, x: (2 / math.sqrt(math.pi)) * jnp.exp(-(x * x)) * t)
def error_function(x):
    """erf of floating-point numbers; XLA's passes 1 by rounding, and what follows would be a negative probability."""
    one = jnp.ones((), x.dtype)
    return lax.clamp(-one, lax.erf(x), one)


@partials(lambda t, out, x: (-2 / math.sqrt(math.pi)) * jnp.exp(-(x * x)) * t)
def complement(x):
    """erfc."""
    return lax.erfc(x)


@partials(lambda t, out, x: (0.5 * math.sqrt(math.pi)) * jnp.exp(out * out) * t)
def inverse(x):
    """erfinv.  XLA's approximation in single precision has five digits: one step of Newton's, beside 1 by what is missing to 1, gives the others."""
    out = lax.erf_inv(x)
    if x.dtype != jnp.float32:
        return out
    size, y = jnp.abs(x), jnp.abs(out)
    missing = jnp.where(size > 0.5, lax.erfc(y) - (1 - size), size - lax.erf(y))
    y = y + missing * (0.5 * math.sqrt(math.pi)) * jnp.exp(y * y)
    return jnp.where(size < 1, jnp.copysign(y, x), out)
