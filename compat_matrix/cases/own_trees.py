"""Transformations of functions whose arguments are of classes that a program registered as trees; which transformations run."""

from collections import deque
from importlib import import_module

from compat_matrix.case import attempt, case


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b


@case("own_trees.transforms")
def _(torch):
    trees = import_module(f"{torch.__name__}.utils._pytree")
    func = torch.func
    trees.register_pytree_node(Pair, lambda p: ([p.a, p.b], "context"), lambda parts, _: Pair(*parts))
    try:
        x = Pair(torch.arange(3.0), torch.ones(3))
        _, pull = func.vjp(lambda p: (p.a * p.b).sum(), x)
        (g,) = pull(torch.ones(()))
        yield "vjp", type(g).__name__, g.a, g.b
        yield "vmap in", func.vmap(lambda p: p.a * p.b)(x)
        out = func.vmap(lambda p: Pair(p.a * 2, p.b))(x)
        yield "vmap out", type(out).__name__, out.a, out.b
        g = func.grad(lambda p: (p.a * p.b).sum())(x)
        yield "grad", type(g).__name__, g.a
        _, t = func.jvp(lambda p: Pair(p.a * 2, p.b), (x,), (Pair(torch.ones(3), torch.ones(3)),))
        yield "jvp", type(t).__name__, t.a, t.b
        yield "twice", "already registered" in str(attempt(lambda: trees.register_pytree_node(Pair, None, None)))
    finally:
        trees._deregister_pytree_node(Pair)
    yield "forgotten", Pair in trees.SUPPORTED_NODES


@case("own_trees.deque")
def _(torch):
    d = deque([torch.ones(3), torch.arange(3.0)])
    yield "vmap", torch.func.vmap(lambda d: d[0] + d[1])(d)
    g = torch.func.grad(lambda d: (d[0] * d[1]).sum())(d)
    yield "grad", type(g).__name__, list(g)


@case("own_trees.stack")
def _(torch):
    seen = []

    def look(x):
        found = torch._C._functorch.peek_interpreter_stack()
        seen.append((found.level(), found.key().name))
        return x.sum()

    torch.func.vmap(torch.func.grad(look))(torch.ones(2, 3))
    torch.func.grad(lambda x: torch.func.vmap(look)(x).sum())(torch.ones(2, 3))
    yield "stack", seen, torch._C._functorch.peek_interpreter_stack() is None
