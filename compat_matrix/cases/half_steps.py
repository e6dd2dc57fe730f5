"""Where half precision rounds each step and where only the result, products beside infinities and of many factors, and refusals by size."""

from compat_matrix.case import case

INF = float("inf")
HALVES = ("bfloat16", "float16")


def _said(f):
    try:
        return f()
    except (RuntimeError, NotImplementedError) as e:
        return type(e).__name__, str(e).split("\n")[0]


def _pairs(torch, dtype):
    torch.manual_seed(5)
    return (torch.randn(200) * 9).to(dtype), (torch.randn(200) + 3).to(dtype)


@case("half_steps.division")
def _(torch):
    for name in HALVES:
        dtype = getattr(torch, name)
        x, y = _pairs(torch, dtype)
        for mode in ("trunc", "floor"):
            yield f"tensors {name} {mode}", torch.div(x, y, rounding_mode=mode)
            yield f"divisor of one element {name} {mode}", torch.div(x, y[:1], rounding_mode=mode), torch.div(x, y[3], rounding_mode=mode)
            yield f"number {name} {mode}", torch.div(x, 0.7, rounding_mode=mode), torch.div(x, torch.tensor(0.7), rounding_mode=mode)
            yield f"dividend of one element {name} {mode}", torch.div(x[5], y, rounding_mode=mode), torch.div(x[5], y[5], rounding_mode=mode)
        yield f"floor_divide {name}", x // y, x // 0.7, 7.3 // y, torch.floor_divide(x.reshape(2, 100), y[:2].reshape(2, 1))


@case("half_steps.division by known numbers")
def _(torch):
    x, y = torch.tensor([4.875, 20.75], dtype=torch.bfloat16), torch.tensor([0.9765625, 0.08349609375], dtype=torch.bfloat16)
    yield "trunc", torch.div(x, y, rounding_mode="trunc").tolist(), [torch.div(a, b, rounding_mode="trunc").item() for a, b in zip(x, y)]


@case("half_steps.grid_sample")
def _(torch):
    for name in HALVES:
        torch.manual_seed(2)
        x = torch.randn(2, 2, 5, 7).to(getattr(torch, name))
        grid = (torch.rand(2, 3, 4, 2) * 2.6 - 1.3).to(x.dtype)
        for mode in ("bilinear", "nearest", "bicubic"):
            for padding in ("zeros", "border", "reflection"):
                out = [torch.nn.functional.grid_sample(x, grid, mode, padding, align) for align in (False, True)]
                yield f"{name} {mode} {padding}", [v.tolist() for v in out]


@case("half_steps.sizes that refuse")
def _(torch):
    for name in HALVES:
        dtype = getattr(torch, name)
        for rows, columns in ((0, 3), (1, 3), (2, 0), (2, 3)):
            yield f"pdist {name} {rows} {columns}", _said(lambda: torch.pdist(torch.ones(rows, columns, dtype=dtype)))
        for f in (torch.special.i1, torch.special.i1e):
            x = torch.tensor([0.5, 1.0], dtype=dtype, requires_grad=True)
            out = f(x)
            yield f"bessel {name} {f.__name__}", out, _said(lambda: out.sum().backward())


@case("half_steps.round to no decimals")
def _(torch):
    for x in (torch.tensor([1, 2]), torch.tensor([True]), torch.tensor([1j]), torch.tensor([0.5, 1.5, -2.5])):
        yield f"{x.dtype}", _said(lambda: torch.round(x, decimals=0)), _said(lambda: torch.round(x, decimals=1))
    x = torch.tensor([1.5], requires_grad=True)
    yield "node", x.round(decimals=0).grad_fn.name(), x.round(decimals=2).grad_fn.name()


@case("half_steps.tensorinv is a reshape")
def _(torch):
    x = (torch.eye(24, dtype=torch.float64) + 0.1).reshape(4, 6, 8, 3).requires_grad_()
    out = torch.linalg.tensorinv(x)
    yield "node", out.grad_fn.name(), out.grad_fn.next_functions[0][0].name()
    yield "gradient", torch.autograd.grad(out.square().sum(), x)[0]


def _slopes(torch, f, rows):
    x = torch.tensor(rows, dtype=torch.float64, requires_grad=True)
    out = f(x)
    g, = torch.autograd.grad(out, x, torch.ones_like(out))
    return out.detach(), g


@case("half_steps.products beside infinities")
def _(torch):
    for row in ([INF, 2.0, 3.0], [INF, INF, 3.0], [-INF, 3.0, -2.0], [float("nan"), 2.0, 1.0], [1e-200, 1e-200, 3.0], [0.0, INF, 2.0]):
        yield f"prod {row}", _slopes(torch, lambda x: x.prod(), row), _slopes(torch, lambda x: x.prod(1), [row, [1.0, 2.0, 3.0]])
    for row in ([INF, 2.0, 3.0], [INF, INF, 3.0], [-INF, 3.0, -2.0], [1e-200, 1e-200, 3.0]):
        yield f"cumprod {row}", _slopes(torch, lambda x: x.cumprod(0), row), _slopes(torch, lambda x: x.cumprod(1), [row, [1.0, 2.0, 3.0]])
    yield "forward mode", torch.func.jvp(lambda x: x.prod(), (torch.tensor([INF, 2.0, 3.0]),), (torch.ones(3),))


@case("half_steps.products of many factors")
def _(torch):
    torch.manual_seed(0)
    x = (1 + (torch.rand(2, 20000, 3) - 0.5) / 1000).requires_grad_()
    exact = x.detach().double().requires_grad_()
    for name, f in (("cumprod", lambda v: v.cumprod(1)), ("prod", lambda v: v.prod(1))):
        out, best = f(x), f(exact)
        (g,), (h,) = torch.autograd.grad(out.sum(), x), torch.autograd.grad(best.sum(), exact)
        far = [float(((a.double() - b) / b).abs().max()) for a, b in ((out.detach(), best.detach()), (g, h))]
        yield name, [v < 2e-5 for v in far]


@case("half_steps.logaddexp of endless complex numbers")
def _(torch):
    z = torch.tensor([INF, -INF, 0, 1, complex(INF, 1), complex(INF, 2), complex(-INF, INF), complex(0, INF)], dtype=torch.complex128)
    yield "values", torch.logaddexp(z[:, None], z[None])


@case("half_steps.reflected at whole spans")
def _(torch):
    for name, n in (("float32", 42), ("float32", 50), ("float64", 50), ("float16", 42), ("float16", 23)):
        x = torch.arange(1.0, n + 1).to(getattr(torch, name)).reshape(1, 1, 1, n).requires_grad_()
        c = torch.tensor([-3.0, -1.0, 1.0, 3.0, 5.0], dtype=x.dtype).repeat(2000)      # so many that the operator is compiled
        y = torch.nn.functional.grid_sample(x, torch.stack([c, torch.zeros_like(c)], -1).reshape(1, 1, -1, 2), padding_mode="reflection", align_corners=True)
        yield f"{name} {n}", y.flatten()[:5], torch.autograd.grad(y.flatten()[:5].sum(), x)[0]
