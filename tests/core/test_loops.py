"""Loops that a program has once although a backward pass runs them again (_core/loops.py)."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import jaxpr_as_fun

import torchlike_autograd as torch
from torchlike_autograd._core import compiling, execute, loops

W = np.linspace(-1, 1, 9, dtype=np.float32).reshape(3, 3)
XS = np.linspace(0.5, 2, 12, dtype=np.float32).reshape(4, 3)


def turns(w, xs, start, reverse=False):
    """A loop of which a derivative stores other things than it does itself."""

    def turn(carried, x):
        h, c = carried
        c = jnp.tanh(h @ w) * c + jax.nn.sigmoid(x)
        return (jnp.sin(c), c), jnp.sin(c)

    return jax.lax.scan(turn, (start, start), xs, reverse=reverse)


def both(f, *arrays):
    """(loops before, loops after, results before, results after)."""
    closed = jax.make_jaxpr(f)(*arrays)
    less = loops.merged(closed)
    return loops._loops(closed.jaxpr), loops._loops(less.jaxpr), jaxpr_as_fun(closed)(*arrays), jaxpr_as_fun(less)(*arrays)


def loss(w, xs, start):
    return (turns(w, xs, start)[1] ** 2).sum()


def with_gradient(w, xs, start):
    return turns(w, xs, start), jax.grad(loss)(w, xs, start)


START = np.full(3, 0.25, np.float32)


def test_a_loop_and_its_derivative():
    before, after, expected, got = both(with_gradient, W, XS, START)
    assert (before, after) == (3, 2)
    for e, g in zip(expected, got, strict=True):
        np.testing.assert_allclose(g, e, rtol=1e-6, atol=1e-7)


def test_inside_calls_and_after_the_longer_one():
    def f(w, xs, start):
        gradient = jax.jit(jax.grad(loss))(w, xs, start)
        return gradient, jax.jit(turns)(w, xs, start)

    before, after, expected, got = both(f, W, XS, START)
    assert (before, after) == (3, 2)
    for e, g in zip(expected, got, strict=True):
        np.testing.assert_allclose(g, e, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("other", [
    lambda w, xs, start: turns(w, xs, start + 1),
    lambda w, xs, start: turns(w, xs[::-1], start),
    lambda w, xs, start: turns(w + 1, xs, start),
    lambda w, xs, start: turns(w, xs, start, reverse=True),
    lambda w, xs, start: turns(w, xs[:3], start),
    lambda w, xs, start: jax.lax.scan(lambda h, x: (jnp.tanh(h @ w) + x, h), start, xs),
], ids=["start", "read", "fixed", "direction", "length", "body"])
def test_other_loops_stay(other):
    def f(w, xs, start):
        return other(w, xs, start), jax.grad(loss)(w, xs, start)

    before, after, expected, got = both(f, W, XS, START)
    assert (before, after) == (3, 3)
    for e, g in zip(expected, got, strict=True):
        np.testing.assert_array_equal(g, e)


def test_a_loop_that_reads_the_other_one_stays_behind_it():
    def f(w, xs, start):
        out = turns(w, xs, start)[1]
        return out, jax.grad(loss)(w, out, start)

    before, after, expected, got = both(f, W, XS, START)
    assert (before, after) == (3, 3)
    for e, g in zip(expected, got, strict=True):
        np.testing.assert_array_equal(g, e)


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_recurrent_layers_run_twice_and_not_three_times(kind, monkeypatch, credit):
    seen = []

    def counted(closed):
        less = loops.merged(closed)
        seen.append((loops._loops(closed.jaxpr), loops._loops(less.jaxpr)))
        return less

    monkeypatch.setattr(compiling, "merged", counted)
    torch.manual_seed(0)
    layer = getattr(torch.nn, kind)(3, 4, num_layers=2)
    x = torch.randn(5, 2, 3, requires_grad=True)
    result = layer(x)[0]
    result.pow(2).sum().backward()
    values = [t.numpy() for t in (result.detach(), x.grad, *(p.grad for p in layer.parameters()))]
    assert (6, 4) in seen
    monkeypatch.setattr(compiling, "merged", lambda closed: closed)
    execute.clear_caches()
    x.grad = None
    layer.zero_grad()
    result = layer(x)[0]
    result.pow(2).sum().backward()
    for a, b in zip(values, (result.detach(), x.grad, *(p.grad for p in layer.parameters())), strict=True):
        np.testing.assert_allclose(a, b.numpy(), rtol=1e-5, atol=1e-6)
