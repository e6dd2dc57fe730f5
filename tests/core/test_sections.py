"""The variants of a long training step are compiled in sections, which they share; a step that has none is one program."""

import numpy as np
import pytest

import torchlike_autograd as torch
from sampling import sample
from torchlike_autograd._core import compiling, execute, worth


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    """Compiled programs and credit of this test's own; steps of a third of the length are long."""
    monkeypatch.setattr(compiling, "SECTIONED", compiling.SECTIONED // 3)
    before = worth.credit[0]
    execute.clear_caches()
    worth.credit[0] = worth.CREDIT_MAX
    yield
    execute.clear_caches()
    worth.credit[0] = before


@pytest.fixture
def built(monkeypatch):
    """[(holder, whether XLA compiled it)] of what is built."""
    seen = []

    def noted(holder, *args):
        new, out = real(holder, *args)
        seen.append((holder, new))
        return new, out

    real = compiling.build
    monkeypatch.setattr(compiling, "build", noted)
    monkeypatch.setattr(execute, "build", noted)
    return seen


@pytest.fixture
def always(monkeypatch):
    """The first of the variants is cut too."""
    monkeypatch.setattr(compiling, "_came_before", lambda sections: True)


def _net(n=4):
    return torch.nn.Sequential(*(m for _ in range(n) for m in (torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.LayerNorm(4))))


def _steps(net, x, y, count, optimizer, look=lambda i: False, scale=1.0):
    """Losses of some steps; the numbers in the loss change from step to step."""
    losses = []
    for i in range(count):
        optimizer.zero_grad()
        loss = ((net(x) - y) ** 2).mean() * (scale + i)
        for k in range(10):
            loss = loss + 0.01 * k * (net[0].weight * (1 + i)).sum() ** 2
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
        if look(i):
            losses[-1] = loss.item()
    return [float(x) for x in losses]


def _data():
    torch.manual_seed(0)
    return _net(), torch.randn(8, 4), torch.randn(8, 4)


def _training(kind, count=6, look=lambda i: False):
    net, x, y = _data()
    optimizer = {"sgd": lambda p: torch.optim.SGD(p, 1e-3, momentum=0.9), "adam": lambda p: torch.optim.Adam(p, 1e-3)}[kind](net.parameters())
    return _steps(net, x, y, count, optimizer, look), [p.detach().numpy() for p in net.parameters()]


def _same(a, b):
    np.testing.assert_allclose(a[0], b[0], rtol=1e-5)
    for p, q in zip(a[1], b[1]):
        np.testing.assert_allclose(p, q, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", sample(["adam", "sgd"], 2))
def test_a_step_in_sections_computes_what_it_computes_whole(kind, monkeypatch, built, always):
    """With numbers that change from step to step, looks, and parameters that give their memory to the next ones."""
    cut = _training(kind, look=lambda i: i == 3)
    assert any(type(h) is compiling.Section for h, _ in built)
    execute.clear_caches()
    built.clear()
    monkeypatch.setattr(compiling, "SECTIONED", 10**9)
    whole = _training(kind, look=lambda i: i == 3)
    assert built and not any(type(h) is compiling.Section for h, _ in built)
    _same(cut, whole)


def _passes(built):
    return sum(new for h, new in built if any(map(compiling.is_pass, h.steps)))


def _cut(built):
    return [h for h, _ in built if type(h) is compiling.Section]


def test_a_step_without_variants_is_one_program(built):
    """However long it is."""
    _training("sgd")
    assert [new for h, new in built if any(map(compiling.is_pass, h.steps))] == [True] and not _cut(built)


def test_other_optimizers_share_the_pass(built):
    """The first step is one program; the pass of the second is compiled by itself, once for all further ones."""
    _training("sgd")
    _training("adam")
    assert _passes(built) == 2 and _cut(built)
    n = len(built)
    net, x, y = _data()
    _steps(net, x, y, 4, torch.optim.RMSprop(net.parameters(), 1e-3))
    assert _passes(built) == 2 and len(built) > n


def test_steps_that_are_looked_at_share_their_pass(built):
    """A look while the gradients are there is another variant of the step."""
    _training("adam", 16, lambda i: i % 4 == 0)
    assert _passes(built) <= 2


def test_what_is_held_is_not_given_away(built, always):
    """A parameter's old contents that somebody holds stay what they were; the next steps go on."""
    net, x, y = _data()
    net = torch.nn.Sequential(torch.nn.Linear(4, 256), torch.nn.Tanh(), torch.nn.Linear(256, 128), torch.nn.Linear(128, 4), net)
    optimizer = torch.optim.SGD(net.parameters(), 1e-3)

    def step():
        optimizer.zero_grad()
        loss = ((net(x) - y) ** 2).mean()
        for k in range(13):
            loss = loss + 0.01 * k * (net[0].weight * 1.5).sum() ** 2
        loss.backward()
        optimizer.step()

    for _ in range(4):
        step()
    assert any(type(h) is compiling.Section and h.donates for h, _ in built)
    held = net[2].weight.detach().clone(), net[2].weight.data
    before = held[0].numpy()
    old = net[2].weight._tl_v
    step()
    torch.stats()
    np.testing.assert_array_equal(np.asarray(old.array), before)
    assert not np.array_equal(net[2].weight.detach().numpy(), before)


def test_cut_keeps_order_and_every_step(always):
    """Sections are the steps of the program, in order."""
    _training("adam")
    programs = [p for p in execute._programs.values() if type(p.compiled) is compiling.Sections]
    assert programs
    for p in programs:
        parts = compiling.cut(p.steps)
        assert [s for part in parts for s in part] == list(p.steps)
        assert len(parts) > 1
