"""The engine: order, long chains, passes within passes, callbacks, what it tells while it runs."""

from compat_matrix.case import case, raises


def leaf(torch, *values):
    return torch.tensor(list(values) or [1.0, 2.0, 3.0], requires_grad=True)


@case("relied_on.engine.order")
def _(torch):
    def run(change):
        log, x = [], leaf(torch)
        a, b, c = x * 2, x.exp(), x.sin()
        for name, t in (("a", a), ("b", b), ("c", c)):
            t.grad_fn.register_hook(lambda *_, name=name: log.append(name))
        out = (a + b + c).sum()
        change(a, b, c)
        out.backward()
        return log
    yield "latest first", run(lambda a, b, c: None)
    yield "changed", run(lambda a, b, c: a.grad_fn._set_sequence_nr(2 ** 50))
    yield "all changed", run(lambda a, b, c: (b.grad_fn._set_sequence_nr(2 ** 50), a.grad_fn._set_sequence_nr(2 ** 50 - 1)))
    x = leaf(torch)
    first, second = x * 2, x * 3
    yield "numbers", second.grad_fn._sequence_nr() - first.grad_fn._sequence_nr()
    first.grad_fn._set_sequence_nr(77)
    yield "a number set", first.grad_fn._sequence_nr()
    yield "a leaf's", x.view_as(x).grad_fn.next_functions[0][0]._sequence_nr() == 2 ** 64 - 1

    log = []
    p, q = leaf(torch), leaf(torch)
    inner = (q * 2).exp()
    inner.grad_fn.register_hook(lambda *_: log.append("inner"))
    left, right = p * 2, p.exp()
    left.grad_fn.register_hook(lambda *_: log.append("left"))

    def nested(*_):
        log.append("right")
        with torch.enable_grad():
            inner.sum().backward()
    right.grad_fn.register_hook(nested)
    (left + right).sum().backward()
    yield "nested first", log, q.grad


@case("relied_on.engine.long chains")
def _(torch):
    x = torch.ones(1, requires_grad=True)
    y = x
    for _ in range(20000):
        y = y + 1
    y.backward()
    yield "built in", x.grad
    del y

    class Plus(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return g
    x.grad, y = None, x
    for _ in range(3000):
        y = Plus.apply(y)
    y.backward()
    yield "functions", x.grad
    z = x
    for _ in range(20000):
        z = z * 1
    del z


@case("relied_on.engine.passes within passes")
def _(torch):
    def deep(levels):
        class Again(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, n):
                ctx.n, ctx.x = n, x.detach().requires_grad_(True)
                return x * 2

            @staticmethod
            def backward(ctx, g):
                if ctx.n == 0:
                    return g * 2, None
                with torch.enable_grad():
                    Again.apply(ctx.x, ctx.n - 1).sum().backward()
                return ctx.x.grad * g, None
        x = leaf(torch)
        Again.apply(x, levels).sum().backward()
        return x.grad
    yield "deep", deep(30)

    def failing(g):
        with torch.enable_grad():
            y = leaf(torch)
            z = y * 2
            z.register_hook(lambda g: 1 / 0)
            z.sum().backward()
    x = leaf(torch)
    y = x * 2
    y.register_hook(failing)
    yield "fails inside", raises(lambda: y.sum().backward()), torch.is_grad_enabled()
    (x * 3).sum().backward()
    yield "after it", x.grad

    def switched(g):
        torch._C._set_grad_enabled(True)
    x = leaf(torch)
    y = x * 2
    y.register_hook(switched)
    with torch.no_grad():
        y.backward(torch.ones(3))
        yield "grad mode after", torch.is_grad_enabled()

    x = leaf(torch)
    y = x * 2

    def fresh(g):
        x.grad = None
        with torch.enable_grad():
            (x * 10).sum().backward()
    y.register_hook(fresh)
    y.sum().backward()
    yield "a hook resets", x.grad


@case("relied_on.engine.callbacks")
def _(torch):
    queue = torch.autograd.Variable._execution_engine.queue_callback
    log, x = [], leaf(torch)

    def twice():
        log.append("first")
        queue(lambda: log.append("second"))

    def inner(g):
        with torch.enable_grad():
            t = leaf(torch)
            u = t * 2
            u.register_hook(lambda g: queue(lambda: log.append("of the inner")))
            u.sum().backward()
        log.append("inner is over")
        queue(twice)
    y = x * 2
    y.register_hook(inner)
    x.register_hook(lambda g: log.append("leaf"))
    y.sum().backward()
    yield "order", log
    y = x * 2
    y.register_hook(lambda g: queue(lambda: 1 / 0))
    yield "fails", raises(lambda: y.sum().backward()), x.grad
    yield "outside", raises(lambda: queue(lambda: None))


@case("relied_on.engine.looked at while it runs")
def _(torch):
    C = torch._C
    x, w, seen = leaf(torch), leaf(torch), []
    yield "outside", C._current_graph_task_id(), raises(C._current_graph_task_execution_order)
    yield "outside, other", raises(lambda: C._will_engine_execute_node((x * 2).grad_fn))

    def hook(g):
        seen.append(C._current_graph_task_id() >= 0)
        with torch.autograd.set_multithreading_enabled(False):
            pass
        seen.append(raises(C._current_graph_task_execution_order))
    y = x * 2
    y.register_hook(hook)
    y.sum().backward()
    yield "with threads", seen
    names = []

    def order(g):
        names.append([n.name() for n in C._current_graph_task_execution_order()])
    y = (x.sin() * w).exp()
    root = y.sum()
    root.register_hook(order)
    with torch.autograd.set_multithreading_enabled(False):
        root.backward(retain_graph=True)
        root.backward(inputs=[w], retain_graph=True)
        root.backward(inputs=[y], retain_graph=True)
    yield "order", names
    ids = []
    y.register_hook(lambda g: ids.append(C._current_graph_task_id()))
    with torch.autograd.set_multithreading_enabled(False):
        y.sum().backward(retain_graph=True)
        y.sum().backward(retain_graph=True)
    yield "counted", ids[1] - ids[0]

    told, a = [], leaf(torch)
    b = a.sin()
    c = b * w
    d = c.exp()
    nodes = (a.view_as(a).grad_fn.next_functions[0][0], b.grad_fn, w.view_as(w).grad_fn.next_functions[0][0])
    d.register_hook(lambda g: told.append([C._will_engine_execute_node(n) for n in nodes]))
    d.sum().backward(retain_graph=True)
    d.sum().backward(inputs=[w], retain_graph=True)
    d.sum().backward(inputs=[b], retain_graph=True)
    yield "will run", told
    words = []
    d2 = (a.sin() * w).exp()
    d2.register_hook(lambda g: words.append(raises(lambda: C._will_engine_execute_node(nodes[0]))))
    torch.autograd.grad(d2.sum(), [a], retain_graph=True)
    d2.register_hook(lambda g: words.append(raises(lambda: C._will_engine_execute_node(a))))
    d2.sum().backward(retain_graph=True)
    yield "asked wrongly", words
    keep = []
    e = a.sin()
    e.register_hook(lambda g: keep.append(C._autograd._get_current_graph_task_keep_graph()))
    e.sum().backward(retain_graph=True)
    e.sum().backward()
    yield "keeps", keep, C._autograd._get_current_graph_task_keep_graph()
    C._stash_obj_in_tls("mine", [1, 2])
    found = []
    f = a.sin()
    f.register_hook(lambda g: found.append((C._is_key_in_tls("mine"), C._is_key_in_tls("other"), C._get_obj_in_tls("mine"))))
    f.sum().backward()
    yield "stashed", found, C._is_key_in_tls("mine"), C._get_obj_in_tls("mine")


@case("relied_on.engine.made nodes")
def _(torch):
    F = torch._C._functions
    x = leaf(torch)
    y, z = F.DelayedError("told later", 2)(x, x * 2)
    yield "unused", (x * 3).sum().backward(), x.grad
    yield "fails", raises(lambda: y.sum().backward()), y.grad_fn.name(), y.requires_grad, z
    yield "other branch", raises(lambda: torch.autograd.grad((y + x).sum(), x))
    one = F.DelayedError("alone", 1)(x)
    yield "one", type(one).__name__, raises(lambda: one.sum().backward())
    u = F.UndefinedGrad()(x * 2)
    seen = []
    v = x * 4
    v.register_hook(lambda g: seen.append(g))
    w = F.UndefinedGrad()(v)
    (w + x).sum().backward()
    yield "undefined", seen, x.grad, u.grad_fn.name()
    base = leaf(torch)
    b = base * 1
    log, part = [], b[0:2]
    other = leaf(torch, 1.0, 1.0)
    k = other * 3
    k.grad_fn.register_hook(lambda *_: log.append("k"))
    part.mul_(k)
    b.grad_fn.register_hook(lambda *_: log.append("written"))
    torch.autograd.grad(b.sum(), base, retain_graph=True)
    yield "not asked", log
    torch.autograd.grad(b.sum(), other)
    yield "asked", log
