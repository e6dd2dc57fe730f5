"""Sums, differences and negatives of complex numbers as torch's kernels compute them (layer 2): by a product with 1 or -1, or from 0.

What is infinite in one part is not a number in the other after such a product, and a zero may lose its sign, on which branch cuts depend.
Derivatives do not multiply.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax

from .conventions import partials

__all__ = ["complex_itself", "complex_minus", "complex_negative", "complex_plus"]


def _times(z, one):
    """z * (one + 0j) for a `one` of 1 or -1, without a constant factor 1 that a compiler would take away with the 0 beside it."""
    x, y = jnp.real(z), jnp.imag(z)
    return lax.complex(one * x - y * 0, x * 0 + one * y)


@partials(lambda t, out, a, b: t, lambda t, out, a, b: t)
def complex_plus(a, b):
    """a + 1 * b."""
    return a + _times(b, 1)


@partials(lambda t, out, a, b: t, lambda t, out, a, b: complex_negative(t))
def complex_minus(a, b):
    """a + -1 * b."""
    return a + _times(b, -1)


@partials(lambda t, out, z: t)
def complex_itself(z):
    """1 * z."""
    return _times(z, 1)


_VECTOR = 64    # bytes, of a processor with AVX512


@partials(lambda t, out, z: complex_negative(t))
def complex_negative(z):
    """-z as torch's kernel has it: 0 - z, part by part (no part is -0), of as many elements as fill its vectors, and -z of what is left over."""
    left = z.size % (_VECTOR // z.dtype.itemsize)
    if left == z.size:
        return lax.complex(-jnp.real(z), -jnp.imag(z))
    whole = lax.complex(0 - jnp.real(z), 0 - jnp.imag(z))
    if not left:
        return whole
    place = jnp.arange(z.size).reshape(z.shape)
    return jnp.where(place < z.size - left, whole, lax.complex(-jnp.real(z), -jnp.imag(z)))


def log_of_one_more(x):
    """log(1 + x) of complex numbers; near 0 from |1 + x|**2 - 1, whose digits 1 + x does not have."""
    a, b = jnp.real(x), jnp.imag(x)
    near = jnp.hypot(a, b) < 0.5
    more = jnp.where(near, a * (2 + a) + b * b, 0)
    size = jnp.where(near, jnp.where(more == 0, a, jnp.log1p(more) / 2), jnp.log(jnp.hypot(a + 1, b)))
    return jnp.where(jnp.isnan(x), complex("nan+nanj"), lax.complex(size, jnp.arctan2(b, a + 1)))
