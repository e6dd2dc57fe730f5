"""Order of nodes, long chains, passes inside passes, engine introspection."""

from compat_matrix.case import attempt, case, raises


def leaf(torch, values=(1.0, 2.0, 3.0)):
    return torch.tensor(list(values), requires_grad=True)


def watch(seen, **tensors):
    for name, tensor in tensors.items():
        tensor.register_hook(lambda g, name=name: seen.append(name))


@case("engine.order.latest_first")
def _(torch):
    x, seen = leaf(torch), []
    a = x * 2
    b = x * 3
    c = a + 1
    d = b + 1
    e = c * d
    watch(seen, x=x, a=a, b=b, c=c, d=d, e=e)
    e.sum().backward()
    yield "order", seen


@case("engine.order.independent_roots")
def _(torch):
    x, seen = leaf(torch), []
    a = x * 2
    b = x * 3
    watch(seen, a=a, b=b, x=x)
    torch.autograd.backward([a.sum(), b.sum()])
    yield "order", seen


@case("engine.order.roots_reversed")
def _(torch):
    x, seen = leaf(torch), []
    a = x * 2
    b = x * 3
    watch(seen, a=a, b=b, x=x)
    torch.autograd.backward([b.sum(), a.sum()])
    yield "order", seen


@case("engine.order.leaves")
def _(torch):
    seen = []
    x, y, z = leaf(torch), leaf(torch), leaf(torch)
    watch(seen, x=x, y=y, z=z)
    ((x + y) * z).sum().backward()
    yield "order", seen


@case("engine.order.node_hooks")
def _(torch):
    x, seen = leaf(torch), []
    a = x.sin()
    b = x.cos()
    c = a * b
    for t in (a, b, c):
        t.grad_fn.register_hook(lambda gi, go, name=t.grad_fn.name(): seen.append(name))
    c.sum().backward()
    yield "order", seen


@case("engine.order.sequence_numbers")
def _(torch):
    x = leaf(torch)
    a = x * 2
    b = a + 1
    c = x.sin()
    yield "increasing", a.grad_fn._sequence_nr() < b.grad_fn._sequence_nr() < c.grad_fn._sequence_nr()


@case("engine.long_chain.add")
def _(torch):
    x = torch.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(2000):
        y = y + 1
    y.backward()
    yield "value", y.detach(), x.grad


@case("engine.long_chain.mul")
def _(torch):
    x = torch.tensor(1.5, dtype=torch.float64, requires_grad=True)
    y = x
    for _ in range(500):
        y = y * 1.001
    y.backward()
    yield "value", y.detach(), x.grad


@case("engine.long_chain.freed")
def _(torch):
    x = torch.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(2000):
        y = y * 1
    del y
    (x * 2).backward()
    yield "grad", x.grad


@case("engine.long_chain.sum_of_many")
def _(torch):
    x = leaf(torch)
    total = sum(x[i % 3] * i for i in range(300))
    total.backward()
    yield "grad", x.grad


@case("engine.reentrant.backward_in_hook")
def _(torch):
    x = leaf(torch)
    seen = []

    def hook(g):
        y = torch.ones(2, requires_grad=True)
        with torch.enable_grad():
            (y * y).sum().backward()
        seen.append(y.grad)
    z = x * 2
    z.register_hook(hook)
    z.sum().backward()
    yield "inner", seen
    yield "outer", x.grad


@case("engine.reentrant.grad_in_hook_changes_gradient")
def _(torch):
    x = leaf(torch)

    def hook(g):
        with torch.enable_grad():
            t = g.detach().requires_grad_()
            return torch.autograd.grad((t ** 3).sum(), t)[0]
    y = x * 2
    y.register_hook(hook)
    (y * 2).sum().backward()
    yield "grad", x.grad


@case("engine.reentrant.same_leaf")
def _(torch):
    x = leaf(torch)

    def hook(g):
        with torch.enable_grad():
            (x * 10).sum().backward()
    y = x * 2
    y.register_hook(hook)
    y.sum().backward()
    yield "grad", x.grad


@case("engine.reentrant.deep")
def _(torch):
    depth = []

    def once(level):
        with torch.enable_grad():
            x = torch.ones(1, requires_grad=True)
            y = x * 2
            if level:
                y.register_hook(lambda g: once(level - 1))
            (y * 3).sum().backward()
        depth.append((level, x.grad.item()))
    once(20)
    yield "levels", depth


@case("engine.reentrant.error_inside")
def _(torch):
    x = leaf(torch)

    def hook(g):
        torch.ones(2).sum().backward()
    y = x * 2
    y.register_hook(hook)
    yield "error", raises(lambda: y.sum().backward())
    yield "mode", torch.is_grad_enabled()
    yield "grad", x.grad


@case("engine.reentrant.custom_function")
def _(torch):
    class Inner(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            x, = ctx.saved_tensors
            with torch.enable_grad():
                y = x.detach().requires_grad_()
                out = (y * y * g).sum()
            out.backward()
            return y.grad
    x = leaf(torch)
    Inner.apply(x).sum().backward()
    yield "grad", x.grad


@case("engine.error_in_hook_propagates")
def _(torch):
    x = leaf(torch)

    def hook(g):
        raise KeyError("from the hook")
    y = x * 2
    y.register_hook(hook)
    yield "error", raises(lambda: y.sum().backward())
    yield "grad", x.grad
    yield "mode", torch.is_grad_enabled()


@case("engine.queue_callback")
def _(torch):
    x = leaf(torch)
    seen = []
    engine = torch.autograd.Variable._execution_engine

    def hook(g):
        engine.queue_callback(lambda: seen.append(("after", x.grad is not None)))
        seen.append("hook")
    x.register_hook(hook)
    (x * 2).sum().backward()
    yield "seen", seen


@case("engine.graph_task_id")
def _(torch):
    x = leaf(torch)
    seen = []
    y = x * 2
    y.register_hook(lambda g: seen.append(torch._C._current_graph_task_id()))
    yield "outside", torch._C._current_graph_task_id()
    y.sum().backward()
    (x * 3 + y.detach()).sum().backward()
    yield "inside", seen[0] >= 0


@case("engine.fibonacci")
def _(torch):
    x = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
    a, b = x, x * 1.5
    for _ in range(20):
        a, b = b, a + b * 0.5
    b.backward()
    yield "grad", b.detach(), x.grad


@case("engine.shared_subgraph_doubling")
def _(torch):
    x = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
    y = x
    for _ in range(40):
        y = y + y
    y.backward()
    yield "grad", x.grad


@case("engine.will_execute")
def _(torch):
    x, y = leaf(torch), leaf(torch)
    a, b = x * 2, y * 3
    c = a * b
    seen = []
    c.register_hook(lambda g: seen.append((torch._C._will_engine_execute_node(a.grad_fn),
        torch._C._will_engine_execute_node(b.grad_fn))))
    torch.autograd.grad(c.sum(), x)
    yield "seen", seen
    yield "outside", raises(lambda: torch._C._will_engine_execute_node(a.grad_fn))


@case("engine.is_leaf_rules")
def _(torch):
    x = leaf(torch)
    c = torch.ones(3)
    yield "leaf", x.is_leaf, (x * 2).is_leaf, c.is_leaf, (c * 2).is_leaf
    yield "requires_grad", (x * c).requires_grad, (c * c).requires_grad
    yield "detached", (x * 2).detach().is_leaf
    yield "to same", x.to(torch.float32) is x, x.float() is x
    yield "clone", x.clone().is_leaf, c.clone().is_leaf


@case("engine.requires_grad_errors")
def _(torch):
    x = leaf(torch)
    y = x * 2
    def switch(t, value):
        t.requires_grad = value
    yield "int", raises(lambda: torch.tensor([1, 2], requires_grad=True))
    yield "int method", raises(lambda: torch.tensor([1, 2]).requires_grad_())
    yield "bool attribute", raises(lambda: switch(torch.tensor([True]), True))
    yield "non-leaf off", raises(lambda: y.requires_grad_(False))
    yield "non-leaf attribute", raises(lambda: switch(y, False))
    yield "non-leaf on", attempt(lambda: y.requires_grad_(True).requires_grad)
    yield "returns self", x.requires_grad_() is x
    yield "zeros", raises(lambda: torch.zeros(2, dtype=torch.int32, requires_grad=True))
    yield "arange", raises(lambda: torch.arange(3, requires_grad=True))
    yield "wrong type", raises(lambda: switch(x, "yes"))
