"""Which gradient is which tensor; what accumulation does to a gradient that has a graph; multi-gradient hooks and what a pass runs."""

from compat_matrix.case import case


def leaf(torch, *shape):
    return torch.ones(shape or (3,), requires_grad=True)


@case("engine.identity.the same input twice")
def _(torch):
    x = leaf(torch)
    for graph in (False, True):
        a, b = torch.autograd.grad((x * 2).sum(), [x, x], create_graph=graph)
        yield f"same {graph}", a is b
    a, b = torch.autograd.grad((x * 2).sum(), [x, x])
    a.mul_(3)
    yield "written", b


@case("engine.identity.the gradient given")
def _(torch):
    x, g = leaf(torch), torch.ones(3)
    yield "leaf root", torch.autograd.grad(x, [x], g)[0] is g
    y = x + 1
    yield "root", torch.autograd.grad(y, [y], g)[0] is g
    yield "passed on", torch.autograd.grad(y, [x], g, create_graph=True)[0] is g
    yield "another dtype", torch.autograd.grad(x, [x], g.double())[0].dtype
    x.backward(g)
    yield "accumulated", x.grad is g
    a, = torch.autograd.grad(x, [x], g)
    a.mul_(5)
    yield "written", g


@case("engine.identity.accumulation keeps a graph")
def _(torch):
    x = leaf(torch)
    (x ** 3).sum().backward(create_graph=True)
    g = x.grad
    (x * 2).sum().backward()
    yield "same", (x.grad is g, x.grad.requires_grad, x.grad.is_leaf)
    yield "value", x.grad
    yield "second", torch.autograd.grad(x.grad.sum(), [x])
    x = leaf(torch)
    x.grad = torch.ones(3, requires_grad=True)
    g = x.grad
    (x * 2).sum().backward()
    yield "a leaf", (x.grad, g is x.grad, g.is_leaf)


RUNS = ("z.backward(g)", "z.sum().backward()", "grad(z.sum(), [x])", "grad(z.sum(), [y])", "grad(z, [z], g)", "z.sum().backward(inputs=[y])", "z.sum().backward(inputs=[x])",
        "torch.autograd.backward([z, y], [g, g])", "grad(z.sum(), [y, w])", "x.backward(g)", "grad(x, [x], g)", "torch.autograd.backward([x, y], [g, g])")


for _names in ("x", "y", "z", "xy", "xz", "yz", "xu", "uz", "xx", "xwy"):
    @case(f"engine.identity.multi hook on {_names}", names=_names)
    def _(torch, names):
        for run in RUNS:
            x, w, u, seen = leaf(torch), leaf(torch), leaf(torch), []
            y = x * w
            held = {"x": x, "w": w, "u": u, "y": y, "z": y * 2 + w, "g": torch.ones(3), "grad": torch.autograd.grad, "torch": torch}
            torch.autograd.graph.register_multi_grad_hook([held[n] for n in names], lambda gs, seen=seen: seen.append([None if g is None else g.tolist() for g in gs]))
            try:
                exec(run, held)
            except RuntimeError as e:
                seen.append(str(e))
            yield run, seen


@case("engine.identity.retained through a write without grad mode")
def _(torch):
    x = leaf(torch)
    b = x * 1.5
    b.retain_grad()
    with torch.no_grad():
        b.abs_()
    b.erf_()
    yield "still", b.retains_grad
    b.sum().backward()
    yield "grad", b.grad


class Shown:
    """A Function that returns a view of its input, and one that writes to it."""

    def __init__(self, torch):
        class View(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x.view_as(x)

            @staticmethod
            def backward(ctx, g):
                return g * 3

        class Dirty(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.mark_dirty(x)
                x.mul_(2)
                return x

            @staticmethod
            def backward(ctx, g):
                return g * 2

        self.view, self.dirty = View.apply, Dirty.apply


WRITTEN = {
    "a view of a leaf": lambda f, x, b: x[:], "a leaf": lambda f, x, b: x, "a view": lambda f, x, b: b[1:], "one of several views": lambda f, x, b: b.chunk(2)[0],
    "what a Function returned": lambda f, x, b: f.view(b), "a detached view": lambda f, x, b: x.detach()[:],
}


for _which in WRITTEN:
    @case(f"engine.identity.a Function writes to {_which}", which=_which)
    def _(torch, which):
        f, x = Shown(torch), leaf(torch, 4)
        b = x * 1
        try:
            out = f.dirty(WRITTEN[which](f, x, b))
        except RuntimeError as e:
            yield "refused", str(e)
            return
        yield "out", out
        yield "contents", (x.detach(), b)
        if b.grad_fn is not None:
            b.sum().backward()
            yield "grad", x.grad


@case("engine.identity.a Function writes to a view made under no_grad")
def _(torch):
    f, x = Shown(torch), leaf(torch)
    with torch.no_grad():
        v = x[:]
    try:
        f.dirty(v)
    except RuntimeError as e:
        yield "refused", str(e)


@case("engine.identity.conj_physical_")
def _(torch):
    for dtype in (torch.float32, torch.complex64):
        x = torch.ones(2, dtype=dtype, requires_grad=True)
        y = x * 2
        y.conj_physical_()
        yield f"node {dtype}", (y.grad_fn.name(), y._version)
        yield f"out {dtype}", y
        try:
            x.conj_physical_()
        except RuntimeError as e:
            yield f"leaf {dtype}", str(e)


@case("engine.identity.out resized beside an alias")
def _(torch):
    a = torch.arange(6.0).reshape(2, 3)
    d = a.data
    torch.stack([torch.ones(2, 3)] * 3, out=d)
    yield "shapes", (a.shape, d.shape)
    yield "out", d
    v = torch.zeros(3)[1:]
    torch.sin(torch.ones(3, 2), out=v.t())
    yield "view", v.shape


@case("engine.identity.retained gradients are never written to")
def _(torch):
    x = leaf(torch)
    y = x * 2
    y.retain_grad()
    y.sum().backward(retain_graph=True)
    first = y.grad
    (y * 3).sum().backward(retain_graph=True)
    yield "retained", (y.grad is first, first, y.grad)
    leaf_first = x.grad
    y.sum().backward()
    yield "leaf", (x.grad is leaf_first, x.grad)


# backward(inputs=...) runs the nodes of what it fills

@case("engine.identity.filled nodes run and are freed")
def _(torch):
    for first in ("z", "y"):
        x = leaf(torch)
        y = x.exp()
        z = (y * 2).sum()
        seen = []
        for step in (first, "y" if first == "z" else "z"):
            try:
                if step == "z":
                    z.backward(inputs=[y])
                else:
                    y.sum().backward()
                seen.append("done")
            except RuntimeError as e:
                seen.append(str(e))
        yield first, (seen, x.grad)


@case("engine.identity.filled results of a Function")
def _(torch):
    ran = []

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            ran.append(g.tolist())
            return g * ctx.saved_tensors[0]

    x = leaf(torch)
    y = Double.apply(x)
    z = (y * 2).sum()
    torch.autograd.grad(z, [y], retain_graph=True)
    yield "captured", list(ran)
    z.backward(inputs=[y], retain_graph=True)
    yield "filled", (list(ran), x.grad, y.grad)
    z.backward(inputs=[y])
    try:
        y.sum().backward()
    except RuntimeError as e:
        yield "freed", str(e)


# out= of what requires grad, under no_grad

OUTS = {
    "sub": lambda torch, p: torch.sub(p, p.detach() * 3, alpha=0.5, out=p), "where": lambda torch, p: torch.where(p > 0, 2 * p, p, out=p),
    "cat": lambda torch, p: torch.cat([torch.zeros(1), torch.ones(2)], out=p), "mean": lambda torch, p: torch.mean(torch.ones(2, 3), 0, out=p),
    "max": lambda torch, p: torch.max(torch.zeros(2, 3), 0, out=(p, torch.empty(0, dtype=torch.int64))), "full": lambda torch, p: torch.full((3,), 2.0, out=p),
    "arange": lambda torch, p: torch.arange(3.0, out=p), "norm": lambda torch, p: torch.linalg.norm(torch.ones(3, 3), dim=0, out=p),
    "resized": lambda torch, p: torch.add(torch.ones(2), 1, out=p),
}


for _which in OUTS:
    @case(f"engine.identity.out of a leaf {_which}", which=_which)
    def _(torch, which):
        p = leaf(torch)
        with torch.no_grad():
            OUTS[which](torch, p)
        yield "p", (p, p.requires_grad, p.is_leaf, p._version)
        if p.requires_grad:
            (p * p).sum().backward()
            yield "grad", p.grad


@case("engine.identity.out of what has a history")
def _(torch):
    p = leaf(torch)
    q = p * 2
    with torch.no_grad():
        torch.add(p, 2.0, out=q)
    yield "q", (q, q.grad_fn.name())
    q.sum().backward()
    yield "grad", p.grad
    q = p * 2
    v = q[1:]
    with torch.no_grad():
        torch.add(p[1:], 2.0, out=v)
    yield "view", (q, v.grad_fn.name())


@case("engine.identity.a Function returns its input detached beside another result")
def _(torch):
    class Two(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone(), x.detach()

        @staticmethod
        def backward(ctx, g, h):
            return g + h

    x = leaf(torch)
    a, b = Two.apply(x[:])
    b[1:].mul_(2)
    yield "out", (a, b, b._is_view())
    x = leaf(torch)
    a, b = Two.apply(x * 1)
    b[1:].mul_(2)
    b.sum().backward()
    yield "grad", x.grad
