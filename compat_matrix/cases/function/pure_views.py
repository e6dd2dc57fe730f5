"""Custom Functions that return views: which may be written to, and what their jvp has to return."""

import weakref

from compat_matrix.case import case, raises


def cut(torch, outputs, temporary):
    """A Function that returns a piece of its input, with more outputs, or a piece of a tensor of its own."""
    calls = []

    class Cut(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, pure):
            ctx._is_pure_view = pure
            piece = (x.clone() if temporary else x)[1:]
            return piece if outputs == 1 else (piece, piece + 1)

        @staticmethod
        def backward(ctx, g, *more):
            calls.append(1)
            out = torch.zeros(3)
            out[1:] = g
            return out, None

    return Cut, calls


def written(torch, outputs, temporary):
    Cut, calls = cut(torch, outputs, temporary)
    for pure in (True, False):
        for write in (True, False):
            x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)

            def run(x=x, pure=pure, write=write):
                base = x * 2
                out = Cut.apply(base, pure)
                out = out if outputs == 1 else out[0]
                if write:
                    out.mul_(10)
                (out.sum() + base.sum()).backward()
                return x.grad

            calls.clear()
            said = raises(run)
            yield f"pure {pure} write {write}", said, x.grad, len(calls)


for outputs in (1, 2):
    for temporary in (False, True):
        case(f"function.pure_views.written.{outputs}.{temporary}", outputs=outputs, temporary=temporary)(written)


@case("function.pure_views.jvp")
def _(torch):
    fw = torch.autograd.forward_ad
    wrong = {"view": lambda t: t[1:], "copy": lambda t: t[1:].clone(), "view of a copy": lambda t: t.clone()[1:]}
    for name, f in wrong.items():
        class Cut(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x[1:]

            @staticmethod
            def jvp(ctx, t, f=f):
                return f(t)

        with fw.dual_level():
            x = torch.ones(3)
            yield name, raises(lambda Cut=Cut, x=x: fw.unpack_dual(Cut.apply(fw.make_dual(x, torch.ones(3)))).tangent)
            yield f"{name}, of a view", raises(lambda Cut=Cut, x=x: fw.unpack_dual(Cut.apply(fw.make_dual(x, torch.ones(3)).view(3))).tangent)


@case("function.pure_views.dirty_jvp")
def _(torch):
    fw = torch.autograd.forward_ad
    for name, f in {"in place": lambda t: t.mul_(2), "new": lambda t: t * 2, "untouched": lambda t: t}.items():
        class Twice(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.mark_dirty(x.mul_(2))
                return x

            @staticmethod
            def jvp(ctx, t, f=f):
                return f(t)

        with fw.dual_level():
            d = fw.make_dual(torch.ones(2), torch.ones(2))
            yield name, raises(lambda Twice=Twice, d=d: Twice.apply(d))


@case("function.pure_views.tangent_of_a_constant")
def _(torch):
    fw = torch.autograd.forward_ad

    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, wanted):
            out = x.clone()
            ctx.mark_non_differentiable(out)
            ctx.wanted = wanted
            return x.clone(), out

        @staticmethod
        def jvp(ctx, t, _):
            return t, t.clone() if ctx.wanted else None

    for wanted in (False, True):
        with fw.dual_level():
            d = fw.make_dual(torch.ones(2), torch.ones(2))
            yield wanted, raises(lambda d=d, wanted=wanted: fw.unpack_dual(Both.apply(d, wanted)[1]).tangent)


@case("function.pure_views.dirty_is_no_input")
def _(torch):
    class Odd(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            out = x.clone().view_as(x)
            ctx.mark_dirty(out)
            return out

        @staticmethod
        def backward(ctx, g):
            return g

    yield "view", raises(lambda: Odd.apply(torch.ones(2, requires_grad=True) * 1))


@case("function.pure_views.nothing_is_kept")
def _(torch):
    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g

    def run():
        x = (torch.ones(2, requires_grad=True) * 1).view(2)
        Same.apply(x)
        return weakref.ref(x)

    yield "gone", run()() is None
