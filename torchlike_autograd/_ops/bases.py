"""Logarithms to the bases 2 and 10, exact where they are whole (layer 2): as log(x) / log(base), log10(1000) would miss 3 by a digit, which shows in `floor`."""

from __future__ import annotations

import math

import jax.numpy as jnp
from jax import lax


def logarithm(x, base):
    """The logarithm of x to base 2 or 10."""
    if jnp.iscomplexobj(x):
        return jnp.log2(x) if base == 2 else jnp.log10(x)
    if x.dtype == jnp.float32:
        return (jnp.log(x.astype(jnp.float64)) / math.log(base)).astype(jnp.float32)
    y = jnp.log(x) / math.log(base)
    near = jnp.round(y)
    off = jnp.abs(lax.pow(jnp.full_like(y, base), near) - x)
    return jnp.where(off <= jnp.where(jnp.abs(near) > 22, 2.3e-16, 0) * x, near, y)  # 10 ** 23 is the first that is no float


__all__ = ["logarithm"]
