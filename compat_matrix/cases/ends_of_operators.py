"""Operators at their ends: the lowest integers, NaN and infinities among rows, nothing to reduce, indices beside nothing, out= that no gradient passes."""

from itertools import count

from compat_matrix.case import case

INF, NAN = float("inf"), float("nan")


def said(f):
    """What a call gives, or how it is refused."""
    try:
        out = f()
        out.tolist()  # a look: what depends on data is refused here at the latest
        return out
    except Exception as e:
        return type(e).__name__, str(e).split("\n")[0]


@case("ends_of_operators.lowest integers")
def _(torch):
    turn = count()
    for name in ("int8", "int16", "int32", "int64"):
        dtype = getattr(torch, name)
        low, high = torch.iinfo(dtype).min, torch.iinfo(dtype).max
        a, b = torch.tensor([low, low, low, high, 6, -4], dtype=dtype), torch.tensor([0, high, 6, high - 1, low // 2, 6], dtype=dtype)
        yield f"values {next(turn)}", name, torch.gcd(a, b), torch.gcd(b, a), torch.gcd(a, a)
    for name in ("int8", "int16", "uint8"):
        dtype = getattr(torch, name)
        a = torch.tensor([torch.iinfo(dtype).max, 6, 100, 0, 2], dtype=dtype)
        yield f"lcm {next(turn)}", name, torch.lcm(a[:, None], a[None])


ROWS = [[0.0, INF, NAN, 1.0], [1.0, 2.0, 3.0, 4.0], [INF, 1.0, 1.0, 1.0], [1.0, 2.0, -3.0, 4.5]]


@case("ends_of_operators.distances beside NaN")
def _(torch):
    turn = count()
    for p in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, INF):
        a = torch.tensor(ROWS, dtype=torch.float64, requires_grad=True)
        out = torch.cdist(a, a.detach() + 1, p=p)
        yield f"cdist {next(turn)}", p, out, torch.autograd.grad(out.sum(), a)[0].isnan()
        out = torch.nn.functional.pdist(a, p=p)
        yield f"pdist {next(turn)}", p, out, torch.autograd.grad(out.sum(), a)[0]
        x = torch.tensor([[INF, -3.0, 0.0, 2.0], [NAN, -3.0, 0.0, 2.0]], dtype=torch.float64, requires_grad=True)
        yield f"one row {next(turn)}", p, torch.autograd.grad(torch.cdist(x, torch.zeros(1, 4, dtype=torch.float64), p=p).sum(), x)[0].abs()


@case("ends_of_operators.sums of complex exponentials")
def _(torch):
    turn = count()
    for first in (complex(-INF, 2), complex(-INF, INF), complex(INF, 1), complex(NAN, 1), 1 + 2j):
        for then in (1 + 1j, complex(-INF, -3), complex(INF, -2), complex(0, NAN)):
            yield f"values {next(turn)}", first, then, torch.logcumsumexp(torch.tensor([first, then, 0.5j], dtype=torch.complex128), 0)


@case("ends_of_operators.prelu in forward mode")
def _(torch):
    turn = count()
    with torch.autograd.forward_ad.dual_level():
        x = torch.autograd.forward_ad.make_dual(torch.tensor([0.0, -0.0, 1.0, -1.0]), torch.tensor([1.0, 2.0, 3.0, 4.0]))
        w = torch.autograd.forward_ad.make_dual(torch.tensor(0.25), torch.tensor(1.0))
        yield f"values {next(turn)}", torch.autograd.forward_ad.unpack_dual(torch.nn.functional.prelu(x, w)).tangent
    x = torch.tensor([0.0, -0.0, 1.0, -1.0], requires_grad=True)
    yield f"values {next(turn)}", torch.autograd.grad(torch.nn.functional.prelu(x, torch.tensor(0.25)).sum(), x)


@case("ends_of_operators.incomplete gamma far away")
def _(torch):
    turn = count()
    a, x = torch.tensor([0.5, 2.0, 3.0, 1.0]), torch.tensor([3e38, 3e38, 1e30, 1e20])
    yield f"values {next(turn)}", torch.igamma(a, x), torch.igammac(a, x), torch.igammac(a.double(), x.double() * 1e200)


@case("ends_of_operators.out without a gradient")
def _(torch):
    turn = count()
    x, y = torch.tensor([1.0, 0.0], requires_grad=True), torch.tensor([0.0, 1.0])
    for name in ("eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor"):
        out = torch.empty(0, dtype=torch.bool)
        yield f"values {next(turn)}", name, getattr(torch, name)(x, y, out=out) is out, out, out.requires_grad
    for name in ("isposinf", "isneginf", "signbit", "logical_not", "all", "any"):
        yield f"values {next(turn)}", name, getattr(torch, name)(x, out=torch.empty(0, dtype=torch.bool))
    yield f"indices {next(turn)}", torch.argmax(x, out=torch.empty(0, dtype=torch.int64)), torch.searchsorted(y, x, out=torch.empty(0, dtype=torch.int64))
    yield f"number {next(turn)}", torch.eq(x, 1, out=torch.empty(0))
    yield f"refused {next(turn)}", said(lambda: torch.bitwise_not(x, out=torch.empty(0))), said(lambda: torch.nextafter(x, y, out=torch.empty(0)))
    yield f"leaf {next(turn)}", torch.eq(y, y, out=torch.empty(0, requires_grad=True)).is_leaf


@case("ends_of_operators.what cannot be written")
def _(torch):
    turn = count()
    x, i, b = torch.zeros(1, dtype=torch.float64), torch.ones(1, dtype=torch.int64), torch.ones(1, dtype=torch.bool)
    yield f"values {next(turn)}", said(lambda: x.clone().remainder_(1.5 + 0.5j)), said(lambda: x.clone().fmod_(1.5 + 0.5j)), said(lambda: x.clone().atan2_(torch.tensor(1j)))
    yield f"values {next(turn)}", said(lambda: b.clone().igammac_(i)), said(lambda: i.clone().bitwise_and_(1.5)), said(lambda: b.clone().nextafter_(i)), said(lambda: i.clone().gcd_(x))
    yield f"values {next(turn)}", said(lambda: i.clone().hypot_(x)), said(lambda: x.clone().remainder_(2)), said(lambda: x.remainder(1.5 + 0.5j))
    for name in ("asinh_", "acosh_", "atanh_"):
        with torch.autograd.forward_ad.dual_level():
            d = torch.autograd.forward_ad.make_dual(torch.tensor([0.5]), torch.tensor([1.0])) * 1
            yield f"values {next(turn)}", name, said(lambda: getattr(d, name)())


@case("ends_of_operators.norms of nothing")
def _(torch):
    turn = count()
    for shape in ((0, 0), (0, 3), (3, 0), (2, 0, 3), (2, 3, 0)):
        for p in (1, 2, INF, "nuc", "fro"):
            for keepdim in (False, True):
                out = said(lambda: torch.linalg.matrix_norm(torch.ones(shape, requires_grad=True), p, keepdim=keepdim))
                yield f"values {next(turn)}", shape, p, keepdim, out if isinstance(out, tuple) else (out, out.requires_grad)
            yield f"values {next(turn)}", shape, p, "cond", said(lambda: torch.linalg.cond(torch.ones(shape), p))
        yield f"values {next(turn)}", shape, -1, said(lambda: torch.linalg.matrix_norm(torch.ones(shape), -1))


@case("ends_of_operators.integrals of nothing")
def _(torch):
    turn = count()
    for dtype in (torch.uint8, torch.int32, torch.bool, torch.float16):
        yield f"values {next(turn)}", dtype, torch.trapezoid(torch.ones(0, dtype=dtype)), torch.trapezoid(torch.ones(0, 2, dtype=dtype), dim=0)
    yield f"values {next(turn)}", torch.trapezoid(torch.ones(0, requires_grad=True)).requires_grad


@case("ends_of_operators.indices beside nothing")
def _(torch):
    turn = count()
    none, zero, far = torch.tensor([], dtype=torch.long), torch.tensor([0]), torch.tensor([9])
    for shape in ((0,), (0, 3), ()):
        x = torch.ones(shape)
        for i in (none, zero, far):
            yield f"values {next(turn)}", shape, i, said(lambda: torch.index_select(x, 0, i)), said(lambda: torch.gather(x, 0, i if x.ndim < 2 else i[:, None]))
    yield f"second dim {next(turn)}", said(lambda: torch.index_select(torch.ones(2, 3), 1, far)), said(lambda: torch.index_select(torch.ones(2, 3, 2), 2, far))
    for shape in ((2, 3), (3,)):
        x = torch.ones(shape)
        for i in (none, zero, torch.tensor([0, 0])):
            for source in (torch.ones(()), torch.ones(1), torch.ones(2), torch.ones(1, 3), torch.ones(2, 1), torch.ones(0), torch.ones(0, 3)):
                for dim in (0, -1):
                    yield (f"values {next(turn)}", shape, i.shape, source.shape, dim, said(lambda: torch.index_add(x, dim, i, source)), said(lambda: torch.index_copy(x, dim, i, source)),
                           said(lambda: torch.index_reduce(x, dim, i, source, "amax")))
    empty = torch.zeros(1, 0, dtype=torch.long)
    yield f"values {next(turn)}", torch.scatter(torch.ones(2, 3), 0, empty, torch.ones(2)), torch.scatter_add(torch.ones(2, 3), 1, empty, torch.ones(()))
    yield f"values {next(turn)}", said(lambda: torch.scatter(torch.ones(2, 3), 0, torch.tensor([[0]]), torch.ones(0)))


@case("ends_of_operators.drawn into out")
def _(torch):
    turn = count()
    for n in (5, 16, 17, 40):
        torch.manual_seed(7)
        yield f"values {next(turn)}", n, torch.randn(n, out=torch.empty(n, 2)[:, 0]), torch.randn(n, out=torch.empty(0)), torch.rand(1)
        yield f"values {next(turn)}", torch.normal(torch.zeros(n), torch.ones(n) * 2, out=torch.empty(0, dtype=torch.float64)), torch.rand(1)
        yield f"values {next(turn)}", torch.normal(torch.zeros(n), torch.ones(n) * 2, out=torch.empty(n, 2)[:, 1]), torch.rand(1)
        yield f"values {next(turn)}", torch.normal(2.0, torch.ones(n), out=torch.empty(n, dtype=torch.float64)), torch.rand(1)
        yield f"values {next(turn)}", torch.normal(torch.ones(n), 0.5, out=torch.empty(n)), torch.rand(1), said(lambda n=n: torch.normal(torch.ones(n), 0.5, out=torch.empty(0)))


@case("ends_of_operators.far lgamma")
def _(torch):
    turn = count()
    for k in range(3):
        x = (torch.tensor([1e300, 2.4e305, 2.6e305, 1.7e308, -1.7e308, INF, -INF, NAN], dtype=torch.float64) * (1 + k / 100)).requires_grad_()
        yield f"values {next(turn)}", torch.lgamma(x), torch.special.gammaln(x.detach().float())
        y = torch.tensor([1.7e308, 3.0, 0.5 + k], dtype=torch.float64, requires_grad=True)
        torch.lgamma(y).sum().backward()
        yield f"gradient {next(turn)}", y.grad


@case("ends_of_operators.asarray of tensors")
def _(torch):
    asked = [{"dtype": torch.float32, "copy": False}, {"device": "meta", "copy": False}, {"copy": False}, {"copy": True}, {"requires_grad": True}, {"requires_grad": False},
             {"copy": True, "requires_grad": True}, {"copy": True, "requires_grad": False}, {"dtype": torch.float32, "requires_grad": True}, {"dtype": torch.float64}]
    for kind, needs, beyond in (("float64", False, False), ("float32", True, False), ("float32", True, True), ("int64", False, False)):
        for i, k in enumerate(asked):
            x = torch.ones(2, dtype=getattr(torch, kind), requires_grad=needs)
            x = x * 2 if beyond else x
            out = said(lambda x=x, k=k: torch.asarray(x, **k))
            flags = (out is x, out.requires_grad, out.is_leaf, str(out.dtype)) if isinstance(out, torch.Tensor) else out
            yield f"{kind} {needs} {beyond} {i}", flags, x.requires_grad


@case("ends_of_operators.a blank among the targets of ctc_loss")
def _(torch):
    turn = count()
    for targets in ([1, 0, 2], [0, 0, 1], [1, 0, 1], [0], [2, 0, 0, 2]):
        x = torch.arange(28.0, dtype=torch.float64).reshape(7, 1, 4).sin().requires_grad_()
        loss = torch.nn.functional.ctc_loss(x.log_softmax(2), torch.tensor([targets]), torch.tensor([7]), torch.tensor([len(targets)]), reduction="sum")
        yield f"loss {next(turn)}", targets, loss
        yield f"gradient {next(turn)}", torch.autograd.grad(loss, x)[0]


@case("ends_of_operators.eigvals of what is not finite")
def _(torch):
    for kind in ("float64", "complex128"):
        for values in ([[1, INF], [2, 3]], [[INF, 0], [0, 1]]):
            yield f"{kind} {values}", torch.linalg.eigvals(torch.tensor(values, dtype=getattr(torch, kind)))
        yield f"{kind} with gradients", said(lambda kind=kind: torch.linalg.eigvals(torch.tensor([[1, INF], [2, 3]], dtype=getattr(torch, kind), requires_grad=True)))
