"""torch.autograd.Function: both styles, ctx, marks, errors."""

import inspect

from compat_matrix.case import attempt, case, raises, warned


def leaf(torch, values=(1.0, 2.0, 3.0), dtype=None):
    return torch.tensor(list(values), dtype=dtype, requires_grad=True)


def cube(torch):
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x ** 3

        @staticmethod
        def backward(ctx, g):
            x, = ctx.saved_tensors
            return g * 3 * x ** 2
    return Cube


def simple(torch, forward, backward, **members):
    """A Function class from two plain functions."""
    return type("Simple", (torch.autograd.Function,), {
        "forward": staticmethod(forward), "backward": staticmethod(backward), **members})


@case("function.basic")
def _(torch):
    x = leaf(torch)
    y = cube(torch).apply(x)
    yield "node", y.grad_fn.name(), type(y.grad_fn).__name__, y.requires_grad, y.is_leaf
    y.sum().backward()
    yield "grad", x.grad


@case("function.double_backward")
def _(torch):
    x = leaf(torch)
    g, = torch.autograd.grad(cube(torch).apply(x).sum(), x, create_graph=True)
    h, = torch.autograd.grad(g.sum(), x, create_graph=True)
    yield "orders", g, h, torch.autograd.grad(h.sum(), x)


@case("function.setup_context")
def _(torch):
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(x, k=2.0):
            return x * k

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, k = inputs
            ctx.k = k
            ctx.kind = (type(inputs).__name__, len(inputs), isinstance(output, torch.Tensor))

        @staticmethod
        def backward(ctx, g):
            return g * ctx.k, None
    x = leaf(torch)
    y = Scale.apply(x, 3.0)
    yield "ctx", y.grad_fn.kind
    y.sum().backward()
    yield "grad", x.grad
    yield "default", attempt(lambda: Scale.apply(x).grad_fn.kind)


@case("function.two_inputs_two_outputs")
def _(torch):
    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y, x + y

        @staticmethod
        def backward(ctx, g, h):
            x, y = ctx.saved_tensors
            return g * y + h, g * x + h
    x, y = leaf(torch), leaf(torch, (4.0, 5.0, 6.0))
    a, b = Both.apply(x, y)
    yield "same node", a.grad_fn is b.grad_fn, a.output_nr, b.output_nr
    (a * 2 + b).sum().backward()
    yield "grads", x.grad, y.grad
    a, b = Both.apply(x, y)
    yield "one output used", torch.autograd.grad(a.sum(), [x, y])


@case("function.non_tensor_arguments")
def _(torch):
    class Mixed(torch.autograd.Function):
        @staticmethod
        def forward(ctx, text, x, number, flag, items):
            ctx.number = number
            return x * number + len(text) + items[0]

        @staticmethod
        def backward(ctx, g):
            return None, g * ctx.number, None, None, None
    x = leaf(torch)
    y = Mixed.apply("abc", x, 2, True, [5, x])
    yield "value", y
    y.sum().backward()
    yield "grad", x.grad


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


@case("function.no_inputs_need_grad")
def _(torch):
    y = cube(torch).apply(torch.ones(2))
    yield "flags", y.requires_grad, y.grad_fn
    with torch.no_grad():
        z = cube(torch).apply(leaf(torch))
    yield "no_grad", z.requires_grad, z.grad_fn


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


@case("function.returns.too_few")
def _(torch):
    f = simple(torch, lambda ctx, x, y: x * y, lambda ctx, g: g)
    yield "one for two", raises(lambda: f.apply(leaf(torch), leaf(torch)).sum().backward())
    h = simple(torch, lambda ctx, x, y: x * y, lambda ctx, g: (g,))
    yield "tuple", raises(lambda: h.apply(leaf(torch), leaf(torch)).sum().backward())


@case("function.returns.too_many")
def _(torch):
    x = leaf(torch)
    f = simple(torch, lambda ctx, x: x * 1, lambda ctx, g: (g, g))
    yield "tensors", raises(lambda: f.apply(x).sum().backward())
    h = simple(torch, lambda ctx, x: x * 1, lambda ctx, g: (g, None, None))
    yield "nones", attempt(lambda: h.apply(x).sum().backward()), x.grad


@case("function.returns.none")
def _(torch):
    x, y = leaf(torch), leaf(torch)
    f = simple(torch, lambda ctx, x, y: x * y, lambda ctx, g: (None, g))
    f.apply(x, y).sum().backward()
    yield "grads", x.grad, y.grad
    h = simple(torch, lambda ctx, x: x * 1, lambda ctx, g: None)
    z = x * 2
    h.apply(z).sum().backward()
    yield "none upstream", x.grad


@case("function.returns.gradient_for_non_tensor")
def _(torch):
    f = simple(torch, lambda ctx, x, k: x * k, lambda ctx, g: (g, g))
    yield "error", raises(lambda: f.apply(leaf(torch), 2.0).sum().backward())


@case("function.returns.gradient_for_constant_tensor")
def _(torch):
    x, c = leaf(torch), torch.ones(3)
    f = simple(torch, lambda ctx, x, c: x * c, lambda ctx, g: (g, g))
    f.apply(x, c).sum().backward()
    yield "grads", x.grad, c.grad


@case("function.returns.shape")
def _(torch):
    x = leaf(torch)
    f = simple(torch, lambda ctx, x: x * 1, lambda ctx, g: torch.ones(2, 3))
    yield "expandable", attempt(lambda: f.apply(x).sum().backward()), x.grad
    h = simple(torch, lambda ctx, x: x * 1, lambda ctx, g: torch.ones(4))
    yield "wrong", raises(lambda: h.apply(x).sum().backward())
    k = simple(torch, lambda ctx, x: x * 1, lambda ctx, g: torch.ones(1))
    yield "one", raises(lambda: k.apply(x).sum().backward())


@case("function.returns.dtype")
def _(torch):
    x = leaf(torch)
    f = simple(torch, lambda ctx, x: x * 1, lambda ctx, g: g.double())
    f.apply(x).sum().backward()
    yield "double", x.grad
    h = simple(torch, lambda ctx, x: x * 1, lambda ctx, g: 3.0)
    yield "number", raises(lambda: h.apply(x).sum().backward())
    k = simple(torch, lambda ctx, x: x * 1, lambda ctx, g: [g])
    yield "list", attempt(lambda: k.apply(x).sum().backward())


@case("function.forward_returns")
def _(torch):
    def run(value):
        return simple(torch, lambda ctx, x: value(x), lambda ctx, *g: g[0]).apply(leaf(torch))
    yield "none", attempt(lambda: run(lambda x: None))
    yield "number", attempt(lambda: run(lambda x: 3.0))
    yield "string", attempt(lambda: run(lambda x: "s"))
    yield "list", attempt(lambda: type(run(lambda x: [x * 1, x * 2])).__name__)
    yield "tuple", attempt(lambda: type(run(lambda x: (x * 1, None, 5))).__name__)
    yield "tuple values", attempt(lambda: run(lambda x: (x * 1, None, 5)))
    yield "dict", attempt(lambda: type(run(lambda x: {"a": x * 1})).__name__)
    yield "one tuple", attempt(lambda: type(run(lambda x: (x * 1,))).__name__)


@case("function.return_input")
def _(torch):
    x = leaf(torch)
    y = simple(torch, lambda ctx, x: x, lambda ctx, g: g * 5).apply(x)
    yield "flags", y is x, y.grad_fn.name(), y._is_view(), y.data_ptr() == x.data_ptr()
    y.sum().backward()
    yield "grad", x.grad
    z = x * 2
    w = simple(torch, lambda ctx, x: x, lambda ctx, g: g * 7).apply(z)
    yield "non leaf", w is z, w.grad_fn.name(), z.grad_fn.name()
    yield "in place", raises(lambda: w.add_(1))


@case("function.return_view")
def _(torch):
    x = leaf(torch)
    f = simple(torch, lambda ctx, x: x.view(3, 1), lambda ctx, g: g.reshape(3) * 2)
    y = f.apply(x * 1)
    yield "view", y._is_view(), y.grad_fn.name()
    yield "in place", raises(lambda: y.add_(1))
    two = simple(torch, lambda ctx, x: (x[:1], x[1:]), lambda ctx, g, h: torch.cat([g, h]))
    a, b = two.apply(x * 1)
    yield "several", raises(lambda: a.add_(1))


@case("function.mark_dirty")
def _(torch):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.mul_(2)
        return x
    f, x = simple(torch, forward, lambda ctx, g: g * 2), leaf(torch)
    y = x * 1
    z = f.apply(y)
    yield "same", z is y, y.grad_fn.name(), y._version, y.detach()
    y.sum().backward()
    yield "grad", x.grad
    yield "leaf", raises(lambda: f.apply(leaf(torch)))
    plain = torch.ones(2)
    yield "constant", f.apply(plain) is plain, plain


@case("function.mark_dirty.view")
def _(torch):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.mul_(2)
        return x
    f, x = simple(torch, forward, lambda ctx, g: g * 2), leaf(torch)
    y = x * 1
    f.apply(y[1:])
    yield "base", y.detach(), y.grad_fn.name()
    y.sum().backward()
    yield "grad", x.grad


@case("function.mark_dirty.wrong")
def _(torch):
    def not_returned(ctx, x):
        ctx.mark_dirty(x)
        x.mul_(2)
        return x.clone()
    def not_input(ctx, x):
        out = x * 2
        ctx.mark_dirty(out)
        return out
    x = leaf(torch)
    yield "not returned", attempt(lambda: simple(torch, not_returned, lambda ctx, g: g).apply(x * 1).requires_grad)
    yield "not an input", warned(lambda: simple(torch, not_input, lambda ctx, g: g).apply(x * 1))


@case("function.unmarked_inplace")
def _(torch):
    def forward(ctx, x):
        x.mul_(2)
        return x.sum()
    x = leaf(torch)
    y = x * 1
    out = simple(torch, forward, lambda ctx, g: g.expand(3)).apply(y)
    yield "value", y.detach(), y._version, y.grad_fn.name(), out.detach()


@case("function.mark_non_differentiable")
def _(torch):
    seen = []
    def forward(ctx, x):
        a, b = x * 2, x.sign()
        ctx.mark_non_differentiable(b)
        return a, b
    def backward(ctx, g, h):
        seen.append((g, h))
        return g * 2
    x = leaf(torch)
    a, b = simple(torch, forward, backward).apply(x)
    yield "flags", a.requires_grad, b.requires_grad, b.grad_fn
    a.sum().backward()
    yield "seen", seen, x.grad


@case("function.integer_outputs")
def _(torch):
    seen = []
    def forward(ctx, x):
        return x * 2, x.long(), x > 1
    def backward(ctx, *gs):
        seen.append(gs)
        return gs[0] * 2
    x = leaf(torch)
    a, b, c = simple(torch, forward, backward).apply(x)
    yield "flags", a.requires_grad, b.requires_grad, c.requires_grad
    a.sum().backward()
    yield "seen", seen


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
        a, b = simple(torch, forward, backward).apply(x)
        a.sum().backward()
        return x.grad
    yield "grads", run(True), run(False)
    yield "seen", seen


@case("function.once_differentiable")
def _(torch):
    once = torch.autograd.function.once_differentiable
    class Once(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x ** 2

        @staticmethod
        @once
        def backward(ctx, g):
            x, = ctx.saved_tensors
            seen.append(torch.is_grad_enabled())
            return g * 2 * x
    seen, x = [], leaf(torch)
    Once.apply(x).sum().backward()
    yield "grad", x.grad
    g, = torch.autograd.grad(Once.apply(x).sum(), x, create_graph=True)
    yield "flags", g.requires_grad, seen
    yield "constant cotangent", g.grad_fn.name() if g.grad_fn else None
    g, = torch.autograd.grad((Once.apply(x) ** 2).sum(), x, create_graph=True)
    yield "second", raises(lambda: torch.autograd.grad(g.sum(), x))


@case("function.errors.missing_parts")
def _(torch):
    F, x = torch.autograd.Function, leaf(torch)
    class NoForward(F):
        @staticmethod
        def backward(ctx, g):
            return g
    class NoBackward(F):
        @staticmethod
        def forward(ctx, x):
            return x * 1
    class BothBackwards(F):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g

        @staticmethod
        def vjp(ctx, g):
            return g
    class NotStatic(F):
        def forward(self, x):
            return x
    yield "no forward", raises(lambda: NoForward.apply(x))
    yield "no backward", raises(lambda: NoBackward.apply(x).sum().backward())
    yield "both", raises(lambda: BothBackwards.apply(x).sum().backward())
    yield "instance", raises(lambda: NotStatic()(x))


@case("function.errors.instance_warns")
def _(torch):
    yield "warning", warned(lambda: cube(torch)())


@case("function.errors.arguments")
def _(torch):
    x = leaf(torch)
    yield "too many", raises(lambda: cube(torch).apply(x, x))
    yield "too few", raises(lambda: cube(torch).apply())
    yield "keyword", raises(lambda: cube(torch).apply(x=x))


@case("function.errors.user_exception")
def _(torch):
    def forward(ctx, x):
        raise ZeroDivisionError("in forward")
    def backward(ctx, g):
        raise KeyError("in backward")
    yield "forward", raises(lambda: simple(torch, forward, backward).apply(leaf(torch)))
    y = simple(torch, lambda ctx, x: x * 1, backward).apply(leaf(torch))
    yield "backward", raises(lambda: y.sum().backward())


@case("function.vjp_name")
def _(torch):
    class V(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def vjp(ctx, g):
            return g * 20
    x = leaf(torch)
    V.apply(x).sum().backward()
    yield "grad", x.grad


@case("function.class_names")
def _(torch):
    C = cube(torch)
    y = C.apply(leaf(torch))
    yield "backward class", C._backward_cls.__name__, isinstance(y.grad_fn, C._backward_cls)
    yield "node", isinstance(y.grad_fn, torch.autograd.graph.Node), isinstance(y.grad_fn, torch.autograd.function.BackwardCFunction)
    yield "next", [n.name() for n, _ in y.grad_fn.next_functions]
    yield "name", y.grad_fn.name()


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


@case("function.straight_through")
def _(torch):
    f = simple(torch, lambda ctx, x: (x > 0).to(x.dtype), lambda ctx, g: g)
    x = leaf(torch, (-1.0, 0.5, 2.0))
    y = f.apply(x)
    yield "value", y.detach()
    (y * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    yield "grad", x.grad


@case("function.gradient_reversal")
def _(torch):
    f = simple(torch, lambda ctx, x, k: (setattr(ctx, "k", k), x.view_as(x))[1], lambda ctx, g: (g.neg() * ctx.k, None))
    x = leaf(torch)
    (f.apply(x, 0.5) * 4).sum().backward()
    yield "grad", x.grad


@case("function.numpy_inside")
def _(torch):
    import numpy
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.from_numpy(numpy.sinh(x.detach().numpy()))
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * torch.as_tensor(numpy.cosh(x.detach().numpy()))
    x = leaf(torch, dtype=torch.float64)
    y = simple(torch, forward, backward).apply(x)
    y.sum().backward()
    yield "values", y, x.grad


@case("function.nested_apply")
def _(torch):
    C = cube(torch)
    x = leaf(torch)
    C.apply(C.apply(x)).sum().backward()
    yield "grad", x.grad


@case("function.same_output_twice")
def _(torch):
    def forward(ctx, x):
        y = x * 2
        return y, y
    x = leaf(torch)
    a, b = simple(torch, forward, lambda ctx, g, h: g * 2 + h * 20).apply(x)
    yield "same", a is b, a.output_nr, b.output_nr
    (a + b).sum().backward()
    yield "grad", x.grad


@case("function.output_requires_grad_despite_constant_inside")
def _(torch):
    f = simple(torch, lambda ctx, x: torch.ones(2), lambda ctx, g: torch.zeros(3))
    y = f.apply(leaf(torch))
    yield "flags", y.requires_grad, y.grad_fn.name()


@case("function.local_inplace_in_forward")
def _(torch):
    def forward(ctx, x):
        y = x.clone()
        y.add_(1).mul_(2)
        return y
    x = leaf(torch)
    y = simple(torch, forward, lambda ctx, g: g * 2).apply(x)
    yield "node", y.grad_fn.name(), y._version
    y.add_(1)
    yield "written", y.grad_fn.name(), y._version
    y.sum().backward()
    yield "grad", x.grad


@case("function.hooks_on_output")
def _(torch):
    x, seen = leaf(torch), []
    y = cube(torch).apply(x)
    y.register_hook(lambda g: seen.append("tensor") or g * 2)
    y.grad_fn.register_hook(lambda gi, go: seen.append(("post", gi, go)))
    y.sum().backward()
    yield "seen", seen, x.grad


@case("function.lists_are_not_searched")
def _(torch):
    f = simple(torch, lambda ctx, xs: xs[0] * 2, lambda ctx, g: None)
    y = f.apply([leaf(torch)])
    yield "flags", y.requires_grad


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


@case("function.jvp_missing")
def _(torch):
    F = torch.autograd.forward_ad
    with F.dual_level():
        dual = F.make_dual(torch.ones(3), torch.ones(3))
        yield "error", raises(lambda: cube(torch).apply(dual))


@case("function.base_class")
def _(torch):
    F = torch.autograd.Function
    yield "members", [hasattr(F, n) for n in ("apply", "forward", "backward", "jvp", "vmap", "setup_context", "generate_vmap_rule")]
    yield "generate_vmap_rule", F.generate_vmap_rule, F.clear_saved_tensors_on_access, F.boxed_grads_call
    yield "bases", F.__name__, torch.autograd.function.InplaceFunction.__mro__[1].__name__
    yield "abstract", raises(lambda: F.forward(None)), raises(lambda: F.backward(None))
    yield "apply signature", str(inspect.signature(F.apply))


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


@case("function.inplace_function_class")
def _(torch):
    class Add(torch.autograd.function.InplaceFunction):
        @staticmethod
        def forward(ctx, x, k):
            ctx.mark_dirty(x)
            return x.add_(k)

        @staticmethod
        def backward(ctx, g):
            return g, None
    x = leaf(torch)
    y = x * 2
    Add.apply(y, 5)
    y.sum().backward()
    yield "value", y.detach(), x.grad, y.grad_fn.name()
