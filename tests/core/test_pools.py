"""What XLA makes of pools: a chain of them is as long as its pools together."""

import jax
import jax.numpy as jnp
import numpy as np

from torchlike_autograd._ops import windows


def _length(pools):
    """Characters of the compiled gradient of a chain of pools whose windows overlap."""
    dims = [windows.regular(16, 3, 1, 1)] * 2

    def chain(x):
        for _ in range(pools):
            x = windows.max_over(x * x, dims)[0]
        return x.sum()

    with jax.enable_x64(True):
        return len(jax.jit(jax.grad(chain)).lower(jnp.ones((1, 2, 16, 16), np.float32)).compile().as_text())


def test_a_chain_of_pools_is_compiled_once_a_pool():
    """Fused into each other every pool holds all before it, once for each element of its window."""
    first, second, third = _length(2), _length(3), _length(4)
    assert third - second < 1.3 * (second - first)
