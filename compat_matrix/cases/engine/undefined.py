"""Gradients that are undefined (None) on their way: who is called with them, and who is not."""

from ...case import attempt, case


def leaf(torch):
    return torch.tensor([1.0, 2.0, 3.0], requires_grad=True)


def plain(g):
    return [None if x is None else x.tolist() for x in g] if isinstance(g, tuple) else None if g is None else g.tolist()


def functions(torch, log):
    class Gives(torch.autograd.Function):
        """Passes on what it is given, zeros for what is undefined."""

        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            log.append(plain(g))
            return g

    class Undefined(Gives):
        @staticmethod
        def backward(ctx, g):
            return None

    class Raw(Gives):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 1

    class Answers(Raw):
        @staticmethod
        def backward(ctx, g):
            return torch.ones(3)

    class First(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * 1, y * 2

        @staticmethod
        def backward(ctx, a, b):
            return a, None

    return Gives.apply, Undefined.apply, Raw.apply, Answers.apply, First.apply


@case("engine.undefined.hooks")
def _(torch):
    log = []
    _, undefined, _, _, first = functions(torch, log)
    x, w = leaf(torch), leaf(torch)
    x.register_hook(lambda g: log.append(("x", plain(g))))
    y = x * 2
    y.register_hook(lambda g: log.append(("y", plain(g))))
    y.grad_fn.register_prehook(lambda g: log.append(("before", plain(g))))
    y.grad_fn.register_hook(lambda i, g: log.append(("after", plain(i), plain(g))))
    undefined(y).sum().backward()
    yield "order", log, x.grad
    log.clear()
    a, b = first(x, w * 3)
    w.register_hook(lambda g: log.append(("w", plain(g))))
    (a.sum() + b.sum()).backward()
    yield "one of two", log, x.grad, w.grad
    log.clear()
    y = x * 2
    y.register_hook(lambda g: log.append(("y", plain(g))))
    (undefined(y * 2) + y).sum().backward()
    yield "sum of both", log, x.grad


@case("engine.undefined.functions")
def _(torch):
    for i, name in ((0, "zeros"), (2, "none"), (3, "answer")):
        log = []
        made = functions(torch, log)
        x = leaf(torch)
        made[1](made[i](x) * 2).sum().backward()
        yield name, log, x.grad
    x, log = leaf(torch), []
    gives = functions(torch, log)[0]
    norm = torch.linalg.vector_norm(gives(x), 0)
    yield "no derivative", attempt(lambda: norm.backward()), log, x.grad


@case("engine.undefined.leaves")
def _(torch):
    x, log = leaf(torch), []
    undefined = functions(torch, log)[1]
    x.register_post_accumulate_grad_hook(lambda p: log.append("post"))
    node = x.expand_as(x).grad_fn.next_functions[0][0]
    node.register_hook(lambda i, g: log.append(("after", plain(i), plain(g))))
    node.register_prehook(lambda g: log.append(("before", plain(g))))
    undefined(x * 2).sum().backward()
    yield "accumulation", log, x.grad
    y, seen = leaf(torch), []
    y.register_hook(lambda g: seen.append(plain(g)))
    yield "grad", torch.autograd.grad(undefined(y * 2).sum(), y, allow_unused=True), seen
    yield "inputs", undefined(y * 2).sum().backward(inputs=[y]), y.grad, seen


@case("engine.undefined.replaced")
def _(torch):
    undefined = functions(torch, [])[1]
    new = torch.ones(3)

    def run(register):
        x = leaf(torch)
        y = x * 2
        register(x, y)
        undefined(y).sum().backward()
        return x.grad

    yield "tensor hook", attempt(lambda: run(lambda x, y: y.register_hook(lambda g: new)))
    yield "leaf hook", attempt(lambda: run(lambda x, y: x.register_hook(lambda g: new)))
    yield "before", attempt(lambda: run(lambda x, y: y.grad_fn.register_prehook(lambda g: (new,))))
    yield "after", attempt(lambda: run(lambda x, y: y.grad_fn.register_hook(lambda i, g: (new,) + i[1:])))
    yield "accumulation", attempt(lambda: run(lambda x, y: x.expand_as(x).grad_fn.next_functions[0][0].register_prehook(lambda g: (new,)) and None))
    x = leaf(torch)
    z = x * new
    z.grad_fn.register_hook(lambda i, g: (new, new))
    yield "input without gradient", attempt(lambda: z.sum().backward())


@case("engine.undefined.looked_at")
def _(torch):
    log = []
    _, undefined, raw, _, _ = functions(torch, log)
    x = leaf(torch)
    x.register_hook(lambda g: log.append(("x", plain(g))))
    y = x * 2
    yield "values", y.sum().item()
    z = raw(y)
    yield "more", z.sum().item()
    undefined(z).sum().backward()
    yield "log", log


@case("engine.undefined.leaf_first")
def _(torch):
    log = []

    class First(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a * b

        @staticmethod
        def backward(ctx, g):
            return g, None

    class Logs(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a.clone()

        @staticmethod
        def backward(ctx, g):
            log.append(("logs", plain(g)))
            return g

    def run(other):
        log.clear()
        x, w = leaf(torch), leaf(torch)
        w.register_hook(lambda g: log.append(("w", plain(g))))
        w.register_post_accumulate_grad_hook(lambda t: log.append(("after w", plain(t.grad))))
        a = Logs.apply(x)
        return x, w, First.apply(a, w) + other(a, w)

    for name, other in (("alone", lambda a, w: 0), ("both", lambda a, w: w * 3), ("later", lambda a, w: Logs.apply(w)), ("beside", lambda a, w: a)):
        x, w, z = run(other)
        z.sum().backward()
        yield name, list(log), x.grad, w.grad
        x, w, z = run(other)
        yield f"{name}, asked for", torch.autograd.grad(z.sum(), (x, w), allow_unused=True), list(log)
