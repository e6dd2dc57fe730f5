"""Derivatives at points that a map has computed: the graph behind them holds a map that has ended."""

from compat_matrix.case import attempt, case


def _point(torch):
    x = torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64, requires_grad=True)
    return x, torch.vmap(torch.func.grad(lambda t: (t ** 3).sum()))(x)


WAYS = {
    "jacrev": lambda torch, v: torch.func.jacrev(lambda t: t.sin())(v),
    "jacrev in chunks": lambda torch, v: torch.func.jacrev(lambda t: t.sin(), chunk_size=2)(v),
    "hessian": lambda torch, v: torch.func.hessian(lambda t: t.sin().sum())(v),
    "hessian of a hessian": lambda torch, v: torch.func.hessian(lambda t: (t ** 3).sum())(torch.func.hessian(lambda t: (t ** 3).sum())(v)),
    "jacfwd": lambda torch, v: torch.func.jacfwd(lambda t: t.sin())(v),
    "mapped jacrev": lambda torch, v: torch.vmap(torch.func.jacrev(lambda t: t.sin()))(v),
    "jacrev of a map": lambda torch, v: torch.func.jacrev(lambda y: torch.vmap(torch.func.grad(lambda t: t.sin()))(y))(v),
    "jacrev of jacrev": lambda torch, v: torch.func.jacrev(torch.func.jacrev(lambda t: t.sin()))(v),
    "jacobian": lambda torch, v: torch.autograd.functional.jacobian(lambda t: t.sin(), v, create_graph=True, vectorize=True),
}
for _name, _way in WAYS.items():
    @case(f"mapped_before.{_name}")
    def _(torch, way=_way):
        x, v = _point(torch)
        out = way(torch, v)
        yield "value", out.detach(), out.requires_grad
        yield "behind", attempt(lambda: torch.autograd.grad(out.sum(), x)[0])


@case("mapped_before.written after a map")
def _(torch):
    def passes(f):
        x = torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64, requires_grad=True)
        v = x * 1
        y = f(v)
        v.mul_(2)
        try:
            y.sum().backward()
            return "no error", x.grad
        except RuntimeError as e:
            return str(e)[:75]

    for name, f in (("square", lambda t: t * t), ("sum", lambda t: t + 1), ("sine", lambda t: t.sin()), ("exponential", lambda t: t.exp())):
        yield name, passes(torch.vmap(f))
    yield "with a factor", passes(lambda v: torch.vmap(lambda t: t * v)(torch.ones(2, dtype=torch.float64)))
