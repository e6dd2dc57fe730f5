"""What must hold of a pass whatever the operators are: depth, errors, freedom from leaks, one meaning in every mode of execution."""

import gc
import subprocess
import sys
import threading

import numpy as np
import pytest

import torchlike_autograd as torch
from torchlike_autograd._core import config, crossing, execute, record, worth


def test_long_chain():
    x = torch.ones(3, requires_grad=True)
    y = x
    for _ in range(100_000):
        y = y * 1.0
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0, 1.0]


ENDLESS = """
import torchlike_autograd as torch

class Endless(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        with torch.enable_grad():
            Endless.apply(torch.ones(2, requires_grad=True)).sum().backward()

try:
    Endless.apply(torch.ones(2, requires_grad=True)).sum().backward()
except RecursionError:
    print("refused")
"""


def test_passes_inside_passes_without_end():
    done = subprocess.run([sys.executable, "-c", ENDLESS], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, "refused")


def test_error_in_a_hook_leaves_the_next_pass_right():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    handle = y.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        (y * y).sum().backward()
    assert x.grad is None and torch.is_grad_enabled()
    handle.remove()
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_error_in_a_function_leaves_the_next_pass_right():
    class Broken(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            raise ValueError("mine")

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(ValueError, match="mine"):
        Broken.apply(x).sum().backward()
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_wrong_call_records_nothing():
    x = torch.ones(2, requires_grad=True)
    record.flush()
    y, wrong = x * 2, torch.ones(3)
    before = record.thread.state.tape.prefix
    with pytest.raises(RuntimeError, match="must match the size"):
        y + wrong
    assert record.thread.state.tape.prefix.size == before.size
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def program():
    """A little of everything; returns plain values."""
    rng = np.random.default_rng(3)
    w = torch.tensor(rng.standard_normal((3, 3)), requires_grad=True)
    x = torch.tensor(rng.standard_normal((4, 3)))
    seen = []
    for i in range(3):
        h = torch.tanh(x @ w) * 1.5
        h[1:3] *= 2.0
        h[0, 0] = 5.0
        loss = (h**2).mean() + w.abs().sum() * 0.1
        if i == 1:
            seen.append(loss.item())
        (g,) = torch.autograd.grad(loss, w, create_graph=True)
        (loss + (g * g).sum()).backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
            w.grad.zero_()
    return seen, w.tolist()


def test_deferred_fused_op_by_op_and_immediate_agree():
    credit = worth.credit[0]
    try:
        worth.credit[0] = 10**6
        fused = program()
        worth.credit[0] = -(10**6)
        execute.clear_caches()
        one_by_one = program()
    finally:
        worth.credit[0] = credit
    old = config.set("execution", "immediate")
    immediate = program()
    config.set("execution", old)
    for other in (one_by_one, immediate):
        np.testing.assert_allclose(fused[1], other[1], rtol=1e-12)
        np.testing.assert_allclose(fused[0], other[0], rtol=1e-12)


@pytest.mark.parametrize("f", [lambda x: x.logsumexp(0), lambda x: x.tanh().exp(), lambda x: x.softmax(0).log()], ids=["logsumexp", "exp", "softmax"])
def test_results_that_were_not_kept_are_made_again_without_a_look_at_all_objects(f, monkeypatch):
    """A pass with a graph of its own, after the loss was looked at: to ask the collector who refers to the record would take longer than all else."""
    x = torch.tensor([0.3, -0.5, 0.9], requires_grad=True)
    z = f(x * 2).exp().sum()
    z.item()
    monkeypatch.setattr(gc, "get_referrers", lambda *_: pytest.fail("the whole heap was looked through"))
    (g,) = torch.autograd.grad(z, x, create_graph=True)
    g.sum().item()
    (h,) = torch.autograd.grad((g**2).sum(), x)
    monkeypatch.undo()
    (h_at_once,) = torch.autograd.grad((torch.autograd.grad(f(x * 2).exp().sum(), x, create_graph=True)[0] ** 2).sum(), x)
    np.testing.assert_allclose(h, h_at_once, rtol=1e-5)


def test_steps_leave_nothing_behind():
    w = torch.ones(4, requires_grad=True)

    def step():
        (w * w).sum().backward()
        with torch.no_grad():
            w.sub_(w.grad, alpha=0.01)
            w.grad = None

    for _ in range(20):
        step()
    torch.stats()
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(300):
        step()
    torch.stats()
    gc.collect()
    assert len(gc.get_objects()) - before < 50


def test_a_leaf_frozen_between_forward_and_backward_gets_no_gradient():
    for look in (False, True):
        w, v = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
        loss = (w * v * 2).sum()
        if look:
            loss.item()
        w.requires_grad_(False)
        loss.backward()
        assert w.grad is None and v.grad.tolist() == [2.0, 2.0]
        w.requires_grad_(True)
        (w * 3).sum().backward()
        assert w.grad.tolist() == [3.0, 3.0]


def test_threads_lose_nothing():
    """What several threads write to one tensor and give to one leaf adds up, with hooks and without."""
    counter, leaf = torch.zeros(()), torch.ones(3, requires_grad=True)

    def work(watched):
        for _ in range(20):
            counter.add_(1)
        for _ in range(5):
            y = leaf * 2
            if watched:
                y.register_hook(lambda g: g)
            y.sum().backward()

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        workers = [threading.Thread(target=work, args=(k % 2 == 0,)) for k in range(6)]
        for w in workers:
            w.start()
        for w in workers:
            w.join()
    finally:
        sys.setswitchinterval(before)
    assert counter.item() == 120
    assert leaf.grad.tolist() == [60.0] * 3


def test_a_record_that_is_full_while_gradients_are_recorded(credit):
    """Results that the formulas read are there whenever the record ends."""

    def twice(f):
        found = []
        for _ in range(3):
            a, b = ((torch.arange(9, dtype=torch.float64).reshape(3, 3) * 0.37 + k).sin().add(1.5).requires_grad_() for k in (0.1, 0.2))
            first = torch.autograd.grad(f(a, b).sum(), (a, b), create_graph=True)
            found += torch.autograd.grad(sum((g * g).sum() for g in first), (a, b))
        return torch.stack(found).tolist()

    before = config.get("record_limit")
    for f in (lambda a, b: (a * b).exp().tanh().sqrt(), lambda a, b: torch.cosine_similarity(a, b, 1)):
        found = []
        try:
            for limit in range(3, 24):  # before the whole is remembered: what is remembered goes on
                config.set("record_limit", limit)
                found.append(twice(f))
        finally:
            config.set("record_limit", before)
        np.testing.assert_allclose(found, [twice(f)] * len(found), rtol=1e-9, atol=1e-12)


def test_versions_of_a_record_that_is_full(credit):
    """What second derivatives check does not depend on where the record ends: a write between the passes is an error, a recorded one in the forward is none."""

    def between(write):
        x = torch.tensor([0.3, 0.7], requires_grad=True)
        y = x * 1
        g, = torch.autograd.grad(y.sin().sum(), x, create_graph=True)
        if write:
            with torch.no_grad():
                y.add_(1)
        return torch.autograd.grad(g.sum(), x)[0].tolist()

    def in_place():
        x = torch.tensor([0.3, 0.7], requires_grad=True)
        y = x * 1
        y[:1].mul_(y[1:] * 2).sin_()
        y.mul_(x)
        g, = torch.autograd.grad(y.sum(), x, create_graph=True)
        return torch.autograd.grad((g * g).sum(), x)[0].tolist()

    before, found = config.get("record_limit"), []
    try:
        for limit in [*range(1, 20), before]:
            config.set("record_limit", limit)
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                between(True)
            found.append(between(False) + in_place())
    finally:
        config.set("record_limit", before)
    np.testing.assert_allclose(found, [found[-1]] * len(found), rtol=1e-5)


def test_a_pass_that_is_refused_leaves_the_modes_as_they_were(monkeypatch):
    def refuse(running, roots):
        raise NotImplementedError("not this one")

    w = torch.ones(4, requires_grad=True)
    y = (w * 2).sin()
    monkeypatch.setattr(crossing, "of_pass", refuse)
    with pytest.raises(NotImplementedError, match="not this one"):
        torch.func.vmap(lambda v: torch.autograd.grad(y, w, v, retain_graph=True)[0])(torch.eye(4))
    assert torch.is_grad_enabled() and (w * 2).requires_grad


@pytest.mark.filterwarnings("ignore:index_reduce")
@pytest.mark.parametrize("looked", [True, False])
def test_a_refused_gradient_stays_with_what_refused_it(looked):
    """What comes later is computed with it where the value itself is looked at, and where only another result is."""
    x = torch.ones(2, 3, requires_grad=True)
    out = x.index_reduce(1, torch.tensor([0, 2], dtype=torch.int32), torch.ones(2, 2), "mean", include_self=False)
    with pytest.raises(IndexError, match="Expected dtype int64 for index"):
        torch.autograd.grad(out.sum(), x)
    if looked:
        assert out.tolist() == [[1.0, 1.0, 1.0]] * 2
    w = torch.ones(2, requires_grad=True)
    (w * 3).sum().backward()
    assert w.grad.tolist() == [3.0, 3.0]


@pytest.mark.filterwarnings("ignore:Using backward")
def test_a_pass_over_a_long_record_looks_at_its_new_calls_only(monkeypatch):
    """Gradients of gradients keep a record open over many steps: what is known of the calls before is not gathered anew (counted, not timed)."""
    walked, above = [], record.Prefix.above
    monkeypatch.setattr(record.Prefix, "above", lambda self, name: (out := above(self, name), walked.append(len(out[1])))[0])
    x = torch.tensor([1.5, 1.5], requires_grad=True)
    for _ in range(40):
        x.grad = None
        a, b = x
        ((1 - a) ** 2 + (b - a ** 2) ** 2).backward(create_graph=True)
        x.data.add_(x.grad.data, alpha=-1e-2)
    assert len(walked) > 40 and max(walked[20:]) < 80


def test_third_derivatives_through_what_is_joined():
    """A gradient of several cotangents, differentiated by the second of them, is what it is without joining."""
    def derivatives(joined):
        a = torch.tensor([[0.5, -1.0], [2.0, 0.25]], dtype=torch.float64, requires_grad=True)
        b = torch.tensor([[1.5, 0.75], [-0.5, 3.0]], dtype=torch.float64, requires_grad=True)
        parts = [a * b, b.sin()]
        weights = [torch.ones(2, 2, dtype=torch.float64, requires_grad=True) for _ in parts]
        loss = (torch.stack(parts, -1) * torch.stack(weights, -1)).sum() if joined else sum((p * w).sum() for p, w in zip(parts, weights))
        found = [a, b, *weights]
        for _ in range(3):
            grads = torch.autograd.grad(loss, found, create_graph=True)
            loss = sum((g**2).sum() for g in grads)
        return [g.detach().numpy() for g in (*grads, loss)]

    for one, other in zip(derivatives(True), derivatives(False), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
