"""Graphs that lead into transformations: hooks inside of them, passes after they have ended, passes of others through them."""

import importlib
import threading

from compat_matrix.case import attempt, case

HOOKS = {
    "tensor": lambda x, y: y.register_hook(lambda g: g * 3),
    "node": lambda x, y: y.grad_fn.register_hook(lambda gi, go: tuple(t if t is None else t * 3 for t in gi)),
    "before the node": lambda x, y: y.grad_fn.register_prehook(lambda go: tuple(t * 3 for t in go)),
    "argument": lambda x, y: x.register_hook(lambda g: g * 3),
    "retained": lambda x, y: y.retain_grad(),
}


def _forward_ad(torch):
    return importlib.import_module(f"{torch.__name__}.autograd.forward_ad")


@case("graphs_of_levels.hooks_inside")
def _(torch):
    """A hook inside of a transformation changes gradients of that one alone."""
    func = torch.func
    x = torch.tensor([0.5, -0.3, 0.8], dtype=torch.float64)
    for name, hook in HOOKS.items():
        def f(x, hook=hook):
            y = x * x
            hook(x, y)
            return (y * y).sin().sum()

        def pulled_back_later(f=f):
            leaf = x.clone().requires_grad_()
            value, pull = func.vjp(f, leaf)
            first, = pull(torch.ones((), dtype=torch.float64))
            return first, torch.autograd.grad(value, leaf, retain_graph=True), torch.autograd.grad(first.sum(), leaf)

        def around(transformed):
            leaf = x.clone().requires_grad_()
            return torch.autograd.grad(transformed(leaf).sum(), leaf)

        ways = {
            "once": lambda: func.grad(f)(x), "twice": lambda: func.grad(lambda x: func.grad(f)(x).sum())(x), "hessian": lambda: func.hessian(f)(x),
            "vjp of grad": lambda: func.vjp(func.grad(f), x)[1](x), "jacrev of grad": lambda: func.jacrev(func.grad(f))(x), "later": pulled_back_later,
            "backward of grad": lambda: around(func.grad(f)), "in jvp": lambda: around(lambda x: func.jvp(f, (x,), (x,))[1]),
            "in vmap": lambda: around(lambda x: func.vmap(f)(torch.stack([x, x]))),
            "grad of vmap of grad": lambda: func.grad(lambda x: func.vmap(func.grad(f))(torch.stack([x, x])).sum())(x),
        }
        for way, run in ways.items():
            yield f"{name}, {way}", attempt(run)


@case("graphs_of_levels.primals_after_the_level")
def _(torch):
    """A pass after a dual level has ended reads primals alone: what has no second derivative, and what leads to tangents, is no part of it."""
    fw = _forward_ad(torch)
    x, t = torch.tensor([3.0, 4.0, 0.0], dtype=torch.float64, requires_grad=True), torch.ones(3, dtype=torch.float64, requires_grad=True)
    with fw.dual_level():
        d = fw.make_dual(x, t)
        made = {"distance": torch.dist(d, d * 1), "root": (d * d).sqrt().sum(), "norm": (d.norm() * d).sum(), "largest": (d.max() * d.sin()).sum()}
        watched = made["largest"] * 2
        seen = []
        watched.register_hook(lambda g: seen.append(g))
        exp = watched.exp()
        parts = fw.unpack_dual(made["largest"])
    for name, y in made.items():
        yield name, torch.autograd.grad(y, [x, t, d], allow_unused=True, retain_graph=True)
    yield "through a hook", torch.autograd.grad(exp, [x, watched], retain_graph=True)
    yield "seen", seen
    yield "parts", [torch.autograd.grad(p, [x, t], allow_unused=True, retain_graph=True) for p in parts]
    g, = torch.autograd.grad(made["largest"], x, create_graph=True)
    yield "twice", torch.autograd.grad(g.sum(), [x, t], allow_unused=True, retain_graph=True)
    made["largest"].backward(retain_graph=True)
    yield "accumulated", (x.grad, t.grad)
    yield "batched", torch.autograd.grad(watched, x, torch.ones(2, dtype=torch.float64), is_grads_batched=True, retain_graph=True)


@case("graphs_of_levels.others_through_an_ended_one")
def _(torch):
    """A level that is called as an ended one of which there is a graph: tangents of gradients are of the running one."""
    fw, func = _forward_ad(torch), torch.func
    x, t = torch.tensor([3.0, 4.0, 1.0], dtype=torch.float64, requires_grad=True), torch.ones(3, dtype=torch.float64)

    def pair(g):
        return None if g is None else tuple(fw.unpack_dual(g))

    with fw.dual_level():
        d = fw.make_dual(x, t)
        m = d.sin() * d
    with fw.dual_level():
        r = (fw.make_dual(x, t * 2) * m).sum()
        yield "of both", [pair(g) for g in torch.autograd.grad(r, [x, m], retain_graph=True)]
        yield "of the ended one", [pair(g) for g in torch.autograd.grad(m, x, fw.make_dual(t, t), retain_graph=True)]
    yield "outside", torch.autograd.grad(r, [x, m], retain_graph=True)
    yield "mapped", func.vmap(lambda v: torch.autograd.grad(m, x, v, retain_graph=True)[0])(torch.eye(3, dtype=torch.float64))
    yield "jvp", func.jvp(lambda v: torch.autograd.grad(m, x, v, retain_graph=True)[0], (t,), (t,))
    _, q = func.jvp(lambda v: v.sin() * v * x, (x,), (t,))
    yield "jvp through a jvp", func.jvp(lambda v: torch.autograd.grad(q, x, v, retain_graph=True)[0], (t,), (t,))
    yield "jacfwd through a jvp", func.jacfwd(lambda v: torch.autograd.grad(q, x, v, retain_graph=True)[0] + 0.0)(t)
    o = func.vmap(lambda v: v.sin() * v * x)(torch.eye(3, dtype=torch.float64))
    with fw.dual_level():
        e = fw.make_dual(t, t)
        yield "through a map", [pair(g) for g in torch.autograd.grad((o * e * o).sum(), x, retain_graph=True)]


@case("graphs_of_levels.tangents_unpacked_inside")
def _(torch):
    """A pass inside a dual level from a dual tensor that was computed from a tangent unpacked there."""
    fw = _forward_ad(torch)
    w = torch.tensor([0.3, -0.7, 0.5], dtype=torch.float64, requires_grad=True)
    t = torch.tensor([0.1, 0.9, 0.4], dtype=torch.float64, requires_grad=True)

    def losses(d):
        u = (w * d).tanh() * w
        ut = fw.unpack_dual(u).tangent
        loss = (ut + u * ut.sin() + (u * 2) ** 2).sum()
        k = (loss * w).exp()
        return {"once": loss, "again": (fw.unpack_dual(k).tangent * u + k).sum(), "tangent": ut.sum()}

    for name in ("once", "again", "tangent"):
        with fw.dual_level():
            loss = losses(fw.make_dual(t, torch.ones_like(t)))[name]
            found = torch.autograd.grad(loss, [w, t], retain_graph=True)
            yield f"{name}: gradients", [fw.unpack_dual(g).primal for g in found]
            yield f"{name}: tangents", [fw.unpack_dual(g).tangent for g in found]
            loss.backward(retain_graph=True)
            yield f"{name}: accumulated", [fw.unpack_dual(x.grad).primal for x in (w, t)]
            w.grad = t.grad = None
            loss.backward()
            yield f"{name}: let go of", attempt(loss.backward)
        yield f"{name}: outside", (w.grad, t.grad)
        w.grad = t.grad = None
    p, x = torch.tensor([0.5, -1.0], dtype=torch.float64, requires_grad=True), torch.linspace(0, 1, 5, dtype=torch.float64)
    for step in range(3):
        with fw.dual_level():
            u = (p[0] * fw.make_dual(x, torch.ones_like(x)) + p[1]).tanh()
            loss = ((fw.unpack_dual(u).tangent - u) ** 2).mean() + (u[0] - 1) ** 2
            loss.backward()
        with torch.no_grad():
            p -= 0.1 * p.grad
        yield f"step {step}", (loss, p.grad)
        p.grad = None


@case("graphs_of_levels.computed_with_tangents_off")
def _(torch):
    """Gradients of what was computed without tangents have some: what was saved does."""
    fw = _forward_ad(torch)
    x, v = torch.tensor([0.3, -0.7], dtype=torch.float64, requires_grad=True), torch.tensor([1.0, 2.0], dtype=torch.float64)
    bodies = {"product": lambda d: d * d, "lerp": lambda d: torch.lerp(d, x, d), "sin": lambda d: d.sin(), "chain": lambda d: (d * d).exp()}
    for name, body in bodies.items():
        with fw.dual_level():
            d = fw.make_dual(x, v)
            with fw._set_fwd_grad_enabled(False):
                y = body(d)
            for what, of in {"alone": y, "beside a dual": y * d, "beside a plain one": y * x}.items():
                yield f"{name}, {what}", [tuple(fw.unpack_dual(g)) for g in torch.autograd.grad(of.sum(), [x, d], retain_graph=True)]
            g, = torch.autograd.grad(y.sum(), x, create_graph=True)
            yield f"{name}, twice", (tuple(fw.unpack_dual(g)), tuple(fw.unpack_dual(torch.autograd.grad(g.sum(), x)[0])))


@case("graphs_of_levels.leaves_looked_at")
def _(torch):
    """Hooks of a leaf see its whole gradient, once, where a pass comes to it by tangents that were unpacked in its level and by what they are of."""
    fw = _forward_ad(torch)
    seen = []
    for undefined in (False, True):
        w = torch.tensor([0.3, -0.7, 0.5], dtype=torch.float64, requires_grad=True)
        w.register_hook(lambda g: seen.append(fw.unpack_dual(g).primal) or g.clamp(-0.5, 0.5))
        w.register_post_accumulate_grad_hook(lambda p: seen.append(fw.unpack_dual(p.grad).primal))
        node = w.view_as(w).grad_fn.next_functions[0][0]
        node.register_prehook(lambda gs: seen.append(len(gs)))
        with fw.dual_level():
            u = (w * fw.make_dual(torch.arange(3.0, dtype=torch.float64), torch.ones(3, dtype=torch.float64))).tanh() * (1 if undefined else w)
            ut = fw.unpack_dual(u).tangent
            loss = (ut.sin() + u * ut * 3).sum()
            yield f"{undefined}: asked for", fw.unpack_dual(torch.autograd.grad(loss, w, retain_graph=True)[0]).primal
            loss.backward()
        yield f"{undefined}: accumulated", w.grad
    yield "seen", seen


@case("graphs_of_levels.in_other_threads")
def _(torch):
    """What another thread makes of the graph of a level that has ended."""
    fw, func = _forward_ad(torch), torch.func
    x, t = torch.tensor([3.0, 4.0, 0.0], dtype=torch.float64, requires_grad=True), torch.ones(3, dtype=torch.float64)
    with fw.dual_level():
        d = fw.make_dual(x, t)
        m, root = d.sin() * d, (d * d).sqrt().sum()
    out = func.vmap(lambda v: v.sin() * v * x)(torch.eye(3, dtype=torch.float64))
    found = []

    def run():
        with fw.dual_level():
            e = fw.make_dual(t, t * 2)
            found.extend(tuple(fw.unpack_dual(torch.autograd.grad((of * e).sum(), x, retain_graph=True)[0])) for of in (m, out))
        found.append(torch.autograd.grad(root, x, retain_graph=True))
        found.append(func.vmap(lambda v: torch.autograd.grad(out, x, v * out.detach(), retain_graph=True)[0])(torch.eye(3, dtype=torch.float64)))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    yield "found", found


@case("graphs_of_levels.tangents_by_results")
def _(torch):
    """Gradients of an unpacked tangent by dual tensors that it was computed from, and by the one that it is of."""
    fw = _forward_ad(torch)
    x, v = torch.tensor([0.3, -0.7], dtype=torch.float64, requires_grad=True), torch.tensor([1.0, 2.0], dtype=torch.float64)
    for name, f in {"sin": torch.sin, "product": lambda d: d * d, "tanh": torch.tanh, "exp": torch.exp}.items():
        with fw.dual_level():
            d = fw.make_dual(x, v)
            u = f(d)
            w = u * u
            for what, t in {"alone": u, "squared": w}.items():
                found = torch.autograd.grad(fw.unpack_dual(t).tangent.sum(), [d, x, u], allow_unused=True, retain_graph=True)
                yield f"{name}, {what}: arguments", [fw.unpack_dual(g).primal for g in found[:2]]
                yield f"{name}, {what}: result", torch.zeros((), dtype=torch.float64) if found[2] is None else fw.unpack_dual(found[2]).primal.sum()


class Product:
    """With a rule of its own for maps."""

    @staticmethod
    def forward(x, y):
        return x * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x

    @staticmethod
    def jvp(ctx, s, t):
        x, y = ctx.saved_tensors
        return s * y + t * x


@case("graphs_of_levels.functions_with_a_rule_for_maps")
def _(torch):
    """Backward passes inside forward mode over `jacfwd` of a Function."""
    func = torch.func

    class Own(torch.autograd.Function):
        forward, setup_context, backward, jvp = map(staticmethod, (Product.forward, Product.setup_context, Product.backward, Product.jvp))

        @staticmethod
        def vmap(info, dims, x, y):
            x, y = (t.expand(info.batch_size, *t.shape) if d is None else t.movedim(d, 0) for t, d in zip((x, y), dims))
            return Own.apply(x, y), 0

    x = torch.tensor([0.5, -0.3, 0.8], dtype=torch.float64)
    def inner(z):
        return func.jacfwd(lambda z: Own.apply(z.sin(), z))(z).sum(1)

    ways = {"jacfwd": inner, "vjp": lambda z: func.vjp(inner, z)[1](z.sin())[0], "grad": lambda z: func.grad(lambda z: inner(z).sum())(z),
            "jacrev": lambda z: func.jacrev(inner)(z).sum(0)}
    for name, f in ways.items():
        yield name, f(x)
        yield f"jvp of {name}", func.jvp(f, (x,), (x.cos(),))
        yield f"jacfwd of {name}", func.jacfwd(f)(x)
        yield f"grad of {name}", func.grad(lambda z: f(z).sum())(x)


@case("graphs_of_levels.nodes_run_twice")
def _(torch):
    """What keeps values of its own in a pass that comes to it by tangents that were unpacked in its level and by what they are of."""
    fw, checkpoint = _forward_ad(torch), importlib.import_module(f"{torch.__name__}.utils.checkpoint").checkpoint

    class Own(torch.autograd.Function):
        forward, setup_context, backward, jvp = map(staticmethod, (Product.forward, Product.setup_context, Product.backward, Product.jvp))

    ways = {"Function": lambda w, d: Own.apply(w.sin(), d), "checkpoint": lambda w, d: checkpoint(lambda w: (w * d).tanh(), w, use_reentrant=False)}
    for name, f in ways.items():
        for inner in (False, True):
            w = torch.tensor([0.3, -0.7, 0.5], dtype=torch.float64, requires_grad=True)
            with fw.dual_level():
                m = w * 2
                u = f(m, fw.make_dual(torch.arange(1.0, 4.0, dtype=torch.float64), torch.ones(3, dtype=torch.float64)))
                ut = fw.unpack_dual(u).tangent
                loss = (ut.sin() + u * ut).sum()
                yield f"{name}, {inner}: asked for", [fw.unpack_dual(g).primal for g in torch.autograd.grad(loss, [w, m], retain_graph=True)]
                loss.backward(retain_graph=True, inputs=[w, m] if inner else None)
                loss.backward(inputs=[w, m] if inner else None)
                yield f"{name}, {inner}: let go of", "raised" in attempt(loss.backward)
                yield f"{name}, {inner}: accumulated", [fw.unpack_dual(t.grad).primal for t in (w, m)[:inner + 1]]


@case("graphs_of_levels.a dual level beside jvp")
def _(torch):
    """What a dual level left is read by its primals alone, also where a `jvp` of before or after it is in the same graph."""
    forward_ad, func = importlib.import_module(f"{torch.__name__}.autograd.forward_ad"), torch.func
    x, t = torch.tensor([0.6, -0.35, 1.1], dtype=torch.float64), torch.tensor([0.5, -1.2, 0.7], dtype=torch.float64)
    w = torch.tensor([0.3, 0.9, -0.4], dtype=torch.float64, requires_grad=True)

    def along(y):
        return func.jvp(func.grad(lambda z: ((z * w).sigmoid().tanh() * z.detach()).sum()), (y,), (w,))[1]

    for looked in (False, True):
        a = x.clone().requires_grad_()
        with forward_ad.dual_level():
            held = (forward_ad.make_dual(a, t).sin() * w).exp()
        g = torch.autograd.functional.hvp(lambda y: along(y).sum(), x, t, create_graph=True)[1]
        if looked:
            held.tolist(), g.tolist()
        yield f"a product, {looked}", torch.autograd.grad(g.sum() + held.sum() * 0, w)
        with forward_ad.dual_level():
            held = (forward_ad.make_dual(a, t) * w).sin()
            tangent = forward_ad.unpack_dual(held).tangent
        out, pushed = func.jvp(lambda y, held=held: (y * w).tanh() * held, (x,), (t,))
        if looked:
            held.tolist(), pushed.tolist()
        yield f"with tangents, {looked}", torch.autograd.grad((out + pushed).sum() + tangent.sum(), [a, w], retain_graph=True)
        found = torch.autograd.grad(pushed.sum() + held.pow(2).sum(), [a, w], create_graph=True)
        yield f"twice, {looked}", found, torch.autograd.grad(sum((q ** 2).sum() for q in found), [a, w])
        zero = torch.zeros(3, dtype=torch.float64, requires_grad=True)
        with forward_ad.dual_level():
            norm = forward_ad.make_dual(zero, t).norm()
        out, pushed = func.jvp(lambda y, norm=norm: (y * w).sin() * norm, (x,), (t,))
        yield f"a norm at zero, {looked}", [q + 0 for q in torch.autograd.grad(out.sum() + norm + pushed.sum(), [zero, w])]
