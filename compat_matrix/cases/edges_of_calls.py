"""Calls at the edge of what a function takes: names of arguments, degrees that are numbers, refusals of both."""

from compat_matrix.case import attempt, case
from compat_matrix.observe import raises, warned


@case("edges_of_calls.a number called self")
def _(torch):
    x = torch.tensor([0.5, 2.0])
    yield "pow", torch.pow(self=2.0, exponent=x)
    yield "xlogy", torch.xlogy(self=2.0, other=x), torch.special.zeta(self=2.0, other=x + 1)
    yield "remainder", torch.remainder(self=2.0, other=x)
    yield "of a tensor", raises(lambda: torch.pow(self=x, exponent=2)), raises(lambda: torch.remainder(self=x, other=2))


@case("edges_of_calls.polynomials")
def _(torch):
    x = torch.tensor([0.5, 2.0])
    for name in ("chebyshev_polynomial_t", "shifted_chebyshev_polynomial_w", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p"):
        f = getattr(torch.special, name)
        yield name, f(x=x, n=2), f(2.0, n=torch.tensor([1, 2]))
        for args in ((), ("a",), (x,), (x, "a"), (x, None), (None, 2), (2.0, 2), (x, 2, 3), ([1.0], 2)):
            yield f"{name} {len(args)} {[type(a).__name__ for a in args if not isinstance(a, torch.Tensor)]}", raises(lambda f=f, a=args: f(*a))


@case("edges_of_calls.transforms along dims that are not there")
def _(torch):
    for name in ("rfft2", "ihfft2", "ihfftn", "rfftn"):
        for x in (torch.ones(4, dtype=torch.float16), torch.ones(4, dtype=torch.complex64), torch.ones(2, 4, dtype=torch.int64)):
            for dim, s in (((0, 0), None), ((0, 5), None), ((0,), (1, 2)), ((0, 1), (0, 2)), ((0,), None)):
                yield f"{name}, {x.dtype}, {dim}, {s}", raises(lambda n=name, x=x, d=dim, s=s: getattr(torch.fft, n)(x, s=s, dim=d))


@case("edges_of_calls.tangents of what shows one element several times")
def _(torch):
    forward_ad = torch.autograd.forward_ad
    with forward_ad.dual_level():
        for name, x in (("expanded", torch.ones(1).expand(3)), ("rows", torch.ones(2, 1).expand(2, 3)), ("detached", torch.ones(1).expand(3).detach())):
            yield name, raises(lambda x=x: forward_ad.make_dual(x, torch.ones(x.shape)))
            dual = forward_ad.make_dual(x, x)
            yield f"{name}, laid out alike", forward_ad.unpack_dual(dual * 2).tangent


@case("edges_of_calls.windows of one number")
def _(torch):
    x, at = torch.arange(16.0).reshape(1, 4, 4), torch.full((1, 1, 2), 0.5)
    for size in (2, (2, 2), [2, 2], torch.tensor(2)):
        yield str(size), torch.nn.functional.fractional_max_pool2d(x, size, output_size=size, _random_samples=at)


@case("edges_of_calls.sums over no dims and of nothing")
def _(torch):
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64, requires_grad=True)
    yield "logsumexp", torch.logsumexp(x, (), keepdim=True), raises(lambda: torch.logsumexp(x, ()))
    yield "its gradient", torch.autograd.grad(torch.logsumexp(x, (), keepdim=True).sum(), x)
    for shape in ((2, 0), (0,), (0, 3)):
        for dim in (None, 0, -1):
            yield f"mean of {shape} over {dim}", torch.mean(torch.ones(shape, dtype=torch.complex64), dim), torch.var_mean(torch.ones(shape, dtype=torch.complex128), dim)


@case("edges_of_calls.products of no dims and of nothing")
def _(torch):
    a, b = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
    y = torch.linalg.vecdot(a, b)
    yield "vecdot", y, torch.autograd.grad(y, (a, b)), torch.linalg.vecdot(torch.tensor(1 + 2j), torch.tensor(2j))
    for one, other in (((2, 0), (0, 3)), ((0, 2), (2, 3)), ((2, 3), (3, 0)), ((2, 3), (3, 2))):
        x, y = torch.ones(one, dtype=torch.bool), torch.ones(other, dtype=torch.bool)
        yield f"bools {one} {other}", attempt(lambda x=x, y=y: torch.tensordot(x, y, 1)), attempt(lambda x=x, y=y: torch.inner(x, y.t()))
    yield "tensordot", attempt(lambda: torch.tensordot(a, b, ([0], [0]))), attempt(lambda: torch.tensordot(a, b, ([1], [0])))
    yield "cross", attempt(lambda: torch.cross(a, b, dim=0)), attempt(lambda: torch.linalg.cross(a, b))
    yield "gradient", attempt(lambda: torch.gradient(a, dim=0)), attempt(lambda: torch.gradient(a, dim=1)), attempt(lambda: torch.gradient(torch.ones(3), dim=-2))


@case("edges_of_calls.covariances without freedom")
def _(torch):
    """More corrected than there are observations: it is divided by 0, and said."""
    x = torch.tensor([[1.0, 2.0], [3.0, 5.0]], dtype=torch.float64, requires_grad=True)
    for name, given in (("correction", {"correction": 2}), ("more", {"correction": 5}), ("counts", {"fweights": torch.tensor([1, 0])}),
                        ("counts, more", {"fweights": torch.tensor([1, 2]), "correction": 4}),
                        ("weights", {"aweights": torch.tensor([1.0, 0.5], dtype=torch.float64), "correction": 3})):
        yield name, torch.cov(x, **given), torch.autograd.grad(torch.cov(x, **given).sum(), x), warned(lambda given=given: torch.cov(x, **given))
    yield "corrcoef", torch.corrcoef(torch.ones(3, 1))
