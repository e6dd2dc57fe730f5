"""Function: both styles, nesting, second order, refusals."""

import inspect

from compat_matrix.case import attempt, case, raises, warned
from compat_matrix.cases.function import cube, leaf, simple


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
            _x, k = inputs
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


@case("function.no_inputs_need_grad")
def _(torch):
    y = cube(torch).apply(torch.ones(2))
    yield "flags", y.requires_grad, y.grad_fn
    with torch.no_grad():
        z = cube(torch).apply(leaf(torch))
    yield "no_grad", z.requires_grad, z.grad_fn


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
    yield ("node", isinstance(y.grad_fn, torch.autograd.graph.Node),
        isinstance(y.grad_fn, torch.autograd.function.BackwardCFunction))
    yield "next", [n.name() for n, _ in y.grad_fn.next_functions]
    yield "name", y.grad_fn.name()


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
    f = simple(torch, lambda ctx, x, k: (setattr(ctx, "k", k), x.view_as(x))[1], lambda ctx,
        g: (g.neg() * ctx.k, None))
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


@case("function.jvp_missing")
def _(torch):
    F = torch.autograd.forward_ad
    with F.dual_level():
        dual = F.make_dual(torch.ones(3), torch.ones(3))
        yield "error", raises(lambda: cube(torch).apply(dual))


@case("function.base_class")
def _(torch):
    F = torch.autograd.Function
    yield ("members",
        [hasattr(F, n) for n in ("apply", "forward", "backward", "jvp", "vmap", "setup_context",
            "generate_vmap_rule")])
    yield "generate_vmap_rule", F.generate_vmap_rule, F.clear_saved_tensors_on_access, F.boxed_grads_call
    yield "bases", F.__name__, torch.autograd.function.InplaceFunction.__mro__[1].__name__
    yield "abstract", raises(lambda: F.forward(None)), raises(lambda: F.backward(None))
    yield "apply signature", str(inspect.signature(F.apply))
