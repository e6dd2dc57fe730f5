"""Interrupts, handlers of signals and finalizers come in the middle of anything; what was recorded before and around them stays as it was."""

import gc

import pytest

import torchlike_autograd as torch
from torchlike_autograd._core import execute


def step(w, x):
    """One write to a leaf, and results that nobody has looked at."""
    loss = ((w * x).sin() * 0.75).sum()
    loss.backward()
    with torch.no_grad():
        w -= 0.5 * w.grad
    w.grad = None
    return loss


def stopping(monkeypatch, name):
    """The executor's function `name` is interrupted when it is called next."""
    ran = getattr(execute, name)

    def stop(*args):
        monkeypatch.setattr(execute, name, ran)
        raise KeyboardInterrupt

    monkeypatch.setattr(execute, name, stop)


def values(w, loss):
    return w.tolist(), loss.item(), (w * 2).tolist()


@pytest.fixture
def general():
    """Programs do not run in C, compiled or not."""
    with execute.steady():
        yield


@pytest.fixture
def expected(general):
    w = torch.tensor([0.25, 0.5, 0.75], requires_grad=True)
    return values(w, step(w, 3.0))


@pytest.mark.parametrize("name", ["_execute", "_deliver", "_reopen"])
def test_what_was_interrupted_runs_when_it_is_asked_for_again(name, expected, monkeypatch):
    w = torch.tensor([0.25, 0.5, 0.75], requires_grad=True)
    loss = step(w, 3.0)
    stopping(monkeypatch, name)
    with pytest.raises(KeyboardInterrupt):
        loss.item()
    assert (torch.ones(2) + 1).tolist() == [2, 2]  # what has nothing to do with it
    assert values(w, loss) == expected


@pytest.mark.parametrize("name", ["_execute", "_deliver", "_keep"])
def test_a_graph_that_was_interrupted_leads_back(name, general, monkeypatch):
    w = torch.tensor([0.25, 0.5, 0.75], requires_grad=True)
    h = (w * 2).exp()
    stopping(monkeypatch, name)
    with pytest.raises(KeyboardInterrupt):
        h.tolist()
    (h * 3).sum().backward()
    assert torch.equal(w.grad, 6 * h)


def test_a_compiled_program_that_is_interrupted_runs_again(credit):
    def compiled():
        return {p: p.compiled for p in execute._programs.values() if p.compiled is not None}

    def stop(*args):
        raise KeyboardInterrupt

    def begin():
        w = torch.tensor([0.25, 0.5, 0.75], requires_grad=True)
        for x in (1.0, 3.0):
            loss = step(w, x)
        return w, loss

    before = compiled()
    for _ in range(200):
        first = values(*begin())
        if len(compiled()) > len(before):
            break
    else:
        pytest.fail("nothing was compiled")
    values(*begin())
    programs = compiled()
    w, loss = begin()
    for p in programs:
        p.compiled = stop
    with pytest.raises(KeyboardInterrupt):
        loss.item()
    for p, run in programs.items():
        p.compiled = run
    for got, wanted in zip(values(w, loss), first):
        torch.testing.assert_close(torch.tensor(got), torch.tensor(wanted))


def test_a_handler_sees_what_is_being_computed(expected, monkeypatch):
    w = torch.tensor([0.25, 0.5, 0.75], requires_grad=True)
    loss = step(w, 3.0)
    ran, seen = execute._execute, []

    def run(program, tape):
        monkeypatch.setattr(execute, "_execute", ran)
        seen.append((w.tolist(), loss.item(), (w.detach() * 2).tolist()))
        return ran(program, tape)

    monkeypatch.setattr(execute, "_execute", run)
    assert values(w, loss) == expected
    assert seen == [expected]


def test_a_handler_that_records_while_a_call_is_recorded(monkeypatch):
    from torchlike_autograd._core import record

    total = torch.zeros(3)
    edges, ran = [0], record.extend

    def extend(*args):  # a call not seen before: its operator is traced
        edges[0] += 1
        if edges[0] in (2, 5, 6):
            monkeypatch.setattr(record, "extend", ran)
            total.add_(1.0)
            total[0] *= 1.0
            if edges[0] == 5:
                total.tolist()
            monkeypatch.setattr(record, "extend", extend)
        return ran(*args)

    monkeypatch.setattr(record, "extend", extend)
    x = torch.tensor([[0.1, 0.2, 0.3]] * 7, requires_grad=True)
    y = ((x * 1.375 + 0.0625)[2:5, 1].cos() * 2.125 - x[0].flip(0)).square()
    y.sum().backward()
    monkeypatch.setattr(record, "extend", ran)
    assert edges[0] > 6 and total.tolist() == [3, 3, 3]
    z = x.detach().requires_grad_()
    ((z * 1.375 + 0.0625)[2:5, 1].cos() * 2.125 - z[0].flip(0)).square().sum().backward()
    torch.testing.assert_close(x.grad, z.grad)


class Circle:
    """Found by the collector alone; its finalizer computes."""

    died, total = 0, None

    def __init__(self):
        self.me, self.t = self, torch.full((3,), 2.0)

    def __del__(self):
        Circle.died += 1
        Circle.total.add_(1.5 * self.t)
        self.t[0] *= 2
        w = torch.ones(3, requires_grad=True)
        with torch.enable_grad():
            (w * self.t).sum().backward()
        assert w.grad.tolist() == [4, 2, 2]


@pytest.mark.parametrize("threshold", [(1, 1, 1), (3, 2, 1), (13, 2, 2), (101, 3, 2)])
def test_finalizers_compute_during_collections(threshold):
    def run():
        x, out = torch.tensor([[0.5, 0.25], [0.75, 1.0]], requires_grad=True), []
        for i in range(6):
            Circle()
            h = x * 1.5 + 0.25 * i
            h[0] *= 3.0
            (h.sin().sum() * 2).backward()
            with torch.no_grad():
                x -= 0.125 * x.grad
            out.append(x.tolist() if i % 2 else None)
        return out

    Circle.died, Circle.total = 0, torch.zeros(3)
    before, expected = gc.get_threshold(), run()
    gc.set_threshold(*threshold)
    try:
        assert run() == expected
    finally:
        gc.set_threshold(*before)
    gc.collect()
    assert Circle.died == 12 and Circle.total.tolist() == [36, 36, 36]
