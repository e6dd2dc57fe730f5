"""Operators looked at a second time: the gradient of logcumsumexp in logarithms, the greater of a list of integers and a number."""

from compat_matrix.case import case

INF, NAN = float("inf"), float("nan")


@case("second_looks.logcumsumexp")
def _(torch):
    for given in ([0.0, 1.4, 6.0], [1.0, NAN, 1.0], [1.0, INF, 1.0], [1.0, -INF, 0.5], [-1.0, 0.5, 2.0]):
        x = torch.tensor([0.3, -2.0, 1.0], dtype=torch.float64, requires_grad=True)
        c = torch.tensor(given, dtype=torch.float64, requires_grad=True)
        (g,) = torch.autograd.grad(torch.logcumsumexp(x, 0), x, c, create_graph=True)
        yield f"gradient {given}", g
        if given[1] == given[1] and abs(given[1]) < INF:
            yield f"second {given}", [torch.autograd.grad(y, (x, c), retain_graph=True) for y in g]
    x = torch.tensor([[0.0, 0.0, 3.0], [1.0, INF, -1.0]], dtype=torch.float64, requires_grad=True)
    (g,) = torch.autograd.grad(torch.logcumsumexp(x, 1).square().sum(), x, create_graph=True)
    yield "squares", g, torch.autograd.grad(g[0].sum(), x)[0]


@case("second_looks.foreach_maximum of integers")
def _(torch):
    for name in ("maximum", "minimum"):
        for dtype in (torch.int32, torch.uint8, torch.bool, torch.float16, torch.float64):
            for number in (1, 1.5, 1.1, -1):
                xs = [torch.tensor([1, 2]).to(dtype), torch.tensor(3).to(dtype)]
                for full in (f"_foreach_{name}", f"_foreach_{name}_"):
                    try:
                        yield f"{full} {dtype} {number}", getattr(torch, full)(xs, number)
                    except RuntimeError as e:
                        yield f"{full} {dtype} {number}", str(e)


@case("second_looks.lstsq of batches")
def _(torch):
    for first, then in (((2, 2, 2), (2, 1)), ((2, 2, 2), (3, 1)), ((3, 2, 2), (2, 5)), ((3, 4, 2), (3, 4)), ((1, 4, 2), (4, 3)), ((1, 4, 2), (3, 4, 1)),
                        ((0, 4, 2), (4, 1)), ((3, 4, 2), (4, 1)), ((2, 2), (3,))):
        a, b = (torch.arange(float(torch.Size(s).numel()), dtype=torch.float64).mul(1.7).add(0.3).sin().reshape(s).requires_grad_() for s in (first, then))
        try:
            out = torch.linalg.lstsq(a, b, driver="gelsd")
            yield f"{first} {then}", out.solution, out.rank, out.singular_values.shape, torch.autograd.grad(out.solution.sum(), (a, b))
        except RuntimeError as e:
            yield f"{first} {then}", str(e)


@case("second_looks.random numbers without room")
def _(torch):
    for turn, f in enumerate((lambda: torch.rand(1 << 62), lambda: torch.randn(1 << 42, 1 << 42), lambda: torch.randperm(1 << 62),
                              lambda: torch.randint(0, 5, (1 << 62,)),
                              lambda: torch.normal(0.0, 1.0, (1 << 62,)), lambda: torch.multinomial(torch.ones(3), 1 << 62, True),
                              lambda: torch.randn(1 << 62, device="meta"),
                              lambda: torch.nn.functional.pad(torch.ones(2, dtype=torch.complex64), (1, 0), value=1j))):
        try:
            f()
        except (RuntimeError, TypeError) as e:
            yield f"refusal {turn}", type(e).__name__, str(e).split("\n")[0]


@case("second_looks.NaN and infinities reduced")
def _(torch):
    x = torch.tensor([1.0, NAN, 3.0, 2.0, INF], dtype=torch.float64, requires_grad=True)
    s = torch.tensor([2.0, 5.0, NAN, 1.0, INF], dtype=torch.float64, requires_grad=True)
    i = torch.tensor([0, 1, 2, 3, 3])
    for reduce in ("amax", "amin", "prod", "mean"):
        for included in (True, False):
            for name in ("scatter_reduce", "index_reduce"):
                out = getattr(x, name)(0, i, s, reduce, include_self=included)
                yield f"{name} {reduce} {included}", out, torch.autograd.grad(out.sum(), (x, s))
    a = torch.tensor([[1.0, 2.0], [NAN, 1.0], [1.0, 1.0]], dtype=torch.float64, requires_grad=True)
    b = torch.tensor([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]], dtype=torch.float64)
    for third in (1.0, 0.0, -1.0, NAN):
        out = torch.nn.functional.cosine_embedding_loss(a, b, torch.tensor([1.0, third, -1.0], dtype=torch.float64), reduction="none")
        yield f"cosine_embedding_loss {third}", out, torch.autograd.grad(out.sum(), a)[0].isnan()


@case("second_looks.zeta of negative numbers")
def _(torch):
    x = torch.tensor([2.0, 2.0, 3.0, 4.0, 2.0, 2.0, 1.5, 3.0], dtype=torch.float64)
    q = torch.tensor([-0.5, -7.54, -2.3, -8.2, -20.5, -300.7, -2.5, -4.0], dtype=torch.float64)
    yield "zeta", torch.special.zeta(x, q)
    yield "polygamma", torch.polygamma(1, q), torch.polygamma(2, q)
    q = q[:6].clone().requires_grad_()
    yield "gradient", torch.autograd.grad(torch.special.zeta(x[:6], q).sum(), q)[0]


@case("second_looks.tolerances and orders refused")
def _(torch):
    a, t = torch.ones(2, 2), torch.tensor(0.1, requires_grad=True)
    for turn, f in enumerate((
            lambda: torch.linalg.pinv(a, rtol=t), lambda: torch.linalg.pinv(a, atol=t), lambda: torch.linalg.pinv(a, t), lambda: torch.linalg.pinv(a, 1j * t.detach()),
            lambda: torch.linalg.pinv(a, rtol=1j * t.detach()), lambda: torch.linalg.cond(a[0], "fro"), lambda: torch.linalg.cond(a[0], "x"),
            lambda: torch.linalg.cond(a[0], 1), lambda: torch.linalg.pinv(a, t.detach()))):
        try:
            yield f"{turn}", f()
        except RuntimeError as e:
            yield f"{turn}", str(e)


@case("second_looks.inner product with a scalar, written")
def _(torch):
    for dtype in (torch.float64, torch.float16, torch.int64, torch.complex64):
        for a in (torch.tensor(2.0), torch.tensor(2.0 + 1j), torch.ones(2)):
            out = torch.zeros((3, 2) if a.ndim == 0 else (3,), dtype=dtype)
            try:
                yield f"{dtype} {a.dtype} {a.ndim}", torch.inner(a, torch.ones(3, 2).to(a.dtype), out=out)
            except RuntimeError as e:
                yield f"{dtype} {a.dtype} {a.ndim}", str(e)


@case("second_looks.ellipses that do not fit")
def _(torch):
    for equation, shapes in (("...i,...i->...", ((3, 4), (2, 4))), ("i...,i...->...", ((4, 5, 3), (4, 2, 3))), ("...ij,...jk", ((2, 2, 3), (3, 3, 4))),
                             ("a...,b...->ab...", ((2, 3), (2, 4))), ("...i,i...", ((3, 4), (5, 3)))):
        try:
            torch.einsum(equation, *[torch.ones(s) for s in shapes])
        except RuntimeError as e:
            yield equation, str(e)
