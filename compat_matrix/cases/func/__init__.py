"""torch.func and torch.vmap: transformations, nested, with autograd around them; structure and words."""

from importlib import import_module

from compat_matrix.case import attempt, case


def data(torch):
    return torch.arange(6.0).reshape(2, 3)


def model(torch):
    n = {"w1": (4, 5), "b1": (5,), "w2": (5, 2)}
    p = {k: torch.linspace(-1, 1, s[0] * (s[1] if len(s) > 1 else 1), dtype=torch.float64).reshape(s).sin() for k, s in n.items()}
    x = torch.linspace(-2, 2, 24, dtype=torch.float64).reshape(6, 4).cos()
    y = torch.linspace(-1, 2, 12, dtype=torch.float64).reshape(6, 2)

    def net(p, x):
        return torch.tanh(x @ p["w1"] + p["b1"]) @ p["w2"]

    def loss(p, x, y):
        return ((net(p, x) - y) ** 2).mean()

    return p, x, y, net, loss


@case("func.programs.per_sample")
def _(torch):
    p, x, y, _net, loss = model(torch)
    f = torch.func
    yield "grad", f.vmap(f.grad(loss), in_dims=(None, 0, 0))(p, x, y)
    yield "grad_and_value", f.vmap(f.grad_and_value(loss), in_dims=(None, 0, 0))(p, x, y)
    yield "chunks", f.vmap(f.grad(loss), in_dims=(None, 0, 0), chunk_size=4)(p, x, y)
    q = {k: v.clone().requires_grad_() for k, v in p.items()}
    s = sum((v**2).sum() for v in f.vmap(f.grad(loss), (None, 0, 0))(q, x, y).values())
    s.backward()
    yield "backward", s.detach(), [v.grad for v in q.values()]


@case("func.programs.second_order")
def _(torch):
    p, x, y, _net, loss = model(torch)
    f = torch.func

    def g(b):
        return loss({**p, "b1": b}, x, y)

    v = torch.ones(5, dtype=torch.float64)
    yield "hvp", f.jvp(f.grad(g), (p["b1"],), (v,)), f.vjp(f.grad(g), p["b1"])[1](v)
    yield "hessian", f.hessian(g)(p["b1"]), f.jacrev(f.jacrev(g))(p["b1"]), f.jacfwd(f.jacfwd(g))(p["b1"]), f.jacrev(f.jacfwd(g))(p["b1"])
    yield "mapped", f.vmap(f.hessian(lambda z: loss(p, z, y[0])))(x)
    yield "third", f.grad(lambda b: f.hessian(g)(b).sum())(p["b1"])


@case("func.programs.jacobians")
def _(torch):
    p, x, _y, net, _loss = model(torch)
    f = torch.func
    yield "jacrev", f.jacrev(net)(p, x[0]), f.jacrev(net, argnums=(0, 1))(p, x[0]), f.jacrev(net, chunk_size=1)(p, x[0])
    yield "jacfwd", f.jacfwd(net)(p, x[0]), f.jacfwd(net, argnums=1)(p, x[0])
    yield "mapped", f.vmap(f.jacrev(net, argnums=1), (None, 0))(p, x), f.vmap(f.jacfwd(net, argnums=1), (None, 0))(p, x)
    b = p["b1"]
    yield "structure", f.jacrev(lambda t: {"a": t[0] * t, "b": (t.sum(),)})(b), f.jacfwd(lambda t: {"a": t[0] * t, "b": (t.sum(),)})(b)
    yield "aux", f.jacrev(lambda t: (t**2, t * 3), has_aux=True)(b), f.jacfwd(lambda t: (t**2, t * 3), has_aux=True)(b)


@case("func.programs.ntk")
def _(torch):
    p, x, _y, net, _loss = model(torch)
    f = torch.func
    j1, j2 = (f.vmap(f.jacrev(net), (None, 0))(p, z) for z in (x[:2], x[2:5]))
    yield "kernel", sum(torch.einsum("Naf,Mbf->NMab", j1[k].flatten(2), j2[k].flatten(2)) for k in p)


@case("func.programs.maml")
def _(torch):
    p, x, y, _net, loss = model(torch)
    f = torch.func

    def outer(p):
        g = f.grad(loss)(p, x[:3], y[:3])
        return loss({k: p[k] - 0.1 * g[k] for k in p}, x[3:], y[3:])

    yield "grad", f.grad(outer)(p)

    def task(x, y):
        return f.grad(lambda p: loss({k: p[k] - 0.1 * g for (k, g) in f.grad(loss)(p, x, y).items()}, x, y))(p)["b1"]

    yield "tasks", f.vmap(task)(x, y)


@case("func.programs.ensemble")
def _(torch):
    p, x, y, net, loss = model(torch)
    f = torch.func
    stacked = {k: torch.stack([v, v * 2, -v]) for k, v in p.items()}
    yield "outputs", f.vmap(net, (0, None))(stacked, x)
    yield "grads", f.vmap(f.grad(loss), (0, None, None))(stacked, x, y)


@case("func.nesting")
def _(torch):
    f = torch.func
    one, three = torch.tensor(1.0), torch.tensor(3.0)
    yield "reverse", f.grad(lambda x: x * f.grad(lambda y: x * y)(one))(three)
    yield "forward", f.jvp(lambda x: x * f.jvp(lambda y: x * y, (one,), (one,))[1], (three,), (one,))
    yield "mixed", f.grad(lambda x: x * f.jvp(lambda y: x * y * y, (x,), (one,))[1])(three), f.jvp(lambda x: x * f.grad(lambda y: x * y * y)(x), (three,), (one,))
    x = data(torch)
    yield "maps", f.vmap(f.vmap(lambda a, b: (a * b).sum(), (None, 0)), (0, None))(x, x)
    yield "map in grad", f.grad(lambda w: f.vmap(lambda r: torch.sin(r * w).sum())(x).sum())(torch.ones(3))
    yield "grad in map in grad", f.grad(lambda w: f.vmap(f.grad(lambda r: torch.sin(r * w).sum()))(x).pow(2).sum())(torch.ones(3))
    yield "pull mapped", f.vmap(f.vjp(lambda t: f.vmap(torch.sin)(t) * t.sum(), x[0])[1])(torch.eye(3))
    t = x[0].clone().requires_grad_()
    yield "jacobian of map", torch.autograd.functional.jacobian(lambda a: f.vmap(torch.sin)(a) * a.sum(), t, vectorize=True)
    yield "batched twice", torch.autograd.functional.jacobian(
        lambda a: torch.autograd.functional.jacobian(lambda b: b**3 * b.sum(), a, create_graph=True, vectorize=True), t, vectorize=True)


@case("func.with_autograd")
def _(torch):
    f = torch.func
    x = data(torch).requires_grad_()
    g = f.grad(lambda a: (a**3).sum())(x)
    g.sum().backward()
    yield "through", g.detach(), g.requires_grad, x.grad
    with torch.no_grad():
        yield "no_grad outside", f.grad(lambda a: (a**3).sum())(x), f.vjp(lambda a: a**3, x)[0]
    z = data(torch)

    def inside(a):
        with torch.no_grad():
            b = a**2
        return (a * b).sum()

    yield "no_grad inside", f.grad(inside)(z)
    yield "plain", f.grad(lambda a: (a**3).sum())(z).requires_grad, f.vjp(lambda a: a**2, z)[0].requires_grad, f.jacrev(torch.sin)(z[0]).requires_grad
    w = torch.ones(3, requires_grad=True)
    h = f.grad(lambda a: (a * a * w).sum())(z)
    yield "captured", h.detach(), torch.autograd.grad(h.sum(), w)
    v = f.vmap(lambda a: (a * w).sum())(z)
    yield "captured by a map", v.detach(), torch.autograd.grad(v.sum(), w)
    y = (x * x).sum()
    yield "grad in vmap", f.vmap(lambda s: torch.autograd.grad(y, x, s, retain_graph=True)[0])(torch.tensor([1.0, 2.0]))
    yield "batched", torch.autograd.grad(w**3, w, torch.eye(3), is_grads_batched=True)


@case("func.vmap.values")
def _(torch):
    f, x = torch.func, data(torch)
    yield "dims", f.vmap(torch.sin, in_dims=1)(x), f.vmap(lambda a: a * 2, out_dims=1)(x), f.vmap(torch.dot, in_dims=(0, None))(x, x[0]), f.vmap(lambda a: a, in_dims=-1, out_dims=-1)(x)
    yield "nested inputs", f.vmap(lambda d, t: d["a"] + t[0] * t[1], in_dims=({"a": 0}, (0, None)))({"a": x}, (x, x[0]))
    yield "outputs", f.vmap(lambda a: (a, {"s": a.sum()}))(x), f.vmap(lambda a: (a, a.sum(), a), out_dims=(1, 0, 0))(x), f.vmap(lambda a: 3, out_dims=None)(x)
    yield "not mapped", f.vmap(lambda a: torch.ones(2))(x), f.vmap(lambda a, b: b, in_dims=(0, None))(x, x)
    yield "seen", f.vmap(lambda a: a * (len(a) + a.dim() + a.size(0) + a.numel() + a.stride(0)))(x)
    yield "functions", f.vmap(lambda a: torch.sort(a)[0])(x), f.vmap(lambda a: tuple(torch.topk(a, 2)))(x), f.vmap(lambda a: torch.where(a > 1, a, torch.zeros(())))(x)
    yield "index", f.vmap(lambda a, i: a[i])(x, torch.tensor([2, 0])), f.vmap(lambda a, i: a.index_select(0, i))(x, torch.tensor([[2, 0], [1, 1]]))
    yield "torch.vmap", torch.vmap(torch.sin)(x)


@case("func.vmap.inplace")
def _(torch):
    f, x = torch.func, data(torch)

    def shift(z):
        o = torch.zeros_like(z)
        o[1:] = z[:-1] * 2
        o += 1
        o[0] = z.sum()
        return o

    yield "map", f.vmap(shift)(x)
    yield "grad", f.grad(lambda z: (shift(z) ** 2).sum())(x[0]), f.vmap(f.grad(lambda z: (shift(z) ** 2).sum()))(x)
    yield "jvp", f.jvp(shift, (x[0],), (x[1],))
    y = x.clone()
    yield "argument", f.vmap(lambda a: a.add_(1))(y), y
    yield "not mapped", attempt(lambda: f.vmap(lambda a: torch.zeros(3).copy_(a))(x)), attempt(lambda: f.vmap(lambda a: torch.ones(3).add_(a))(x))


@case("func.vmap.data")
def _(torch):
    f, x = torch.func, data(torch)
    yield "item", attempt(lambda: f.vmap(lambda a: a.sum().item())(x)), attempt(lambda: f.vmap(lambda a: float(a.sum()))(x))
    yield "truth", attempt(lambda: f.vmap(lambda a: a if a.sum() > 1 else -a)(x))
    yield "list", attempt(lambda: f.vmap(lambda a: a.tolist())(x)), attempt(lambda: f.vmap(lambda a: a.numpy())(x))
    yield "shapes", attempt(lambda: f.vmap(lambda a: a.nonzero())(x)), attempt(lambda: f.vmap(lambda a: torch.unique(a))(x)), attempt(lambda: f.vmap(lambda a: a[a > 1])(x))
    seen = []
    f.vmap(lambda a: (seen.append(repr(a)), a)[1])(x)
    yield "printed", seen
    yield "under grad", f.grad(lambda z: z.sum() * 2 if z.sum() > 0 else z.sum())(x), f.grad(lambda z: z.sum() * z.sum().item())(x)


@case("func.vmap.random")
def _(torch):
    f, x = torch.func, data(torch)
    yield "error", attempt(lambda: f.vmap(lambda a: a + torch.rand(3))(x)), attempt(lambda: f.vmap(lambda a: torch.nn.functional.dropout(a))(x))
    for way in ("same", "different"):
        torch.manual_seed(3)
        yield way, f.vmap(lambda a: a + torch.rand(3), randomness=way)(x), f.vmap(lambda a: a + torch.randn(3), randomness=way)(x)
        yield f"dropout {way}", f.vmap(lambda a: torch.nn.functional.dropout(a, 0.5), randomness=way)(x)


@case("func.vmap.words")
def _(torch):
    f, x = torch.func, data(torch)
    v = f.vmap
    yield "no inputs", attempt(lambda: v(lambda: 1)())
    for dims in ("a", (0,), (None, None), (0, 3), (0, "x")):
        yield f"in_dims {dims}", attempt(lambda: v(torch.add, in_dims=dims)(x, x))
    yield "sizes", attempt(lambda: v(torch.add, in_dims=(0, 1))(x, x)), attempt(lambda: v(torch.add)(x, 3.0))
    for dims in ("a", (0, 1), 4, None):
        yield f"out_dims {dims}", attempt(lambda: v(torch.sin, out_dims=dims)(x))
    yield "structure", attempt(lambda: v(lambda a: (a, a), out_dims=(0, 1, 2))(x)), attempt(lambda: v(lambda a: 3)(x))
    yield "options", attempt(lambda: v(torch.sin, randomness="x")(x)), attempt(lambda: v(torch.sin, chunk_size=0)(x))


@case("func.grad.words")
def _(torch):
    g, x = torch.func.grad, data(torch)
    yield "result", attempt(lambda: g(lambda a: a)(x)), attempt(lambda: g(lambda a: 3)(x)), attempt(lambda: g(lambda a: a.sum(), has_aux=True)(x))
    for n in (3, (0, 0), (), "x"):
        yield f"argnums {n}", attempt(lambda: g(lambda a: a.sum(), argnums=n)(x))
    yield "inputs", attempt(lambda: g(lambda a: a.sum())(3.0)), attempt(lambda: g(lambda a: a.sum())(torch.ones(2, dtype=torch.long)))
    yield "constant", g(lambda a: torch.ones(()))(x)
    yield "structure", g(lambda d: (d["a"] * d["b"][0]).sum())({"a": x, "b": [x]}), g(lambda a, b: (a * b).sum(), argnums=(1, 0))(x, x * 2)
    yield "aux", g(lambda a: ((a**2).sum(), {"k": a * 2}), has_aux=True)(x), torch.func.grad_and_value(lambda a: ((a**2).sum(), a * 2), has_aux=True)(x)
    leaf = x.clone().requires_grad_()

    def backward(a):
        (a * a).sum().backward()
        return a.sum()

    yield "backward inside", attempt(lambda: g(backward)(leaf))
    yield "requires_grad_", attempt(lambda: g(lambda a: (a.requires_grad_() * 2).sum())(x)), attempt(lambda: torch.func.vmap(lambda a: a.requires_grad_() * 2)(x))


@case("func.vjp_jvp")
def _(torch):
    f, x, y = torch.func, data(torch), torch.ones(3)
    out, pull = f.vjp(lambda a: {"o": a * 2, "s": a.sum()}, x)
    yield "vjp", out, pull({"o": x, "s": torch.tensor(1.0)})
    yield "aux", f.vjp(lambda a: (a**2, a * 3), x, has_aux=True)[2], f.jvp(lambda a: (a**2, a * 3), (x,), (x,), has_aux=True)
    yield "vjp words", attempt(lambda: f.vjp(lambda a: 3, x)), attempt(lambda: f.vjp(lambda a: (a,), x)[1](x)), attempt(lambda: f.vjp(lambda a: a, x)[1](y)), attempt(lambda: f.vjp(lambda a: a > 0, x))
    yield "jvp", f.jvp(lambda a, b: a * b, (x, x), (x, y.expand(2, 3))), f.jvp(lambda a: torch.ones(2), (x,), (x,))
    yield "jvp words", attempt(lambda: f.jvp(lambda a: a, x, x)), attempt(lambda: f.jvp(lambda a: a, (x,), (x, x))), attempt(lambda: f.jvp(lambda a: a, (x,), (y,)))
    yield "more words", attempt(lambda: f.jvp(lambda a: 3, (x,), (x,))), attempt(lambda: f.jvp(lambda a: torch.ones(2), (x,), (x,), strict=True)), attempt(lambda: f.jvp(lambda a: a, (), ()))
    yield "jacobian words", attempt(lambda: f.jacrev(lambda a: 3)(x)), attempt(lambda: f.jacrev(torch.sin, argnums=1)(x)), attempt(lambda: f.jacrev(lambda a: a * 1j)(y))
    yield "chunk", attempt(lambda: f.jacrev(torch.sin, chunk_size=0)(y)), attempt(lambda: f.jacfwd(lambda a: a * 1j)(y))


def power(torch, *, rule=False, jvp=False, vmap=None, old=False):
    class Power(torch.autograd.Function):
        generate_vmap_rule = rule

        if old:
            @staticmethod
            def forward(ctx, a):
                ctx.save_for_backward(a)
                return a**2
        else:
            @staticmethod
            def forward(a):
                return a**2

            @staticmethod
            def setup_context(ctx, inputs, output):
                ctx.save_for_backward(*inputs)
                ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx, g):
            return g * 7 * ctx.saved_tensors[0]

    if jvp:
        Power.jvp = staticmethod(lambda ctx, t: t * 9 * ctx.saved_tensors[0])
    if vmap is not None:
        Power.vmap = staticmethod(vmap)
    return Power.apply


@case("func.function.rules")
def _(torch):
    f, x = torch.func, data(torch)
    old, new, gen = power(torch, old=True), power(torch), power(torch, rule=True)
    yield "old", attempt(lambda: f.grad(lambda a: old(a).sum())(x)), attempt(lambda: f.vmap(old)(x)), attempt(lambda: f.jvp(old, (x,), (x,)))
    yield "new", f.grad(lambda a: new(a).sum())(x), attempt(lambda: f.vmap(new)(x)), attempt(lambda: f.jvp(new, (x,), (x,)))
    yield "twice", f.grad(lambda b: f.grad(lambda a: new(a).sum())(b).sum())(x)
    yield "generated", f.vmap(gen)(x), f.vmap(f.grad(lambda a: gen(a).sum()))(x), f.grad(lambda a: f.vmap(gen)(a).sum())(x), f.jacrev(gen)(x[0])
    both = power(torch, rule=True, jvp=True)
    yield "jvp", f.jvp(both, (x,), (x,)), f.vmap(lambda a: f.jvp(both, (a,), (a,)))(x), f.jacfwd(both)(x[0]), f.hessian(lambda a: both(a).sum())(x[0])


@case("func.function.vmap")
def _(torch):
    f, x = torch.func, data(torch)
    seen = []

    def rule(info, in_dims, a):
        seen.append((info.batch_size, info.randomness, in_dims, list(a.shape)))
        return own(a), in_dims[0]

    own = power(torch, vmap=rule)
    yield "values", f.vmap(own)(x), f.vmap(f.grad(lambda a: own(a).sum()))(x), f.grad(lambda a: f.vmap(own)(a).sum())(x), seen
    yield "not mapped", f.vmap(lambda a: a + own(x[0]))(x), f.vmap(f.vmap(own))(x)
    yield "words", attempt(lambda: f.vmap(power(torch, vmap=lambda info, in_dims, a: a))(x))


@case("func.linearize")
def _(torch):
    x = data(torch)
    out, push = torch.func.linearize(torch.sin, x)
    yield "values", out, push(x), push(x * 2)


@case("func.linearize.stays")
def _(torch):
    calls = []
    x, w = data(torch), torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)

    def f(a):
        calls.append(1)
        return {"out": (a[:3] * w).sin() * a[:3], "sum": a.sum()}

    before = x.clone()
    out, push = torch.func.linearize(f, x)
    yield "called", len(calls), out["out"].requires_grad
    for i, t in enumerate((before, before * 2)):
        yield f"values {i}", {k: v.detach() for k, v in push(t).items()}, push(t)["out"].requires_grad, len(calls)
    with torch.no_grad():
        w.mul_(2)
    yield "what is captured was written", push(before)["out"].detach()
    x.mul_(3)
    yield "its point was written", push(before)["out"].detach()
    yield "mapped", torch.func.vmap(push)(torch.stack([before, before * 2]))["out"].detach()
    t = before.clone().requires_grad_()
    yield "differentiated", torch.autograd.grad(push(t)["sum"], t)
    with torch.no_grad():
        _, push = torch.func.linearize(lambda a: a**3, before)
        yield "under no_grad", push(before)
    yield "after it", push(before), push(t).requires_grad


@case("func.linearize.written")
def _(torch):
    def put(a):
        a[0] = 2.0
        return a * a

    x = data(torch)
    for name, f in (("in place", lambda a: a.add_(a * 2)), ("an element", put)):
        at = x.clone()
        out, push = torch.func.linearize(f, at)
        yield name, out, at, push(x), push(x * 2)


@case("func.linear_algebra")
def _(torch):
    f = torch.func
    x = torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64)
    eye = torch.eye(3, dtype=torch.float64)
    functions = {
        "svdvals": lambda a: torch.linalg.svdvals(torch.outer(a, a) + torch.diag(a)), "eigvalsh": lambda a: torch.linalg.eigvalsh(torch.outer(a, a) + torch.diag(a)),
        "inv": lambda a: torch.linalg.inv(torch.diag(a) + 1), "solve": lambda a: torch.linalg.solve(torch.outer(a, a) + eye, a),
        "cholesky": lambda a: torch.linalg.cholesky(torch.outer(a, a) + eye), "norm": lambda a: torch.linalg.matrix_norm(torch.outer(a, a) + torch.diag(a), 2),
    }
    for name, g in functions.items():
        yield name, f.jvp(g, (x,), (x * x,)), f.vmap(g)(torch.stack([x, x * 1.3])), f.vmap(f.grad(lambda a, g=g: g(a).sum()))(torch.stack([x, x * 1.3]))


@case("func.looked_inside")
def _(torch):
    f = torch.func
    x = torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64)

    def look(z):
        y = z.exp()
        return (y * z * z).sum() * y.sum().item()

    yield "order 2", f.jvp(f.grad(look), (x,), (x,)), f.grad(lambda z: f.grad(look)(z).sum())(x)

    def flush(z):
        y = z.exp() * 2
        k = (x * x).sum().item()
        return (y * y * z).sum() * k

    yield "flushed", f.vmap(f.grad(flush))(torch.stack([x, x * 2])), f.hessian(flush)(x), f.vmap(f.hessian(flush))(torch.stack([x, x * 2]))
    seen = []

    def hooked(z):
        y = z * 2
        y.register_hook(lambda g: seen.append(list(g.shape)) or g * 2)
        return (y * y).sum()

    yield "hooks", f.grad(hooked)(x), f.vmap(f.grad(hooked))(torch.stack([x, x])), seen


@case("func.rearranged")
def _(torch):
    rearrange = torch.func.rearrange
    x = torch.arange(12).view(3, 4)
    for pattern, sizes in (("a (b c) -> (a b) c", {"b": 2}), ("a (b c) -> c a b", {"c": 2}), ("a b -> a b 1", {}), ("... b -> b ...", {}), ("a b -> a", {}),
                           ("a b c -> a b c", {}), ("a (b c) -> a b c", {"b": 3}), ("a b", {}), ("a b -> () a b", {}), ("a b -> a b", {"c": 2}), ("a a -> a", {}),
                           ("a (d e) -> a d e", {}), ("a b -> (a b)", {})):
        yield pattern, attempt(lambda pattern=pattern, sizes=sizes: rearrange(x, pattern, **sizes))
    yield "stacked", rearrange([x, x + 1], "n a b -> a (n b)")
    yield "one dim", rearrange(x[None], "1 a b -> a b").shape, rearrange(x[None], "a ... -> (...) a").shape
    y = torch.ones(2, 2, requires_grad=True)
    yield "grad", torch.autograd.grad((rearrange(y, "a b -> b a") * torch.arange(4.0).view(2, 2)).sum(), y)


@case("func.unwrapped")
def _(torch):
    unwrap, seen = torch.func.debug_unwrap, []
    x = torch.arange(6.0).view(2, 3)
    torch.vmap(torch.vmap(lambda t: (seen.append((unwrap(t).shape, unwrap(t, recurse=False).shape)), t)[1]))(x)
    torch.func.grad(lambda t: (seen.append((unwrap(t), unwrap(t).requires_grad)), t.sum())[1])(x)
    torch.func.jvp(lambda t: (seen.append(unwrap(t)), t.sum())[1], (x,), (x,))
    yield "seen", seen
    yield "plain", unwrap(x) is x


@case("func.functionalized")
def _(torch):
    f = torch.func.functionalize(lambda t: t.clone().view(-1).add_(1).sum() * t.sum())
    x = torch.arange(4.0).view(2, 2)
    yield "value", f(x), torch.func.grad(f)(x), torch.vmap(f)(x)
    yield "views", torch.func.functionalize(lambda t: t.view(-1)[0], remove="mutations_and_views")(x)
    yield "refused", attempt(lambda: torch.func.functionalize(lambda t: t, remove="foo")(x))


@case("func.batch_norm_without_statistics")
def _(torch):
    net = torch.nn.Sequential(torch.nn.BatchNorm1d(2))
    same = torch.func.replace_all_batch_norm_modules_(net)
    yield "net", same is net, net[0].running_mean, net[0].track_running_stats
    yield "value", net.eval()(torch.tensor([[1.0, 2.0], [3.0, 6.0]]))


def sums(torch, answer):
    """A Function of a tensor, a number and a container of tensors, with a rule for vmap."""
    class Sums(torch.autograd.Function):
        @staticmethod
        def forward(x, s, ys):
            return x * s + sum(y for y in (ys.values() if isinstance(ys, dict) else ys))

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.scale = inputs[1]

        @staticmethod
        def backward(ctx, g):
            return g * ctx.scale, None, None

        @staticmethod
        def jvp(ctx, t, _, __):
            return t * 2

        @staticmethod
        def vmap(info, in_dims, x, s, ys):
            return answer(in_dims, x, s, ys)

    return Sums


@case("func.containers_in_functions")
def _(torch):
    x, seen = torch.arange(6.0).view(2, 3), []
    f = sums(torch, lambda dims, x, s, ys: (seen.append(dims), (f.apply(x, s, ys), 0))[1])
    yield "list", torch.vmap(lambda x: f.apply(x, 2.0, [x, x]))(x)
    yield "dict", torch.vmap(lambda x: f.apply(x, 2.0, {"a": x, "b": torch.ones(3)}))(x)
    yield "in a list only", torch.vmap(lambda x: f.apply(torch.zeros(3), 2.0, [x]))(x)
    yield "dims", seen
    yield "grad", torch.vmap(torch.func.grad(lambda x: f.apply(x, 2.0, [torch.ones(3)]).sum()))(x)
    yield "jvp", torch.func.jvp(lambda x: f.apply(x, 2.0, [torch.ones(3)]), (x[0],), (x[1],))


@case("func.answers_of_vmap_rules")
def _(torch):
    x = torch.arange(6.0).view(2, 3)
    for name, answer in (("two dims for one", lambda x: (x * 2, (0, 0))), ("one for two", lambda x: ((x * 2, x * 3), 0)), ("three", lambda x: ((x * 2, x * 3), (0, 0, 0))),
                         ("a tuple", lambda x: ((x * 2,), (0,))), ("too far", lambda x: (x * 2, 5)), ("a list", lambda x: ([x * 2, x * 3], [0, 0])),
                         ("no pair", lambda x: x * 2)):
        f = sums(torch, lambda dims, x, s, ys, answer=answer: answer(x))
        yield name, attempt(lambda f=f: torch.vmap(lambda x: f.apply(x, 2.0, [x]))(x))


@case("func.hooks_after_functions")
def _(torch):
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, n, y):
            return x * n * y

        @staticmethod
        def backward(ctx, g):
            return g * 6, None, None

    seen = []
    x = torch.ones(2, requires_grad=True)
    out = Scaled.apply(x, 2, torch.ones(2))
    out.grad_fn.register_hook(lambda gi, go: seen.append([None if g is None else g.tolist() for g in (*gi, *go)]))
    out.sum().backward()
    yield "seen", seen, x.grad
    out = Scaled.apply(x, 2, torch.ones(2))
    out.grad_fn.register_hook(lambda gi, go: (gi[0] * 2, None))
    yield "replaced", torch.autograd.grad(out.sum(), x)


@case("func.grad.leaves_made_inside")
def _(torch):
    x = torch.tensor([1.0, 2.0, 3.0])
    for name, make in (("ones", lambda: torch.ones(3, requires_grad=True)), ("tensor", lambda: torch.tensor([1.0, 2.0, 3.0], requires_grad=True)),
                       ("parameter", lambda: torch.nn.Parameter(torch.ones(3)))):
        seen = []

        def f(x, make=make, seen=seen):
            y = make()
            seen.append((y.requires_grad, y.is_leaf))
            return (x * y).sum(), y * 2

        (g, aux), value = torch.func.grad(f, has_aux=True)(x), torch.func.grad_and_value(lambda x, f=f: f(x)[0])(x)[1]
        yield name, seen, g, g.requires_grad, aux.requires_grad, aux.is_leaf, value.requires_grad


@case("func.vmap.writes_to_captured")
def _(torch):
    x = torch.ones(3, 4)
    for name, f in (("add", lambda c, v: c.add_(v)), ("sub", lambda c, v: c.sub_(v)), ("div", lambda c, v: c.div_(v, rounding_mode="floor")),
                    ("atan2", lambda c, v: c.atan2_(v)), ("lerp", lambda c, v: c.lerp_(v, 0.5)), ("addcmul", lambda c, v: c.addcmul_(v, v))):
        for shape in ((4,), (), (1,)):
            yield f"{name} {shape}", attempt(lambda f=f, shape=shape: torch.vmap(lambda v: f(torch.ones(shape), v))(x))


@case("func.functorch")
def _(torch):
    made = import_module(f"{torch.__name__}._functorch.make_functional")
    torch.manual_seed(0)
    net = torch.nn.Linear(2, 2)
    f, params = made.make_functional(net)
    yield "call", f(params, torch.ones(1, 2)), [p.requires_grad for p in params], type(f).__name__
    f, params, buffers = made.make_functional_with_buffers(torch.nn.BatchNorm1d(2), disable_autograd_tracking=True)
    yield "buffers", f(params, buffers, torch.tensor([[1.0, 2.0], [3.0, 5.0]])), [p.requires_grad for p in params], len(buffers)
    f, params, buffers = made.combine_state_for_ensemble([torch.nn.Linear(2, 1) for _ in range(3)])
    yield "ensemble", torch.vmap(f, in_dims=(0, 0, None))(params, buffers, torch.ones(4, 2)), [p.shape for p in params]
    for models in ([], [torch.nn.Linear(1, 1), torch.nn.Linear(1, 1).eval()], [torch.nn.Linear(1, 1), torch.nn.ReLU()]):
        yield f"refused {len(models)} {len({m.training for m in models})}", attempt(lambda models=models: made.combine_state_for_ensemble(models))
    reshape = import_module(f"{torch.__name__}._C")._functorch
    x = torch.arange(24.0).reshape(2, 3, 4)
    yield "into", [reshape.reshape_dim_into(s, d, x) for s, d in ((0, 0), (1, 0), (2, 1), (-1, -1))]
    yield "out of", [reshape.reshape_dim_outof(s, n, x) for s, n in ((0, 2), (2, 2), (-1, 4))]
    mapped = import_module(f"{torch.__name__}._functorch.vmap")
    yield "restored", mapped.restore_vmap(lambda a, b: (a * b, b), (1, None), 3, "error")(torch.ones(2, 3), torch.ones(2))
    yield "sizes", mapped.get_chunk_sizes(7, 3), mapped.get_chunk_sizes(6, 3)
    eager = import_module(f"{torch.__name__}._functorch.eager_transforms")
    yield "slices", eager._slice_argnums((1, 2, 3), (0, 2)), eager._slice_argnums((1, 2, 3), 1), eager._slice_argnums((1, 2, 3), 1, as_tuple=False)


@case("func.printed")
def _(torch):
    f, x, said = torch.func, torch.tensor([1.0, 2.0]), []

    def show(t):
        said.append(repr(t))
        return t

    z = torch.ones(2, requires_grad=True)
    f.grad(lambda x: (show(x), show(x * 2), x.sum())[-1])(x)
    yield "grad", list(said)
    f.grad(lambda x: f.grad(lambda y: (show(y), show(x), show(x * y), (x * y).sum())[-1])(x).sum())(x)
    yield "nested", said[2:]
    said.clear()
    f.vmap(f.grad(lambda x: (show(x), x.sum())[-1]))(x[None])
    f.grad(lambda x: f.vmap(lambda y: show(y))(x).sum())(x)
    yield "maps", list(said)
    said.clear()
    f.jvp(lambda x: show(show(x) * 2), (x,), (x,))
    f.jacrev(lambda x: show(x))(x)
    f.vjp(lambda x: show(x * 3), x)
    yield "others", list(said)
    said.clear()
    f.grad(lambda x: (show(z), show(z * x), (z * x).sum())[-1])(x)
    f.grad(lambda x: (show(x), x.sum())[-1])(z)
    yield "captured", list(said)


@case("func.linearize.refused")
def _(torch):
    x = torch.tensor([1.0, 2.0])
    _, f = torch.func.linearize(torch.sin, x)
    yield "two", attempt(lambda: f(x, x))
    yield "shape", attempt(lambda: f(torch.ones(3)))
    yield "dtype", attempt(lambda: f(x.double()))
    yield "structure", attempt(lambda: f({"a": x}))
    yield "fewer", attempt(lambda: torch.func.linearize(lambda a, b: a * b, x, x)[1](x))
    yield "integers", attempt(lambda: torch.func.linearize(torch.sin, x.int()))
