"""Functions of one's own: both styles, what the context offers, errors, views as results, double backward."""

import traceback

from compat_matrix.case import attempt, case, raises, warned


def leaf(torch, *values):
    return torch.tensor(list(values) or [1.0, 2.0, 3.0], requires_grad=True)


@case("relied_on.functions.styles")
def _(torch):
    Function = torch.autograd.Function

    class New(Function):
        @staticmethod
        def forward(x, k=3):
            return x * k * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.seen = (len(inputs), [type(i).__name__ for i in inputs], type(output).__name__)
            log.append(ctx.seen)
            ctx.k = inputs[1]

        @staticmethod
        def backward(ctx, g):
            return g * ctx.k * 2, None
    log, x = [], leaf(torch)
    yield "defaults", torch.autograd.grad(New.apply(x).sum(), x), log
    yield "by position", torch.autograd.grad(New.apply(x, 5).sum(), x)

    class ByClass(Function):
        @classmethod
        def forward(cls, ctx, x):
            return x * 2

        @classmethod
        def backward(cls, ctx, g):
            return g * 2
    yield "classmethods", torch.autograd.grad(ByClass.apply(x).sum(), x)

    class Vjp(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def vjp(ctx, g):
            return g * 4

        @staticmethod
        def jvp(ctx, t):
            return t * 2
    yield "vjp", torch.autograd.grad(Vjp.apply(x).sum(), x), Vjp.generate_vmap_rule, hasattr(Vjp, "vmap"), Vjp.clear_saved_tensors_on_access, Vjp.boxed_grads_call
    with torch.autograd.forward_ad.dual_level():
        d = Vjp.apply(torch.autograd.forward_ad.make_dual(x.detach(), torch.ones(3)))
        yield "jvp", torch.autograd.forward_ad.unpack_dual(d).tangent

    class Mixed(Function):
        @staticmethod
        def forward(ctx, a, x, b, y, none):
            ctx.save_for_backward(x, y)
            return a, x * y, None, "text", x + y, x.detach()[:1].long()

        @staticmethod
        def backward(ctx, *gs):
            log.append([None if g is None else (g.tolist(), str(g.dtype)) for g in gs])
            x, y = ctx.saved_tensors
            return None, gs[1] * y + gs[4], None, gs[1] * x + gs[4], None, None, None
    log, y = [], leaf(torch)
    out = Mixed.apply("a", x, 2, y, None)
    yield "anything in and out", [type(o).__name__ for o in out], torch.autograd.grad(out[1].sum(), [x, y]), log

    class Nothing(Function):
        @staticmethod
        def forward(ctx, k):
            return torch.ones(2) * k

        @staticmethod
        def backward(ctx, g):
            return None
    yield "no tensors", Nothing.apply(3), Nothing.apply(3).requires_grad

    class Same(Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            return y, y

        @staticmethod
        def backward(ctx, a, b):
            return a * 2 + b * 20
    p, q = Same.apply(x)
    yield "the same twice", p is q, torch.autograd.grad((p + q).sum(), x)

    class Back(Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 5
    z = x * 1
    r = Back.apply(z)
    yield "an input", r is z, r.grad_fn.name(), r._is_view(), r.data_ptr() == z.data_ptr(), torch.autograd.grad(r.sum(), x)
    r = Back.apply(x)
    yield "a leaf", r is x, r.is_leaf, x.is_leaf, r._base is x, torch.autograd.grad(r.sum(), x)


@case("relied_on.functions.context")
def _(torch):
    class Kept(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, none, y):
            held.append(ctx)
            out = x * y
            ctx.save_for_backward(x, None, y, out)
            ctx.flags = ctx.needs_input_grad
            return out

        @staticmethod
        def backward(ctx, g):
            x, none, y, out = ctx.saved_tensors
            log.append((x is given[0], none, y is given[1], out.output_nr, out.grad_fn is not None and out.grad_fn.name(), ctx.needs_input_grad, torch.is_grad_enabled()))
            return g * y, None, g * x
    held, log = [], []
    given = x, y = leaf(torch), torch.ones(3)
    out = Kept.apply(x, None, y)
    torch.autograd.grad(out.sum(), x, retain_graph=True)
    yield "saved", log, held[0].flags
    yield "from outside", [t is None or t.tolist() for t in held[0].saved_tensors], warned(lambda: held[0].saved_variables)
    out.sum().backward()
    yield "freed", raises(lambda: held[0].saved_tensors)
    second = leaf(torch)
    yield "double", torch.autograd.grad(torch.autograd.grad(Kept.apply(second, None, second).sum(), second, create_graph=True)[0].sum(), second)
    a, b = (leaf(torch) * 2).unbind()[:2]
    log.clear()
    given = a, b
    Kept.apply(a, None, b).backward()
    yield "numbers", log

    class Raw(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            y = x.clone()
            k = x.detach().long()
            ctx.mark_non_differentiable(k)
            return x * 2, y, k

        @staticmethod
        def backward(ctx, *gs):
            log.append([g is None for g in gs])
            return gs[0] * 2
    log.clear()
    r = Raw.apply(x)
    r[0].sum().backward()
    yield "not materialized", log, [t.requires_grad for t in r]

    class NonDiff(Raw):
        @staticmethod
        def forward(ctx, x):
            k = x.detach() + 1
            ctx.mark_non_differentiable(k)
            if off:
                ctx._materialize_non_diff_grads = False
            return x * 2, k

        @staticmethod
        def backward(ctx, *gs):
            log.append([None if g is None else g.tolist() for g in gs])
            return gs[0] * 2
    log.clear()
    for off in (False, True):
        NonDiff.apply(x)[0].sum().backward()
    yield "of the others", log

    class Dirty(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, g):
            return g * 2
    z = x * 1
    out = Dirty.apply(z)
    yield "dirty", out is z, z._version, z.grad_fn.name(), torch.autograd.grad(z.sum(), x)
    yield "dirty leaf", raises(lambda: Dirty.apply(x))

    class Forward(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_forward(inputs[0], output)
            ctx.save_for_backward(inputs[0])

        @staticmethod
        def backward(ctx, g):
            log.append(len(ctx.saved_tensors))
            return g * 2 * ctx.saved_tensors[0]

        @staticmethod
        def jvp(ctx, t):
            log.append(len(ctx.saved_tensors))
            return t * 2 * ctx.saved_tensors[0]
    log.clear()
    Forward.apply(x).sum().backward()
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        yield "for each mode", fw.unpack_dual(Forward.apply(fw.make_dual(x, torch.ones(3)))).tangent, log


@case("relied_on.functions.errors")
def _(torch):
    Function = torch.autograd.Function

    def made(**members):
        return type("Made", (Function,), {k: staticmethod(v) for k, v in members.items()})
    x = leaf(torch)
    fw = torch.autograd.forward_ad
    yield "no forward", raises(lambda: made(backward=lambda ctx, g: g).apply(x))
    yield "no backward", raises(lambda: made(forward=lambda ctx, x: x * 2).apply(x).sum().backward())
    both = made(forward=lambda ctx, x: x * 2, backward=lambda ctx, g: g, vjp=lambda ctx, g: g)
    yield "both", raises(lambda: both.apply(x).sum().backward())

    def dual():
        with fw.dual_level():
            made(forward=lambda ctx, x: x * 2, backward=lambda ctx, g: g).apply(fw.make_dual(x.detach(), torch.ones(3)))
    yield "no jvp", raises(dual)

    class Old(Function):
        def forward(self, x):
            return x

        def backward(self, g):
            return g
    yield "legacy", raises(lambda: Old()(x)), warned(lambda: Old()), raises(lambda: Old.apply(x))

    def not_input(ctx, x):
        y = x * 2
        ctx.mark_dirty(y)
        return y
    yield "dirty, not an input", attempt(lambda: warned(lambda: made(forward=not_input, backward=lambda ctx, g: g).apply(x * 1)))

    def not_returned(ctx, x):
        ctx.mark_dirty(x)
        x.mul_(2)
        return x * 1
    yield "dirty, not returned", raises(lambda: made(forward=not_returned, backward=lambda ctx, g: g).apply(x * 1))

    def of_several(ctx, v):
        ctx.mark_dirty(v)
        v.mul_(2)
        return v, v * 3
    yield "dirty view", raises(lambda: made(forward=of_several, backward=lambda ctx, g, h: g).apply((x * 1)[0:2]))

    def one_dirty(ctx, v):
        ctx.mark_dirty(v)
        return v.mul_(2)
    base = x * 1
    view = base[0:2]
    made(forward=one_dirty, backward=lambda ctx, g: g * 2).apply(view)
    yield "dirty view, alone", base, base.grad_fn.name(), view.grad_fn.name(), torch.autograd.grad(base.sum(), x)
    yield "wrong counts", [raises(lambda f=f: made(forward=lambda ctx, x, y: x * y, backward=f).apply(x, x).sum().backward())
                           for f in (lambda ctx, g: g, lambda ctx, g: (g, g, g), lambda ctx, g: (g,), lambda ctx, g: (g, 1), lambda ctx, g: "text")]

    class Failing(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            raise ValueError("of the user")
    try:
        Failing.apply(x).sum().backward()
    except ValueError as e:
        last = traceback.extract_tb(e.__traceback__)[-1]
        yield "the line", str(e), last.name, last.line
    yield "not callable", raises(lambda: Function().forward(None)), raises(lambda: Function.apply(x))
    yield "saved that are no tensors", raises(lambda: made(forward=lambda ctx, x: ctx.save_for_backward(1) or x * 2, backward=lambda ctx, g: g).apply(x))


@case("relied_on.functions.views")
def _(torch):
    def made(forward, name="Made"):
        return type(name, (torch.autograd.Function,), {"forward": staticmethod(forward), "backward": staticmethod(lambda ctx, *g: g[0].new_ones(3))})
    for mode in (torch.enable_grad, torch.no_grad):
        x = leaf(torch)
        v = made(lambda ctx, x: x.view(3, 1)).apply(x * 1)
        yield f"one, {mode.__name__}", v._is_view(), v.grad_fn.name(), raises(lambda v=v: v.mul_(2))
        a, b = made(lambda ctx, x: (x[:1], x[1:])).apply(x * 1)
        yield f"several, {mode.__name__}", a._is_view(), raises(lambda a=a: a.mul_(2))
        c, d = made(lambda ctx, x: (x[:1], x + 1)).apply(x * 1)
        yield f"one of several, {mode.__name__}", c._is_view(), d._is_view(), raises(lambda c=c: c.mul_(2)), raises(lambda d=d: d.mul_(2))
        with mode():
            w = made(lambda ctx, x: x.view(3, 1)).apply(x * 1)
        yield f"made in it, {mode.__name__}", w.requires_grad, w._is_view(), raises(lambda w=w: w.mul_(2))
        with torch.no_grad():
            z = (x * 1).requires_grad_()
        y = x * 1
        with mode():
            u = y.view(3)
        yield f"a view of another mode, {mode.__name__}", raises(lambda u=u: u.mul_(2))
        t = made(lambda ctx, x: x.view_as(x)).apply(z)
        yield f"of a leaf, {mode.__name__}", raises(lambda t=t: t.mul_(2))

    def local(ctx, x):
        y = x.clone()
        y.mul_(3)
        return y
    out = made(local, "Local").apply(leaf(torch))
    yield "written inside", out.grad_fn.name(), out._version


@case("relied_on.functions.differentiated twice")
def _(torch):
    once = torch.autograd.function.once_differentiable

    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]
    x = torch.tensor([0.5, 1.0], requires_grad=True)
    g = Exp.apply(x).sum()
    found = []
    for _ in range(4):
        g, = torch.autograd.grad(g.sum(), x, create_graph=True)
        found.append(g)
    yield "saved outputs", found
    modes = []

    class Once(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        @once
        def backward(ctx, g):
            modes.append((torch.is_grad_enabled(), g.requires_grad))
            return g * 2
    c = torch.ones(2, requires_grad=True)
    g, = torch.autograd.grad(Once.apply(x), x, c, create_graph=True)
    yield "once", modes, g.requires_grad, raises(lambda: g.sum().backward())
    with torch.no_grad():
        out = Exp.apply(x)
    yield "without grad mode", out.requires_grad, out.grad_fn is None

    class In(torch.autograd.function.InplaceFunction):
        @staticmethod
        def forward(ctx, x, inplace):
            ctx.mark_dirty(x)
            return x.add_(1)

        @staticmethod
        def backward(ctx, g):
            return g, None
    z = x * 2
    In.apply(z, True)
    yield "in place", z.grad_fn.name(), torch.autograd.grad(z.sum(), x), In._backward_cls.__name__, issubclass(In._backward_cls, torch.autograd.function.BackwardCFunction)

    class Sub(torch.Tensor):
        pass

    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g
    s = torch.ones(2).as_subclass(Sub)
    yield "a subclass", type(Same.apply(s)).__name__, type(Same.apply(s.clone().requires_grad_())).__name__
