"""torch.func and writes: in-place code under transformations, running statistics, tensors from outside."""

from compat_matrix.case import attempt, case, raises


def _scaled(x):
    y = x * 1
    y.mul_(x)
    return y.sum()


def _shifted(x):
    y = x * 1
    y.mul_(x)
    z = y.view(-1)
    z[1:].add_(1.0)
    return y.sin().sum()


def _moved(x):
    y = x * 1
    y[0] = y[1] * 2
    y[1:].mul_(x[1:])
    y.mul_(x)
    return y.sum()


@case("func.nested_over_writes")
def _(torch):
    """What an in-place operator saved of itself is a copy, also where a map goes over the gradient that reads it."""
    func, one = torch.func, torch.tensor([0.5, -0.3, 1.2])
    two = torch.stack([one, one * 2])
    for f in (_scaled, _shifted, _moved):
        first = func.grad(f)

        def second(x, first=first):
            return func.grad(lambda b: first(b).sum())(x)

        name = f.__name__
        yield f"{name} reverse", first(one), second(one)
        yield f"{name} mapped", func.vmap(first)(two), func.vmap(second)(two)
        yield f"{name} over a map", func.grad(lambda b, first=first: func.vmap(first)(b).pow(2).sum())(two)
        yield f"{name} three", func.vmap(func.grad(lambda b, second=second: second(b).sum()))(two)
        yield f"{name} hessian", func.vmap(func.hessian(f))(two), func.jacrev(func.jacrev(f))(one)
        yield f"{name} pulled", func.vmap(lambda x, first=first: func.vjp(first, x)[1](x)[0])(two)


@case("func.running_statistics")
def _(torch):
    """Statistics from outside are moved by a batch that is differentiated, and not by one that is mapped over."""
    func, f = torch.func, torch.nn.functional
    x, rows = torch.tensor([0.5, -0.3, 1.2]), torch.tensor([[1.0], [2.0], [4.0]])
    mean, var = torch.zeros(3), torch.ones(3)

    def normed(a):
        return (f.batch_norm(a * rows, mean, var, training=True) * rows).sum()

    def where(g, *args):
        try:
            g(*args)
            text = "no error"
        except RuntimeError as e:
            text = str(e)
        return text, mean.clone(), var.clone()

    yield "gradient", where(func.grad(normed), x)
    yield "tangent", where(lambda a: func.jvp(normed, (a,), (a,)), x)
    yield "twice", where(func.grad(lambda a: func.grad(normed)(a).sum()), x)
    yield "mapped", where(func.vmap(normed), torch.stack([x, x]))
    yield "after", mean + 1, normed(x)


@case("func.refused_writes")
def _(torch):
    """What is mapped over is not written into what is not."""
    x, d = torch.tensor([[0.5, -0.3], [1.0, 2.0]]), torch.zeros(2)
    writes = {"fill": lambda a: d.fill_(a[0]), "put": lambda a: d.index_put_((torch.tensor([0]),), a[:1]), "mask": lambda a: d.masked_fill_(a > 0, 1.0),
              "copy": lambda a: d.copy_(a), "mul": lambda a: d.mul_(a), "item": lambda a: d.__setitem__(0, a[0])}
    for name, f in writes.items():
        yield name, raises(lambda f=f: torch.func.vmap(lambda a, f=f: (f(a), a.sum())[1])(x)), d


CAPTURED = {
    "copy_": lambda torch, x, c: c.copy_(x), "mul_": lambda torch, x, c: c.mul_(2), "item": lambda torch, x, c: c.__setitem__(0, 1),
    "through detach": lambda torch, x, c: c.detach().add_(1), "own": lambda torch, x, c: torch.zeros(3).copy_(x.detach()), "result": lambda torch, x, c: (c * 2).mul_(x)}


@case("func.captured.written")
def _(torch):
    x = torch.tensor([1.0, 2.0, 3.0])
    for name, write in CAPTURED.items():
        for how in ("grad", "vjp", "jvp"):
            c = torch.ones(3)

            def g(x):
                write(torch, x, c)
                return (x * c).sum()
            ways = {"grad": lambda: torch.func.grad(g)(x), "vjp": lambda: torch.func.vjp(g, x)[0], "jvp": lambda: torch.func.jvp(g, (x,), (x,))}
            yield f"{how} {name}", attempt(ways[how]), c


@case("func.writes.statistics where tangents alone are mapped")
def _(torch):
    x = torch.arange(12.0, dtype=torch.float64).reshape(4, 3).sin()
    for training in (True, False):
        mean, var = torch.zeros(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64)

        def f(x, mean=mean, var=var, training=training):
            return torch.nn.functional.batch_norm(x, mean, var, training=training).pow(3).sum()

        yield f"{training}: first", torch.func.jacfwd(f)(x), mean.clone(), var.clone()
        yield f"{training}: both ways", torch.func.jacrev(f)(x)
        yield f"{training}: second", torch.func.hessian(f)(x).diagonal().sum(0), mean.clone(), var.clone()


def _through_detach(torch, x):
    x.detach().mul_(2)
    return (x * x).sum()


def _without_grad(torch, x):
    with torch.no_grad():
        x[0] = 3.0
        x.copy_(x * 2)
    return (x**2).sum()


def _between(torch, x):
    y = x * x
    x.detach().mul_(2)
    return y.sum()


def _twice(torch, x):
    v = x[0:1]
    with torch.no_grad():
        v.mul_(7)
    x.detach().add_(1)
    return (v + x).sum()


@case("func.writes.seen by the caller")
def _(torch):
    """What is written to an argument without a history is written to the caller's tensor, and what was saved of it notices."""
    func = torch.func

    def own():
        return torch.tensor([1.0, 2.0])

    def wanted():
        return own().requires_grad_()

    def view():
        return torch.arange(6.0).reshape(3, 2)[1]

    ways = {
        "grad": (func.grad, own), "grad and value": (func.grad_and_value, own), "view": (func.grad, view),
        "of a leaf": (func.grad, wanted), "of a result": (func.grad, lambda: wanted() * 2),
        "vjp": (lambda f: lambda x: func.vjp(f, x)[1](torch.tensor(1.0)), own), "rows": (func.jacrev, own),
        "jvp": (lambda f: lambda x: func.jvp(f, (x,), (torch.ones(2),)), own)}
    for f in (_through_detach, _without_grad, _between, _twice):
        for name, (way, make) in ways.items():
            x = make()
            yield f"{f.__name__} {name}", attempt(lambda f=f, x=x, way=way: way(lambda a: f(torch, a))(x)), x


@case("func.writes.own buffers given by name")
def _(torch):
    """Buffers that a module holds and that are given to it are no tensors from around."""
    m, x = torch.nn.BatchNorm1d(2), torch.arange(8.0).reshape(4, 2).sin()
    p, b = dict(m.named_parameters()), dict(m.named_buffers())
    yield "gradient", torch.func.grad(lambda p, b: torch.func.functional_call(m, (p, b), (x,)).pow(2).sum())(p, b)
    yield "buffers", list(b.values()), m.running_mean


@case("func.writes.data where it is mapped")
def _(torch):
    x, y, func = torch.ones(2, 3), torch.ones(3), torch.func
    yield "read", attempt(lambda: func.vmap(lambda a: a.data)(x))
    yield "another's", attempt(lambda: func.vmap(lambda a: a + y.data)(x))
    yield "through a gradient", attempt(lambda: func.vmap(func.grad(lambda a: (a * a.data).sum()))(x))
    yield "inside of a gradient", attempt(lambda: func.grad(lambda x: func.vmap(lambda a: (a * a.data).sum())(x).sum())(x))
    yield "set", attempt(lambda: func.vmap(lambda a: setattr(a, "data", y))(x))


@case("func.writes.a captured tensor that is the argument too")
def _(torch):
    """Written by its outer name it is refused; written through the argument, beside autograd, it is not."""
    func = torch.func

    def shared(write, way=func.grad):
        x = torch.ones(3)
        return attempt(lambda: way(lambda a: (write(a, x), (a * a).sum())[1])(x)), x

    def aside(write):
        with torch.no_grad():
            write()

    ways = {"outer name": lambda a, x: x.mul_(3), "a view made inside": lambda a, x: x[:2].mul_(3), "detached inside": lambda a, x: x.detach().mul_(3),
            "without grad": lambda a, x: aside(lambda: x.mul_(3)), "argument without grad": lambda a, x: aside(lambda: a.mul_(3)),
            "argument detached": lambda a, x: a.detach().mul_(3), "argument, then read": lambda a, x: (a.detach().mul_(3), x.sum())}
    for name, write in ways.items():
        yield name, shared(write)
    pulled = shared(ways["outer name"], lambda f: lambda x: func.vjp(f, x)[0])
    pushed = shared(ways["outer name"], lambda f: lambda x: func.jvp(f, (x,), (torch.ones(3),)))
    yield "other ways", pulled, pushed, shared(ways["outer name"], lambda f: func.grad(func.grad(f)))
    x = torch.ones(3)
    part = x[:2]
    yield "its view", attempt(lambda: func.grad(lambda a: (part.mul_(3), (a * a).sum())[1])(x)), x, part
    yield "its base", attempt(lambda: func.grad(lambda a: (x.mul_(3), (a * a).sum())[1])(part)), x, part
    yield "inner", attempt(lambda: func.grad(lambda b: func.grad(lambda a: (x.mul_(3), (a * b).sum())[1])(b).sum())(x)), x


@case("func.writes.captured views")
def _(torch):
    """Tensors from around a function that are views are refused too, and they and their bases show what they showed."""
    base, x = torch.ones(6), torch.ones(3)
    view, row, turned = base.view(2, 3), base[1:4], torch.ones(3, 2).t()

    def quietly(a):
        with torch.no_grad():
            view.mul_(2)
        return a.sum()

    for name, write in (("view", lambda: view.mul_(2)), ("row", lambda: row.add_(1)), ("turned", lambda: turned.mul_(2)), ("base", lambda: base.mul_(2)),
                        ("detached", lambda: view.detach().mul_(2))):
        def f(a, write=write):
            write()
            return (a * turned.sum()).sum() + view.sum()

        for t in ("grad", "jacfwd"):
            yield f"{name} {t}", attempt(lambda t=t, f=f: getattr(torch.func, t)(f)(x)), base.clone(), view.clone(), row.clone(), turned.clone()
    yield "without gradients", attempt(lambda: torch.func.grad(quietly)(x)), base.clone(), view.clone()
    base.mul_(3)
    yield "later", base, view, row


@case("func.written_by_functions")
def _(torch):
    """What a Function writes to its argument is there at every level: the result is the argument, and its views show it."""
    func, x = torch.func, torch.tensor([[0.5, 1.0], [2.0, 3.0]], dtype=torch.float64)

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(a):
            return a.mul_(2)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.mark_dirty(inputs[0])

        @staticmethod
        def backward(ctx, g):
            return g * 2

        @staticmethod
        def jvp(ctx, t):
            return t.mul_(2)

        @staticmethod
        def vmap(info, in_dims, a):
            return Twice.apply(a), in_dims[0]

    class Generated(Twice):
        generate_vmap_rule = True
        vmap = torch.autograd.Function.vmap

    for apply in (Twice.apply, Generated.apply):
        same = []

        def f(a, apply=apply, same=same):
            z = a.sin()
            shown = z.view(-1)
            same.append(apply(z) is z)
            return shown.sum() * z + shown.reshape(a.shape)

        def total(a, f=f):
            return f(a).sum()

        outer = x.clone().requires_grad_()
        name = apply.__self__.__name__
        yield f"{name}, maps", attempt(lambda f=f: (func.vmap(f)(x), func.vmap(f, -1, -1)(x), func.vmap(func.vmap(f))(x)))
        yield f"{name}, gradients", func.grad(total)(x), func.jacrev(f)(x), func.grad(lambda a, g=total: func.grad(g)(a).sum())(x)
        yield f"{name}, of maps", attempt(lambda f=f, g=total: (func.vmap(func.grad(g))(x), func.grad(lambda a: func.vmap(f)(a).sum())(x)))
        yield f"{name}, forward", func.jvp(f, (x,), (x,)), func.jacfwd(f)(x), func.jvp(func.grad(total), (x,), (x,)), func.hessian(total)(x)
        yield f"{name}, forward maps", attempt(lambda f=f: func.jvp(func.vmap(f), (x,), (x,)))
        yield f"{name}, behind", torch.autograd.grad(func.grad(total)(outer).sum(), outer), torch.autograd.grad(func.jvp(f, (outer,), (x,))[1].sum(), outer)
        yield f"{name}, the argument itself", all(same)


@case("func.sizes_of_what_was_written")
def _(torch):
    """An error names the memory outside of the maps that have ended."""
    func, x = torch.func, torch.ones(2, 3, 4)

    def f(a):
        y = a.sin()
        z = y * y
        y.add_(1)
        return z.sum()

    calls = {
        "inside": lambda: func.vmap(func.grad(f))(x), "outside": lambda: func.grad(lambda a: func.vmap(f)(a).sum())(x),
        "two": lambda: func.grad(lambda a: func.vmap(func.vmap(f), 0)(a).sum())(x), "between": lambda: func.vmap(func.grad(lambda a: func.vmap(f)(a).sum()))(x),
        "rows": lambda: func.jacrev(func.vmap(f))(x), "backward": lambda: func.vmap(f)(x.clone().requires_grad_()).sum().backward()}
    for name, g in calls.items():
        try:
            g()
        except RuntimeError as e:
            yield name, str(e).partition("[torch.FloatTensor ")[2].partition("]")[0]
