"""Functions with setup_context that save an input which they return as it is: where that is refused."""

from compat_matrix.case import attempt, case


def _function(torch, saved, ahead):
    class Same(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x, y):
            return x, x * y

        @staticmethod
        def setup_context(ctx, inputs, output):
            t = inputs[0] if saved == "input" else output[0]
            ctx.save_for_forward(t) if ahead else ctx.save_for_backward(t, inputs[1])

        @staticmethod
        def backward(ctx, g, h):
            return g, h

        @staticmethod
        def jvp(ctx, a, b):
            return a.view_as(a), b

    return Same


for _saved in ("input", "output"):
    for _ahead in (False, True):
        @case(f"returned_as_is.{_saved} {_ahead}")
        def _(torch, saved=_saved, ahead=_ahead):
            same, one = _function(torch, saved, ahead), torch.ones(2)
            for first in (False, True):
                for second in (False, True):
                    x, y = torch.ones(2, requires_grad=first), torch.ones(2, requires_grad=second)
                    ask = lambda f: attempt(lambda: [(t.shape, t.requires_grad) for t in f()])  # noqa: E731
                    yield f"{first} {second}", ask(lambda: same.apply(x, y)), ask(lambda: torch.vmap(same.apply)(x[:, None], y[:, None]))
                    with torch.no_grad():
                        yield f"no_grad {first} {second}", ask(lambda: same.apply(x, y))
                    with torch.inference_mode():
                        yield f"inference {first} {second}", ask(lambda: same.apply(x, y))
                    yield f"func {first} {second}", ask(lambda: [torch.func.grad(lambda x: same.apply(x, y)[1].sum())(x.detach())]), ask(
                        lambda: torch.func.jvp(lambda x: same.apply(x, y)[1], (x.detach(),), (one,)))
                    with torch.autograd.forward_ad.dual_level():
                        dual = torch.autograd.forward_ad.make_dual
                        yield f"dual {first} {second}", ask(lambda: same.apply(dual(x, one), y)), ask(lambda: same.apply(x, dual(y, one)))
