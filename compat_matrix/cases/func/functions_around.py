"""Custom Functions in reverse mode inside of forward mode, differentiated once more from outside: each level has its own part of the graph.  And forward mode in
forward mode."""

import importlib

from compat_matrix.case import attempt, case


def functions(torch):
    class Both(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(a):
            return a.sin(), a.cos()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*output)
            ctx.save_for_forward(*output)

        @staticmethod
        def backward(ctx, g, h):
            s, c = ctx.saved_tensors
            return g * c - h * s

        @staticmethod
        def jvp(ctx, t):
            s, c = ctx.saved_tensors
            return t * c, -t * s

    class Ruled(torch.autograd.Function):
        @staticmethod
        def forward(a, k):
            return a.exp() * k

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output)
            ctx.save_for_forward(output)

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0], None

        @staticmethod
        def jvp(ctx, t, _):
            return t * ctx.saved_tensors[0]

        @staticmethod
        def vmap(info, in_dims, a, k):
            return Ruled.apply(a, k), in_dims[0]

    class Unmapped(torch.autograd.Function):
        @staticmethod
        def forward(a):
            return a * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, g):
            return g * 2

    return Both, Ruled, Unmapped


def pushed_by_forward_ad(torch, v):
    fw = importlib.import_module(f"{torch.__name__}.autograd.forward_ad")

    def push(f):
        def g(x):
            with fw.dual_level():
                return fw.unpack_dual(f(fw.make_dual(x, v))).tangent

        return g

    return push


@case("func.functions_around")
def _(torch):
    func, (both, ruled, unmapped) = torch.func, functions(torch)
    v = torch.tensor([1.0, 2.0], dtype=torch.float64)
    made = {"jvp": lambda f: lambda x: func.jvp(f, (x,), (v,))[1], "grad": lambda f: func.grad(lambda y: f(y).sum()), "vjp": lambda f: lambda x: func.vjp(f, x)[1](v)[0],
            "map": lambda f: lambda x: func.vmap(f)(torch.stack([x, x * 2])).sum(0), "dual": pushed_by_forward_ad(torch, v)}

    def product(a):
        s, c = both.apply(a)
        return s * c

    for name, f in (("two results", product), ("a rule for maps", lambda a: ruled.apply(a * a, 1.5))):
        for names in (("jvp", "grad"), ("dual", "vjp"), ("jvp", "map"), ("dual", "map"), ("jvp", "map", "grad"), ("dual", "map", "vjp"), ("jvp", "grad", "vjp"), ("jvp", "jvp"),
                      ("jvp", "grad", "map"), ("grad", "jvp", "map"), ("map", "jvp", "grad")):
            g = f
            for n in reversed(names):
                g = made[n](g)
            x = torch.tensor([0.7, 0.3], dtype=torch.float64, requires_grad=True)
            y = g(x)
            yield f"{name}: {names}", y.detach(), torch.autograd.grad(y.sum(), x) if y.requires_grad and names != ("jvp", "jvp") else None
    yield "no rule, nothing mapped", attempt(lambda: func.vmap(lambda a: a + unmapped.apply(v))(torch.ones(3, 2, dtype=torch.float64)))


@case("func.functions_around.forward in forward")
def _(torch):
    """`jvp` goes in itself and nothing else; dual tensors are made and unpacked in it; no dual tensors of what is mapped."""
    func, fw = torch.func, importlib.import_module(f"{torch.__name__}.autograd.forward_ad")
    x, v = torch.tensor([0.3, 0.5]), torch.tensor([1.0, 2.0])
    push, f = pushed_by_forward_ad(torch, v), lambda a: a.sin() * a
    yield "dual in jvp", attempt(lambda: func.jvp(push(f), (x,), (v,)))
    yield "jvp in dual", attempt(lambda: push(lambda a: func.jvp(f, (a,), (v,))[1])(x))
    yield "jacfwd in dual", attempt(lambda: push(lambda a: func.jacfwd(f)(a))(x))
    yield "jacobian in jvp", attempt(lambda: func.jvp(lambda a: torch.autograd.functional.jacobian(f, a, strategy="forward-mode", vectorize=True), (x,), (v,)))
    yield "map", attempt(lambda: func.vmap(push(f))(x.repeat(3, 1)))
    yield "mapped by an outer one", attempt(lambda: func.vmap(lambda a: func.vmap(lambda b: push(f)(a) * b)(x.repeat(3, 1)))(x.repeat(3, 1)))
    yield "in reverse mode", attempt(lambda: func.vmap(func.grad(lambda a: push(f)(a).sum()))(x.repeat(3, 1)))
    yield "nothing mapped", attempt(lambda: func.vmap(lambda y: push(f)(x) * y)(x.repeat(3, 1)))
    yield "unpacked in jvp", func.jvp(lambda a: fw.unpack_dual(a).primal * a, (x,), (v,)), func.jvp(lambda a: fw.unpack_dual(a).tangent, (x,), (v,))
    yield "made in jvp", func.jvp(lambda a: fw.make_dual(x, v), (x,), (v,)), attempt(lambda: func.jvp(lambda a: fw.make_dual(a, v), (x,), (v,)))


@case("func.functions_in_jacfwd")
def _(torch):
    """In `jacfwd` the tangents of a Function's arguments alone are mapped: forward runs as it is, also where it writes to what it makes, and no rule is asked."""
    func, x = torch.func, torch.tensor([0.5, 2.0, 3.0])
    heard = []

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(a):
            heard.append(("forward", tuple(a.shape)))
            made = torch.zeros(a.shape)
            made += a * a
            return made

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_forward(*inputs)

        @staticmethod
        def jvp(ctx, t):
            heard.append(("jvp", tuple(t.shape)))
            (a,) = ctx.saved_tensors
            return a * 2 * t

        @staticmethod
        def vmap(info, in_dims, a):
            heard.append("rule")
            return Square.apply(a), in_dims[0]

    def f(a):
        return Square.apply(a.sin()) * a

    yield "one", func.jacfwd(f)(x), heard[:]
    heard.clear()
    yield "two", func.jacfwd(func.jacfwd(f))(x).abs(), heard[:]
    heard.clear()
    yield "mapped", func.vmap(func.jacfwd(f))(x[None]), heard[:]
    heard.clear()
    yield "inside", func.jacfwd(func.vmap(f))(x), heard[:]
