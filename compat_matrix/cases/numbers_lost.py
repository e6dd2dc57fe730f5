"""Where numbers are lost: NaN in factorisations, in products times 0 and in rows sorted by insertion; powers of complex numbers beyond the range; empty pools."""

import itertools

from compat_matrix.case import attempt, case

NAN, INF = float("nan"), float("inf")

ROWS = ([NAN, -INF, 1.0], [NAN, NAN, 1.0], [1.0, NAN, 1.0], [5.0, NAN, 3.0, 3.0, NAN, 7.0], [5.0, 4.0, NAN], [NAN], [1.0, 2.0, 1.0],
        [3.0, NAN, 2.0, 3.0, 1.0, NAN, 2.0, 2.0, 3.0, NAN, 0.0, 0.0, 0.0, NAN, 3.0, 3.0])


@case("numbers_lost.mode")
def _(torch):
    count = itertools.count()
    for dtype in (torch.float32, torch.float64):
        for row in ROWS:
            x = torch.tensor(row, dtype=dtype, requires_grad=True)
            out = x.mode()
            yield str(next(count)), out.values.detach(), out.indices, torch.autograd.grad(out.values, x)[0]
    x = torch.tensor([[2.0, NAN, 1.0, 1.0], [NAN, 3.0, 3.0, NAN]])
    yield str(next(count)), tuple(x.mode()), tuple(x.mode(0, keepdim=True)), tuple(x[1:].mode())


@case("numbers_lost.factors")
def _(torch):
    count = itertools.count()
    for dtype in (torch.float32, torch.float64, torch.complex128):
        for rows in ([[NAN, 1.0], [1.0, 2.0]], [[4.0, 1.0, 1.0], [1.0, NAN, 1.0], [1.0, 1.0, 3.0]]):
            a = torch.tensor(rows, dtype=dtype)
            b = torch.stack([a, torch.eye(len(rows), dtype=dtype)])
            for x in (a, b):
                yield str(next(count)), torch.linalg.inv(x).isnan().tolist(), torch.linalg.det(x).isnan().tolist()
                yield str(next(count)), [p.isnan().tolist() for p in torch.linalg.lu(x)], torch.linalg.lu_factor(x)[0].isnan().tolist()
                yield str(next(count)), torch.linalg.solve(x, torch.ones_like(x)).isnan().tolist(), [p.isnan().tolist() for p in torch.linalg.slogdet(x)]


REFUSED = ("torch.linalg.pinv(x)", "torch.linalg.matrix_rank(x)", "torch.pinverse(x)", "torch.linalg.cholesky(x)", "torch.linalg.cholesky(x, upper=True)",
           "torch.cholesky(x)", "torch.linalg.svdvals(x)")


@case("numbers_lost.refused")
def _(torch):
    count = itertools.count()
    for dtype in (torch.float32, torch.float64, torch.complex128):
        for rows in ([[NAN, 1.0], [1.0, 2.0]], [[[1.0, 0.0], [0.0, 2.0]], [[1.0, 0.0], [0.0, NAN]]]):
            x = torch.tensor(rows, dtype=dtype)
            yield str(next(count)), [attempt(lambda what=what, x=x: eval(what, {"torch": torch, "x": x})) for what in REFUSED]
            yield str(next(count)), [attempt(lambda what=what, x=x: eval(what, {"torch": torch, "x": x + 0}).sum().item()) for what in REFUSED]


@case("numbers_lost.nothing of a product")
def _(torch):
    count = itertools.count()
    for dtype in (torch.bfloat16, torch.float16, torch.complex64, torch.complex128, torch.float32, torch.float64):
        for n in (2, 40):
            a, c = torch.full((n, n), NAN, dtype=dtype), torch.ones(n, n, dtype=dtype)
            sums = [f(c, a, a, alpha=0, beta=beta) for beta in (0, 1, 0.5) for f in (torch.addmm,)]
            sums += [torch.addmv(c[0], a, a[0], alpha=0), torch.addbmm(c, a[None], a[None], alpha=0), torch.addmm(c, c, c, alpha=0)]
            yield str(next(count)), [bool(s.isnan().any()) for s in sums], [s[..., 0].tolist()[0] if s.ndim == 2 else 0 for s in sums[-1:]]
    for rows in ([[1.0, 2.0], [3.0, 4.0]], [[NAN, 1.0], [1.0, 1.0]]):
        for f in (torch.addmm, torch.addmv, torch.addbmm):
            a, b = torch.ones(2, 2, requires_grad=True), torch.tensor(rows, requires_grad=True)
            left, right = (a[None], b[None]) if f is torch.addbmm else (a, b[0] if f is torch.addmv else b)
            out = f(torch.ones(2) if f is torch.addmv else torch.ones(2, 2), left, right, alpha=0)
            yield str(next(count)), out.detach(), torch.autograd.grad(out.sum(), (a, b))
    for alpha in (1, 0, 2, 0.0, 0, 1):
        yield str(next(count)), torch.addmm(torch.ones(2, 2), torch.ones(2, 2), torch.ones(2, 2), alpha=alpha), torch.addmm(
            torch.ones(2, 2, dtype=torch.int64), torch.ones(2, 2, dtype=torch.int64), torch.ones(2, 2, dtype=torch.int64), alpha=int(alpha))


def _said(v, small):
    return str(v) if v != v or abs(v) == INF else "0" if abs(v) < small else f"{v:.4g}"


@case("numbers_lost.complex powers")
def _(torch):
    count = itertools.count()
    for dtype, big, small in ((torch.complex128, 1e200, 1e-300), (torch.complex64, 1e25, 1e-35)):
        for base in (big * 1j, big, -big, big * (1 + 0.5j), 1j / big, 1 / big):
            for exponent in (2, -2, 3, -3, 0.5, 1j):
                z = torch.tensor([base], dtype=dtype) ** torch.tensor([exponent], dtype=dtype)
                yield str(next(count)), [_said(v, small) for v in torch.view_as_real(z)[0].tolist()]


@case("numbers_lost.special_round")
def _(torch):
    count = itertools.count()
    x = torch.tensor([1.25, 2.5, -0.5], requires_grad=True)
    for given in ({}, {"decimals": 0}, {"decimals": 1}):
        y = torch.special.round(x, **given)
        yield str(next(count)), y.detach(), y.grad_fn.name(), torch.autograd.grad(y.sum(), x)[0]
        yield str(next(count)), [attempt(lambda n=n, given=given: torch.special.round(torch.tensor([n]), **given)) for n in (1, True)]
    out = torch.empty(3)
    yield str(next(count)), torch.special.round(x.detach(), out=out) is out, out, torch.special.round(input=x.detach()), torch.round(x).grad_fn.name()


@case("numbers_lost.pools of nothing")
def _(torch):
    count = itertools.count()
    F = torch.nn.functional
    for n, f in ((1, F.adaptive_avg_pool1d), (2, F.adaptive_avg_pool2d), (3, F.adaptive_avg_pool3d), (2, F.adaptive_max_pool2d), (3, F.adaptive_max_pool3d)):
        for shape in ((1, 2) + (0,) * n, (1, 0) + (3,) * n, (0, 2) + (3,) * n, (2,) + (0,) * n, (0,) + (3,) * n, (1, 2) + (3,) * n, (1, 2, 0) + (3,) * (n - 1)):
            for size in (1, 0, 2):
                x = torch.zeros(shape, requires_grad=True)
                y = attempt(lambda x=x, size=size, f=f: f(x, size))
                if isinstance(y, torch.Tensor):
                    yield str(next(count)), y.detach(), y.grad_fn.name(), attempt(lambda x=x, y=y: torch.autograd.grad(y.sum(), x)[0])
                else:
                    yield str(next(count)), y


@case("numbers_lost.negative powers of integers")
def _(torch):
    count = itertools.count()
    for exponent in (-4, -7, -4):                          # the call was learned from another dtype
        for number in (2.0, 2, True, 2.0 + 1j, 3.0):
            x = torch.tensor([number])
            yield str(next(count)), attempt(lambda x=x, e=exponent: x ** e), attempt(lambda x=x, e=exponent: torch.pow(x, e)), attempt(
                lambda x=x, e=exponent: x.pow_(e))
    x = torch.tensor([2.0, 3.0], dtype=torch.float64, requires_grad=True)
    first, = torch.autograd.grad((x ** -4).sum(), x, create_graph=True)
    yield str(next(count)), first.detach(), torch.autograd.grad(first.sum(), x)[0]
