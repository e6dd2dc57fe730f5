"""Parts of functions that are taken apart (detach, .data, no_grad) in transformations two and three deep: how far each reaches."""

import functools
import importlib
import itertools

from compat_matrix.case import attempt, case


def without_grad(torch, t):
    with torch.no_grad():
        c = t**3
    return c * t**3


def written(torch, t):
    c = t.clone()
    c.detach().mul_(2)
    return c**3 * t


def data_written(torch, t):
    c = t.clone()
    c.data.mul_(2)
    return c**3 * t**2


FUNCTIONS = {
    "itself": lambda torch, t: t.detach() ** 3 * t**3, "a result": lambda torch, t: (t * t).detach() * t**3, "a part": lambda torch, t: t.detach()[0] ** 3 * t**3,
    "a view": lambda torch, t: t.view(-1).detach() ** 3 * t**4, "data": lambda torch, t: t.data**3 * t**3, "data of a result": lambda torch, t: (t * t).data ** 2 * t**3,
    "data of a part": lambda torch, t: t[1:].data.prod() * t**3, "no_grad": without_grad, "written": written, "data written": data_written,
}


def transformations(torch, v):
    func = torch.func
    return {"jvp": lambda f: lambda x: func.jvp(f, (x,), (v,))[1], "grad": lambda f: func.grad(lambda y: f(y).sum()), "vjp": lambda f: lambda x: func.vjp(f, x)[1](v)[0],
            "jacfwd": lambda f: lambda x: func.jacfwd(f)(x).sum(-1), "map": lambda f: lambda x: func.vmap(f)(torch.stack([x, x * 2]))[1]}


def nested(torch, function):
    f = FUNCTIONS[function]
    x, v = torch.tensor([0.3, 0.5], dtype=torch.float64), torch.tensor([1.0, 0.4], dtype=torch.float64)
    made = transformations(torch, v)
    deep = [(a, b) for a, b in itertools.product(made, repeat=2) if (a, b) != ("map", "map")] + [
        ("jvp", "jvp", "grad"), ("jvp", "grad", "jvp"), ("grad", "jvp", "jvp"), ("jvp", "jvp", "jvp"), ("grad", "vjp", "jvp"), ("jvp", "map", "grad"), ("jacfwd", "jvp", "vjp")]
    for names in deep:
        g = functools.partial(f, torch)
        for n in reversed(names):
            g = made[n](g)
        leaf = x.clone().requires_grad_()

        def run(g=g, leaf=leaf):
            y = g(leaf)
            return y.detach(), y.requires_grad, torch.autograd.grad(y.sum(), leaf, allow_unused=True) if y.requires_grad else None

        yield ", ".join(names), attempt(run)


for _name in FUNCTIONS:
    case(f"func.apart: {_name}", function=_name)(nested)


@case("func.apart: data under forward_ad")
def _(torch):
    """A dual level inside of a transformation has no graph of its own: what is taken apart there has neither that tangent nor the history in the transformation."""
    func, fw = torch.func, importlib.import_module(f"{torch.__name__}.autograd.forward_ad")
    x, v = torch.tensor([0.3, 0.5], dtype=torch.float64), torch.tensor([1.0, 0.4], dtype=torch.float64)

    def dual(f):
        def push(x):
            with fw.dual_level():
                return fw.unpack_dual(f(fw.make_dual(x, v))).tangent

        return push

    def f(t):
        return (t * 1.1).data * t * t

    yield "inside", func.vjp(dual(f), x)[1](v), func.vmap(func.grad(lambda x: dual(f)(x).sum()))(torch.stack([x, v]))
    yield "outside", dual(lambda t: func.vjp(f, t)[1](v)[0])(x)


@case("func.apart: data of what was captured")
def _(torch):
    """A captured tensor has no level: it is taken apart from all; what is made of it inside has one."""
    func = torch.func
    w, x = torch.tensor([0.3, 0.5], dtype=torch.float64, requires_grad=True), torch.tensor([0.7, 0.2], dtype=torch.float64)
    for name, f in (("itself", lambda y: w.data * y * y), ("made inside", lambda y: (w * 1).data * y * y), ("with the argument", lambda y: (w * y).data * y)):
        for how, run in (("grad", lambda f, x: func.grad(lambda y: f(y).sum())(x)), ("jvp", lambda f, x: func.jvp(f, (x,), (x,))[1]),
                         ("vjp", lambda f, x: func.vjp(f, x)[1](x)[0]), ("grad, of a result", lambda f, x: func.grad(lambda y: f(y).sum())(w * x))):
            y = run(f, x)
            yield f"{name}, {how}", y.detach(), y.requires_grad, torch.autograd.grad(y.sum(), w) if y.requires_grad else None
