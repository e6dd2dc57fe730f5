"""Compiled programs round as PyTorch does, where XLA would not: it multiplies by reciprocals, and 2 ** -3 is not 0.125."""

import jax
import numpy as np
import pytest

import torchlike_autograd as torch
from torchlike_autograd._core import worth
from torchlike_autograd._ops.exact import exact

X = (np.arange(1200) % 97 + 1).reshape(20, 60)
DIVIDED = {
    "a number": (lambda x: x / 41.0, lambda x: x / x.dtype.type(41)),
    "a tensor without dims": (lambda x: x / torch.tensor(49.0, dtype=x.dtype), lambda x: x / x.dtype.type(49)),
    "a row": (lambda x: x / (x[:1] + 40), lambda x: x / (x[:1] + 40)),
    "a column": (lambda x: x / x.sum(1, keepdim=True), lambda x: x / x.sum(1, keepdims=True)),
    "twice": (lambda x: x / 10.0 / 3.0, lambda x: x / x.dtype.type(10) / x.dtype.type(3)),
    "twice, by rows": (lambda x: x / 10.0 / x[:1], lambda x: x / x.dtype.type(10) / x[:1]),
    "a quotient": (lambda x: x / (x.flip(0) / 7.0), lambda x: x / (x[::-1] / x.dtype.type(7))),
    "the whole part": (lambda x: (x / 41.0).floor(), lambda x: np.floor(x / x.dtype.type(41))),
    "a root": (lambda x: x / x.flip(0).sqrt(), lambda x: x / np.sqrt(x[::-1])),
    "twice, out of range": (lambda x: x * 1e25 / (x[:1] * 1e20) / (x.flip(0) * 1e20), lambda x: x * x.dtype.type(1e25) / (x[:1] * x.dtype.type(1e20))
                           / (x[::-1] * x.dtype.type(1e20))),
    "a quotient, out of range": (lambda x: x * 1e25 / (x.flip(0) * 1e30 / x[:1]), lambda x: x * x.dtype.type(1e25) / (x[::-1] * x.dtype.type(1e30) / x[:1])),
    "a mean": (lambda x: x + torch.ones(49, dtype=x.dtype).mean(), lambda x: x + x.dtype.type(1)),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", DIVIDED)
def test_compiled_divisions(name, dtype, monkeypatch):
    monkeypatch.setattr(worth, "waits", lambda program: False)      # compiled at first sight
    f, expected = DIVIDED[name]
    x = X.astype(dtype)
    t = torch.tensor(x)
    w = torch.ones(20, 60, dtype=t.dtype, requires_grad=True)
    (w * f(t)).sum().backward()
    np.testing.assert_array_equal(w.grad.numpy(), expected(x))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_compiled_gradients(dtype, monkeypatch):
    monkeypatch.setattr(worth, "waits", lambda program: False)
    x = X.astype(dtype)
    t = torch.tensor(x, requires_grad=True)
    (t / 41.0).backward(torch.tensor(x))
    np.testing.assert_array_equal(t.grad.numpy(), x / x.dtype.type(41))


@pytest.mark.parametrize("f", [lambda x, y: x / y, lambda x, y: x / 4.0, lambda x, y: x / (y * y), lambda x, y: 1.0 / x, lambda x, y: x.astype(int) // 3])
def test_divisions_that_xla_leaves_alone(f):
    closed = jax.make_jaxpr(f)(np.ones((2, 3), np.float32), np.ones((2, 3), np.float32))
    assert exact(closed) is closed


def test_divisions_in_loops_and_branches():
    def looped(x):
        return jax.lax.fori_loop(0, 3, lambda i, c: jax.lax.cond(i > 0, lambda c: c / 41.0, lambda c: c, c), x)

    x = X.astype(np.float32)
    closed = exact(jax.make_jaxpr(looped)(x))
    assert str(closed).count("optimization_barrier") == 1
    found, = jax.jit(jax.extend.core.jaxpr_as_fun(closed))(x)
    np.testing.assert_array_equal(np.asarray(found), x / np.float32(41) / np.float32(41))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("compiled", [True, False])
def test_whole_powers_and_logarithms(dtype, compiled, monkeypatch):
    monkeypatch.setattr(worth, "waits", lambda program: not compiled)
    tens, twos = np.array([float(f"1e{k}") for k in range(-30, 31)]).astype(dtype), 2.0 ** np.arange(-100, 101).astype(dtype)
    for f, x, expected in ((torch.log10, tens, np.arange(-30, 31)), (torch.log2, twos, np.arange(-100, 101)), (torch.exp2, np.arange(-100, 101), twos)):
        t = torch.tensor(x.astype(dtype), requires_grad=True)
        y = f(t)
        (y * 2).sum().backward()
        np.testing.assert_array_equal(y.detach().numpy(), expected.astype(dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["exp2", "sinh", "cosh", "atanh"])
def test_last_digits_of_compiled_functions(name, dtype, monkeypatch):
    monkeypatch.setattr(worth, "waits", lambda program: False)
    inside = np.linspace(-1, 1, 2001)[1:-1]
    x = (inside if name == "atanh" else np.concatenate([inside, inside * 80, inside * 1e-6])).astype(dtype)
    x = np.concatenate([x, np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 700.0], dtype)])
    y = getattr(torch, name)(torch.tensor(x)).numpy()
    with np.errstate(all="ignore"):
        expected = getattr(np, {"atanh": "arctanh"}.get(name, name))(x.astype(np.longdouble))
        rounded = expected.astype(dtype)
        finite = np.isfinite(rounded) & (np.abs(rounded) > 1e-30)
        assert (np.abs(y - expected)[finite] <= 6 * np.spacing(np.abs(rounded[finite]))).all()
    np.testing.assert_array_equal(y[~finite], rounded[~finite])
    np.testing.assert_array_equal(np.signbit(y[x == 0]), np.signbit(rounded[x == 0]))


@pytest.mark.parametrize("name, f", [
    ("log(exp(x))", lambda m, x: m.log(m.exp(x))), ("exp(x) * exp(-x)", lambda m, x: m.exp(x) * m.exp(-x)), ("(x ** 2) ** 0.5", lambda m, x: (x ** 2.0) ** 0.5),
    ("sqrt(x * x)", lambda m, x: m.sqrt(x * x)), ("the norm of one", lambda m, x: m.sqrt((x * x).reshape(-1, 1).sum(1))),
    ("log(x ** 2)", lambda m, x: m.log(x ** 2.0)), ("exp(x) / exp(x)", lambda m, x: m.exp(x) / m.exp(x))])
def test_compiled_identities_overflow(name, f, monkeypatch):
    monkeypatch.setattr(worth, "waits", lambda program: False)
    x = np.array([-2.0, -1.0, 1.0, 3.0, 800.0, -800.0, 1e200, -1e200, np.inf, -np.inf, np.nan])
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(f(torch, torch.tensor(x)).numpy(), f(np, x), rtol=1e-14)
