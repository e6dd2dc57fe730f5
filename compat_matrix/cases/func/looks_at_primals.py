"""Control flow by data under maps that only tangents are under (`jacfwd`, `hessian`, a map of `jvp` over tangents): several looks, shapes that depend on data."""

from compat_matrix.case import case, raises


def _ways(torch, f, x):
    """Derivatives of f whose tangents alone are mapped over, each by another way."""
    func, rows = torch.func, torch.eye(len(x), dtype=x.dtype)
    first = func.jacfwd(f)(x), func.vmap(func.jvp, (None, None, 0))(f, (x,), (rows,))[1], torch.autograd.functional.jacobian(
        f, x, vectorize=True, strategy="forward-mode").detach()
    return *first, func.hessian(lambda a: f(a).sum())(x)


def _branches(x):
    y = x * 2 if x.sum() > 0 else x
    if y.sum() > 100:
        return y
    return y**3 if y.prod() > 0 else y


def _root(a):
    z = (a * 0).exp()
    for _ in range(20):
        new = z - (z**3 - a) / (3 * z**2)
        if (new - z).abs().max() < 1e-9:
            break
        z = new
    return z


@case("func.looks_at_primals.branches")
def _(torch):
    x = torch.tensor([0.2, 0.5], dtype=torch.float64)
    yield "two", _ways(torch, _branches, x)
    yield "until it converges", _ways(torch, _root, x)


@case("func.looks_at_primals.made_like")
def _(torch):
    x = torch.tensor([0.2, 0.5], dtype=torch.float64)

    def filled(a):
        z = torch.zeros_like(a)
        for i in range(2):
            z[i] = a.sum() * (i + 2)
            if z.abs().max() > 100:
                break
        return z * a

    def mixed(a):
        e = torch.empty_like(a).fill_(2.0) + torch.full_like(a, 2) + a.new_ones(2)
        return e * a**2 if e.sum() > 0 else e

    yield "filled", _ways(torch, filled, x)
    yield "mixed", _ways(torch, mixed, x)


@case("func.looks_at_primals.shapes")
def _(torch):
    x = torch.tensor([0.2, 0.5, 0.7], dtype=torch.float64)
    for name, f in (("mask", lambda a: a[a > 0.3] ** 2), ("nonzero", lambda a: a[torch.nonzero(a > 0.3)[:, 0]] ** 3), ("select", lambda a: a.masked_select(a > 0.3) ** 2),
                    ("unique", lambda a: a**2 * a.detach().unique().sum()), ("where", lambda a: a[torch.where(a > 0.3)] ** 2), ("argwhere", lambda a: a[(a > 0.3).argwhere()[:, 0]] ** 2)):
        yield name, torch.func.jacfwd(f)(x), torch.func.hessian(lambda a, f=f: f(a).sum())(x)
        yield f"{name} mapped", raises(lambda f=f: torch.func.vmap(f)(torch.stack([x, x])))
    yield "close", torch.func.jacfwd(lambda a: a**2 if torch.allclose(a, a) and torch.equal(a, a) else a)(x)


@case("func.looks_at_primals.tangents")
def _(torch):
    """A tangent that is mapped over is refused, however its primal is."""
    func, x, rows = torch.func, torch.tensor([0.2, 0.5]), torch.eye(2)

    def with_parts(look):
        def f(t):
            p, y = func.jvp(lambda x: x.sin() * x, (x,), (t,))
            return y * look(p, y)
        return func.vmap(f)(rows)

    yield "primal", with_parts(lambda p, y: p.sum().item()), with_parts(lambda p, y: 2 if p.sum() > 0 and p.prod() > 0 else 1)
    yield "tangent", raises(lambda: with_parts(lambda p, y: y.sum().item())), raises(lambda: with_parts(lambda p, y: 2 if y.sum() > 0.5 else 1))
    yield "both", raises(lambda: with_parts(lambda p, y: (p * y).sum().item()))


@case("func.looks_at_primals.inner")
def _(torch):
    func, x = torch.func, torch.tensor([0.2, 0.5], dtype=torch.float64)

    def energy(z, a):
        return ((z**2 - a) ** 2).sum() + (z**4).sum()

    def descent(a):
        z = a.new_ones(2)
        for _ in range(6):
            g, h = func.grad(energy)(z, a), func.hessian(energy)(z, a)
            if torch.linalg.det(h) <= 0:
                break
            step = torch.linalg.solve(h, g)
            if step.norm() < 1e-7:
                break
            z = z - step
        return z

    def inner(a):
        y = func.jvp(lambda z: z**3, (a,), (torch.ones_like(a),))[1]
        y = y * a if y.sum() > 0 else y
        return y * a if y.sum() > 0 else y

    yield "descent", func.jacfwd(descent)(x), func.hessian(lambda a: descent(a).sum())(x)
    yield "inner", func.jacfwd(inner)(x), func.hessian(lambda a: inner(a).sum())(x)


@case("func.looks_at_primals.solver")
def _(torch):
    """Jacobians by another map inside, between the looks of a solver that is differentiated."""
    func, goal = torch.func, torch.tensor([0.5, -1.2], dtype=torch.float64)

    def f(q):
        c = q.cumsum(0)
        return torch.stack([c.cos().sum(), c.sin().sum()])

    def solved(goal):
        q = torch.full_like(goal, 0.3)
        for _ in range(12):
            e = goal - f(q)
            if e.abs().max() < 1e-9:
                break
            q = q + torch.linalg.solve(func.jacrev(f)(q) + 1e-3 * torch.eye(2, dtype=q.dtype), e)
        return q

    yield "solved", func.jacfwd(solved)(goal), func.jacrev(solved)(goal)


@case("func.looks_at_primals.meta")
def _(torch):
    """Tensors without data under tangents that are mapped over, while other tensors are looked at."""
    def f(a):
        b = a.sin()
        return b * a * torch.ones(2).sum().item()

    out = torch.func.jacfwd(f)(torch.ones(3, device="meta"))
    yield "jacobian", out.shape, out.device
