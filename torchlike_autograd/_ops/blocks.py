"""Elements that torch's CPU kernels take many at once (layer 2): some compare NaN there otherwise than one by one.

Of n elements in memory the first n - n % m are taken in blocks of m = `width` bytes, the rest one by one.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax

AVX2, AVX512 = 64, 128  # bytes: two registers


def in_blocks(x, width):
    """Which elements of an array are taken in blocks: a bool, or an array of them."""
    taken = x.size - x.size % (width // x.dtype.itemsize)
    if taken in (0, x.size):
        return taken > 0
    return lax.iota(jnp.int64, x.size).reshape(x.shape) < taken


def where_nan(x, width, together, alone):
    """`together` where x is NaN and taken in a block, elsewhere `alone`."""
    blocks = in_blocks(x, width)
    return alone if blocks is False else jnp.where(jnp.isnan(x) & blocks, together, alone)


__all__ = ["AVX2", "AVX512", "in_blocks", "where_nan"]
