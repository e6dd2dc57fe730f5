"""libtorch's Functions, hooks and guards, under the names that C++ programs use."""

import gc
import warnings
import weakref

import pytest

from torchlike_autograd.dialects import libtorch as torch
from torchlike_autograd.dialects.libtorch import autograd

LEAF = torch.requires_grad()


def equal(a, b):
    return torch.allclose(a, b)


class Sum(autograd.Function):
    """a + k b + a b, of a and b."""

    @staticmethod
    def forward(ctx, a, k, b):
        ctx.saved_data["k"] = k
        ctx.save_for_backward([a, torch.Tensor(), b])
        return a + k * b + a * b

    @staticmethod
    def backward(ctx, grads):
        a, nothing, b = ctx.get_saved_variables()
        assert not nothing.defined()
        ctx.saved_data["demand"] = [ctx.needs_input_grad(0), ctx.needs_input_grad(1), ctx.needs_input_grad([(0, 1), (1, 2)])]
        DEMANDS.append(ctx.saved_data["demand"])
        return [grads[0] + grads[0] * b, torch.Tensor(), grads[0] * ctx.saved_data["k"] + grads[0] * a]


DEMANDS = []


def test_a_function_has_gradients_of_first_and_second_order():
    a, b = torch.randn([3, 2], LEAF), torch.randn([3, 2], LEAF)
    Sum.apply(a, 2, b).sum().backward()
    assert equal(a.grad(), b + 1) and equal(b.grad(), a + 2)
    (g,) = autograd.grad([Sum.apply(a, 2, b).sum()], [a], [], True, True)
    (second,) = autograd.grad([g.sum()], [b])
    assert equal(second, torch.ones([3, 2]))


def test_a_function_knows_which_gradients_the_pass_wants():
    a, b = torch.randn([2], LEAF), torch.randn([2], LEAF)
    del DEMANDS[:]
    for inputs in ([a], [b], [a, b]):
        autograd.grad([Sum.apply(a, 2, b).sum()], inputs)
    assert list(DEMANDS) == [[True, False, True], [False, True, True], [True, True, True]]


class Pair(autograd.Function):
    """(x[0] x[1], how many of its gradients arrived)."""

    materialize = True

    @classmethod
    def forward(cls, ctx, xs):
        ctx.set_materialize_grads(Pair.materialize)
        ctx.save_for_backward(xs)
        return [xs[0] * xs[1], xs[0] + 1]

    @staticmethod
    def backward(ctx, grads):
        x, y = ctx.get_saved_variables()
        ARRIVED[:] = [g.defined() for g in grads]
        return [grads[0] * y, grads[0] * x]


ARRIVED = []


@pytest.mark.parametrize("materialize", [True, False])
def test_lists_of_tensors_are_arguments_and_results(materialize, monkeypatch):
    monkeypatch.setattr(Pair, "materialize", materialize)
    x, y = torch.randn([4], LEAF), torch.randn([4], LEAF)
    out = Pair.apply([x, y])
    assert isinstance(out, list) and len(out) == 2
    out[0].sum().backward()
    assert equal(x.grad(), y) and equal(y.grad(), x)
    assert ARRIVED[0] is True and ARRIVED[1] is materialize


def returning(*made):
    class Returning(autograd.Function):
        @staticmethod
        def forward(ctx, x, k):
            return x * k

        @staticmethod
        def backward(ctx, grads):
            return [grads[0] if isinstance(m, str) else m for m in made]

    return Returning


@pytest.mark.parametrize("made, words", [
    (("gradient",), r"returned an incorrect number of gradients \(expected 2, got 1\)"),
    (("gradient", None, "gradient"), r"returned an incorrect number of gradients \(expected 2, got 3\)"),
    (("gradient", "gradient"), "returned a gradient different that is defined at position 2"),
    ((torch.ones([7]), None), "expected shape compatible with"),
])
def test_wrong_gradients_are_refused_and_the_next_pass_works(made, words):
    x = torch.randn([3], LEAF)
    with pytest.raises(RuntimeError, match=words):
        returning(*made).apply(x, 2).sum().backward()
    assert not x.grad().defined()
    returning("gradient", None, None, torch.Tensor()).apply(x, 2).sum().backward()  # too many are undefined ones
    assert equal(x.grad(), torch.ones([3]))


def test_written_and_undifferentiable_results():
    class Halved(autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(0.5)
            large = x > 0
            ctx.mark_dirty([x])
            ctx.mark_non_differentiable([large])
            return [x, large]

        @staticmethod
        def backward(ctx, grads):
            return [grads[0] * 0.5]

    leaf = torch.randn([5], LEAF)
    x = leaf.clone()
    before = x._version()
    out, large = Halved.apply(x)
    assert x._version() > before and equal(out, leaf * 0.5) and not large.requires_grad()
    out.sum().backward()
    assert equal(leaf.grad(), torch.full([5], 0.5))
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        Halved.apply(leaf)


def test_hooks_go_by_numbers():
    x, seen = torch.ones([2], LEAF), []
    y = x * 3
    first, second = y.register_hook(lambda g: seen.append("first")), y.register_hook(lambda g: g * 2)
    y.sum().backward(None, True)
    assert seen == ["first"] and equal(x.grad(), torch.full([2], 6.0))
    y.remove_hook(first)
    y.sum().backward(None, True)
    assert seen == ["first"] and equal(x.grad(), torch.full([2], 12.0))
    y.remove_hook(second)
    y.remove_hook(second)
    with pytest.raises(RuntimeError, match="Invalid index, no hook at position 2"):
        y.remove_hook(2)
    with pytest.raises(RuntimeError, match="cannot register a hook on a variable that doesn't require gradient"):
        torch.ones([2]).register_hook(print)
    y.sum().backward()
    assert equal(x.grad(), torch.full([2], 15.0))


def test_an_undefined_gradient_reaches_hooks_undefined():
    x, seen = torch.zeros([], LEAF), []
    x.register_hook(lambda g: seen.append(g.defined()))
    autograd.UndefinedGrad().apply([x])[0].backward()
    assert seen == [False] and not x.grad().defined()


def test_guards_act_until_they_are_let_go():
    x = torch.ones([2], LEAF)
    guard = torch.NoGradGuard()
    assert not (x * 2).requires_grad() and not torch.GradMode.is_enabled()
    with torch.AutoGradMode(True) as inner:
        assert (x * 2).requires_grad()
    assert not torch.GradMode.is_enabled()
    del inner
    assert not torch.GradMode.is_enabled()
    del guard
    assert torch.GradMode.is_enabled()
    with torch.InferenceMode():
        assert torch.InferenceMode.is_enabled() and (x * 2).is_inference()
    assert not torch.InferenceMode.is_enabled()


def test_anomalies_are_errors_inside_their_guard():
    x = torch.tensor([0.0], LEAF)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with autograd.DetectAnomalyGuard(), pytest.raises(RuntimeError, match="returned nan values"):
            (x.sqrt() * 0).backward()
        with autograd.DetectAnomalyGuard(False):
            (x.sqrt() * 0).backward()
    assert x.grad().isnan().all().item()


def test_a_gradient_that_no_pass_fills_warns():
    y = torch.ones([2], LEAF) * 2
    with pytest.warns(UserWarning, match="is not a leaf"):
        assert not y.grad().defined()
    y.retain_grad()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not y.grad().defined() and y.retains_grad()


def test_sums_in_place_write():
    x = torch.ones([2], LEAF)
    y = x * 2
    same = y
    y += 1
    assert same is y and y._version() == 1 and equal(y, torch.full([2], 3.0)) and y.grad_fn().name() == "AddBackward0"


def test_a_graph_with_a_function_dies_when_it_is_dropped():
    x = torch.randn([3], LEAF)
    out = Sum.apply(x, 2, x)
    out.sum().backward()
    node = weakref.ref(out.grad_fn())
    gc.disable()
    try:
        del out
        assert node() is None
    finally:
        gc.enable()


def test_options_tell_what_they_ask_for():
    assert torch.requires_grad().requires_grad() and not torch.dtype(torch.double).requires_grad()
    assert torch.dtype(torch.double).requires_grad(True).dtype() is torch.double and torch.TensorOptions().device() is None
    assert torch.ones([3], torch.dtype(torch.double).requires_grad(True)).requires_grad()
    assert not torch.Tensor().requires_grad()


def test_functions_with_out_in_front():
    x, out = torch.ones([2]) * 3, torch.Tensor(torch.zeros([2]))
    assert torch.mul_out(out, x, x).get() is out.get() and out.tolist() == [9.0, 9.0]
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        torch.mul_out(out, x, torch.ones([2], torch.requires_grad()))
    with pytest.raises(AttributeError):
        torch.nowhere_out  # noqa: B018
