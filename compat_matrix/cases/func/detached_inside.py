"""Detached arguments of a reverse-mode transformation inside forward mode, and saved-tensor hooks around transformations."""

import importlib

from compat_matrix.case import attempt, case

DETACHING = {
    "itself": lambda t: (t.detach() * t * t).sum(),
    "a part": lambda t: (t.detach()[0] * t.sin()).sum(),
    "a view": lambda t: (t.view(-1).detach() * t * t).sum(),
    "a result": lambda t: ((t * 2).detach() * t * t).sum(),
}


@case("func.detached_inside_of_forward_mode")
def _(torch):
    """Neither the tangents that the caller gave nor what follows lose anything."""
    func, fw = torch.func, importlib.import_module(f"{torch.__name__}.autograd.forward_ad")
    for name, g in DETACHING.items():
        for how, f in (("grad", lambda x: func.grad(g)(x)), ("after it", lambda x: func.grad(g)(x) * x + x.sin()), ("vjp", lambda x: func.vjp(g, x)[1](x[0])[0] * x),
                       ("twice", lambda x: func.grad(g)(x) + func.jacrev(g)(x * 1)), ("value", lambda x: func.grad_and_value(g)(x)[1] * x)):
            x, v = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.5])
            yield f"{name}, {how}", attempt(lambda: func.jvp(f, (x,), (v,)))
            yield f"{name}, {how}: what was given", (x, v)
            yield f"{name}, {how}: jacobian", attempt(lambda: func.jacfwd(f)(x))
            with fw.dual_level():
                d = fw.make_dual(x, v)
                yield f"{name}, {how}: dual", attempt(lambda: tuple(fw.unpack_dual(f(d))))
                yield f"{name}, {how}: the dual tensor", tuple(fw.unpack_dual(d))
            yield f"{name}, {how}: what was given then", (x, v)


@case("func.saved_hooks_around_transformations")
def _(torch):
    """Hooks see contents of transformed tensors when the transformation has ended, too."""
    func, fw = torch.func, importlib.import_module(f"{torch.__name__}.autograd.forward_ad")
    graph = importlib.import_module(f"{torch.__name__}.autograd.graph")

    def dual(f, x):
        with fw.dual_level():
            return fw.unpack_dual(f(fw.make_dual(x, torch.full_like(x, 0.5)))).tangent

    hooks = {"same": (lambda t: t, lambda t: t), "copy": (lambda t: t.detach().clone(), lambda t: t),
             "moved": (lambda t: (t.device, t.detach().cpu().clone()), lambda p: p[1].to(p[0]))}
    programs = {"jvp": lambda x: func.jvp(torch.sin, (x,), (x,))[1], "primal": lambda x: func.jvp(torch.sin, (x,), (x,))[0],
                "dual": lambda x: dual(lambda a: a * x.exp() * a, x), "map": lambda x: func.vmap(lambda a: a * a.sin())(x),
                "jvp of a map": lambda x: func.vmap(lambda a: func.jvp(torch.sin, (a,), (a,))[1])(x), "jacfwd": func.jacfwd(torch.sin)}
    for name, (pack, unpack) in hooks.items():
        for program, f in programs.items():
            x = torch.tensor([0.3, 0.7], dtype=torch.float64, requires_grad=True)
            with graph.saved_tensors_hooks(pack, unpack):
                y = f(x).sum()
            g, = torch.autograd.grad(y, x, create_graph=True)
            yield f"{name}, {program}", (y, g)
            yield f"{name}, {program}: again", attempt(lambda: torch.autograd.grad(g.sum(), x))


@case("func.detached_in_place_and_hooks")
def _(torch):
    """`detach_` and hooks of tensors are the business of the innermost transformation: what is around it goes on, and calls no hook."""
    func, x = torch.func, torch.tensor([0.5, 2.0])

    def cut(a):
        y = a.clone()
        y.detach_()
        return y * a

    def heard(a):
        y = a * 1
        if y.requires_grad:
            y.register_hook(lambda g: g * 2)
        return y * y

    for f in (cut, heard):
        def total(a, f=f):
            return f(a).sum()

        def squared(a, total=total):
            return func.grad(total)(a).pow(2).sum()

        outer, name = x.clone().requires_grad_(), f.__name__
        yield f"{name}, one", func.grad(total)(x), func.jvp(f, (x,), (x,)), func.jacfwd(f)(x), func.vmap(func.grad(total))(x[:, None])
        yield f"{name}, reverse", func.grad(squared)(x), func.vmap(func.grad(squared))(x[:, None]), func.grad(lambda a, g=squared: func.grad(g)(a).pow(2).sum())(x)
        yield f"{name}, both", func.jvp(func.grad(total), (x,), (x,)), func.grad(lambda a, f=f: func.jvp(f, (a,), (a,))[1].sum())(x)
        yield f"{name}, forward", func.jvp(lambda a, f=f: func.jvp(f, (a,), (a,))[1], (x,), (x,)), func.hessian(total)(x)
        yield f"{name}, around", torch.autograd.grad(squared(outer), outer), torch.autograd.grad(func.jvp(f, (outer,), (outer,))[1].pow(2).sum(), outer)
        yield f"{name}, functional", torch.autograd.functional.jacobian(func.grad(total), x, create_graph=True)
    yield "a mapped one", attempt(lambda: func.vmap(cut)(x[:, None]))
