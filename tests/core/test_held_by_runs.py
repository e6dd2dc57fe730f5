"""What runs op by op lets arrays go after their last use: a step that is seen once needs no more memory than PyTorch's."""

import tracemalloc

import pytest

import torchlike_autograd as torch
from torchlike_autograd._core import execute, host, worth

ONE = 400 * 400 * 8  # bytes of an array below


def peak(f):
    """The most that Python's allocators hold while f() runs, beyond what they held before, in arrays."""
    execute.flush()
    tracemalloc.start(1)
    try:
        f()
        return tracemalloc.get_traced_memory()[1] / ONE
    finally:
        tracemalloc.stop()


@pytest.fixture
def op_by_op(monkeypatch):
    monkeypatch.setattr(worth, "waits", lambda program: True)
    monkeypatch.setattr(execute, "HEAVY", 1 << 20)


def array(**kwargs):
    return torch.full((400, 400), 0.5, dtype=torch.float64, **kwargs)


@pytest.mark.parametrize("native", [True, False])
def test_steps(op_by_op, monkeypatch, native):
    if not native:
        monkeypatch.setattr(execute, "_run_steps", execute._run_each)
    x = array()

    def run():
        y = x
        for _ in range(40):
            y = torch.tanh(y) + 0.1
        return y.sum().item()

    run()
    assert peak(run) < 8


@pytest.mark.parametrize("native", [True, False])
def test_gradients_inside_a_pass(op_by_op, monkeypatch, native):
    """Forward 40 arrays that the pass reads; the 40 gradients between are gone one after the other."""
    if not native:
        monkeypatch.setattr(execute, "_run_steps", execute._run_each)
    x = array(requires_grad=True)

    def run():
        y = x
        for _ in range(40):
            y = torch.tanh(y) * y.detach()
        x.grad = None
        y.sum().backward()
        return x.grad.sum().item()

    first = run()
    assert peak(run) < 40 * 3 + 10  # tanh, its operand, the factor; 40 gradients more before
    assert run() == first


def test_inside_an_operator(op_by_op):
    """An optimizer's update is one operator: twenty parameters with some ten arrays on the way each."""
    ps = [array(requires_grad=True) for _ in range(20)]
    for p in ps:
        p.grad = torch.full_like(p, 0.1)
    opt = torch.optim.AdamW(ps, lr=1e-3)

    def run():
        opt.step()
        return ps[0].sum().item()

    run()
    assert peak(run) < 20 * 3 + 15  # parameters and two moments, new beside old


def test_lines_that_let_go():
    import jax
    import jax.numpy as jnp

    def f(x):
        y = jnp.exp(x)
        z = y.reshape(-1) * 2
        return z.sum(), y

    x = jnp.ones((400, 400), jnp.float32)
    out = host.program_function(jax.make_jaxpr(f)(x))(*map(jax.device_get, (x,)))
    assert out[1].shape == (400, 400) and abs(float(out[0]) - 2 * float(out[1].sum())) < 1
