"""The warning about a place that keeps compiling: once for a place, with the part that differs."""

import warnings

import pytest

import torchlike_autograd as torch
from torchlike_autograd._core import execute, worth

UNARY = ("sin", "cos", "exp", "tanh", "sigmoid", "atan", "erf", "expm1", "asinh", "sinc", "cosh", "sinh")


@pytest.fixture(autouse=True)
def compiled(monkeypatch):
    """Everything is compiled at once, as far as this place is concerned."""
    monkeypatch.setattr(worth, "waits", lambda p: False)
    execute.clear_caches()
    yield
    execute.clear_caches()


def _said(run, turns=12):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for i in range(turns):
            run(i)
    said = [(str(w.message), w.lineno) for w in caught if "different programs" in str(w.message)]
    return [text for text, _ in said], [line for _, line in said]


def test_sizes():
    def run(i):
        torch.ones(i + 2).mul(2).tolist()

    (text,), (line,) = _said(run)
    assert line == run.__code__.co_firstlineno + 1
    assert "test_recompiles.py" in text and "has compiled 8 different programs" in text
    assert "(8,)" in text and "(9,)" in text


def test_inputs():
    given = [torch.tensor([1.0] * (i + 2)) for i in range(12)]

    def run(i):
        given[i].mul(2).tolist()

    (text,), _ = _said(run)
    assert "the last two differ in input 0: float32[8] and float32[9]" in text


def test_calls():
    x = torch.tensor([0.1, 0.2])

    def run(i):
        getattr(torch, UNARY[i])(x).tolist()

    (text,), _ = _said(run)
    assert f"the last two differ in the call %0: float32[2] = op {UNARY[6]}(float32[2])" in text and f"= op {UNARY[7]}(float32[2])" in text


def test_gradients():
    """The same calls, differentiated by other tensors."""
    x = [torch.tensor([0.1, 0.2], requires_grad=True) for _ in range(4)]

    def run(i):
        y = (x[0] * x[1]).sin() + x[2] * x[3]
        torch.autograd.grad(y.sum(), [t for k, t in enumerate(x) if i + 1 >> k & 1])[0].tolist()

    (text,), _ = _said(run)
    assert "the last two differ in the number of calls that have a gradient: 5 and 3." in text  # sum, add, mul, sin, mul; sum, add, mul


def test_numbers_are_no_structure():
    x = torch.tensor([0.1, 0.2, 0.3])

    def run(i):
        x.mul(i + 0.5).add(i)[i % 3:i % 3 + 1].tolist()

    before = execute.stats["compiles"]
    assert _said(run) == ([], [])
    assert execute.stats["compiles"] - before == 1
