"""Operators where their domain ends: places that are no number, empty operands, results that are integers, writes to what is shown several times."""

import warnings

from compat_matrix.case import case
from compat_matrix.observe import attempt, raises

NAN, INF = float("nan"), float("inf")


@case("operators_at_borders.grid_sample outside")
def _(torch):
    grid = torch.tensor([[[[NAN, 0.0], [0.0, NAN], [INF, -INF], [INF, 0.0], [0.0, -INF], [1e30, 0.0], [3.0, 0.0]]]])
    x = torch.arange(1.0, 10).reshape(1, 1, 3, 3)
    for padding in ("border", "reflection"):
        for corners in (True, False):
            for mode in ("nearest", "bilinear"):
                yield f"{mode}, {padding}, {corners}", torch.nn.functional.grid_sample(x, grid, mode=mode, padding_mode=padding, align_corners=corners)


@case("operators_at_borders.grid_sample of a volume outside")
def _(torch):
    grid = torch.tensor([[[[[NAN, 0.0, 0.0], [0.0, 0.0, NAN], [INF, -INF, 0.0], [INF, 0.0, 0.0], [0.0, 0.0, -INF]]]]])
    x = torch.arange(1.0, 28).reshape(1, 1, 3, 3, 3)
    for padding in ("border", "zeros"):
        for corners in (True, False):
            yield f"bilinear, {padding}, {corners}", torch.nn.functional.grid_sample(x, grid, padding_mode=padding, align_corners=corners)
            if padding == "border":
                yield f"nearest, {padding}, {corners}", torch.nn.functional.grid_sample(x, grid, mode="nearest", padding_mode=padding, align_corners=corners)


@case("operators_at_borders.sums that come out as integers")
def _(torch):
    x = torch.tensor([1.5, 2.5], requires_grad=True)
    for name, more in (("sum", ()), ("sum", (0,)), ("prod", ()), ("prod", (0,)), ("nansum", ()), ("cumsum", (0,)), ("cumprod", (0,))):
        for dtype in (torch.int32, torch.int64):
            yield f"{name}{more}, {dtype}", raises(lambda n=name, m=more, d=dtype: getattr(torch, n)(x, *m, dtype=d))
            yield f"{name}{more}, {dtype}, without grad", getattr(torch, name)(x.detach(), *more, dtype=dtype)
            with torch.no_grad():
                yield f"{name}{more}, {dtype}, where none is recorded", getattr(torch, name)(x, *more, dtype=dtype)
    yield "bool", raises(lambda: x.sum(dtype=torch.bool))


@case("operators_at_borders.quantiles at ranks")
def _(torch):
    x = torch.tensor([[3.0, 1.0, 2.0], [0.5, 4.0, 1.5]], dtype=torch.float64, requires_grad=True)
    for how in ("linear", "lower", "higher", "midpoint", "nearest"):
        for name in ("quantile", "nanquantile"):
            q = torch.tensor([0.2, 0.7], dtype=torch.float64, requires_grad=True)
            out = getattr(torch, name)(x, q, 1, interpolation=how)
            yield f"{name}, {how}", out, torch.autograd.grad(out.sum(), (x, q), allow_unused=True)
            yield f"{name}, {how}, of ranks alone", getattr(torch, name)(x.detach(), q, 1, interpolation=how).requires_grad


@case("operators_at_borders.reflections of nothing")
def _(torch):
    for shape, taus in (((4, 0), (0,)), ((4, 3), (0,)), ((0, 4, 3), (0, 3)), ((4, 3), (3,))):
        a, tau = (torch.ones(s, dtype=torch.float64, requires_grad=True) for s in (shape, taus))
        out = torch.linalg.householder_product(a, tau)
        yield f"{shape}, {taus}", out.requires_grad, [g is None for g in torch.autograd.grad(out.sum(), (a, tau), allow_unused=True)]


@case("operators_at_borders.factors without pivots")
def _(torch):
    for shape in ((0, 3), (3, 0), (2, 0, 0), (0, 3, 3)):
        a = torch.ones(shape)
        yield f"{shape}", tuple(torch.linalg.lu(a, pivot=False)), tuple(torch.linalg.lu_factor(a, pivot=False))
    yield "with elements", raises(lambda: torch.linalg.lu(torch.eye(2), pivot=False))


@case("operators_at_borders.probabilities")
def _(torch):
    loss = torch.nn.functional.binary_cross_entropy
    for x, y in (([2.0, 0.5], [0.5, 2.0]), ([0.5, 2.0], [2.0, 0.5]), ([0.5, 0.5], [2.0, 0.5]), ([2.0, 0.5], [2.0, 0.5]), ([0.5, 0.5], [NAN, 0.5])):
        for dtype in (torch.float32, torch.bfloat16):
            yield f"{x}, {y}, {dtype}", raises(lambda a=x, b=y, d=dtype: loss(torch.tensor(a, dtype=d), torch.tensor(b, dtype=d)).item())
    yield "none", loss(torch.zeros(0), torch.zeros(0)), loss(torch.tensor([0.0, 1.0]), torch.tensor([0.0, 1.0]))


@case("operators_at_borders.convolutions of no samples")
def _(torch):
    for n in (1, 2, 3):
        for dtype in (torch.float32, torch.float64):
            x, w = torch.zeros((0, 2) + (2,) * n, dtype=dtype), torch.zeros((3, 2) + (3,) * n, dtype=dtype)
            f = getattr(torch.nn.functional, f"conv{n}d")
            yield f"{n}, {dtype}", raises(lambda a=x, b=w, f=f: f(a, b)), f(x, w, padding=1)


@case("operators_at_borders.pools too small")
def _(torch):
    f, x = torch.nn.functional, torch.zeros(2, 2, 1, 3)
    yield "planes", raises(lambda: f.max_pool2d(x, 3, 2, 0, 2)), raises(lambda: f.max_pool2d(x, 3, 1, 0, 4))
    yield "volumes", raises(lambda: f.max_pool3d(x, 3, 2, 0, 2))
    yield "means", raises(lambda: f.avg_pool2d(x, 5, 2))
    yield "one dim", raises(lambda: f.max_pool1d(x[0], 5, 2)), raises(lambda: f.max_pool1d(x[0], 5, 2, return_indices=True))


@case("operators_at_borders.pools of one")
def _(torch):
    for n in (1, 2, 3):
        x = torch.arange(4.0).reshape((1, 1) + (1,) * (n - 1) + (4,)).requires_grad_()
        g, = torch.autograd.grad(getattr(torch.nn.functional, f"max_pool{n}d")(x, 1).sum(), x, create_graph=True)
        yield f"{n}", g, torch.autograd.grad(g.sum(), x)


@case("operators_at_borders.normalisation without eps")
def _(torch):
    f, x = torch.nn.functional, torch.tensor([[1.0, 2.0], [3.0, 5.0]])
    for eps in (0, 0.0, -1.0):
        yield f"training, {eps}", raises(lambda e=eps: f.batch_norm(x, None, None, training=True, eps=e))
    yield "running", raises(lambda: f.batch_norm(x, torch.zeros(2), torch.ones(2), eps=-1.0)), f.batch_norm(x, torch.zeros(2), torch.ones(2), eps=0.0)


@case("operators_at_borders.a complex factor of what is added")
def _(torch):
    fa = torch.autograd.forward_ad
    x, y = torch.tensor([1 + 2j, 2 - 1j]), torch.tensor([3 - 1j])
    with fa.dual_level():
        a, b = fa.make_dual(x, x * 1j), fa.make_dual(y, y * 2)
        yield "both", fa.unpack_dual(torch.index_add(a, 0, torch.tensor([1]), b, alpha=2j)).tangent
        yield "source", fa.unpack_dual(torch.index_add(x, 0, torch.tensor([1]), b, alpha=2j)).tangent
        yield "self", fa.unpack_dual(torch.index_add(a, 0, torch.tensor([1]), y, alpha=2j)).tangent


@case("operators_at_borders.powers of large complex numbers")
def _(torch):
    for e in (-1, -2, -3, 4, 2.5, -2.0):
        z = torch.tensor([1e200j, 1 + 2j], dtype=torch.complex128, requires_grad=True)
        out = torch.pow(z, e)
        yield f"{e}", out, torch.autograd.grad(out, z, torch.ones_like(out))


def _written(torch, base, shape, indices, values, accumulate=False):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shown = base.expand(shape)
        return shown.index_put_(indices, values, accumulate=accumulate), base


@case("operators_at_borders.written to what is shown several times")
def _(torch):
    def i(*x):
        return torch.tensor(x)

    yield "rows", _written(torch, torch.zeros(2, 1), (2, 3), (i(1, 0),), torch.arange(6.0).reshape(2, 3))
    yield "a row twice", _written(torch, torch.zeros(2, 1), (2, 3), (i(1, 1),), torch.arange(6.0).reshape(2, 3))
    yield "one row", _written(torch, torch.zeros(1, 3), (2, 3), (i(1, 0),), torch.arange(6.0).reshape(2, 3))
    yield "places", _written(torch, torch.zeros(1, 3), (2, 3), (i(1, 0), i(1, 2)), torch.arange(2.0))
    yield "two dims", _written(torch, torch.zeros(1, 3, 1), (2, 3, 4), (i([1], [0]), i(1, 2)), torch.arange(16.0).reshape(2, 2, 4))
    yield "added", _written(torch, torch.zeros(2, 1), (2, 3), (i(1, 0),), torch.arange(6.0).reshape(2, 3), True)
    yield "one place", _written(torch, torch.zeros(1), (5,), (i(1, 0, 3),), torch.arange(3.0) + 1, True)
    yield "mask", _written(torch, torch.zeros(1, 3), (2, 3), (torch.tensor([[True, False, True], [True, True, False]]),), torch.arange(4.0))


@case("operators_at_borders.entries of nothing")
def _(torch):
    for f in (torch.unique, torch.unique_consecutive):
        yield f"{f.__name__}, none", attempt(lambda f=f: f(torch.zeros(0, 3), dim=0))
        yield f"{f.__name__}, empty ones", raises(lambda f=f: f(torch.zeros(0, 3), dim=1)), raises(lambda f=f: f(torch.zeros(3, 0), dim=0))
        yield f"{f.__name__}, no dims", raises(lambda f=f: f(torch.tensor(1.0), dim=0))
    yield "distance", raises(lambda: torch.nn.functional.pairwise_distance(torch.ones(2, 0), torch.ones(2, 0), p=INF))
    yield "activation", torch.nn.functional.hardswish(torch.zeros(0))


@case("operators_at_borders.names in refusals")
def _(torch):
    x, out = torch.ones(1, requires_grad=True), torch.empty(1)
    for name in ("negative", "absolute", "arccos", "fix", "special.expit", "special.erf", "square"):
        f = torch
        for part in name.split("."):
            f = getattr(f, part)
        yield name, raises(lambda f=f: f(x, out=out))
    for name in ("multiply", "true_divide", "subtract", "arctan2"):
        yield name, raises(lambda f=getattr(torch, name): f(x, x, out=out))
    yield "clip", raises(lambda: torch.clip(x, 0, 1, out=out))
    yield "expand", [raises(lambda d=d: torch.zeros(2, 3).to(d).expand(4)) for d in (torch.bfloat16, torch.bool, torch.complex64, torch.float16)]
    yield "split", raises(lambda: torch.split(torch.zeros(3, 2), [1, 2], -1))
    yield "repeat", raises(lambda: torch.repeat_interleave(torch.zeros(3, 4), torch.tensor([1, 2]), dim=-1))
    yield "trapezoid", raises(lambda: torch.trapezoid(torch.ones(2, 3), torch.ones(3), dim=0)), raises(
        lambda: torch.cumulative_trapezoid(torch.ones(2, 3), torch.ones(3), dim=0))
    yield "tensordot", raises(lambda: torch.tensordot(torch.ones(2, 3), torch.ones(2, 3), dims=([0, 0], [0, 0])))
    yield "search", raises(lambda: torch.bucketize(torch.tensor([1j]), torch.tensor([0.0, 1.0])))
    yield "margins", raises(lambda: torch.nn.functional.multi_margin_loss(torch.ones(2, 3), torch.tensor([0, 1]), weight=torch.ones(3, requires_grad=True)))
    for dtype in (torch.float16, torch.int64):
        a = torch.ones(3, 2, dtype=dtype)
        yield f"least squares, {dtype}", raises(lambda a=a: torch.linalg.lstsq(a, a)), raises(lambda a=a: torch.linalg.lstsq(a, a, rcond=0.1))


@case("operators_at_borders.dtypes along a diagonal")
def _(torch):
    for parts in (((torch.float32, 2), (torch.float64, 0)), ((torch.float32, 2), (torch.float64, 1)), ((torch.int64, 2), (torch.float16, 0)),
                  ((torch.float32, 0), (torch.float64, 0))):
        yield f"{parts}", torch.block_diag(*[torch.ones((1,) * n, dtype=d) for d, n in parts])


@case("operators_at_borders.smoothed enlargements by their own names")
def _(torch):
    x = torch.arange(16.0).reshape(1, 1, 4, 4)
    for name in ("_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa"):
        yield name, getattr(torch._C._nn, name)(x, [3, 3], False, None)


@case("operators_at_borders.rows scaled down")
def _(torch):
    w = torch.tensor([[3.0, 1.0, 0.0], [-0.5, 0.25, 0.5], [0.0, 0.0, 0.0]])
    for p in (INF, -INF, 0.0, 0.5, 1.0, 3.0):
        yield f"{p}", torch.nn.functional.embedding(torch.tensor([0, 1, 2]), w.clone(), max_norm=0.1, norm_type=p)


@case("operators_at_borders.targets of other lengths")
def _(torch):
    x = torch.zeros(5, 2, 4).log_softmax(-1)
    for targets, lengths in (([1, 2, 3], [0, 2]), ([1, 2, 3], [2, 2]), ([1, 2, 3], [1, 2]), ([[1, 2], [1, 2]], [3, 2]), ([[1, 2, 3]], [1, 2])):
        yield f"{targets}, {lengths}", attempt(lambda t=targets, n=lengths: torch.nn.functional.ctc_loss(x, torch.tensor(t), (5, 5), tuple(n)))


@case("operators_at_borders.variances")
def _(torch):
    f, fa = torch.nn.functional.gaussian_nll_loss, torch.autograd.forward_ad
    for shape in ((), (1,)):
        for var in ((), (1,), (1, 1)):
            yield f"{shape}, {var}", attempt(lambda s=shape, v=var: f(torch.ones(s), torch.zeros(s), torch.ones(v)))
    var = torch.tensor([0.1, 0.5, 2.0], requires_grad=True)
    yield "raised", torch.autograd.grad(f(torch.ones(3), torch.zeros(3), var, eps=0.5), var)
    with fa.dual_level():
        yield "raised forward", fa.unpack_dual(f(torch.ones(3), torch.zeros(3), fa.make_dual(var.detach(), torch.ones(3)), eps=0.5)).tangent


@case("operators_at_borders.entries of an empty tensor")
def _(torch):
    i, far, none = torch.tensor([0]), torch.tensor([5]), torch.zeros(3, 0)
    yield "index_add", torch.index_add(torch.zeros(0, 3), 0, i, torch.ones(1, 3)), torch.index_add(none, 0, far, torch.ones(1, 0))
    yield "index_copy, index_fill", torch.index_copy(none, 0, far, torch.ones(1, 0)), torch.index_fill(none, 0, far, 2.0)
    for how in ("amax", "prod"):
        yield f"index_reduce, {how}", raises(lambda h=how: torch.index_reduce(torch.zeros(0, 3), 0, i, torch.ones(1, 3), h))
        yield f"index_reduce, {how}, far", raises(lambda h=how: torch.index_reduce(none, 0, far, torch.ones(1, 0), h))
    yield "put", raises(lambda: torch.put(torch.zeros(0), i, torch.ones(1))), torch.put(torch.zeros(0), i[:0], torch.ones(0))
    yield "scatter", raises(lambda: torch.select_scatter(torch.tensor(1.0), torch.tensor(1.0), 0, 0)), raises(
        lambda: torch.slice_scatter(torch.tensor(1.0), torch.tensor(1.0), 0))


@case("operators_at_borders.taken from the flattened tensor")
def _(torch):
    x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    yield "flat", torch.take_along_dim(x, torch.tensor([[5, 0]]), None), torch.take_along_dim(x, torch.tensor([1], dtype=torch.int32), None)
    yield "negative", raises(lambda: torch.take_along_dim(x, torch.tensor([-1]), None)), torch.take_along_dim(x, torch.tensor([[-1, 0, 1]]), 0)
    yield "bytes", raises(lambda: torch.take_along_dim(x, torch.tensor([1], dtype=torch.uint8), None)), raises(
        lambda: torch.take_along_dim(x, torch.tensor([[1]], dtype=torch.int32), 0))
    yield "nothing", torch.take_along_dim(torch.zeros(3, 0), torch.zeros(1, 0, dtype=torch.int64), None)
    yield "no dims", raises(lambda: torch.take_along_dim(torch.tensor(1.0), torch.tensor(0), -1))


@case("operators_at_borders.written in place without a derivative")
def _(torch):
    x = torch.ones(3, requires_grad=True)
    yield "floor_divide", raises(lambda: (x * 1).floor_divide_(x).sum().backward()), raises(lambda: torch.floor_divide(x, x).sum().backward())
    yield "scatter", raises(lambda: torch.zeros(3).scatter_(0, torch.tensor([0, 1, 2]), x, reduce="add").sum().backward())
    yield "heaviside", raises(lambda: (x * 1).heaviside_(x).sum().backward())


@case("operators_at_borders.convolutions of nothing")
def _(torch):
    f = torch.nn.functional
    for dtype in (torch.float16, torch.float64, torch.complex64):
        for n in (1, 2, 3):
            x, w = torch.zeros((1, 2, 0) + (5,) * (n - 1), dtype=dtype), torch.ones((2, 3) + (3,) * n, dtype=dtype)
            yield f"transposed, {n}, {dtype}", raises(lambda x=x, w=w, n=n: getattr(f, f"conv_transpose{n}d")(x, w))
        yield f"no channels, {dtype}", f.conv2d(torch.zeros(1, 0, 4, 5, dtype=dtype), torch.ones(3, 0, 1, 1, dtype=dtype), torch.ones(3, dtype=dtype))
    yield "no rows", raises(lambda: f.conv2d(torch.zeros(1, 2, 0, 5), torch.ones(3, 2, 1, 1))), raises(
        lambda: f.conv2d(torch.zeros(1, 2, 0, 5), torch.ones(3, 2, 1, 1), padding=(1, 0)))
    x, w, b = (torch.ones(s, requires_grad=True) for s in ((1, 0, 4, 5), (3, 0, 1, 1), (3,)))
    yield "gradients", torch.autograd.grad(f.conv2d(x, w, b).sum(), (x, w, b), allow_unused=True)


@case("operators_at_borders.batches that do not fit")
def _(torch):
    linalg, one = torch.linalg, torch.ones
    a, b = torch.eye(2).expand(2, 2, 2).contiguous(), one(3, 2, 2)
    yield "triangular", raises(lambda: linalg.solve_triangular(a, b, upper=True)), raises(lambda: linalg.solve_triangular(a, b, upper=True, left=False))
    yield "older", raises(lambda: torch.triangular_solve(b, a)), raises(lambda: torch.cholesky_solve(b, a))
    yield "factors", raises(lambda: linalg.lu_solve(*linalg.lu_factor(a), b)), raises(lambda: linalg.lu_solve(*linalg.lu_factor(a), b, left=False))
    yield "symmetric", raises(lambda: linalg.ldl_solve(*linalg.ldl_factor(a), b))
    for shapes in (((2, 3, 2), (2, 2), (3, 3, 2)), ((3, 2), (2,), (2, 3, 2)), ((2, 3, 2), (3, 2), (2, 3, 2))):
        yield f"reflections, {shapes}", raises(lambda s=shapes: torch.ormqr(*map(one, s)))
    yield "no right-hand sides", linalg.lstsq(one(1, 3), one(1, 0)).rank, linalg.lstsq(a, one(2, 2, 0)).rank


@case("operators_at_borders.bools that scale an outer product")
def _(torch):
    for dtype in (torch.float32, torch.int64, torch.bool):
        x, v, w = (torch.ones(s, dtype=dtype) for s in ((2, 3), (2,), (3,)))
        for beta, alpha in ((True, 0.5), (1, True), (True, True), (1.5, 1), (2, 1)):
            yield f"{dtype}, {beta}, {alpha}", attempt(lambda b=beta, a=alpha, x=x, v=v, w=w: torch.addr(x, v, w, beta=b, alpha=a))


@case("operators_at_borders.products mapped under gradients")
def _(torch):
    f = torch.func
    for x in (torch.tensor([[1.0, 2.0, 3.0], [2.0, 0.0, 1.0], [0.0, 0.0, 2.0]]), torch.tensor([[1.0, 2.0, 3.0], [2.0, 5.0, 1.0]])):
        zeros = "zeros" if x.shape[0] == 3 else "none"
        for name, g in (("prod", lambda x: torch.prod(x) ** 2), ("prod of a dim", lambda x: torch.prod(x, 0).sin()), ("cumprod", lambda x: torch.cumprod(x, 0).sin().sum())):
            yield f"{name}, {zeros}", f.vmap(f.grad(g))(x), f.vmap(f.jacfwd(g))(x), f.vmap(f.hessian(g))(x)
            yield f"{name}, {zeros}, twice", f.vmap(f.vmap(f.grad(g)))(torch.stack([x, x + 1]))


@case("operators_at_borders.determinants of no matrices mapped")
def _(torch):
    f, x = torch.func, torch.ones(2, 0, 2, 2)
    yield "det", f.vmap(f.grad(lambda x: (torch.linalg.det(x) ** 2).sum()))(x), f.vmap(torch.linalg.det)(x)
    yield "slogdet", f.vmap(f.grad(lambda x: torch.linalg.slogdet(x)[1].sum()))(x), tuple(f.vmap(torch.linalg.slogdet)(x))
