"""Calls at the edge of what a function takes: names of arguments, degrees that are numbers, refusals of both."""

from compat_matrix.case import case
from compat_matrix.observe import raises


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
