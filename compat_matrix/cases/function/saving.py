"""Function: what ctx keeps and tells."""

from compat_matrix.case import attempt, case, raises, warned
from compat_matrix.cases.function import cube, leaf, simple


@case("function.needs_input_grad")
def _(torch):
    seen = []
    class Mul(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y, z):
            seen.append(("forward", ctx.needs_input_grad))
            ctx.save_for_backward(x, y)
            return x * y * z

        @staticmethod
        def backward(ctx, g):
            seen.append(("backward", ctx.needs_input_grad))
            x, y = ctx.saved_tensors
            return g * y if ctx.needs_input_grad[0] else None, g * x if ctx.needs_input_grad[1] else None, None
    x = leaf(torch)
    Mul.apply(x, torch.ones(3), 2).sum().backward()
    Mul.apply(torch.ones(3), torch.ones(3), 2)
    yield "seen", seen
    yield "grad", x.grad


@case("function.grad_mode_inside")
def _(torch):
    seen = []
    def forward(ctx, x):
        seen.append(("forward", torch.is_grad_enabled(), (x * 2).requires_grad, x.requires_grad))
        return x * 2
    def backward(ctx, g):
        seen.append(("backward", torch.is_grad_enabled(), g.requires_grad))
        return g * 2
    f, x = simple(torch, forward, backward), leaf(torch)
    torch.autograd.grad(f.apply(x).sum(), x)
    torch.autograd.grad((f.apply(x) ** 2).sum(), x, create_graph=True)
    yield "seen", seen


@case("function.saved.identity")
def _(torch):
    class Keep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            out = x.exp()
            ctx.save_for_backward(x, out, None, torch.ones(1))
            return out

        @staticmethod
        def backward(ctx, g):
            x, out, none, one = ctx.saved_tensors
            seen.append((x is leaf_, none, one.requires_grad, out.requires_grad, len(ctx.saved_tensors)))
            return g * out
    seen, leaf_ = [], leaf(torch)
    y = Keep.apply(leaf_)
    yield "before", len(y.grad_fn.saved_tensors), y.grad_fn.saved_tensors[0] is leaf_
    y.sum().backward()
    yield "seen", seen
    yield "freed", raises(lambda: y.grad_fn.saved_tensors)


@case("function.saved.second_time")
def _(torch):
    x = leaf(torch)
    y = cube(torch).apply(x).sum()
    y.backward()
    yield "error", raises(lambda: y.backward())
    f = simple(torch, lambda ctx, x: x * 2, lambda ctx, g: g * 2)
    z = f.apply(x).sum()
    z.backward()
    yield "nothing saved", attempt(lambda: z.backward()), x.grad


@case("function.saved.modified")
def _(torch):
    x = leaf(torch)
    y = x * 1
    z = cube(torch).apply(y)
    y.add_(1)
    yield "error", raises(lambda: z.sum().backward())


@case("function.saved.attributes_on_ctx")
def _(torch):
    def forward(ctx, x):
        ctx.shape, ctx.scale, ctx.kept = tuple(x.shape), 3, x * 2
        return x * 3
    def backward(ctx, g):
        return g * ctx.scale + ctx.kept
    x = leaf(torch)
    y = simple(torch, forward, backward).apply(x)
    yield "attributes", y.grad_fn.shape, y.grad_fn.scale
    y.sum().backward()
    yield "grad", x.grad


@case("function.saved.not_tensors")
def _(torch):
    def forward(ctx, x):
        ctx.save_for_backward(x, 3)
        return x * 1
    f = simple(torch, forward, lambda ctx, g: g)
    yield "error", raises(lambda: f.apply(leaf(torch)))


@case("function.saved.variables_deprecated")
def _(torch):
    f = simple(torch, lambda ctx, x: (ctx.save_for_backward(x), x * 1)[1], lambda ctx, g: g)
    y = f.apply(leaf(torch))
    yield "warning", warned(lambda: y.grad_fn.saved_variables)


@case("function.materialize_grads")
def _(torch):
    seen = []
    def run(materialize):
        def forward(ctx, x):
            ctx.set_materialize_grads(materialize)
            return x * 2, x * 3
        def backward(ctx, g, h):
            seen.append((g, h))
            return g * 2 if h is None else g * 2 + h * 3
        x = leaf(torch)
        a, _b = simple(torch, forward, backward).apply(x)
        a.sum().backward()
        return x.grad
    yield "grads", run(True), run(False)
    yield "seen", seen


@case("function.context_kind")
def _(torch):
    seen = []
    def forward(ctx, x):
        seen.append((type(ctx).__name__, isinstance(ctx, torch.autograd.function.FunctionCtx)))
        ctx.mine = 1
        return x * 1
    def backward(ctx, g):
        seen.append((type(ctx).__name__, ctx.mine))
        return g
    simple(torch, forward, backward).apply(leaf(torch)).sum().backward()
    yield "seen", seen


@case("function.retain_and_stash")
def _(torch):
    kept = []
    def forward(ctx, x):
        kept.append(ctx)
        ctx.save_for_backward(x)
        return x * 1
    x = leaf(torch)
    y = simple(torch, forward, lambda ctx, g: g).apply(x).sum()
    yield "ctx is node", kept[0] is y.grad_fn.next_functions[0][0]
    y.backward(retain_graph=True)
    yield "kept", len(kept[0].saved_tensors)
    y.backward()
    yield "freed", raises(lambda: kept[0].saved_tensors)


@case("function.save_outside_forward")
def _(torch):
    class Late(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x.exp()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output)
            ctx.set_materialize_grads(False)

        @staticmethod
        def backward(ctx, g):
            out, = ctx.saved_tensors
            return g * out
    x = leaf(torch)
    y = Late.apply(x)
    g, = torch.autograd.grad(y.sum(), x, create_graph=True)
    yield "first", g
    yield "second", torch.autograd.grad(g.sum(), x)


@case("function.boxed_grads")
def _(torch):
    seen = []
    def forward(ctx, x):
        return x * 2, x * 3
    def backward(ctx, gs):
        seen.append((type(gs).__name__, len(gs)))
        return gs[0] * 2 + gs[1] * 3
    x = leaf(torch)
    a, b = simple(torch, forward, backward, boxed_grads_call=True).apply(x)
    (a + b).sum().backward()
    yield "seen", seen, x.grad


@case("function.saves.outputs_that_are_views")
def _(torch):
    makers = {
        "fresh": lambda x: x * 2, "view of fresh": lambda x: (x * 2).view(2, 2), "view of constant": lambda x: torch.full((4,), 3.0).view(2, 2),
        "slice of constant": lambda x: torch.full((4,), 3.0)[1:3], "view of input": lambda x: x.view(2, 2), "input": lambda x: x,
        "detached": lambda x: x.detach(), "two": lambda x: (x * 2).chunk(2), "mixed": lambda x: ((x * 2).view(2, 2), x * 3),
    }
    for name, make in makers.items():
        seen = []

        class F(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, make):
                out = make(x)
                ctx.save_for_backward(*(out if isinstance(out, tuple) else (out,)), x)
                return out

            @staticmethod
            def backward(ctx, *g, seen=seen):
                saved = ctx.saved_tensors
                seen.append([(t.requires_grad, type(t.grad_fn).__name__, t.is_leaf, t._is_view()) for t in saved])
                return (sum(t.sum() for t in g) * saved[0].sum() * 2).expand(4), None

        x = torch.ones(4, requires_grad=True)
        out = F.apply(x, make)
        outs = out if isinstance(out, tuple) else (out,)
        yield f"{name}: results", [(t.requires_grad, t._is_view(), t._base is None) for t in outs]
        (g,) = torch.autograd.grad(sum((t * t).sum() for t in outs), x, create_graph=True)
        yield f"{name}: gradients", g, torch.autograd.grad(g.sum(), x), seen


@case("function.saves.nothing_to_read")
def _(torch):
    asked = []

    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, save):
            if save:
                ctx.save_for_backward(x)
            asked.append((ctx.saved_tensors, ctx._raw_saved_tensors, ctx.to_save is None))
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2, None

    class Once(F):
        clear_saved_tensors_on_access = True

        @staticmethod
        def backward(ctx, g):
            asked.append(attempt(lambda: len(ctx.saved_tensors)))
            return g, None

    for save in (True, False):
        x = torch.ones(3, requires_grad=True)
        y = F.apply(x, save)
        yield f"read in forward {save}", asked.pop(), y.grad_fn.to_save
        y.sum().backward()
        yield f"after the pass {save}", attempt(lambda y=y: y.grad_fn.saved_tensors), attempt(lambda y=y: y.grad_fn._raw_saved_tensors)
        y.sum().backward()  # what reads nothing of it runs again
        yield f"run twice {save}", x.grad
        yield f"once {save}", attempt(lambda: Once.apply(x, save).sum().backward()), asked
        del asked[:]
