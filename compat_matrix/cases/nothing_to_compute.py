"""Operators of nothing, and what they say at each call: gradients without elements, degrees of freedom, memory that several elements share."""

from compat_matrix.case import case
from compat_matrix.observe import raises, warned


def _grads(torch, f, *shapes, needs=None):
    xs = [torch.ones(s, dtype=torch.float64, requires_grad=needs is None or i in needs) for i, s in enumerate(shapes)]
    y = f(*xs)
    wanted = [x for x in xs if x.requires_grad]
    first = torch.autograd.grad(y, wanted, torch.ones_like(y), create_graph=True, allow_unused=True)
    having = [g for g in first if g is not None and g.requires_grad]
    second = torch.autograd.grad([g.sum() for g in having], wanted, allow_unused=True) if having else None
    return [None if g is None else (g.detach(), g.requires_grad) for g in first], second


@case("nothing_to_compute.convolutions")
def _(torch):
    F = torch.nn.functional
    for n in (1, 2, 3):
        for name in (f"conv{n}d", f"conv_transpose{n}d"):
            f, kernel = getattr(F, name), (2, 2) + (2,) * n
            for needs in (None, (0,), (1,), (2,), (0, 2)):
                for batch in (0, 2):
                    yield f"{name} of {batch}, {needs}", _grads(torch, f, (batch, 2) + (3,) * n, kernel, (2,), needs=needs)


@case("nothing_to_compute.gradients of one operator")
def _(torch):
    F = torch.nn.functional
    for name in ("smooth_l1_loss", "huber_loss", "mse_loss"):
        for reduction in ("none", "sum", "mean"):
            yield f"{name}, {reduction}", _grads(torch, lambda x, y, n=name, r=reduction: getattr(F, n)(x, y, reduction=r), (0, 3), (0, 3))
    for name in ("cumprod", "logcumsumexp", "cumsum", "cummax"):
        for dim in (0, 1):
            call = lambda x, n=name, d=dim: getattr(x, n)(d) if n != "cummax" else x.cummax(d).values  # noqa: E731
            yield f"{name}, {dim}", _grads(torch, call, (0, 3))
    yield "det", _grads(torch, torch.linalg.det, (0, 2, 2)), _grads(torch, torch.linalg.det, (2, 0, 0))
    yield "var", _grads(torch, torch.var, (0, 3)), _grads(torch, torch.std, (0, 3))
    for shape in ((0, 5, 0), (2, 0, 0), (5, 0)):
        x, tau, other = (torch.ones(s, requires_grad=True) for s in (shape, (*shape[:-2], shape[-1]), (*shape[:-1], 2)))
        yield f"ormqr {shape}", torch.autograd.grad(torch.ormqr(x, tau, other).sum(), (x, tau, other), allow_unused=True)


@case("nothing_to_compute.degrees of freedom")
def _(torch):
    one, row = torch.ones(1), torch.ones(2, 1)
    for name in ("std", "var", "std_mean", "var_mean"):
        f = getattr(torch, name)
        for x, args in ((one, ()), (one + 0j, ()), (row, (1,)), (torch.ones(0, 3), (0,)), (torch.ones(0, 3), (1,)), (row, (0,))):
            yield f"{name} {tuple(x.shape)} {x.dtype} {args}", [warned(lambda f=f, x=x, a=args: f(x, *a)) for _ in range(2)]
        yield f"{name}, correction", [warned(lambda f=f, c=c: f(row, correction=c)) for c in (2, 2, 1, 3)]
    yield "in a map", warned(lambda: torch.vmap(torch.var)(torch.ones(3, 1)))


@case("nothing_to_compute.places written several times")
def _(torch):
    rows, v = torch.arange(1.0, 7).reshape(2, 3), torch.arange(1.0, 4)
    yield "mv", torch.mv(rows, v, out=torch.ones(()).expand(2))
    yield "bmm", torch.bmm(rows[None], rows.t()[None], out=torch.ones(2, 1).expand(2, 2)[None])
    yield "cummax", torch.cummax(v, 0, out=(torch.ones(()).expand(3), torch.zeros((), dtype=torch.int64).expand(3)))
    for name, call in (("mm", lambda out: torch.mm(rows, rows.t(), out=out)), ("outer", lambda out: torch.outer(v[:2], v[:2], out=out))):
        yield name, raises(lambda c=call: c(torch.ones(()).expand(2, 2)))
    for name, args in (("apply_", (lambda x: x + 1,)), ("map_", (rows, lambda x, y: x + y)), ("masked_fill_", (rows > 2, 7.0)), ("tril_", ()),
                       ("index_fill_", (0, torch.tensor([0]), 7.0)), ("index_put_", ((torch.tensor([0]),), rows[:1])), ("add_", (1,)), ("copy_", (rows,))):
        base = torch.ones(1, 3)
        shown = base.expand(2, 3).detach()
        yield name, raises(lambda x=shown, n=name, a=args: getattr(x, n)(*a)), shown, base
    base = torch.ones(1, 3)
    shown = base.expand(2, 3).detach()
    shown[0] = 5
    shown[1, 2].add_(3)
    yield "through a view", shown, base, shown._version, base._version


@case("nothing_to_compute.ranges into a tensor with room")
def _(torch):
    for name, f in (("arange", lambda o, n: torch.arange(n, out=o)), ("linspace", lambda o, n: torch.linspace(0, 3, n, out=o)),
                    ("logspace", lambda o, n: torch.logspace(0, 1, n, out=o)), ("range", lambda o, n: torch.range(1, n, out=o))):
        for n in (4, 3, 0) if name != "range" else (4, 3):
            yield f"{name} {n}", f(torch.ones(2, 2), n), f(torch.ones(2, 0), n), f(torch.ones(2, 2).t(), n).stride(), f(torch.ones(2, 3), n).shape
    yield "range of ints", torch.range(1, 3, out=torch.ones((), dtype=torch.int64))


@case("nothing_to_compute.one triangle is read")
def _(torch):
    lower, upper = torch.tensor([[2.0, float("nan")], [1.0, 3.0]]), torch.tensor([[2.0, 1.0], [float("nan"), 3.0]])
    for dtype in (torch.float64, torch.complex128):
        yield f"eigh {dtype}", torch.linalg.eigvalsh(lower.to(dtype)), torch.linalg.eigh(upper.to(dtype), UPLO="U").eigenvalues
        x = lower.to(dtype).requires_grad_()
        yield f"gradient {dtype}", torch.autograd.grad(torch.linalg.eigvalsh(x).square().sum(), x)
    yield "cholesky", torch.linalg.cholesky(lower), torch.linalg.cholesky(upper, upper=True)


@case("nothing_to_compute.determinants_under_maps")
def _(torch):
    for name, f in {"det": torch.linalg.det, "slogdet": lambda a: torch.linalg.slogdet(a)[1], "logdet": torch.logdet}.items():
        for shape in ((3, 0, 0), (0, 2, 2), (0, 0)):
            x = torch.zeros(2, *shape, dtype=torch.float64)
            yield f"{name} of {shape}", torch.vmap(f)(x), torch.vmap(torch.func.grad(lambda a: f(a).sum()))(x), torch.vmap(lambda a: torch.func.jvp(f, (a,), (a,))[1])(x)
