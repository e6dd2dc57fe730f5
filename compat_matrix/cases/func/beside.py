"""Writes beside autograd (through detach, .data, under no_grad) to what a transformation was called with: later reads see them, the history does not, and the
caller's tensor is written."""

from compat_matrix.probes import each


def detached(torch, w):
    w.detach().mul_(2)
    return (w * w).sum()


def data(torch, w):
    w.data.mul_(2)
    return (w * w).sum()


def without_grad(torch, w):
    with torch.no_grad():
        w.mul_(2)
    return (w * w).sum()


def after_use(torch, w):
    out = (w * 3).sum()
    w.detach().mul_(2)
    return out


def element(torch, w):
    w.detach()[0] = 7.0
    return (w * w).sum()


def part(torch, w):
    w[1:].detach().mul_(2)
    return (w * w).sum()


HOW = {
    "grad": "F.grad(f)(x)", "grad_and_value": "F.grad_and_value(f)(x)", "vjp": "(lambda o: (o[0], o[1](one)))(F.vjp(f, x))", "jvp": "F.jvp(f, (x,), (ones,))",
    "jacrev": "F.jacrev(f)(x)", "jacfwd": "F.jacfwd(f)(x)", "hessian": "F.hessian(f)(x)", "grad of grad": "F.grad(lambda w: F.grad(f)(w).sum())(x)",
    "jvp of grad": "F.jvp(F.grad(f), (x,), (ones,))", "vmap of grad": "F.vmap(F.grad(f))(x.repeat(2, 1))", "of what requires grad": "F.grad(f)(x * live)",
    "vmap of jvp": "F.vmap(lambda w: F.jvp(f, (w,), (ones,)))(x.repeat(2, 1))", "of a view": "F.grad(f)(long[1:4])"}


def called(torch, expression):
    name, how = expression.split(" | ")
    x, ones = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64), torch.ones(3, dtype=torch.float64)
    long, live = torch.arange(6.0, dtype=torch.float64), torch.ones(3, dtype=torch.float64, requires_grad=True)
    out = eval(HOW[how], {"F": torch.func, "f": lambda w: globals()[name](torch, w), "x": x, "ones": ones, "one": ones.sum() / 3, "long": long, "live": live})
    yield "out", torch.utils._pytree.tree_map(lambda t: t.detach(), out)
    yield "caller's", x, long


LEFT = {("data", "hessian"), ("data", "grad of grad"), ("data", "jvp of grad"), ("data", "of what requires grad"),
        ("without_grad", "vmap of jvp")}     # torch: refused, or tangents scaled too
each("func.beside", called, {f"{f.__name__}, {how}": f"{f.__name__} | {how}" for f in (detached, data, without_grad, after_use, element, part) for how in HOW
                             if (f.__name__, how) not in LEFT})
