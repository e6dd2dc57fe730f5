"""What XLA makes of pools: a chain of them is as long as its pools together."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

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


@pytest.mark.parametrize("f", (windows.max_over, windows.sum_over))
@pytest.mark.parametrize("count", (1, 4, 7))
def test_wide_windows_are_not_taken_element_by_element(f, count):
    """A maximum over all, over parts that differ: as many equations for 500 elements as for 50."""
    with jax.enable_x64(True):
        closed = jax.make_jaxpr(functools.partial(f, windows=[windows.adaptive(503, count)]))(jnp.ones((2, 503), np.float32))
    assert len(closed.jaxpr.eqns) < 40


def test_wide_windows_name_the_first_of_equals_and_the_last_nan():
    x = np.array([[1, 3, 3, 0, np.nan, 5, np.nan, 2, 9, 7, -np.inf, 9] * 2], np.float32)
    with jax.enable_x64(True):
        values, places = windows.max_over(jnp.asarray(x), [windows.Windows((0, 7, 12), 1, (12, 12, 9))])
    np.testing.assert_array_equal(values, [[np.nan, np.nan, np.nan]])
    assert places.tolist() == [[6, 18, 18]]
    with jax.enable_x64(True):
        values, places = windows.max_over(jnp.asarray(np.nan_to_num(x, nan=0.0)), [windows.Windows((0, 7), 1, (12, 9))])
    assert (values.tolist(), places.tolist()) == ([[9, 9]], [[8, 8]])
