"""torch.autograd.functional: results, structure, strict mode, words."""

from compat_matrix.case import attempt, case

NAMES = ("vjp", "jvp", "hvp", "vhp", "jacobian", "hessian")


def vector(torch):
    return torch.tensor([0.5, -1.5, 2.0], dtype=torch.float64)


FUNCTIONS = {
    "linear": lambda torch, a: a.sum() * 2,
    "constant": lambda torch, a: torch.tensor(1.0),
    "detached": lambda torch, a: a.detach().sum(),
    "square": lambda torch, a: (a**2).sum(),
    "cube": lambda torch, a: (a**3).sum(),
    "unrelated": lambda torch, a: torch.ones((), requires_grad=True) * 1,
}


def _v(torch, name, x):
    return {} if name in ("jacobian", "hessian") else {"v": torch.tensor(1.0, dtype=x.dtype) if name == "vjp" else x}


def _strict(torch, product, create_graph, function):
    x = vector(torch)
    f = getattr(torch.autograd.functional, product)
    for strict in (False, True):
        yield f"strict {strict}", attempt(lambda: f(lambda a: FUNCTIONS[function](torch, a).double(), x, strict=strict, create_graph=create_graph, **_v(torch, product, x)))


for _name in NAMES:
    for _function in FUNCTIONS:
        for _graph in (False, True):
            case(f"functional.strict.{_name}.{_function}.{_graph}", product=_name, create_graph=_graph, function=_function)(_strict)


@case("functional.words.inputs")
def _(torch):
    f, x = torch.autograd.functional, torch.ones(2)
    for name in ("vjp", "jvp", "jacobian", "hessian"):
        g = getattr(f, name)
        yield name, attempt(lambda: g(lambda a: a * 2, [x])), attempt(lambda: g(lambda a: a * 2, 3)), attempt(lambda: g(lambda a, b: a * 2, (x, 3)))
        yield f"outputs {name}", attempt(lambda: g(lambda a: [a, 3], x)), attempt(lambda: g(lambda a: (a, 3), x))


@case("functional.words.v")
def _(torch):
    f, x = torch.autograd.functional, torch.ones(2)
    yield "kind", attempt(lambda: f.vjp(lambda a: a * 2, x, 3))
    yield "many", attempt(lambda: f.vjp(lambda a: a * 2, x, (x, x)))
    yield "size", attempt(lambda: f.vjp(lambda a: a * 2, x, torch.ones(3))), attempt(lambda: f.vjp(lambda a: (a * 2, a), x, (torch.ones(3), x)))
    yield "length", attempt(lambda: f.vjp(lambda a: (a * 2, a), x, (x,))), attempt(lambda: f.vjp(lambda a: (a * 2, a), x, x))
    yield "none", attempt(lambda: f.vjp(lambda a: (a * 2, a), x)), attempt(lambda: f.jvp(lambda a: a * 2, x))
    yield "none is one", f.jvp(lambda a: a * 2, torch.ones(1)), f.jvp(lambda a: a * 2, torch.tensor(1.0))
    for name in ("hvp", "vhp"):
        g = getattr(f, name)
        yield name, attempt(lambda: g(lambda a: a.sum(), x)), attempt(lambda: g(lambda a: a * 2, x, x)), attempt(lambda: g(lambda a: (a.sum(), a.sum()), x, x))


@case("functional.words.options")
def _(torch):
    f, x = torch.autograd.functional, torch.ones(2)
    yield "strategy", attempt(lambda: f.jacobian(torch.sin, x, strategy="x")), attempt(lambda: f.hessian(torch.sin, x, outer_jacobian_strategy="x"))
    for options in ({}, {"strict": True}, {"create_graph": True}):
        yield f"forward {options}", attempt(lambda: f.jacobian(torch.sin, x, strategy="forward-mode", **options))
    yield "strict and vectorize", attempt(lambda: f.jacobian(torch.sin, x, vectorize=True, strict=True))
    yield "hessian", attempt(lambda: f.hessian(torch.sin, x)), attempt(lambda: f.hessian(lambda a: (a.sum(), a.sum()), x))
    yield "basis", f._construct_standard_basis_for((torch.zeros(2), torch.zeros(1, 1, dtype=torch.float64)), (2, 1))


WAYS = ({}, {"vectorize": True}, {"vectorize": True, "strategy": "forward-mode"})


@case("functional.jacobian.structure")
def _(torch):
    f, x, y = torch.autograd.functional, vector(torch), torch.tensor([[2.0], [0.25]], dtype=torch.float64)
    for i, way in enumerate(WAYS):
        yield f"{i} one one", f.jacobian(lambda a: a.exp(), x, **way)
        yield f"{i} tuple one", f.jacobian(lambda a: a.exp(), (x,), **way)
        yield f"{i} two one", f.jacobian(lambda a, b: a * b, (x, y), **way)
        yield f"{i} one two", f.jacobian(lambda a: (a.exp(), a.sum()), x, **way)
        yield f"{i} two two", f.jacobian(lambda a, b: (a.exp(), (a * b).sum()), (x, y), **way)
        yield f"{i} unrelated", f.jacobian(lambda a, b: (a.exp(), b * 1), (x, y), **way)
        yield f"{i} scalar", f.jacobian(lambda a: a**3, torch.tensor(2.0), **way)


@case("functional.hessian.structure")
def _(torch):
    f, x, y = torch.autograd.functional, vector(torch), torch.tensor([2.0, 0.25, 1.5], dtype=torch.float64)
    ways = ({}, {"vectorize": True}, {"vectorize": True, "outer_jacobian_strategy": "forward-mode"})
    for i, way in enumerate(ways):
        yield f"{i} one", f.hessian(lambda a: (a**3).sum(), x, **way).detach()
        two = f.hessian(lambda a, b: (a**2 * b.exp()).sum(), (x, y), **way)
        yield f"{i} two", [[t.detach() for t in row] for row in two]


@case("functional.create_graph")
def _(torch):
    f, x = torch.autograd.functional, vector(torch).requires_grad_()
    for name in ("vjp", "jvp", "hvp", "vhp"):
        out, d = getattr(f, name)(lambda a: (a**4).sum(), x, create_graph=True, **_v(torch, name, x))
        yield name, out, d, torch.autograd.grad(d.sum() + out, x)
        out, d = getattr(f, name)(lambda a: (a**4).sum(), x, **_v(torch, name, x))
        yield f"cut {name}", out.requires_grad, d.requires_grad
    for way in WAYS[:2]:
        j = f.jacobian(lambda a: a**4 * a.sum(), x, create_graph=True, **way)
        yield f"jacobian {way}", j, torch.autograd.grad(j.sum(), x)
        h = f.hessian(lambda a: (a**4).sum() * a.sum(), x, create_graph=True, **way)
        yield f"hessian {way}", h, torch.autograd.grad(h.sum(), x)


@case("functional.no_grad")
def _(torch):
    f, x = torch.autograd.functional, vector(torch)
    with torch.no_grad():
        yield "values", f.vjp(lambda a: (a**2).sum(), x), f.jvp(lambda a: a**2, x, x), f.jacobian(torch.sin, x), f.hessian(lambda a: (a**3).sum(), x)
        yield "connected", f.jacobian(lambda a: a**3, x, create_graph=True).requires_grad


@case("functional.net")
def _(torch):
    f = torch.autograd.functional
    w1, w2, x = (torch.linspace(-1, 1, n, dtype=torch.float64) for n in (12, 8, 3))

    def net(a, b):
        return torch.tanh(a.reshape(4, 3) @ x) @ b.reshape(4, 2)

    yield "jacobian", f.jacobian(net, (w1, w2)), f.jacobian(net, (w1, w2), vectorize=True)
    yield "vjp", f.vjp(net, (w1, w2), torch.ones(2, dtype=torch.float64))
    yield "jvp", f.jvp(net, (w1, w2), (w1, w2))
    yield "hvp", f.hvp(lambda a: net(a, w2).pow(2).sum(), w1, w1)
    yield "vhp", f.vhp(lambda a, b: net(a, b).pow(2).sum(), (w1, w2), (w1, w2))


@case("functional.arguments written behind the graph")
def _(torch):
    """With `create_graph` an argument without a history shares its memory and is a leaf, so that what is written to it loses no derivative."""
    def behind(a):
        a.detach().mul_(2)
        return (a**2).sum()

    def unrecorded(a):
        with torch.no_grad():
            a.mul_(2)
        return (a**2).sum()

    def written(a):
        return a.mul_(2).sum()

    f = torch.autograd.functional
    for name, func in (("behind", behind), ("unrecorded", unrecorded), ("written", written)):
        for way in ("vjp", "jacobian", "hessian", "jvp", "hvp", "vhp"):
            for create in (False, True):
                x = torch.arange(1.0, 4.0)
                given = (func, x) if way in ("jacobian", "hessian", "vjp") else (func, x, torch.ones(3))
                yield f"{way} of {name}, {create}", attempt(lambda: getattr(f, way)(*given, create_graph=create)), x, x._version
    seen = []
    for x in (torch.ones(3), torch.ones(3, requires_grad=True), torch.ones(4)[1:]):
        f.jacobian(lambda a: (seen.append((a.requires_grad, a.is_leaf, a._base is None, a.storage_offset())), a)[1], x, create_graph=True)
    yield "what is handed in", seen


@case("functional.asked_of_what_cannot_be_differentiated")
def _(torch):
    """Integers, no outputs, lists, and flags that are numbers."""
    f, x, i = torch.autograd.functional, torch.tensor([0.5, 1.0, 2.0]), torch.tensor([1, 2, 3])
    one = {"jvp": (x,), "vjp": (), "vhp": (x,), "hvp": (x,), "jacobian": (), "hessian": ()}
    for name, v in one.items():
        call = getattr(f, name)
        for graph in (False, True):
            yield f"{name}, integers, {graph}", attempt(lambda c=call, v=v, g=graph: c(lambda a: (a * a).sum(), i, *v, create_graph=g))
            yield f"{name}, integers and no vector, {graph}", attempt(lambda c=call, g=graph: c(lambda a: (a * a).sum(), i, create_graph=g))
        yield f"{name}, nothing", attempt(lambda c=call, v=v: c(lambda a: (), x, *v))
        yield f"{name}, numbers as flags", attempt(lambda c=call, v=v: c(lambda a: (a * a).sum(), x, *v, create_graph=1))
    yield "a list, forward", attempt(lambda: f.jacobian(lambda a: [a], x, vectorize=True, strategy="forward-mode"))
    yield "every argument of jacrev", attempt(lambda: torch.func.jacrev(lambda a, b: a * b, argnums=None)(x, x))


@case("functional.with_a_graph_inside_of_maps")
def _(torch):
    """With `create_graph` an argument that a map or forward mode holds would have to require grad there, which is refused."""
    f, func, x = torch.autograd.functional, torch.func, torch.tensor([0.5, 2.0])
    for name in ("vjp", "jacobian"):
        def g(a, call=getattr(f, name), more=name == "vjp"):
            out = call(torch.sin, a, *([a] if more else []), create_graph=True)
            return out[1] if more else out

        yield f"{name}, mapped", attempt(lambda g=g: func.vmap(g)(x[:, None])), attempt(lambda g=g: func.vmap(g)(x[:, None].requires_grad_()))
        yield f"{name}, forward", attempt(lambda g=g: func.jvp(g, (x,), (x,))), attempt(lambda g=g: func.jacfwd(g)(x))
        yield f"{name}, reverse", func.grad(lambda a, g=g: g(a).sum())(x), attempt(lambda g=g: func.grad(lambda a: func.vmap(g)(a[:, None]).sum())(x))
