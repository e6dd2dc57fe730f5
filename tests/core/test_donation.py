"""A training step gives the memory of what it replaces to what replaces it, and of nothing that somebody holds."""

import itertools

import numpy as np
import pytest

import torchlike_autograd as torch
from torchlike_autograd._core import execute, worth

STEPS, RATE = 6, 2.0


@pytest.fixture(autouse=True)
def fresh():
    """Nothing compiled, and credit to compile at first sight."""
    execute.clear_caches()
    worth.credit[0] = worth.CREDIT_MAX


def train(look=lambda w: None):
    """Momentum by hand on one large weight: (losses, weight, what `look` saw after each step)."""
    source = np.random.default_rng(0)
    w = torch.tensor(source.standard_normal((256, 128)).astype(np.float32), requires_grad=True)
    x = torch.tensor(source.standard_normal((8, 256)).astype(np.float32))
    mean, losses, seen = torch.zeros(256, 128), [], []
    for _ in range(STEPS):
        loss = (x @ w).tanh().pow(2).mean()
        loss.backward()
        with torch.no_grad():
            mean.mul_(0.9).add_(w.grad)
            w -= RATE * mean
            w.grad = None
        seen.append(look(w))
        losses.append(loss.item())
    return losses, w.detach().numpy().copy(), seen


def giving():
    """The programs that give memory away."""
    return [p for p in execute._programs.values() if p.donates]


def test_a_step_gives_weight_and_state_away():
    """The step that repeats overwrites both; the losses are those of NumPy."""
    losses, _, _ = train()
    assert max(len(p.donates) for p in execute._programs.values() if p.compiled is not None) == 2
    assert losses == pytest.approx(by_hand(), rel=1e-5)


def by_hand():
    """The losses of `train`, by NumPy."""
    source = np.random.default_rng(0)
    w, x = source.standard_normal((256, 128)), source.standard_normal((8, 256))
    mean, losses = np.zeros_like(w), []
    for _ in range(STEPS):
        y = np.tanh(x @ w)
        losses.append((y**2).mean())
        mean = 0.9 * mean + x.T @ (2 * y * (1 - y**2) / y.size)
        w = w - RATE * mean
    return losses


def turned(w):
    """Shows every later write."""
    return w.detach().t()


def shared(w):
    """Shows them too."""
    return w.detach().numpy()


@pytest.mark.parametrize("look", [
    lambda w: w.detach().clone(),
    lambda w: w * 1.0,
    shared,
    lambda w: w._tl_v,
    turned,
], ids=["clone", "product", "numpy", "value", "view"])
def test_what_somebody_holds_stays(look):
    """The training goes on as without looking, and what was seen keeps its numbers; what shares the memory shows every write."""
    losses, weight, _ = train()
    again, looked, seen = train(look)
    assert again == pytest.approx(losses, rel=1e-5)
    np.testing.assert_allclose(looked, weight, rtol=1e-4, atol=1e-5)
    _, _, copies = train(lambda w: w.detach().numpy().copy())
    assert min(abs(a - b).max() for a, b in itertools.pairwise(copies)) > 1e-3  # steps are further apart than what rounds differently in another program
    for saw, copy in zip(seen, copies, strict=True):
        if isinstance(saw, torch.Tensor):
            saw = saw.detach().t().numpy() if saw._tl_view is not None else saw.detach().numpy()
        elif not isinstance(saw, np.ndarray):
            saw = np.asarray(saw.array)
        np.testing.assert_allclose(saw, weight if look in (turned, shared) else copy, rtol=1e-4, atol=1e-5)


def test_small_values_are_copied():
    """Below 64 KiB a program makes new arrays."""
    w = torch.ones(4, 4, requires_grad=True)
    for _ in range(4):
        (w * w).sum().backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
            w.grad = None
        w.sum().item()
    assert not giving()


def test_a_program_that_only_copies():
    """Nothing is computed, so nothing can inherit: the copies are right, when they run one by one and when they are compiled."""
    w = torch.zeros(256, 128)
    for i in range(4):
        source = torch.from_numpy(np.full((256, 128), i, np.float32))
        w.copy_(source)
        assert (w.numpy() == i).all()
