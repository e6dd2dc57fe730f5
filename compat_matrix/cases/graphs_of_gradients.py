"""Graphs of gradients: what keeps them, what a pass frees of them, who is told of what comes through them."""

import gc

from compat_matrix.case import case


def _triple(torch):
    class Triple(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 3

        @staticmethod
        def backward(ctx, g):
            return g * 3

    return Triple


@case("graphs_of_gradients.a graph that a ctx keeps outlives a collection")
def _(torch):
    Triple = _triple(torch)
    for direct in (True, False):
        for shown in (True, False):

            class Outer(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    with torch.enable_grad():
                        a = x.detach().requires_grad_()
                        o = Triple.apply(a)
                        o = o if direct else o * 1
                    ctx.kept = a, {"o": o}
                    return o.detach() if shown else x * 3

                @staticmethod
                def backward(ctx, g):
                    a, kept = ctx.kept
                    return torch.autograd.grad(kept["o"], a, g, retain_graph=True)

            x = torch.ones(2, requires_grad=True)
            y = Outer.apply(x)
            gc.collect()
            yield f"direct {direct} shown {shown}", torch.autograd.grad(y.sum(), x)


@case("graphs_of_gradients.a graph that a hook keeps outlives a collection")
def _(torch):
    Triple = _triple(torch)
    x = torch.ones(2, requires_grad=True)
    y = x * 2

    def listen():
        a = torch.ones(2, requires_grad=True)
        o = Triple.apply(a)
        y.register_hook(lambda g: g * torch.autograd.grad(o, a, g, retain_graph=True)[0])

    listen()
    for i in range(2):
        gc.collect()
        yield f"{i}", torch.autograd.grad(y.sum(), x, retain_graph=True)


def _tried(torch, run):
    try:
        return [None if g is None else g.sum() for g in run()]
    except RuntimeError as e:
        return str(e)[:50]


@case("graphs_of_gradients.a pass through one gradient frees nothing of another")
def _(torch):
    F = torch.nn.functional
    for name, f in {
        "mul": lambda x, y: x * y, "div": lambda x, y: x / y, "mm": lambda x, y: x @ y, "bmm": lambda x, y: torch.bmm(x[None], y[None]), "batched": lambda x, y: x[None] @ y[None],
        "pow": lambda x, y: x ** y, "linear": lambda x, y: F.linear(x, y), "addmm": lambda x, y: torch.addmm(x, x, y), "lerp": lambda x, y: torch.lerp(x, y, y),
        "addcmul": lambda x, y: torch.addcmul(x, x, y), "hypot": torch.hypot, "atan2": torch.atan2, "mse": F.mse_loss, "dot": lambda x, y: x[0] @ y[0],
        "maximum": torch.maximum, "cross": torch.linalg.cross, "layer norm": lambda x, y: F.layer_norm(x, [3], y[0]), "prelu": lambda x, y: F.prelu(x, y[0]),
        "conv": lambda x, y: F.conv1d(x[None], y[None]), "logaddexp": torch.logaddexp, "xlogy": torch.xlogy, "where": lambda x, y: torch.where(x > 1, x * y, y),
    }.items():
        x = (torch.arange(9.).reshape(3, 3) * 0.1 + 0.5).requires_grad_()
        y = (torch.arange(9.).reshape(3, 3).t() * 0.2 + 0.7).requires_grad_()
        o = f(x, y)
        v = torch.ones_like(o).requires_grad_()
        gx, gy = torch.autograd.grad(o, (x, y), v, create_graph=True)
        for of, g in ("x", gx), ("y", gy):
            yield f"{name}, {of}", _tried(torch, lambda: torch.autograd.grad((g * g).sum(), (v, x, y), allow_unused=True))


@case("graphs_of_gradients.gradients of what moves and sums keep nothing")
def _(torch):
    F = torch.nn.functional
    for name, f in {
        "view": lambda z: z.view(-1), "sum": lambda z: z.sum(0), "mean": lambda z: z.mean(), "expand": lambda z: z[None].expand(2, 3, 4), "t": lambda z: z.t(),
        "neg": lambda z: -z, "number": lambda z: z * 2, "cat": lambda z: torch.cat([z, z]), "select": lambda z: z[0], "slice": lambda z: z[1:],
        "index": lambda z: z[torch.tensor([0, 1])], "batched": lambda z: z[None] @ torch.ones(4, 2), "roll": lambda z: z.roll(1), "cumsum": lambda z: z.cumsum(0),
        "pad": lambda z: F.pad(z, (1, 1)), "reflection": lambda z: F.pad(z[None], (1, 1), mode="reflect"), "double": lambda z: z.double(), "tril": lambda z: z.tril(),
        "trace": lambda z: z.trace(), "pool": lambda z: F.avg_pool1d(z[None], 2), "fill": lambda z: z.masked_fill(z > 3, 0), "sin": lambda z: z.sin(),
        "real": lambda z: torch.view_as_real(torch.complex(z, z)), "sort": lambda z: z.sort()[0], "unfold": lambda z: z.unfold(0, 2, 1), "max": lambda z: z.amax(),
    }.items():
        x, y = torch.ones(3, 4, requires_grad=True), torch.ones(3, 4, requires_grad=True)
        o = f(x * y)
        v = torch.ones_like(o).requires_grad_()
        gx, gy = torch.autograd.grad(o, (x, y), v, create_graph=True)
        for of, g in ("x", gx), ("y", gy):
            yield f"{name}, {of}", _tried(torch, lambda: torch.autograd.grad((g * g).sum(), (v, x, y), allow_unused=True))


@case("graphs_of_gradients.hooks of one gradient do not hear passes through another")
def _(torch):
    x, y, v = (torch.ones(2, requires_grad=True) for _ in range(3))
    gx, gy = torch.autograd.grad(x * y, (x, y), v, create_graph=True)
    heard = []
    gx.register_hook(lambda g: heard.append(("x", g)))
    gy.register_hook(lambda g: heard.append(("y", g)))
    gy.grad_fn.register_hook(lambda ins, outs: heard.append(("node y", len(ins), len(outs))))
    yield "places", gx.output_nr, gy.output_nr, gx.grad_fn is gy.grad_fn, len(gx.grad_fn.next_functions)
    for of, g in ("x", gx), ("y", gy):
        g.sum().backward()
        yield f"heard of {of}", list(heard)
        heard.clear()


@case("graphs_of_gradients.leaves asked for gradients after they were used")
def _(torch):
    for shown in (False, True):
        for name, make in {"full": lambda: torch.full((2,), 2.), "computed": lambda: torch.full((2,), 1.) * 2, "given": lambda: torch.tensor([2., 2.])}.items():
            x, c = torch.full((2,), .5, requires_grad=True), make()
            y = x * c
            if shown:
                y.tolist()
            c.requires_grad_()
            g, = torch.autograd.grad(y.sum(), x, create_graph=True)
            yield f"{name} {shown} on", g, torch.autograd.grad((g * g).sum(), c)
            y = x * c
            if shown:
                y.tolist()
            c.requires_grad_(False)
            for i in range(2):
                yield f"{name} {shown} off {i}", torch.autograd.grad(y.sum(), x, create_graph=True)
            c.requires_grad_(True)
            g, = torch.autograd.grad(y.sum(), x, create_graph=True)
            yield f"{name} {shown} on again", g, torch.autograd.grad(g.sum(), c)
            c.requires_grad_(False)
            c.mul_(2)
            c.requires_grad_()
            try:
                torch.autograd.grad(y.sum(), x, create_graph=True)
            except RuntimeError as e:
                yield f"{name} {shown} written", str(e)[:80]
    model = torch.nn.PReLU(init=0.5)
    model.requires_grad_(False)
    x = torch.tensor([-1., 2.], requires_grad=True)
    y = model(x).square()
    model.requires_grad_()
    g, = torch.autograd.grad(y.sum(), x, create_graph=True)
    (g * g).sum().backward()
    yield "frozen model", [p.grad for p in model.parameters()]


@case("graphs_of_gradients.of what hooks unpacked, written since")
def _(torch):
    ways = {"itself": (lambda t: t, lambda t: t), "detached": (lambda t: t.detach(), lambda t: t), "copied": (lambda t: t.clone(), lambda t: t), "list": (lambda t: t.tolist(), lambda t: torch.tensor(t))}
    for name, f in {"product": lambda x: x * x * x, "sin": lambda x: x.sin(), "power": lambda x: x ** 3, "result": lambda x: x.exp() * x, "written": lambda x: (x * x).mul_(2) * x}.items():
        for way, pair in ways.items():
            for again in (False, True)[:1 if way == "detached" else 2]:  # memory that hooks share without saying so
                x = torch.tensor([.5, 1.], requires_grad=True)
                with torch.autograd.graph.saved_tensors_hooks(*pair):
                    y = f(x).sum()
                    if again:
                        g, = torch.autograd.grad(y, x, create_graph=True)
                if not again:
                    g, = torch.autograd.grad(y, x, create_graph=True)
                with torch.no_grad():
                    x.mul_(3)
                try:
                    yield f"{name}, {way}, again {again}", torch.autograd.grad(g.sum(), x)
                except RuntimeError as e:
                    yield f"{name}, {way}, again {again}", str(e)[:80]
