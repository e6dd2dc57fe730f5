"""What the tutorials of PyTorch call."""

import importlib

from compat_matrix.case import case, raises


@case("asked_by_tutorials.scans_and_maps")
def _(torch):
    """The operators that take functions under the names of their modules, as the tutorial of control flow imports them."""
    hops = {n: getattr(importlib.import_module(f"{torch.__name__}._higher_order_ops.{n}"), n) for n in ("cond", "foreach_map", "scan", "while_loop")}
    scan = hops["scan"]
    x, w, s = torch.arange(6.).reshape(3, 2).requires_grad_(), torch.tensor([.5, 2.], requires_grad=True), torch.ones(2, requires_grad=True)
    for dim, reverse, start in ((0, False, s), (0, True, s), (-1, False, torch.ones(3))):
        last, out = scan(lambda c, row: (c * .5 + row, {"out": c * 2, "sum": row.sum()}), start, x, dim=dim, reverse=reverse)
        yield f"scan {dim} {reverse}", last.detach(), out["out"].detach(), out["sum"].detach()
    last, out = scan(lambda c, row: ((c * w + row).tanh(), (c * row).sum()), s, x)
    yield "grad", torch.autograd.grad(last.sum() + out.sum(), (s, x, w))
    one = torch.ones(3)
    yield "nothing", scan(lambda c, row: (c, c), one, ())
    for k, f in enumerate((lambda: scan(3, one, one), lambda: scan(max, (), one), lambda: scan(max, 3, one), lambda: scan(max, one, [one, 3]),
                           lambda: scan(max, one, torch.ones(0, 2)), lambda: scan(max, one, one, reverse=3))):
        yield f"refused {k}", raises(f)
    yield "loop", hops["while_loop"](lambda i, v: i < 3, lambda i, v: (i + 1, v * 2), (torch.tensor(0), one))
    yield "branch", hops["cond"]((one.sum() > 0).unsqueeze(0), lambda v: (v.cos(),), lambda v: (v.sin(),), (one,))
    each = hops["foreach_map"]
    yield "each", each(torch.lerp, [torch.zeros(2), one], [torch.ones(2), 3 * one], .5), each(torch.add, (one, one), 1), each(torch.neg, one), \
        each(torch.add, [one], [one], alpha=3)


@case("asked_by_tutorials.narrower_tangent")
def _(torch):
    """A tangent of a narrower dtype, as the tutorial of forward mode has it: derivatives are of the primal's dtype."""
    forward = importlib.import_module(f"{torch.__name__}.autograd.forward_ad")

    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.result = torch.exp(x)
            return ctx.result

        @staticmethod
        def jvp(ctx, g):
            return g * ctx.result

    x = torch.tensor([.5, -1.], dtype=torch.double, requires_grad=True)
    for name, f in (("function", Exp.apply), ("call", torch.sin), ("product", lambda v: v * v)):
        with forward.dual_level():
            yield name, forward.unpack_dual(f(forward.make_dual(x, torch.tensor([.25, 3.])))).tangent.detach()
