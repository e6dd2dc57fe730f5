"""Gradients where an operator's domain ends: what is reached and what is not, ranges of numbers that squares leave, strides that choose a kernel."""

from compat_matrix.case import case
from compat_matrix.observe import attempt, raises

INF = float("inf")


def leaf(torch, values, dtype=None):
    return torch.tensor(values, dtype=dtype or torch.float64, requires_grad=True)


_PAIRS = {"mul": lambda t, x, y: x * y, "div": lambda t, x, y: x / y, "pow": lambda t, x, y: x ** y, "atan2": lambda t, x, y: t.atan2(x, y),
          "xlogy": lambda t, x, y: t.xlogy(x, y), "mm": lambda t, x, y: x.view(1, 2) @ y.view(2, 1), "addcmul": lambda t, x, y: t.addcmul(x, x, y),
          "linear": lambda t, x, y: t.nn.functional.linear(x.view(1, 2), y.view(1, 2)),
          "conv1d": lambda t, x, y: t.nn.functional.conv1d(x.view(1, 1, 2), y.view(1, 1, 2), padding=1),
          "layer_norm": lambda t, x, y: t.nn.functional.layer_norm(x * 2, (2,), y, y.detach()),
          "solve": lambda t, x, y: t.linalg.solve(x.diag() + 1, y), "solve_triangular": lambda t, x, y: t.linalg.solve_triangular(x.diag(), y[:, None], upper=True),
          "grid_sample": lambda t, x, y: t.nn.functional.grid_sample(x.view(1, 1, 1, 2), y.view(1, 1, 1, 2), align_corners=True)}

for _name in _PAIRS:
    @case(f"edges_of_gradients.one of two gradients.{_name}", of=_name)
    def _(torch, of):
        for which in (0, 1):
            x, y = leaf(torch, [0.5, 0.7]), leaf(torch, [0.3, 0.2])
            out = _PAIRS[of](torch, x, y)
            w = torch.ones_like(out).requires_grad_()
            got = torch.autograd.grad(out, (x, y), w, create_graph=True)[which]
            again = torch.autograd.grad(got.sum(), (x, y, w), allow_unused=True)
            yield f"of gradient {which}", [g is None for g in again], [g for g in again if g is not None]
        x, y = leaf(torch, [0.5, 0.7]), leaf(torch, [0.3, 0.2])
        torch.autograd.grad(_PAIRS[of](torch, x, y).sum(), (x, y), create_graph=True)[1].sum().backward()
        yield "grad", x.grad, y.grad


@case("edges_of_gradients.products of numbers whose squares leave the range")
def _(torch):
    for dtype, small in ((torch.float32, 1e-30), (torch.float64, 1e-200)):
        for values in ([2.0, small, 3.0], [1.0, 1 / small, 1.0]):
            x = leaf(torch, values, dtype)
            (g,) = torch.autograd.grad(x.cumprod(0)[1], x, create_graph=True)
            again = torch.autograd.grad(g.sum(), x)[0]
            yield f"{dtype}, {values}", g.detach(), torch.isfinite(again)


@case("edges_of_gradients.remainders after their cotangent was written to")
def _(torch):
    for name in ("fmod", "remainder"):
        x, y, w = leaf(torch, [0.5, 0.7]), leaf(torch, [0.3, 0.2]), torch.ones(2, dtype=torch.float64, requires_grad=True)
        gs = torch.autograd.grad(getattr(torch, name)(x, y), (x, y), w, create_graph=True)
        with torch.no_grad():
            w.add_(1)
        yield name, torch.autograd.grad(gs[1].sum(), (x, y, w), allow_unused=True)


@case("edges_of_gradients.distances of order 0")
def _(torch):
    x, y = leaf(torch, [1.0, 2.0]), leaf(torch, [1.0, 3.0])
    yield "value", torch.dist(x, y, p=0)
    yield "of the first", torch.autograd.grad(torch.dist(x, y.detach(), p=0), x, allow_unused=True)
    yield "of the second", raises(lambda: torch.autograd.grad(torch.dist(x.detach(), y, p=0), y, allow_unused=True))
    yield "of both", raises(lambda: torch.dist(x, y, p=0).backward())


@case("edges_of_gradients.mixtures of single numbers")
def _(torch):
    types = (torch.float16, torch.bfloat16, torch.float32)
    for own in types:
        for of_weight in types:
            a, b, w = torch.tensor(1.0, dtype=own), torch.tensor(0.0, dtype=own), torch.tensor(0.25, dtype=of_weight)
            yield f"{own}, {of_weight}", torch.lerp(a, b, w)
            yield f"{own}, {of_weight}, of elements", attempt(lambda a=a, b=b, w=w: torch.lerp(a[None], b[None], w))


@case("edges_of_gradients.windows of one dim")
def _(torch):
    functional, x = torch.nn.functional, leaf(torch, [[[1.0, 2.0, 3.0, 4.0]]])
    for size in (2, (2,), [2]):
        yield f"lp_pool1d {size}", attempt(lambda s=size: functional.lp_pool1d(x, 2, s))
    for size in (2, (2,), (1, 2), (1, 2, 1)):
        yield f"lp_pool2d {size}", attempt(lambda s=size: functional.lp_pool2d(x[None], 2, s))


@case("edges_of_gradients.attention by strides")
def _(torch):
    attend = torch.nn.functional.scaled_dot_product_attention
    plain = torch.arange(48.0).reshape(2, 2, 3, 4) / 50
    shown = {"rows": plain, "columns": plain.mT.contiguous().mT, "every other": torch.stack([plain, plain], -1).flatten(-2)[..., ::2],
             "heads inside": plain.transpose(1, 2).contiguous().transpose(1, 2), "expanded": plain[..., :1].expand(2, 2, 3, 4)}
    for name, t in shown.items():
        for place in range(3):
            three = [plain.clone().requires_grad_() for _ in range(3)]
            three[place] = t.requires_grad_()
            yield f"{name} at {place}", attend(*three).grad_fn.name()


@case("edges_of_gradients.attention of few heads and of nothing")
def _(torch):
    attend = torch.nn.functional.scaled_dot_product_attention
    for q, kv in ((1, 2), (4, 3), (4, 2)):
        query, key = (torch.ones(2, n, 3, 4, dtype=torch.float64, requires_grad=True) for n in (q, kv))
        yield f"{q} heads for {kv}", attempt(lambda q=query, k=key: attend(q, k, k, enable_gqa=True))
    for shape in ((2, 2, 3, 0), (3, 0), (2, 0, 0)):
        x, value = torch.ones(shape), torch.arange(2.0 * 3).reshape(3, 2).expand(*shape[:-1], 2) if shape[-2] else torch.ones(*shape[:-1], 2)
        yield f"{shape}", attend(x, x, x), attend(x, x, value)


@case("edges_of_gradients.likelihoods of integers")
def _(torch):
    x = torch.tensor([1, 2, 3])
    yield "variance", torch.nn.functional.gaussian_nll_loss(x, x * 2, 0.5, reduction="none"), torch.nn.functional.gaussian_nll_loss(x, x, 0.5, full=True)
    yield "whole", attempt(lambda: torch.nn.functional.gaussian_nll_loss(x, x, torch.tensor([1, 2, 3])))


@case("edges_of_gradients.running extremes along dims that are not there")
def _(torch):
    for shape in ((0,), (2, 0), (), (2,)):
        for dim in (0, 1, -3):
            for name in ("cummax", "cummin"):
                yield f"{name} of {shape} along {dim}", attempt(lambda n=name, s=shape, d=dim: tuple(getattr(torch, n)(torch.ones(s), d)))


@case("edges_of_gradients.activations of nothing")
def _(torch):
    for name in ("silu", "mish", "gelu", "elu", "relu", "softplus", "hardswish", "logsigmoid", "tanhshrink"):
        x = torch.zeros(0, 2, requires_grad=True)
        (g,) = torch.autograd.grad(getattr(torch.nn.functional, name)(x).sum(), x, create_graph=True)
        yield name, g, g.requires_grad


@case("edges_of_gradients.names of the first argument")
def _(torch):
    x = torch.tensor([1.0, 2.0])
    for name in ("abs", "exp", "sum", "cumsum", "add", "max", "std"):
        more = {"cumsum": {"dim": 0}, "add": {"other": 1}}.get(name, {})
        yield f"{name}(input=)", getattr(torch, name)(input=x, **more)
        yield f"{name}(self=)", raises(lambda n=name, m=more: getattr(torch, n)(self=x, **m))


@case("edges_of_gradients.singular matrices")
def _(torch):
    for values in ([[1.0, 2.0], [2.0, 4.0]], [[1.0, 0.0], [0.0, 0.0]]):
        a = leaf(torch, values)
        yield f"det {values}", torch.autograd.grad(torch.linalg.det(a), a)
        (g,) = torch.autograd.grad(torch.linalg.det(a), a, create_graph=True)
        yield f"det {values}, with a graph", g.detach()
        yield f"logdet {values}", torch.autograd.grad(torch.logdet(a), a)
        yield f"logdet {values}, with a graph", raises(lambda a=a: torch.autograd.grad(torch.logdet(a), a, create_graph=True))
        yield f"slogdet {values}, with a graph", raises(lambda a=a: torch.autograd.grad(torch.linalg.slogdet(a)[1], a, create_graph=True))


@case("edges_of_gradients.strides of decompositions and transforms")
def _(torch):
    a = torch.tensor([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 4.0]], dtype=torch.float64)
    yield "decompositions", [t.stride() for t in (torch.linalg.cholesky(a), *torch.linalg.lu_factor(a)[:1], *torch.linalg.qr(a), torch.linalg.eigh(a)[1])]
    yield "solutions", [t.stride() for t in (torch.linalg.inv(a), torch.linalg.solve(a, a[:, :2]), torch.linalg.solve_triangular(a, a[:, :2], upper=True))]
    yield "transforms", torch.fft.fft(a, dim=0).stride()
    yield "values do not depend on them", torch.linalg.cholesky(a).reshape(-1), torch.linalg.cholesky(a).contiguous().is_contiguous()


@case("edges_of_gradients.NaN where slopes end")
def _(torch):
    for n in (1, 64):
        for name in ("relu6", "hardtanh"):
            x = torch.full((n,), float("nan"), requires_grad=True)
            yield f"{name}, {n}", torch.autograd.grad(getattr(torch.nn.functional, name)(x).sum(), x)[0][0]


@case("edges_of_gradients.exponentials of matrices of half precision")
def _(torch):
    a = torch.tensor([[0.1, 0.2], [-0.3, 0.4]])
    for dtype in (torch.bfloat16, torch.float16):
        yield f"{dtype}", torch.matrix_exp(a.to(dtype))


@case("edges_of_gradients.forward mode over scattered products")
def _(torch):
    index, x = torch.tensor([0, 0, 1]), torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)

    def f(x):
        return torch.ones(2, dtype=torch.float64).scatter_reduce(0, index, x, "prod").pow(2).sum()

    yield "twice backwards", torch.func.jacrev(torch.func.grad(f))(x)
    yield "forwards over backwards", torch.func.jvp(torch.func.grad(f), (x,), (torch.ones_like(x),))[1]


@case("edges_of_gradients.transforms of infinities")
def _(torch):
    x = torch.tensor([1.0, INF, 2.0, -1.0, 0.5])
    yield "finite before", torch.fft.fft(x[2:])
    yield "no number", torch.isfinite(torch.fft.fft(x)).any()
    yield "parts", torch.isnan(torch.fft.fft(x).real)


_THRICE = {"layer_norm": lambda t, x: t.nn.functional.layer_norm(x, (3,), t.tensor([1.1, 0.7, -0.3], dtype=x.dtype)), "logcumsumexp": lambda t, x: x.logcumsumexp(0), "softmax": lambda t, x: x.softmax(0),
           "group_norm": lambda t, x: t.nn.functional.group_norm(x.view(1, 3, 1).expand(1, 3, 2), 1), "cumprod": lambda t, x: x.cumprod(0),
           "std": lambda t, x: x.std(), "logsumexp": lambda t, x: x.logsumexp(0), "solve": lambda t, x: t.linalg.solve(x.diag() + 2, x)}


@case("edges_of_gradients.third derivatives")
def _(torch):
    for name, f in _THRICE.items():
        x = leaf(torch, [0.3, -1.2, 0.7])
        total = (f(torch, x) ** 2 + f(torch, x)).sum()
        for order in (1, 2, 3):
            (g,) = torch.autograd.grad(total, x, create_graph=True)
            yield f"{name}, order {order}", g.detach()
            total = (g ** 2).sum()


@case("edges_of_gradients.second tangents beside NaN")
def _(torch):
    jacfwd, jacrev = torch.func.jacfwd, torch.func.jacrev
    for bad in (float("nan"), float("inf")):
        x = torch.tensor([1.0, bad, 5.0])
        for name, outer, inner in (("forward over reverse", jacfwd, jacrev), ("reverse twice", jacrev, jacrev), ("forward twice", jacfwd, jacfwd),
                                   ("reverse over forward", jacrev, jacfwd)):
            yield f"{name}, {bad}", outer(inner(lambda x: (x * x).sum()))(x)


@case("edges_of_gradients.weights of classes without a number")
def _(torch):
    for weight in (INF, float("nan"), 0.0):
        for reduction in ("mean", "sum", "none"):
            for smoothing in (0.0, 0.1):
                x = leaf(torch, [[0.3, -1.2, 0.7], [1.0, 0.2, -0.4]])
                loss = torch.nn.functional.cross_entropy(x, torch.tensor([0, 2]), torch.tensor([1.0, weight, 2.0], dtype=x.dtype), reduction=reduction, label_smoothing=smoothing)
                yield f"{weight}, {reduction}, {smoothing}", loss, torch.autograd.grad(loss.sum(), x)[0]


_CONVOLVED = {"conv1d": ((1, 2, 5), (2, 2, 3), 1), "conv2d": ((1, 2, 4, 4), (2, 2, 3, 3), 1), "depthwise": ((1, 2, 4, 4), (2, 1, 3, 3), 2), "conv_transpose2d": ((1, 2, 3, 3), (2, 2, 2, 2), 1)}


@case("edges_of_gradients.convolutions with infinite weights")
def _(torch):
    """Whether something is multiplied with the zeros around an image or a gradient."""
    for name, (shape, weights, groups) in _CONVOLVED.items():
        x, w = leaf(torch, [0.5], torch.float32).expand(shape), torch.ones(weights)
        w.view(-1)[1] = INF
        f = getattr(torch.nn.functional, name if name != "depthwise" else "conv2d")
        for padding in (0, 1):
            y = f(x, w, padding=padding, groups=groups)
            (g,) = torch.autograd.grad(y, x, torch.ones_like(y))
            yield f"{name}, padding {padding}", y.isnan().sum(), y.isinf().sum(), g.isnan().sum(), g.isinf().sum()
