"""Functions whose values have bounds stay within them: a probability that is negative by rounding has no logarithm."""

from compat_matrix.case import case

_SPANS = 6.5, 30.0


TURNS = 3  # a structure that repeats is compiled, the first time it may run otherwise


def _grid(torch, dtype):
    return torch.cat([torch.linspace(-a, a, 400001) for a in _SPANS]).to(dtype)


@case("within_bounds.erf")
def _(torch):
    for turn, dtype in enumerate((torch.float32, torch.float64, torch.bfloat16) * TURNS):
        y = torch.erf(_grid(torch, dtype))
        yield f"{dtype} {turn}", y.min(), y.max(), torch.special.erf(-_grid(torch, dtype)).max()


@case("within_bounds.normal_cdf")
def _(torch):
    x = _grid(torch, torch.float32)
    for turn in range(TURNS):
        below = torch.distributions.Normal(0.0, 1.0).cdf(x)
        yield f"cdf {turn}", bool((below >= 0).all()), bool((below <= 1).all())
        yield f"logs {turn}", int(below.log().isnan().sum()), int((1 - below).log().isnan().sum()), int(torch.special.ndtr(x).log().isnan().sum())


@case("within_bounds.gelu")
def _(torch):
    x = torch.linspace(-9, -5.5, 2001, requires_grad=True)
    for turn in range(TURNS):
        y = torch.nn.functional.gelu(x)
        yield f"sign {turn}", bool((y <= 0).all())
    g, = torch.autograd.grad(y.sum(), x, create_graph=True)
    yield "gradient", g[::400], torch.autograd.grad(g.sum(), x)[0][::400]


@case("within_bounds.i0e")
def _(torch):
    y = torch.special.i0e(torch.linspace(-1e-3, 1e-3, 20001))
    yield "i0e", bool((y <= 1).all()), y[::4000]
