"""Function: what forward and backward may return; marks."""

from compat_matrix.case import attempt, case, raises, warned
from compat_matrix.cases.function import leaf, simple


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
    a, _b = two.apply(x * 1)
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


@case("function.written without a node")
def _(torch):
    class Tripled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(3)

        @staticmethod
        def backward(ctx, grad):
            return grad * 3

    leaf = torch.ones(2, 3, requires_grad=True)
    makers = {"computed": lambda: leaf * 2, "leaf": lambda: torch.ones(3, requires_grad=True), "plain": lambda: torch.ones(3), "view": lambda: torch.ones(2, 3)[0],
              "row of a computed one": lambda: (leaf * 2)[0]}
    for what, make in makers.items():
        for grad in (True, False):
            x = make()
            if what == "leaf" and grad:
                yield "leaf", raises(lambda x=x: Tripled.apply(x)), x
                continue
            with torch.set_grad_enabled(grad):
                y = Tripled.apply(x)
            yield f"{what} {grad}", y, x, x._version
            yield f"result {what} {grad}", y is x, y.requires_grad, y.grad_fn is None, y._version, y.data_ptr() == x.data_ptr()


@case("function.results.written_view_without_a_node")
def _(torch):
    class Grown(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(1.5)

        @staticmethod
        def backward(ctx, g):
            return g * 1.5

    for needs in (False, True):
        weight = torch.ones(2, 3, requires_grad=True)
        base = torch.linspace(0.1, 0.4, 6)
        base = base * weight.sum() if needs else base
        view = base.view(2, 3)
        out = Grown.apply(view)
        out.mul_(weight)
        yield str(needs), out is view, out, out.grad_fn.name(), base.grad_fn.name(), out._version
        (base * base).sum().backward()
        yield f"{needs} grad", weight.grad


@case("function.results.gradients_that_only_hooks_see")
def _(torch):
    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, n, b):
            ctx.save_for_backward(a, b)
            return n * a * b

        @staticmethod
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            return 2 * g * b, None, 3 * g * a

    constant, weight = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0], requires_grad=True)
    for name, a, b in (("first", constant, weight), ("last", weight, constant), ("both", weight, weight)):
        seen = []
        out = Product.apply(a, 5, b)
        out.grad_fn.register_hook(lambda gi, go, seen=seen: seen.append((gi, go)))
        g, = torch.autograd.grad(out.sum(), weight)
        yield name, g, seen, [None if n is None else n.name() for n, _ in out.grad_fn.next_functions]
        out = Product.apply(a, 5, b)
        out.grad_fn.register_hook(lambda gi, go: tuple(None if t is None else t * 2 for t in gi))
        out.sum().backward()
        yield f"{name} replaced", weight.grad
        weight.grad = None
