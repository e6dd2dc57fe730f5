"""Where records end: a loop has one program however it begins, is looked at and ends (counted, not timed); what is divided computes the same."""

import copy

import numpy as np
import pytest

import torchlike_autograd as torch
from torchlike_autograd import nn
from torchlike_autograd._core import config, cuts, ends, execute, worth

pytestmark = pytest.mark.usefixtures("credit")
F = nn.functional


@pytest.fixture
def fresh():
    execute.clear_caches()


def _train(after, steps=12, zero_first=True, look=5, width=9):
    """A script from the drawing of weights on; after(i, net, average, out, y): what a turn does in its end."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(5, width), nn.Tanh(), nn.Linear(width, 3))
    average = copy.deepcopy(net)
    optimizer = torch.optim.Adam(net.parameters(), 1e-2)
    xs, ys, seen = torch.randn(40, 5), torch.randint(0, 3, (40,)), []
    for i in range(steps):
        if zero_first:
            optimizer.zero_grad()
        at = torch.randint(0, 40, (8,))
        x, y = xs[at], ys[at]
        if not zero_first:
            optimizer.zero_grad()
        out = net(x)
        loss = F.cross_entropy(out, y)
        loss.backward()
        optimizer.step()
        after(i, net, average, out, y)
        if i % look == 0:
            seen.append(loss.item())
    return seen, [p.detach().numpy().copy() for p in (*net.parameters(), *average.parameters())]


def _nothing(i, net, average, out, y):
    pass


def _average(i, net, average, out, y):
    for a, p in zip(average.parameters(), net.parameters()):
        a.data = a.data * 0.9 + 0.1 * p.data


def _average_in_place(i, net, average, out, y):
    for a, p in zip(average.parameters(), net.parameters()):
        a.data.mul_(0.9).add_(p.data, alpha=0.1)


def _clamp(i, net, average, out, y):
    for p in net.parameters():
        p.data.clamp_(-0.5, 0.5)


def _count(i, net, average, out, y):
    assert 0 <= (out.argmax(1) == y).sum().item() <= 8


@pytest.mark.parametrize("after", (_nothing, _average, _average_in_place, _clamp, _count))
def test_a_script_compiles_its_step_once(after, counts, fresh):
    with counts() as c:
        together = _train(after)
    assert c.compiles == 1 and c.op_by_op <= 1  # the last look, at what has no history
    config.set("execution", "immediate")
    try:
        alone = _train(after)
    finally:
        config.set("execution", "deferred")
    np.testing.assert_allclose(together[0], alone[0], rtol=1e-5)
    for a, b in zip(together[1], alone[1], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


def test_a_look_before_gradients_are_dropped_makes_no_other_program(counts, fresh):
    with counts() as c:
        _train(_nothing, zero_first=True, look=1)
    assert c.compiles == 1


def test_a_second_loop_shares_what_the_first_compiled(counts, fresh):
    _train(_nothing)
    with counts() as c:
        _train(_nothing, width=9)
    assert c.compiles == 0
    with counts() as c:
        _train(_nothing, width=7)
    assert c.compiles == 1


def _evaluate(net, xs):
    with torch.no_grad():
        return [net(xs[k : k + 8]).softmax(1) for k in range(0, 40, 8)]


def test_what_follows_the_last_step_is_divided_from_it(counts, fresh, monkeypatch):
    """A record that goes on past the end of a program that is compiled, here without a look, is not compiled as a whole."""
    def script():
        torch.manual_seed(0)
        net, xs = nn.Sequential(nn.Linear(5, 6), nn.Tanh(), nn.Linear(6, 3)), torch.randn(40, 5)
        optimizer, seen = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9), []
        for _ in range(2):
            for _ in range(4):
                x = xs[torch.randint(0, 40, (8,))]
                optimizer.zero_grad()
                net(x).square().mean().backward()
                optimizer.step()
            seen += [p.sum() for p in _evaluate(net, xs)]
        return [s.item() for s in seen]

    divided = []
    monkeypatch.setattr(cuts, "_divide", lambda *a, f=cuts._divide: divided.append(f(*a)))
    out = script()
    assert divided
    execute.clear_caches()
    monkeypatch.setattr(cuts, "_compiled_before", lambda prefix: None)
    np.testing.assert_allclose(out, script(), rtol=1e-6)


def _sample(net, x, turns):
    """Every kind of step: views, writes, numbers of each type, checked indices, draws."""
    scale, kept = torch.linspace(0.1, 1, turns), []
    for i in reversed(range(turns)):
        t = torch.full((4,), i)
        s = scale.gather(0, t)[:, None]
        z = x - s * net(x) * (1 + i / turns) + 2
        z[:, 0] = z[:, 1] * (i > 3)
        z.t()[1].mul_(0.5 + i)
        w = torch.view_as_complex(torch.stack((z, z.neg()), -1)) * (0.5 + 0.25j)
        x = torch.tanh(z - 2 + w.real + 0.1 * torch.randn_like(x))
        if i % 16 == 0:
            kept.append(x.sum())
    return x, kept


@pytest.mark.parametrize("span", (16, 40, 128))
def test_turns_of_a_loop_are_programs_that_compute_the_same(span, fresh, monkeypatch):
    monkeypatch.setattr(ends, "SPAN", span)
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(5, 5), nn.Tanh())
    limit, results = config.get("record_limit"), []
    for n in (300, 100_000):
        config.set("record_limit", n)
        try:
            torch.manual_seed(1)
            with torch.no_grad():
                for _ in range(3):
                    x, kept = _sample(net, torch.randn(4, 5), 64)
                    results.append([x.numpy(), *[k.item() for k in kept]])
        finally:
            config.set("record_limit", limit)
    for a, b in zip(results[:3], results[3:], strict=True):
        for one, other in zip(a, b, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_long_sampling_compiles_some_turns(counts, fresh):
    torch.manual_seed(0)
    weights = [torch.randn(3, 3, 3, requires_grad=True) for _ in range(20)]

    @torch.no_grad()
    def sample(x):
        for i in range(100):
            y = x * (1 + i / 100)
            for w in weights:
                y = torch.tanh(F.conv1d(y, w, padding=1))
            x = x - 0.1 * y
        return x

    before = worth.spent[1]
    with counts() as c:
        assert sample(torch.ones(1, 3, 8)).sum().isfinite()
    assert c.compiles <= 4 and c.hits > 10
    assert worth.spent[1] - before < 10_000
    with counts() as c:
        assert sample(torch.ones(1, 3, 8)).sum().isfinite()
    assert c.compiles <= 1


def test_a_copy_of_a_parameter_is_its_own():
    for p in (nn.Parameter(torch.arange(3.0)), nn.Parameter(torch.arange(6.0).view(2, 3).t()), nn.Linear(2, 3).weight):
        before, other = p.detach().clone(), copy.deepcopy(p)
        assert other._version == 0 and other.is_leaf and other.requires_grad and other.shape == p.shape
        with torch.no_grad():
            other.mul_(2)
        assert torch.equal(p, before) and torch.equal(other, 2 * before)
        with torch.no_grad():
            p.zero_()
        assert torch.equal(other, 2 * before)


def test_programs_of_one_text_take_their_arguments_in_one_order(fresh):
    """An argument that nothing reads is not in the text; here once `a` comes first and once `b`."""
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    a, b = torch.tensor([2, 2]), torch.tensor([3, 3])

    def step(early):
        u = w * 1.5
        if early:
            b.neg()
        y = torch.isfinite(a) * b
        (y * u).sum().backward()
        grad, w.grad = w.grad.tolist(), None
        return grad

    assert [step(k) for k in (False, True, False, True)] == [[4.5, 4.5]] * 4


@pytest.mark.parametrize("numbers", [np.array([0.1, 1e300]), np.array([1 << 40, -3]), np.array([0.1 + 2j])])
def test_a_copied_parameter_keeps_the_bits_of_its_data(numbers):
    expected = numbers.tolist()
    p = torch.nn.Parameter(torch.tensor(expected, dtype=torch.from_numpy(numbers).dtype), requires_grad=False)
    q = copy.deepcopy(p)
    p.zero_()
    assert q.dtype is p.dtype and q.numpy().dtype == numbers.dtype and q.tolist() == expected
