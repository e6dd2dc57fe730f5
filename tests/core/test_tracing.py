"""Operators are traced without jit: no calls are left, loops stay loops."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import torchlike_autograd as torch
from torchlike_autograd._ops.spec import Form, Pullback
from torchlike_autograd._ops.tracing import looping, scan, traced


def _primitives(jaxpr):
    for eqn in jaxpr.eqns:
        yield eqn.primitive.name
        for value in eqn.params.values():
            for inner in value if isinstance(value, (tuple, list)) else (value,):
                inner = getattr(inner, "jaxpr", inner)
                if hasattr(inner, "eqns"):
                    yield from _primitives(inner)


def _made(run, monkeypatch):
    """The primitives of the Forms that a function makes."""
    forms = []
    for kind in (Form, Pullback):
        def made(self, *args, init=kind.__init__):
            init(self, *args)
            forms.append(self)
        monkeypatch.setattr(kind, "__init__", made)
    run()
    return {name for form in forms for name in _primitives(form.closed.jaxpr)}


def test_functions_of_jnp_are_written_where_they_are_called():
    x = jax.ShapeDtypeStruct((3, 5), np.float32)
    plain = jax.make_jaxpr(lambda x: jnp.where(x > 0, x, 0))(x)
    assert "jit" in set(_primitives(plain.jaxpr))
    assert set(_primitives(traced(lambda x: jnp.where(x > 0, x, 0), x).jaxpr)) == {"gt", "broadcast_in_dim", "select_n"}


def test_loops_stay_loops():
    x = jax.ShapeDtypeStruct((3, 5), np.float32)
    summed = looping(jax.jit(lambda x: jax.lax.scan(lambda c, r: (c + r, None), x[0], x)[0]))
    assert list(_primitives(traced(lambda x: scan(lambda c, r: (c + r, None), x[0], x)[0], x).jaxpr)).count("scan") == 1
    assert "scan" in _primitives(traced(lambda x: summed(x), x).jaxpr)


def test_operators_leave_no_calls(monkeypatch):
    def run():
        x = torch.rand(7, 11, 13, requires_grad=True)
        y = torch.nn.functional.layer_norm(x, (13,))
        y = torch.nn.functional.gelu(y).std(0) + torch.softmax(x, 1).mean(0) + torch.where(x > 0, x, 0.5).amax(0)
        y.sum().backward()

    assert "jit" not in _made(run, monkeypatch) & {"jit", "pjit"}


@pytest.mark.parametrize("run", [
    lambda: torch.linalg.matrix_exp(torch.rand(17, 3, 3)), lambda: torch.nn.LSTM(3, 5)(torch.rand(17, 3)),
    lambda: torch.nn.functional.max_pool2d(torch.rand(1, 3, 17, 19), 3, 1)])
def test_operators_that_loop(run, monkeypatch):
    assert _made(run, monkeypatch) & {"scan", "while"}


@pytest.mark.parametrize("run, function", [
    (lambda: torch.special.ndtri(torch.rand(17, 3)), jax.scipy.special.ndtri),
    (lambda: torch.igamma(torch.rand(17, 3), torch.rand(17, 3)), lambda x: jax.scipy.special.gammainc(x, x)),
    (lambda: torch.nn.functional.embedding_bag(torch.tensor([1, 2, 0, 3, 1]), torch.rand(17, 3), torch.tensor([0, 2, 4])),
     lambda x: jnp.searchsorted(x[0], x[1]))])
def test_operators_over_functions_of_jax_loop_as_these_do(run, function, monkeypatch):
    """Which of its functions loop is for JAX to say; none of them is unrolled here that is not there."""
    loops = set(_primitives(jax.make_jaxpr(function)(np.ones((17, 3), np.float32)).jaxpr)) & {"scan", "while", "call_hi_primitive"}
    assert loops <= _made(run, monkeypatch)


def test_a_function_of_jax_is_traced_as_it_is_elsewhere(monkeypatch):
    def cumulative(x):
        return jax.lax.scan(lambda c, r: (c + r, c), x[0], x)[1]

    f = torch.from_jax_function(cumulative) if hasattr(torch, "from_jax_function") else torch.interop.from_jax_function(cumulative)
    assert "scan" in _made(lambda: f(torch.rand(17, 3)), monkeypatch)
