"""Hooks on saved tensors: order, values, places in the graph, slots of nodes and of Functions."""

import importlib

from compat_matrix.case import attempt, case, raises
from compat_matrix.cases.saved.basics import leaf


class Log:
    """Hooks that write down what they are called with."""

    def __init__(self, torch, change=lambda t: t):
        self.lines, self.change = [], change
        self.pair = torch.autograd.graph.saved_tensors_hooks(self.pack, self.unpack)

    def pack(self, t):
        self.lines.append(("pack", t.requires_grad, t.is_leaf, None if t.grad_fn is None else t.grad_fn.name()))
        return (t.detach().clone(),)

    def unpack(self, kept):
        self.lines.append("unpack")
        return self.change(kept[0])


@case("saved.order.calls")
def _(torch):
    x, w = leaf(torch), leaf(torch, (4.0, 5.0, 6.0))
    log = Log(torch)
    with log.pair:
        y = (x * w).exp() / w
        v, i = (y + x).max(0)
        z = torch.addcmul(x, w, y, value=2).tanh()
    yield "packed", list(log.lines)
    (z.sum() + v).backward()
    yield "all", log.lines
    yield "grads", x.grad, w.grad


@case("saved.order.modes_in_hooks")
def _(torch):
    seen = []
    def pack(t):
        seen.append(("pack", torch.is_grad_enabled()))
        return t
    def unpack(t):
        seen.append(("unpack", torch.is_grad_enabled()))
        return t
    x = leaf(torch)
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = x.sin()
    y.sum().backward(retain_graph=True)
    y.grad_fn._saved_self
    torch.autograd.grad(y.sum(), x, create_graph=True)
    yield "seen", seen


@case("saved.order.inplace")
def _(torch):
    x = leaf(torch)
    log = Log(torch)
    with log.pair:
        y = x.clone()
        y.mul_(y)
        y.exp_()
        y[0] = 2.0
        y.add_(x)
    y.sum().backward()
    yield "log", log.lines, x.grad


@case("saved.order.no_grad_inside")
def _(torch):
    x = leaf(torch)
    log = Log(torch)
    with log.pair:
        with torch.no_grad():
            x.sin()
        torch.ones(3).sin()
        with torch.enable_grad():
            y = x.cos()
    y.sum().backward()
    yield "log", log.lines, x.grad


@case("saved.values.changed")
def _(torch):
    for name, f in {"pow": lambda x: x ** 3, "exp": torch.exp, "sigmoid": torch.sigmoid, "mul": lambda x: x * x, "div": lambda x: 1 / x,
                    "matmul": lambda x: x @ x, "softmax": lambda x: x.softmax(0), "relu": torch.relu, "sqrt": torch.sqrt}.items():
        x = leaf(torch)
        with Log(torch, lambda t: t * 3 + 1).pair:
            y = f(x)
        weights = torch.arange(1.0, 1 + y.numel()).reshape(y.shape)
        y.backward(weights)
        yield name, x.grad


@case("saved.values.dtype_and_shape")
def _(torch):
    x = leaf(torch)
    hooks = torch.autograd.graph.saved_tensors_hooks
    with hooks(lambda t: t.to(torch.float64), lambda t: t.to(torch.float32)):
        y = x ** 3
    yield "half way", torch.autograd.grad(y.sum(), x)
    with hooks(lambda t: None, lambda t: torch.ones(3, dtype=torch.float64)):
        y = x ** 3
    yield "another dtype", torch.autograd.grad(y.sum(), x)


@case("saved.values.version_is_not_checked")
def _(torch):
    x = leaf(torch)
    y = x * 1
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        z, w = y.sin(), y.exp()
    y.add_(1)
    w.add_(1)
    (z.sum() + w.sum()).backward()
    yield "grad", x.grad


@case("saved.values.second_order")
def _(torch):
    x = leaf(torch)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
        y = (x.sin() * x).exp()
    g, = torch.autograd.grad(y.sum(), x, create_graph=True)
    h, = torch.autograd.grad(g.sum(), x, create_graph=True)
    k, = torch.autograd.grad(h.sum(), x)
    yield "grads", g.detach(), h.detach(), k


@case("saved.values.place_in_the_graph")
def _(torch):
    x = leaf(torch)
    y = x * 1
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach() * 2, lambda t: t):
        a, b, c = x.sin(), y.sin(), y.exp()
    for name, t in (("leaf", a.grad_fn._saved_self), ("inner", b.grad_fn._saved_self), ("result", c.grad_fn._saved_result)):
        yield name, t.detach(), t.requires_grad, t.is_leaf, None if t.grad_fn is None else t.grad_fn.name(), t is x or t is y or t is c
    yield "same node", c.grad_fn._saved_result.grad_fn is c.grad_fn


@case("saved.values.released")
def _(torch):
    x = leaf(torch)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = x.sin()
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    yield "grad", x.grad
    yield "again", raises(lambda: y.sum().backward())
    yield "attribute", raises(lambda: y.grad_fn._saved_self)


@case("saved.values.unpack_fails_then_works")
def _(torch):
    x, broken = leaf(torch), [True]
    def unpack(t):
        if broken[0]:
            raise KeyError("not yet")
        return t
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, unpack):
        y = x.sin()
    yield "fails", raises(lambda: y.sum().backward())
    broken[0] = False
    y.sum().backward()
    yield "works", x.grad


@case("saved.values.some_inputs")
def _(torch):
    x, w = leaf(torch), leaf(torch, (4.0, 5.0, 6.0))
    log = Log(torch, lambda t: t * 10)
    with log.pair:
        y = x * w
    yield "x", torch.autograd.grad(y.sum(), x, retain_graph=True)
    yield "w", torch.autograd.grad(y.sum(), w)
    yield "log", log.lines


@case("saved.slots.of_nodes")
def _(torch):
    x, w = leaf(torch), leaf(torch, (4.0, 5.0, 6.0))
    y = x * w
    y.grad_fn._raw_saved_other.register_hooks(lambda t: t * 2, lambda t: t)
    y.sum().backward(retain_graph=True)
    yield "one of two", x.grad, w.grad
    z = x.exp()
    z.grad_fn._raw_saved_result.register_hooks(lambda t: t * 2, lambda t: t)
    yield "result", torch.autograd.grad(z.sum(), x)
    def modify(t):
        t.add_(1)
    doubled, sines, others = (x * 2).grad_fn, x.sin().grad_fn, (x * 1).sin().grad_fn  # torch crashes where the node of a slot is gone
    yield "nothing saved", raises(lambda: doubled._raw_saved_self.register_hooks(lambda t: t, lambda t: t))
    yield "not callable", raises(lambda: sines._raw_saved_self.register_hooks(1, 2))["error"]["class"]
    yield "modifies", raises(lambda: others._raw_saved_self.register_hooks(modify, lambda t: t))
    yield "arity", raises(lambda: sines._raw_saved_self.register_hooks(lambda: 0, lambda t: t))


@case("saved.slots.of_functions")
def _(torch):
    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            out = x * w
            ctx.save_for_backward(x, w, None, out)
            return out

        @staticmethod
        def backward(ctx, g):
            x, w, none, out = ctx.saved_tensors
            return g * w, g * x + (0 if none is None else none)
    x, w, log = leaf(torch), leaf(torch, (4.0, 5.0, 6.0)), []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: log.append("pack") or t, lambda t: log.append("unpack") or t):
        y = Product.apply(x, w)
    yield "packed", list(log)
    node = y.grad_fn
    yield "raw", [type(s).__name__ for s in node._raw_saved_tensors]
    yield "set", raises(lambda: node._raw_saved_tensors[0].register_hooks(lambda t: t, lambda t: t))
    yield "none", raises(lambda: node._raw_saved_tensors[2].register_hooks(lambda t: t, lambda t: t))
    y.sum().backward()
    yield "all", log, x.grad, w.grad
    yield "released", raises(lambda: node.saved_tensors), raises(lambda: node._raw_saved_tensors)
    y = Product.apply(x, w)
    y.grad_fn._raw_saved_tensors[1].register_hooks(lambda t: t * 10, lambda t: t)
    yield "changed", torch.autograd.grad(y.sum(), (x, w))


@case("saved.slots.second_order_of_functions")
def _(torch):
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x ** 3

        @staticmethod
        def backward(ctx, g):
            return g * 3 * ctx.saved_tensors[0] ** 2
    x = leaf(torch)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
        y = Cube.apply(x * 2)
    g, = torch.autograd.grad(y.sum(), x, create_graph=True)
    yield "second", torch.autograd.grad(g.sum(), x)


@case("saved.contexts.disabled")
def _(torch):
    graph, C = torch.autograd.graph, torch._C._autograd
    pair = graph.saved_tensors_hooks(lambda t: t, lambda t: t)
    def inside():
        with pair, graph.disable_saved_tensors_hooks("no hooks now"):
            pass
    def nested():
        with graph.disable_saved_tensors_hooks("one"), graph.disable_saved_tensors_hooks("two"), pair:
            pass
    yield "active", raises(inside)
    yield "two", raises(nested)
    with graph.disable_saved_tensors_hooks("off"):
        yield "off", C._saved_tensors_hooks_is_enabled(), C._saved_tensors_hooks_get_disabled_error_message()
    yield "on", C._saved_tensors_hooks_is_enabled(), C._saved_tensors_hooks_get_disabled_error_message()
    yield "not callable", raises(lambda: graph.saved_tensors_hooks(1, 2).__enter__())
    yield "value", attempt(lambda: pair.__enter__()), attempt(lambda: pair.__exit__())


@case("saved.contexts.subclass_and_cpu")
def _(torch):
    graph = torch.autograd.graph
    class Doubled(graph.saved_tensors_hooks):
        def __init__(self):
            super().__init__(lambda t: t * 2, lambda t: t)
    x = leaf(torch)
    with Doubled():
        y = x.sin()
    yield "doubled", torch.autograd.grad(y.sum(), x)
    kept = graph.save_on_cpu().pack_hook(x)
    yield "kept", str(kept[0]), kept[1].detach()
    with graph.save_on_cpu(pin_memory=False):
        y = (x.exp() * x).sum()
    yield "grad", torch.autograd.grad(y, x)


@case("saved.contexts.backward_inside")
def _(torch):
    x, log = leaf(torch), []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: log.append("pack") or t, lambda t: log.append("unpack") or t):
        y = (x * x).sum()
        y.backward()
        yield "grad", x.grad
        (x.detach() * 2).sin()
    yield "log", log


@case("saved.contexts.training")
def _(torch):
    w = leaf(torch)
    b = torch.zeros(3, requires_grad=True)
    for step in range(4):
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
            loss = ((w * step + b).tanh() ** 2).sum()
        loss.backward()
        with torch.no_grad():
            for p in (w, b):
                p -= 0.1 * p.grad
                p.grad = None
    yield "after", w.detach(), b.detach()
    z = leaf(torch)
    buffer = torch.zeros(3)
    with torch.no_grad():
        buffer.mul_(w)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        buffer = torch.ones(3)
        buffer.mul_(z)
        yield "requires grad", buffer.requires_grad, raises(lambda: z.mul_(2))
    buffer.sum().backward()
    yield "grad", z.grad


@case("saved.hooks.intermediate_targets")
def _(torch):
    """The gradient of an intermediate result that asks for a graph has all its parts, whoever packs what nodes keep."""
    graph, functional = torch.autograd.graph, torch.autograd.functional
    checkpoint = importlib.import_module(f"{torch.__name__}.utils.checkpoint").checkpoint
    functions = {"mul": lambda z: (z * 1) * z, "sum": lambda z: z.sum() * z, "view": lambda z: z.view(2) * z, "neg": lambda z: (-z).exp() * z,
                 "three": lambda z: (z * 2 + 1) * z * (z * 3)}
    for name, f in functions.items():
        x = torch.tensor([2.0, 3.0], dtype=torch.float64, requires_grad=True)
        with graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
            z = x * 1
            out, seen = f(z).sum(), []
            (g,) = torch.autograd.grad(out, z, create_graph=True)
            yield f"{name}, one", g.detach(), torch.autograd.grad(g.sum(), (x, z), retain_graph=True)
            z.register_hook(lambda g, seen=seen: seen.append(g.detach()))
            yield f"{name}, both", torch.autograd.grad(out, (z, x), create_graph=True), seen
            out.backward(inputs=[z], create_graph=True)
            yield f"{name}, accumulated", z.grad
            hessian = functional.hessian(lambda t, f=f: f(t).sum(), x.detach())
        yield f"{name}, hessian", hessian, checkpoint(lambda t, f=f: functional.hessian(lambda s: f(s).sum(), t), x.detach(), use_reentrant=False)
