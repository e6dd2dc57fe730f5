"""Tensors made in inference mode, used inside and outside of it; those that require grad too."""

from compat_matrix.case import attempt, case, raises


def state(torch, t):
    return torch.is_inference(t), t.requires_grad, t._is_view(), t.is_leaf


@case("inference_outside.alone")
def _(torch):
    for needs in (True, False):
        with torch.inference_mode():
            c = torch.ones(2, 3, requires_grad=needs)
            yield f"inside {needs}", state(torch, c * c), state(torch, c.view(-1)), state(torch, c.t().view(-1) if False else c.t())
        yield f"function {needs}", raises(lambda c=c: state(torch, c * c)), raises(lambda c=c: state(torch, c.sum()))
        yield f"view {needs}", state(torch, c.view(-1)), state(torch, c.t()), state(torch, c[0])
        yield f"write {needs}", raises(lambda c=c: c.add_(2)), raises(lambda c=c: c.t_()), raises(lambda c=c: c.mul_(c))


@case("inference_outside.mixed")
def _(torch):
    with torch.inference_mode():
        c, d = torch.ones(3, requires_grad=True), torch.ones(3)
    x = torch.ones(3, requires_grad=True)
    y = torch.ones(3)
    out = c + x
    out.sum().backward()
    yield "added", state(torch, out), c.grad, x.grad
    yield "with a plain one", raises(lambda: state(torch, c + y)), raises(lambda: state(torch, c * y)), raises(lambda: state(torch, d * y))
    yield "saved", raises(lambda: c * x), raises(lambda: (x * 1).mul_(d))
    yield "written", raises(lambda: c.add_(x)), raises(lambda: d.add_(y))


@case("inference_outside.resized")
def _(torch):
    with torch.inference_mode():
        for needs in (True, False):
            c = torch.ones(1, 2, 3, requires_grad=needs)
            yield f"{needs}", raises(lambda c=c: state(torch, c.resize_(1, 2))), raises(lambda c=c: state(torch, c.resize_as_(torch.ones(2))))
    yield "no inference", raises(lambda: torch.ones(2, requires_grad=True).resize_(1))


@case("inference_outside.passes")
def _(torch):
    """Gradients of a pass in inference mode are inference tensors: nothing outside of it adds to them, or saves them."""
    x = torch.ones(3, requires_grad=True)
    y, seen = x * 3, []
    y.register_hook(lambda g: seen.append((g.is_inference(), torch.is_inference_mode_enabled())))
    y.grad_fn.register_prehook(lambda gs: seen.append([g.is_inference() for g in gs]))
    y.retain_grad()
    x.register_post_accumulate_grad_hook(lambda t: seen.append((t.is_inference(), t.grad.is_inference())))
    loss = (y * y).sum() + (x * 2).sum()
    for graph in (False, True):
        with torch.inference_mode():
            (g,) = torch.autograd.grad(loss, x, retain_graph=True, create_graph=graph)
        yield f"grad {graph}", g, g.is_inference(), g.requires_grad, raises(lambda g=g: x * g)
    with torch.inference_mode():
        loss.backward(retain_graph=True)
        loss.backward(retain_graph=True)
        torch.optim.SGD([x], 0.5).step()
    yield "backward", x.grad, x.grad.is_inference(), y.grad, y.grad.is_inference(), x, x._version, seen
    yield "again", raises((x * 2).sum().backward), raises(lambda: x.grad.zero_()), raises(loss.backward), x.grad
    x.grad = None
    (x * 2).sum().backward()
    with torch.inference_mode():
        (x * 1 * 2).sum()
    yield "outside", x.grad, x.grad.is_inference()


@case("inference_outside.passes_given")
def _(torch):
    x, given = torch.ones(3, requires_grad=True), torch.ones(3)
    y = x * 2
    with torch.inference_mode():
        x.backward(given)
        yield "leaf", given.is_inference(), x.grad.is_inference()
        y.backward(given)
        yield "result", given.is_inference(), x.grad, x.grad.is_inference()
    w = torch.nn.Embedding.from_pretrained(torch.ones(4, 2), freeze=False, sparse=True)
    outs = [w(torch.tensor([1, 3])).sum() for _ in range(2)]
    with torch.inference_mode():
        outs[0].backward()
    yield "sparse", w.weight.grad.is_inference(), raises(outs[1].backward)


@case("inference_outside.passes_of_functions")
def _(torch):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            seen.append((g.is_inference(), ctx.saved_tensors[0].is_inference(), torch.is_grad_enabled()))
            return g * 2

    seen, x = [], torch.ones(2, requires_grad=True)
    loss = (Double.apply(x) * 3).sum()
    with torch.inference_mode():
        loss.backward()
    yield "seen", seen, x.grad, x.grad.is_inference()


@case("inference_outside.detached")
def _(torch):
    """What an inference tensor is detached to counts versions of its own, outside of the mode, and may be written."""
    for needs in (False, True):
        with torch.inference_mode():
            c = torch.ones(3, requires_grad=needs)
            inside = c.detach()
        d = c.detach()
        yield f"version {needs}", d._version, raises(lambda d=inside: d._version), raises(lambda d=inside: d.add_(1))
        d.add_(1)
        yield f"written {needs}", d._version, state(torch, d), c, raises(lambda c=c: c.add_(1)), raises(lambda c=c: c._version)
        d.mul_(torch.full((3,), 2.0, requires_grad=True))
        yield f"with a history {needs}", state(torch, d), c, c.view(3, 1).detach().zero_(), c


@case("inference_outside.views_of_views")
def _(torch):
    """A view made in inference mode stays one, however it is viewed again."""
    again = {"no_grad": lambda v: v[:2], "unbind": lambda v: v.unbind(0)[0], "grad": lambda v: v[:2]}
    for name, f in again.items():
        y = torch.ones(4, requires_grad=True).clone()
        with torch.inference_mode():
            v = y[:3]
        with torch.set_grad_enabled(name != "no_grad"):
            v = f(v)
        yield name, raises(lambda: v.mul_(2))


@case("inference_outside.captured_by_transformations")
def _(torch):
    """Inside a transformation an inference tensor from outside is one of its own: it can be kept for the derivative, where nothing outside keeps it too."""
    func, y = torch.func, torch.tensor([3.0, 4.0])
    with torch.inference_mode():
        x, net = torch.tensor([1.0, 2.0]), torch.nn.Linear(2, 2)
        state = {k: torch.full_like(v, 0.5) for k, v in net.state_dict().items()}
    needing = y.clone().requires_grad_()

    class Product(torch.autograd.Function):
        @staticmethod
        def forward(a, b):
            return a * b

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            return g * b, g * a

    calls = {
        "captured": lambda: func.grad(lambda a: (a * x).sum())(y), "argument": lambda: func.grad(lambda a, b: (a * b).sum())(y, x),
        "rows": lambda: func.jacrev(lambda a: a * x)(y), "second": lambda: func.hessian(lambda a: (a * a * x).sum())(y),
        "mapped": lambda: func.vmap(func.grad(lambda a: (a * x).sum()))(y), "of a map": lambda: func.grad(lambda a: func.vmap(lambda b: (b * x).sum())(a).sum())(y),
        "twice": lambda: func.grad(lambda a: (func.grad(lambda b: (b * b * x).sum())(a) * x).sum())(y), "pulled": lambda: func.vjp(lambda a: a * x, y)[1](x),
        "a module": lambda: func.grad(lambda a: func.functional_call(net, state, (a,)).pow(2).sum())(y), "written": lambda: func.grad(lambda a: a.clone().mul_(x).sum())(y),
        "a Function": lambda: func.grad(lambda a: Product.apply(a, x).sum())(y), "outside too": lambda: func.grad(lambda a: (a * x).sum())(needing),
        "outside alone": lambda: func.grad(lambda a: (a * a).sum() + (needing * x).sum())(y)}
    for name, f in calls.items():
        yield name, attempt(f)
        yield f"{name}, without", attempt(lambda: needing * x)
    with torch.inference_mode():
        yield "inside", attempt(lambda: func.grad(lambda a: (a * x * y).sum())(y)), attempt(lambda: func.grad(lambda a: (a * x).sum())(needing))
