"""Tapes that nobody can walk to any more do not stay, however many turns a loop takes; what can be walked to does."""

import gc
import os

import pytest

import torchlike_autograd as torch
from torchlike_autograd._core import links, record
from torchlike_autograd._core.record import Tape
from torchlike_autograd._ops import spec


def _tapes():
    gc.collect()
    return sum(type(o) is Tape for o in gc.get_objects())


@pytest.fixture
def soon(monkeypatch):
    """Looked at whenever 16 tapes were linked."""
    monkeypatch.setattr(links, "LINKS", 16)
    monkeypatch.setattr(links, "_limit", [16])
    monkeypatch.setattr(links, "SHARE", 0)


def _kept(t):
    """(edges to other tapes, values that pullbacks read) of the tape of a tensor."""
    tape = t._tl_v.tape
    return sum(type(e) is tuple for e in tape.edges), len(tape.kept)


def _turn(w, inner=3):
    """Steps of descent through which the outer gradient flows, each ended by its own inner gradient; what the last one leaves behind."""
    x = torch.zeros(3, requires_grad=True)
    total = 0
    for _ in range(inner):
        loss = ((w * x - 1) ** 2).sum()
        total = total + loss
        (g,) = torch.autograd.grad(loss, x, retain_graph=True)
        update = 0.1 * g.detach() * w
        x = x - update
    w.grad = None
    total.backward()
    return w.grad.tolist(), update


def test_graphs_of_former_turns_are_not_linked():
    w = torch.full((3,), 0.5, requires_grad=True)
    _turn(w)
    before = _tapes()
    for _ in range(20):
        _turn(w)
    assert _tapes() <= before + 2


def test_variables_of_the_last_turn_do_not_hold_all_turns(soon):
    w = torch.full((3,), 0.5, requires_grad=True)
    first, update = _turn(w)
    before = _tapes()
    for _ in range(40):
        again, update = _turn(w)  # `update` of the last turn is there while this one begins
        assert again == first
    assert update.grad_fn.name() == "MulBackward0" and _tapes() <= before + 2 * 16


def test_a_cut_leaves_what_can_be_walked_to():
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * x * g

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    a = x.exp()
    a.tolist()
    b, gone = Twice.apply(a), a.sin()
    b.tolist()
    c, dead = (b * a).sum(), gone.cos()
    c.item()
    node, edge = c.grad_fn, torch.autograd.graph.get_gradient_edge(b)
    del b, gone, dead
    links.cut()
    assert node.next_functions[0][0].next_functions[0][0].name() == "TwiceBackward"
    e = [2.718281828459045, 7.38905609893065]
    (g,) = torch.autograd.grad(edge, x, torch.ones(2), retain_graph=True)
    assert g.tolist() == pytest.approx([2 * v * v for v in e], rel=1e-6)
    c.backward()
    assert x.grad.tolist() == pytest.approx([3 * v**3 for v in e], rel=1e-6)


def test_a_cut_lets_go_what_pullbacks_kept():
    x = torch.ones(3, requires_grad=True)
    old = x.exp()
    old.tolist()
    one, other = old.sin(), x.cos()  # two graphs on one tape
    other.tolist()
    assert _kept(other) == (1, 2)
    del old, one
    links.cut()
    assert _kept(other) == (0, 1)
    other.sum().backward()
    assert x.grad.tolist() == pytest.approx([-0.8414709848078965] * 3)


class Noted(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.note = object()
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


def _lead_back():
    """A leaf, and a record that alone leads back to a closed one with a context, by a step that nobody can reach: a collection ends it."""
    x = torch.ones(3, requires_grad=True)
    y = Noted.apply(x)
    assert y.tolist() == [2.0, 2.0, 2.0]
    z = y * 3
    del y, z
    return x


def test_a_collection_while_an_operator_is_traced(monkeypatch):
    traced = []

    def collecting(self, *args, own=spec.Form.__init__):
        own(self, *args)
        traced.append(self)
        gc.collect()

    monkeypatch.setattr(spec.Form, "__init__", collecting)
    x = _lead_back()
    w = (x + 1.53125).lgamma().sinh().mul(0.40625).logsumexp(0)
    assert traced
    w.backward()
    torch.testing.assert_close(x.grad, torch.full((3,), 0.1018959))


def test_a_collection_ends_no_record_under_a_call_of_ours():
    x = _lead_back()
    tape = record.thread.state.tape
    inside = {"gc": gc}
    exec(compile("def collected():\n    gc.collect()", os.path.join(os.path.dirname(torch.__file__), "_core", "made.py"), "exec"), inside)
    inside["collected"]()
    assert tape.open
    gc.collect()
    assert not tape.open
    del x


def test_tapes_that_a_freeze_hides_are_left_alone():
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    node = y.grad_fn
    y.tolist()
    gc.freeze()
    try:
        z = y * 3
        z.tolist()
        links.cut()
        z.sum().backward()
    finally:
        gc.unfreeze()
    assert x.grad.tolist() == [6.0] * 3 and node.name() == "MulBackward0"


def test_a_tape_may_lead_to_one_that_a_freeze_hides():
    """The next turn of a loop whose variables live on: its edge goes to a tape that nobody finds."""
    w = torch.ones(3, requires_grad=True)
    y = (w * 2).sin()
    y.tolist()
    gc.collect()
    gc.freeze()
    try:
        z = (y * w).cos()
        z.tolist()
        kept = (z * w).exp()
        kept.tolist()
        links.cut()
        kept.sum().backward()
    finally:
        gc.unfreeze()
    with torch.no_grad():
        y = (w * 2).sin()
        z = (y * w).cos()
        by_y = -(y * w).sin()
        expected = (z * w).exp() * (z + w * by_y * (y + w * 2 * (w * 2).cos()))
    torch.testing.assert_close(w.grad, expected)
