"""Running sums, products and extremes that are written as loops give what XLA's own give, both ways; what is not a number stays."""

import functools

import jax
import numpy as np
import pytest
from jax import lax
from jax.extend.core import jaxpr_as_fun

import torchlike_autograd as torch
from sampling import sample
from torchlike_autograd._core import compiling
from torchlike_autograd._ops import running

NAMES = ("cumsum", "cumprod", "cummax", "cummin")


@pytest.mark.parametrize("kind", ("float32", "float64", "complex64", "int32"))
@pytest.mark.parametrize("name", sample(NAMES, 4))
def test_loops_give_what_jax_gives(name, kind):
    if kind == "complex64" and name in ("cummax", "cummin"):
        return
    with jax.enable_x64(True):
        x = np.random.default_rng(0).standard_normal((3, 70, 20)) * (1 if name == "cumsum" else 0.01) + (name == "cumprod")
        x = (x * 5 if kind == "int32" else x).astype(kind)
        for reverse in (False, True):
            closed = jax.make_jaxpr(functools.partial(getattr(lax, name), axis=1, reverse=reverse))(x)
            new = running.looped(closed)
            assert new is not closed
            np.testing.assert_allclose(jaxpr_as_fun(new)(x)[0], jaxpr_as_fun(closed)(x)[0], rtol=1e-4, atol=1e-5)


def test_short_rows_and_lone_ones_stay_as_they_are():
    for x, axis in (((100, 8, 20), 1), ((20, 100), 1), ((100, 3), 0)):
        closed = jax.make_jaxpr(functools.partial(lax.cumsum, axis=axis))(np.ones(x, np.float32))
        assert running.looped(closed) is closed


@pytest.mark.parametrize("n", (40, 5000))
@pytest.mark.parametrize("name", ("cummax", "cummin"))
def test_the_last_of_equals_and_each_nan(name, n, credit):
    values = np.random.default_rng(1).integers(-3, 3, n).astype(np.float32)
    values[[n // 2, n - 3]] = np.nan
    best, place, want = values[0], 0, []
    for i, v in enumerate(values):
        if np.isnan(v) or (v >= best if name == "cummax" else v <= best):
            best, place = v, i
        want.append(place)
    x = torch.tensor(values.tolist())
    for _ in range(3):  # compiled by now
        got = getattr(torch, name)(x, 0)
        assert got.indices.tolist() == want
        np.testing.assert_array_equal(got.values.numpy(), values[want])


def test_a_step_with_running_sums_is_compiled_without_jaxs(credit, monkeypatch):
    compiled = []
    monkeypatch.setattr(compiling, "looped", lambda closed: compiled.append(running.looped(closed)) or compiled[-1])
    x = torch.full((64, 20), 0.1, requires_grad=True)
    for _ in range(3):
        x.grad = None
        (x.cumsum(0) ** 2).sum().backward()
        assert x.grad[0, 0].item() == pytest.approx(0.2 * 64 * 65 / 2)
    assert compiled
    assert "scan" in "".join(map(str, compiled))
