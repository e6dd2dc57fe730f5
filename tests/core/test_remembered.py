"""`torch.autograd.grad` of one root, remembered: what it gives is what the general way gives, and where something is special it is the general way."""

import pytest

import torchlike_autograd as torch
from torchlike_autograd._core import engine
from torchlike_autograd._core.nodes import numbered
from torchlike_autograd.autograd import _run


@pytest.fixture
def passes(monkeypatch):
    """[general passes, remembered ones] so far."""
    seen = [0, 0]

    def counted(i, f):
        def call(*args):
            seen[i] += 1
            return f(*args)
        return call

    monkeypatch.setattr(engine, "run_backward", counted(0, engine.run_backward))
    monkeypatch.setattr(_run, "run_simple_grad", counted(1, _run.run_simple_grad))
    return seen


@pytest.fixture(autouse=True)
def unnumbered():
    """As where nobody has set the number of a node, whatever ran before."""
    before, numbered[0] = numbered[0], False
    yield
    numbered[0] = before


def _leaves():
    return [torch.randn(*shape, requires_grad=True) for shape in ((5, 1), (1, 4), (4,), (4, 1))]


def _field(t, a, b, c):
    return torch.tanh(t @ a + b) @ c


def test_training_on_derivatives_is_remembered(passes):
    """Derivatives of first and second order by the inputs, and by weights that were written under no_grad."""
    t, *weights = _leaves()
    for _ in range(4):
        u = _field(t, *weights)
        du, = torch.autograd.grad(u.sum(), t, create_graph=True)
        ddu, = torch.autograd.grad(du, t, torch.ones_like(du), create_graph=True)
        grads = torch.autograd.grad(((ddu + u) ** 2).mean(), weights)
        with torch.no_grad():
            for w, g in zip(weights, grads):
                w -= 0.1 * g
    assert passes == [0, 12]


def _steps_ahead(t, *weights):
    """Steps of descent that are differentiated themselves."""
    fast = list(weights)
    for _ in range(2):
        grads = torch.autograd.grad((_field(t, *fast) ** 2).mean(), fast, create_graph=True)
        fast = [w - 0.1 * g for w, g in zip(fast, grads)]
    return torch.autograd.grad((_field(t, *fast) ** 2).mean(), [t, *weights])


def _of_a_result(t, a, b, c):
    y = t @ a
    g, = torch.autograd.grad((torch.sin(y) * y).sum(), y, create_graph=True)
    return g, *torch.autograd.grad(g.sum(), [y, t])


def _twice(t, a, b, c):
    loss = (t @ a + b).pow(2).sum()
    return *torch.autograd.grad(loss, [a, b, a], retain_graph=True), *torch.autograd.grad(loss, [b])


def _without_graph(t, a, b, c):
    u = _field(t, a, b, c)
    g, = torch.autograd.grad(u, t, u.detach(), retain_graph=True)
    return g, *torch.autograd.grad(u, [a, c], torch.ones_like(u))


@pytest.mark.parametrize("body", [_steps_ahead, _of_a_result, _twice, _without_graph])
def test_it_is_what_the_general_way_gives(body, passes, monkeypatch):
    leaves = _leaves()
    found = body(*leaves)
    assert passes[1] > 0
    monkeypatch.setattr(_run, "_remembered", lambda *args: None)
    expected = body(*leaves)
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b)
        assert (a.requires_grad, type(a.grad_fn), a.stride()) == (b.requires_grad, type(b.grad_fn), b.stride())


def test_one_value_is_one_tensor():
    x, h = torch.ones(3, requires_grad=True), torch.ones(3)
    assert torch.autograd.grad(x + torch.ones(3), x, h)[0] is h
    y = x + torch.ones(3, requires_grad=True)
    a, b = torch.autograd.grad(y, [x, x], h, create_graph=True)
    assert a is b


def test_what_it_lets_go_of_is_gone(passes):
    x = torch.ones(3, requires_grad=True)
    loss = (x * x).sum()
    torch.autograd.grad(loss, x)
    assert passes == [0, 1]
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        torch.autograd.grad(loss, x)


def test_what_was_written_since_is_refused():
    x, w = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    loss = (x * w).sum()
    with torch.no_grad():
        w.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.grad(loss, x)


def test_what_was_not_used_is_said(passes):
    x, other = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    loss = (x * x).sum() + 0 * other.detach().sum()
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        torch.autograd.grad(loss, [x, other])
    assert passes[1] == 0


def test_hooks_are_called(passes):
    """Of leaves, of results between, registered before the first pass and after it."""
    x, seen = torch.ones(3, requires_grad=True), []
    for late in (False, True):
        y = x * 2
        loss = (y * y).sum()
        if late:
            torch.autograd.grad(loss, x, retain_graph=True)
        handles = y.register_hook(lambda g: seen.append("y") or g * 3), x.register_hook(lambda g: seen.append("x"))
        assert torch.autograd.grad(loss, x)[0].tolist() == [24.0] * 3
        for handle in handles:
            handle.remove()
    assert seen == ["y", "x"] * 2 and passes[0] == 2


def test_a_pass_inside_a_pass_goes_the_general_way(passes):
    x, inner = torch.ones(3, requires_grad=True), []

    def hook(g):
        z = torch.ones(2, requires_grad=True)
        with torch.enable_grad():
            inner.append(torch.autograd.grad((z * 3).sum(), z)[0].tolist())

    y = x * 2
    y.register_hook(hook)
    y.sum().backward()
    assert inner == [[3.0, 3.0]] and x.grad.tolist() == [2.0] * 3 and passes == [2, 0]


def test_the_mode_is_as_before_when_it_fails(monkeypatch):
    def fail(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("torchlike_autograd._core.simple.run_stage", fail)
    x = torch.ones(3, requires_grad=True)
    loss = (x * x).sum()
    with pytest.raises(KeyboardInterrupt):
        torch.autograd.grad(loss, x)
    monkeypatch.undo()
    assert torch.is_grad_enabled() and torch.autograd.grad(loss, x)[0].tolist() == [2.0] * 3
