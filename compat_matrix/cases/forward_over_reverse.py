"""Backward passes inside of a level of torch.autograd.forward_ad: from primals that were unpacked there, through custom Functions, into `.grad`."""

import importlib

from compat_matrix.case import attempt, case


def point(torch):
    return torch.tensor([0.5, 1.5, 0.7], dtype=torch.float64), torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)


def parts(torch, t):
    return [None if p is None else p.detach() for p in torch.autograd.forward_ad.unpack_dual(t)]


def functions(torch):
    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x.exp()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output)
            ctx.save_for_forward(output)

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

        @staticmethod
        def jvp(ctx, t):
            return t * ctx.saved_tensors[0]

    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y, k):
            ctx.save_for_backward(x, y)
            ctx.save_for_forward(x, y)
            return x * y, (x * y).sum() * k

        @staticmethod
        def backward(ctx, g, h):
            x, y = ctx.saved_tensors
            return (g + 2 * h) * y, (g + 2 * h) * x, None

        @staticmethod
        def jvp(ctx, s, t, _):
            x, y = ctx.saved_tensors
            return s * y + x * t, (s * y + x * t).sum() * 2

    class Seen(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view(1, -1)

        @staticmethod
        def backward(ctx, g):
            return g.view(-1)

        @staticmethod
        def jvp(ctx, t):
            return t.view(1, -1)

    return {"exp": Exp.apply, "exp of exp": lambda a: Exp.apply(Exp.apply(a.sin())) * a, "two results": lambda a: sum(Product.apply(a, a.sin(), 2)),
            "one of two": lambda a: Product.apply(a * a, torch.ones(3, dtype=a.dtype), 2)[0] ** 2, "view": lambda a: Seen.apply(a * a) * a}


@case("forward_over_reverse.unpacked primals")
def _(torch):
    fw = torch.autograd.forward_ad
    for graph in (False, True):
        with fw.dual_level():
            x, v = point(torch)
            x.requires_grad_()
            d = fw.make_dual(x, v)
            o = (d.sin() * d).exp()
            p = fw.unpack_dual(o).primal
            for name, loss in (("primal", p), ("square", p**2), ("beside the dual", o * p)):
                for end in (x, d, o):
                    yield f"{name}, {'x' if end is x else 'd' if end is d else 'o'}, {graph}", parts(torch, torch.autograd.grad(loss.sum(), end, retain_graph=True, create_graph=graph)[0])
            yield f"tangent, {graph}", torch.autograd.grad(fw.unpack_dual(o).tangent.sum(), x, retain_graph=True)[0].sum() != 0


@case("forward_over_reverse.accumulated")
def _(torch):
    """A first gradient comes without its tangent, a second brings its own, unless there is a graph."""
    fw = torch.autograd.forward_ad
    for graph in (False, True):
        for name, loss in (("dual", torch.sum), ("primal", lambda o: fw.unpack_dual(o).primal.sum())):
            with fw.dual_level():
                x, v = point(torch)
                x.requires_grad_()
                d = fw.make_dual(x, v)
                loss(d.exp() * d).backward(create_graph=graph)
                yield f"{name}, first, {graph}", parts(torch, x.grad)
                loss((d * 3).sin()).backward(create_graph=graph)
                yield f"{name}, second, {graph}", parts(torch, x.grad)
            yield f"{name}, after, {graph}", x.grad.detach()


@case("forward_over_reverse.custom Functions")
def _(torch):
    """What their nodes saved has tangents, and leads to the dual tensors."""
    fw = torch.autograd.forward_ad
    for name, f in functions(torch).items():
        for graph in (False, True):
            with fw.dual_level():
                x, v = point(torch)
                x.requires_grad_()
                d = fw.make_dual(x, v)
                o = f(d)
                for end in ("x", "d"):
                    g, = torch.autograd.grad(o.sum(), x if end == "x" else d, retain_graph=True, create_graph=graph)
                    yield f"{name}, {end}, {graph}", parts(torch, g)
                    if graph and g.requires_grad:
                        yield f"{name}, {end}, twice", parts(torch, torch.autograd.grad(g.sum(), x, retain_graph=True)[0])
                p, t = fw.unpack_dual(o)
                yield f"{name}, primal, {graph}", parts(torch, torch.autograd.grad(p.sum(), x, retain_graph=True)[0])
                yield f"{name}, tangent, {graph}", torch.autograd.grad(t.sum(), x, retain_graph=True)[0].detach()
            yield f"{name}, after, {graph}", torch.autograd.grad(o.sum(), x)[0]
        with fw.dual_level():
            d = fw.make_dual(*point(torch)).requires_grad_()
            yield f"{name}, a dual leaf", parts(torch, torch.autograd.grad(f(d).sum(), d)[0])


@case("forward_over_reverse.checked")
def _(torch):
    for name, f in functions(torch).items():
        x = point(torch)[0].requires_grad_()
        yield name, attempt(lambda f=f, x=x: torch.autograd.gradcheck(f, (x,), check_forward_ad=True)), attempt(lambda f=f, x=x: torch.autograd.gradgradcheck(f, (x,), check_fwd_over_rev=True))


@case("forward_over_reverse.columns at once")
def _(torch):
    """Jacobians and Hessians by forward mode map over tangents in the older way: custom Functions run on plain primals, whatever they say of maps."""
    functional, (x, _v) = torch.autograd.functional, point(torch)
    at_once = {"vectorize": True, "strategy": "forward-mode"}
    for name, f in list(functions(torch).items())[:-1]:
        yield f"{name}: jacobian", functional.jacobian(f, x, **at_once)
        yield f"{name}: hessian", functional.hessian(lambda a, f=f: f(a * a).sum(), x, vectorize=True, outer_jacobian_strategy="forward-mode").detach()

    class Attributes(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.x, ctx.y = x, x.exp()
            return ctx.y

        @staticmethod
        def backward(ctx, g):
            return g * ctx.y + 0 * ctx.x

        @staticmethod
        def jvp(ctx, t):
            return t * ctx.y

    yield "attributes of the context", functional.hessian(lambda a: Attributes.apply(a * a).sum(), x, vectorize=True, outer_jacobian_strategy="forward-mode").detach()
    yield "random", attempt(lambda: functional.jacobian(lambda a: a * torch.rand(3), x, **at_once))
    yield "gradients inside", attempt(lambda: functional.jacobian(lambda a: torch.autograd.grad((a.requires_grad_() ** 3).sum(), a)[0], x, **at_once))
    yield "backward inside", attempt(lambda: functional.jacobian(lambda a: (a.requires_grad_() ** 3).sum().backward(), x, **at_once))
    yield "forward mode inside", attempt(lambda: functional.jacobian(lambda a: torch.func.jvp(torch.sin, (a,), (x,))[1], x, **at_once))


@case("forward_over_reverse.packed")
def _(torch):
    """What hooks packed is read in the level too, also by a second run of what is checkpointed."""
    fw, checkpoint = torch.autograd.forward_ad, importlib.import_module(f"{torch.__name__}.utils.checkpoint").checkpoint

    def packed(f, a):
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            return f(a)

    functions = {"sin": torch.sin, "square": lambda a: a * a, "exp": torch.exp, "view": lambda a: a.view(3, 1).tanh(), "sum": lambda a: (a * a.sum()).cos()}
    for name, f in functions.items():
        for how, run in (("hooks", packed), ("checkpoint", lambda f, a: checkpoint(f, a, use_reentrant=False))):
            with fw.dual_level():
                x, v = point(torch)
                x.requires_grad_()
                o = run(f, fw.make_dual(x, v) * 1)
                yield f"{name}, {how}", [p.detach() for p in torch.autograd.grad((o * o).sum(), x, retain_graph=how == "hooks")]
                if how == "hooks":
                    yield f"{name}, tangents", parts(torch, torch.autograd.grad((o * o).sum(), x)[0])


@case("forward_over_reverse.written without gradients")
def _(torch):
    """A write under no_grad leaves the history of the leaf behind a dual tensor; a leaf that is dual itself is not written by a Function."""
    fw = torch.autograd.forward_ad
    writes = {"add": lambda d: d.add_(1), "product": lambda d: d.mul_(2), "part": lambda d: d.__setitem__(0, 5.0), "view": lambda d: d.view(3, 1).add_(1)}
    for name, write in writes.items():
        with fw.dual_level():
            x, v = point(torch)
            x.requires_grad_()
            d = fw.make_dual(x, v)
            seen = d.view(3, 1)
            with torch.no_grad():
                write(d)
            yield name, x.is_leaf, x.grad_fn is None, d.detach(), x.detach()
            yield f"{name}, gradients", [parts(torch, torch.autograd.grad((t * t).sum(), x)[0]) for t in (d, seen, d * 3)]

    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, g):
            return g * 2

        @staticmethod
        def jvp(ctx, t):
            return t.mul_(2)

    with fw.dual_level():
        x, v = point(torch)
        yield "of a leaf", attempt(lambda: Doubled.apply(fw.make_dual(x.requires_grad_(), v.clone())))
        yield "dual leaf", attempt(lambda: Doubled.apply(fw.make_dual(x.detach(), v.clone()).requires_grad_()))
        yield "computed", parts(torch, Doubled.apply(fw.make_dual(x, v.clone()) * 1))


@case("forward_over_reverse.through what was unpacked")
def _(torch):
    """A primal leads to the very tensor that was unpacked: to a dual tensor, a dual leaf, a view of them."""
    fw = torch.autograd.forward_ad
    for kind in ("of a leaf", "leaf", "computed"):
        with fw.dual_level():
            x, v = point(torch)
            d = fw.make_dual(x, v).requires_grad_() if kind == "leaf" else fw.make_dual(x.requires_grad_() * (2 if kind == "computed" else 1), v)
            if kind == "of a leaf":
                d = fw.make_dual(x, v)
            ts, seen = {"dual": d, "sin": d.sin(), "view": d[1:]}, []
            ts["part"] = ts["sin"][:1]
            for name, t in ts.items():
                t.register_hook(lambda g, name=name: seen.append((name, parts(torch, g))))
            for name, t in ts.items():
                p = fw.unpack_dual(t).primal
                yield f"{kind}, {name}", p.requires_grad
                for end, e in ts.items():
                    for what, loss in (("primal", (p * p).sum()), ("both", (p * p * t).sum())):
                        g, = torch.autograd.grad(loss, e, retain_graph=True, allow_unused=True)
                        yield f"{kind}, {name}, {end}, {what}", None if g is None else parts(torch, g), list(seen)
                        seen.clear()


@case("forward_over_reverse.after the level")
def _(torch):
    """Passes from what a level computed, when that has ended: to leaves, dual tensors and what lies between, with hooks; dual leaves are leaves still."""
    fw = torch.autograd.forward_ad
    hooks = {"none": None, "twice": lambda g: g * 2, "other": lambda g: torch.tensor([1.0, 2.0, 3.0], dtype=g.dtype), "written": lambda g: g.mul_(2).sum().isnan().item() or None}
    for kind in ("of a leaf", "leaf", "computed"):
        for name, hook in hooks.items():
            with fw.dual_level():
                x, v = point(torch)
                d = fw.make_dual(x, v).requires_grad_() if kind == "leaf" else fw.make_dual(x.requires_grad_() * (2 if kind == "computed" else 1), v)
                if kind == "of a leaf":
                    d = fw.make_dual(x, v)
                m = d.sin()
                total, u = (m * m * d).sum(), m.exp()
                p, t = fw.unpack_dual(u)
            yield f"{kind}, {name}, flags", d.requires_grad, d.is_leaf, m.is_leaf, total.requires_grad
            end = d if kind == "leaf" else x
            yield f"{kind}, {name}, tangent", torch.autograd.grad(t.sum(), end, retain_graph=True)[0]
            if hook:
                m.register_hook(hook)
                d.register_hook(hook)
            m.retain_grad()
            ones = torch.ones_like(u)
            for graph in (False, True):
                yield f"{kind}, {name}, scalar, {graph}", [g.detach() for g in torch.autograd.grad(total, [end, d, m], retain_graph=True, create_graph=graph)]
                yield f"{kind}, {name}, vector, {graph}", [g.detach() for g in torch.autograd.grad(u, [end, m, u], ones, retain_graph=True, create_graph=graph)]
                roots = [p, u.sum(), d.sum()]
                yield f"{kind}, {name}, roots, {graph}", [g.detach() for g in torch.autograd.grad(roots, [end, m, d], [ones, None, None], retain_graph=True, create_graph=graph)]
            g, = torch.autograd.grad(total, end, create_graph=True)
            yield f"{kind}, {name}, twice", g.requires_grad and torch.autograd.grad((g * g).sum(), end, retain_graph=True)[0]
            total.backward(retain_graph=True)
            yield f"{kind}, {name}, .grad", end.grad.clone(), m.grad.detach()
            (total + (d * m).sum()).backward()
            yield f"{kind}, {name}, .grad again", end.grad, m.grad.detach()


@case("forward_over_reverse.by results")
def _(torch):
    """Gradients of gradients by the result that torch's formula reads, beside those by what it was computed from: in a level, with and without tangents."""
    fw = torch.autograd.forward_ad
    functions = {
        "tanh": torch.tanh, "exp": torch.exp, "sigmoid": torch.sigmoid, "softmax": lambda a: torch.softmax(a, -1), "sqrt": lambda a: (a * a + 1).sqrt(),
        "norm": lambda a: a.norm(2, keepdim=True), "reciprocal": torch.reciprocal, "prod": lambda a: a.prod(0, keepdim=True), "pow": lambda a: 2**a,
        "inverse": lambda a: torch.linalg.inv(torch.diag(a)), "standard deviation": lambda a: a.std(0, keepdim=True), "written": lambda a: (a * 1).exp_()}
    for kind in ("dual", "plain"):
        for name, f in functions.items():
            with fw.dual_level():
                x, v = point(torch)
                x.requires_grad_()
                d = fw.make_dual(x, v) if kind == "dual" else x * 1
                y = f(d)
                for what, loss in (("sum", y.sum()), ("squares", (y * y).sum())):
                    g, = torch.autograd.grad(loss, d, create_graph=True)
                    yield f"{kind}, {name}, {what}", [parts(torch, t) for t in torch.autograd.grad((g * g).sum(), [x, d, y], retain_graph=True)]


@case("forward_over_reverse.dual leaves written beside")
def _(torch):
    """A dual leaf stays a leaf when what shows its memory is written; a primal may be given a tangent as a tensor of its own."""
    fw = torch.autograd.forward_ad
    writes = {"detached": lambda d, a: d.detach().sin_(), "source": lambda d, a: a.mul_(3), "primal": lambda d, a: fw.unpack_dual(d).primal.detach().mul_(2),
              "tangent": lambda d, a: fw.unpack_dual(d).tangent.mul_(2), "without gradients": lambda d, a: torch.no_grad()(lambda: d.mul_(2))(),
              "dual": lambda d, a: a.copy_(fw.make_dual(a * 2, a))}
    for name, write in writes.items():
        with fw.dual_level():
            a, v = point(torch)
            d = fw.make_dual(a, v).requires_grad_()
            before = d.exp()
            write(d, a)
            yield name, d.requires_grad, d.is_leaf, parts(torch, d)
            yield f"{name}, gradients", [parts(torch, torch.autograd.grad(t.sum(), d, retain_graph=True)[0]) for t in (d * d, d.exp(), before)]
        yield f"{name}, after", d.requires_grad, d.is_leaf, torch.autograd.grad((d * d).sum(), d)[0]


@case("forward_over_reverse.transformations of Functions inside")
def _(torch):
    fw, f = torch.autograd.forward_ad, torch.func
    x, t = point(torch)

    class Kept(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x.exp()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output)
            ctx.save_for_forward(output)

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0] * 1.5

        @staticmethod
        def jvp(ctx, t):
            return t * ctx.saved_tensors[0] * 1.5

    class Ruled(Kept):
        generate_vmap_rule = False

        @staticmethod
        def vmap(info, in_dims, x):
            return Ruled.apply(x), in_dims[0]

    for cls in (Kept, Ruled):
        inside = {
            "grad": f.grad(lambda y: cls.apply(y).sum()),
            "vjp": lambda y: f.vjp(cls.apply, y)[1](torch.ones_like(y))[0],
            "grad of grad": f.grad(lambda y: f.grad(lambda z: cls.apply(z).sum())(y).sum()),
            "vmap": f.vmap(cls.apply),
            "vmap of grad": f.vmap(f.grad(cls.apply)),
        }
        for name, g in inside.items():
            for leaf in ("primal", "dual"):
                a = x.clone().requires_grad_(leaf == "primal")
                with fw.dual_level():
                    d = fw.make_dual(a, t).requires_grad_()
                    out = g(d)
                    yield f"{cls.__name__} {name}, {leaf}: value", parts(torch, out)
                    (once,) = torch.autograd.grad(out.sum(), a if leaf == "primal" else d, create_graph=True)
                    yield f"{cls.__name__} {name}, {leaf}: gradient", parts(torch, once)
                    (twice,) = torch.autograd.grad(once.sum(), a if leaf == "primal" else d)
                    yield f"{cls.__name__} {name}, {leaf}: gradient of it", parts(torch, twice)
            yield f"{cls.__name__} {name}: hessian", torch.autograd.functional.hessian(
                lambda y: g(y).sum(), x, vectorize=True, outer_jacobian_strategy="forward-mode")


@case("forward_over_reverse.buffers filled by Functions")
def _(torch):
    f = torch.func
    x, _ = point(torch)

    class Mapped(torch.autograd.Function):
        @staticmethod
        def forward(x, k):
            return x.sin() * k, x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(inputs[0])
            ctx.save_for_forward(inputs[0])
            ctx.k = inputs[1]

        @staticmethod
        def backward(ctx, g, h):
            return g * ctx.saved_tensors[0].cos() * ctx.k + 2 * h, None

        @staticmethod
        def jvp(ctx, t, _):
            return t * ctx.saved_tensors[0].cos() * ctx.k, t * 2

        @staticmethod
        def vmap(info, in_dims, x, k):
            return Mapped.apply(x, k), (in_dims[0], in_dims[0])

    def copied(y):
        out = torch.zeros_like(x)
        out.copy_(Mapped.apply(y, 2.0)[0])
        out[1:] *= y[1:]
        return out

    def by_element(y):
        out, (a, b) = torch.empty_like(x), Mapped.apply(y, 3.0)
        for i in range(3):
            out[i] = a[i] * b[2 - i]
        return out

    for name, g in (("copied", copied), ("by element", by_element)):
        yield f"{name}: hessian", f.hessian(lambda y: g(y).sum())(x)
        yield f"{name}: jacfwd of jacrev", f.jacfwd(f.jacrev(g))(x)
        yield f"{name}: jacfwd of vjp", f.jacfwd(lambda y: f.vjp(g, y)[1](y)[0])(x)
        yield f"{name}: refused", attempt(lambda: f.vmap(f.grad(lambda y: g(y).sum()))(torch.stack([x, x])))


@case("forward_over_reverse.beside what a dual level left")
def _(torch):
    x, t = point(torch)
    w = torch.tensor([0.3, 0.9, -0.4], dtype=torch.float64, requires_grad=True)

    def product(y):
        return torch.autograd.functional.hvp(lambda y: f(y).sum(), y, t, create_graph=True)[1]

    def f(y):
        return torch.func.jvp(torch.func.grad(lambda z: ((z * w).sigmoid().tanh() * z.detach()).sum()), (y,), (w,))[1]

    held = []
    for i in range(3):
        out = product(x) + x
        yield f"product {i}", out.detach()
        yield f"gradient {i}", *torch.autograd.grad(out.sum(), w)
        a = x.clone().requires_grad_()
        with torch.autograd.forward_ad.dual_level():
            out = (torch.autograd.forward_ad.make_dual(a, t).sin() * w).exp()
            held.append((out, torch.autograd.forward_ad.unpack_dual(out)))
        yield f"left {i}", out.detach()
