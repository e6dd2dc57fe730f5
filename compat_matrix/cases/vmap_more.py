"""Operators that exist for tests of torch.vmap, gradients by their ATen names under maps, and custom Functions that `functionalize` meets."""

import importlib
import warnings

from compat_matrix.case import case, raises


def _error(f):
    try:
        return f()
    except RuntimeError as e:
        return type(e).__name__, str(e)


@case("vmap_more.operator_without_a_rule")
def _(torch):
    f, vmap = torch._test_functorch_fallback, torch.func.vmap
    x, y = torch.arange(6.).reshape(2, 3), torch.ones(3)
    yield "plain", f(x, y), f(x, y) is x
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        yield "mapped", vmap(f)(x, x + 1), vmap(f, (None, 0))(y, x), vmap(f, (1, None))(x, torch.ones(2)), vmap(vmap(f))(x, x)
        yield "nothing mapped", vmap(lambda a: f(y, y))(x)
    yield "warned", len(heard) > 3, {str(w.message).partition(" (Triggered")[0] for w in heard}, {w.category.__name__ for w in heard}
    yield "no examples", _error(lambda: vmap(f, (0, None))(torch.ones(0, 3), y))
    yield "no inner examples", _error(lambda: vmap(vmap(f))(torch.ones(2, 0), torch.ones(2, 0)))
    a = torch.ones(3, requires_grad=True)
    yield "needs", f(a, y).requires_grad, f(y, a).requires_grad
    yield "no derivative", _error(lambda: f(a, y).sum().backward())
    inside = torch._C._functorch
    before = inside._is_vmap_fallback_enabled()
    inside._set_vmap_fallback_enabled(False)
    try:
        yield "not allowed", "which is currently disabled" in _error(lambda: vmap(f)(x, x))[1]
    finally:
        inside._set_vmap_fallback_enabled(before)


@case("vmap_more.check_of_a_tensor")
def _(torch):
    f, vmap = torch._test_check_tensor, torch.func.vmap
    yield "true", f(torch.tensor([True, True])), f(torch.tensor(True))
    yield "false", _error(lambda: f(torch.tensor([True, False])))
    yield "mapped", vmap(lambda t: f(t >= 0))(torch.ones(3, 2)), vmap(vmap(lambda t: f(t >= 0)))(torch.ones(3, 2))
    yield "one example", _error(lambda: vmap(lambda t: f(t >= 0))(torch.tensor([[1., 2], [3, -4]])))


@case("vmap_more.found_by_python")
def _(torch):
    found = importlib.import_module(f"{torch.__name__}._dispatch.python")
    with found.enable_python_dispatcher():
        yield "inside", torch.func.vmap(torch.square)(torch.arange(4.))
    with found.no_python_dispatcher():
        yield "without", torch.func.vmap(torch.square)(torch.arange(4.))


@case("vmap_more.second_gradients_of_convolutions")
def _(torch):
    f = torch.ops.aten._convolution_double_backward
    make = lambda *s: torch.sin(torch.arange(1., 1 + torch.Size(s).numel(), dtype=torch.float64)).reshape(s)  # noqa: E731
    for name, wide, how in (("plain", 1, ((1, 1), (0, 0), (1, 1), False, (0, 0), 1)), ("strided", 1, ((2, 1), (1, 0), (1, 2), False, (0, 0), 1)),
                            ("groups", 2, ((1, 2), (1, 1), (1, 1), False, (0, 0), 2)), ("transposed", 1, ((2, 1), (0, 1), (1, 1), True, (1, 0), 1))):
        x, w, b = make(2, 2, 5, 6), make(2, 2 // wide, 2, 2), make(2)
        out = torch.convolution(x, w, b, *how)
        given = (make(*x.shape).cos(), make(*w.shape).cos(), b + 1, make(*out.shape), w, x)
        yield name, f(*given, *how, (True, True, True))
        yield name + ", some", [t is None for t in f(given[0], None, None, *given[3:], *how, (True, True, True))], f(*given, *how, (True, False, False))[0]
        if name != "transposed":
            stacked = [torch.stack([t, t * 2]) for t in given]
            yield name + ", mapped", torch.func.vmap(lambda *ts, how=how: f(*ts, *how, (True, True, True)))(*stacked)


@case("vmap_more.gradients_of_adaptive_pools")
def _(torch):
    x = torch.sin(torch.arange(2. * 3 * 6 * 5)).reshape(2, 3, 6, 5)
    out, at = torch.nn.functional.adaptive_max_pool2d(x, (2, 3), return_indices=True)
    f = torch.ops.aten.adaptive_max_pool2d_backward
    yield "whole", f(out.cos(), x, at)
    yield "mapped", torch.func.vmap(f)(out.cos(), x, at)


@case("vmap_more.functions_that_functionalize_meets")
def _(torch):
    class Old(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.sin()

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = torch.ones(3)
    yield "refused", _error(lambda: torch.func.functionalize(Old.apply)(x))
    yield "afterwards", Old.apply(x)


@case("vmap_more.kept after its end")
def _(torch):
    """What a mapped function hands to somebody outside of it."""
    x, kept = torch.arange(6.0).reshape(3, 2), []
    out = torch.vmap(lambda a: (kept.append(a * 2), a.sum())[1])(x)
    yield "result", out, kept[0].shape, kept[0].dim()
    yield "used", raises(lambda: kept[0] + 1), raises(lambda: kept[0].sum()), raises(lambda: torch.add(x, kept[0]))


@case("vmap_more.places of fractional pooling")
def _(torch):
    """Windows at random places are drawn as other numbers are: refused, the same or others for each example."""
    images = torch.arange(3 * 9 * 8 * 7.0).reshape(3, 1, 9, 8, 7).sin()
    for dims in (2, 3):
        pool, sizes = getattr(torch.nn.functional, f"fractional_max_pool{dims}d"), (3,) * dims
        for randomness in ("error", "same", "different"):
            torch.manual_seed(3)
            yield f"{dims} dims, {randomness}", raises(lambda: torch.vmap(lambda x: pool(x, 2, output_size=sizes), randomness=randomness)(images)), torch.rand(1)
