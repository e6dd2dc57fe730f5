"""Sums and extremes over the first dims of large arrays are taken row by row, with the same values; others stay as they are."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import jaxpr_as_fun

import torchlike_autograd as torch
from torchlike_autograd._core import compiling
from torchlike_autograd._ops import columns


@pytest.mark.parametrize("kind", ("float32", "float64"))
@pytest.mark.parametrize("shape, axes", (((3, 130, 130), (0,)), ((40, 17000), (0,)), ((1, 5, 1, 20000), (0, 1)), ((2, 9, 16400), (0, 1))))
@pytest.mark.parametrize("name", ("sum", "max", "min"))
def test_rows_give_what_numpy_gives(name, shape, axes, kind):
    with jax.enable_x64(True):
        x = np.random.default_rng(0).standard_normal(shape).astype(kind)
        x[..., 5] = np.nan
        closed = jax.make_jaxpr(lambda x: getattr(jnp, name)(x, axes))(x)
        new = columns.by_columns(closed)
        assert new is not closed
        ours, known = jaxpr_as_fun(new)(x)[0], getattr(np, name)(x, axes)
        assert ours.shape == known.shape and ours.dtype == known.dtype
        np.testing.assert_allclose(ours, known, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape, axes, kind", (((8, 16384), 0, "float32"), ((4, 8, 20000), 1, "float32"), ((20000, 8), 1, "float32"), ((8, 20000), 0, "int32"),
                                               ((1, 20000), 0, "float32"), ((8, 20000), (0, 1), "float32")))
def test_others_stay_as_they_are(shape, axes, kind):
    closed = jax.make_jaxpr(lambda x: jnp.sum(x, axes))(np.ones(shape, kind))
    assert columns.by_columns(closed) is closed


def test_the_gradient_of_what_is_added_to_every_example(monkeypatch):
    """It goes this way in a training step, and is what it was."""
    seen = []

    def spy(closed):
        out = columns.by_columns(closed)
        seen.append(out is not closed)
        return out

    monkeypatch.setattr(compiling, "by_columns", spy)
    places, x = torch.zeros(33, 512, requires_grad=True), torch.arange(4.0)[:, None, None].expand(4, 33, 512)
    for _ in range(12):
        places.grad = None
        (x * torch.sin(x + places)).sum().backward()
        places.grad.sum().item()
    assert True in seen
    np.testing.assert_allclose(places.grad.numpy(), np.full((33, 512), (np.arange(4) * np.cos(np.arange(4))).sum()), rtol=1e-5)
