"""Products that are added to something, of half precision: where torch rounds, to the last bit, with their gradients."""

from compat_matrix.case import case

HALVES = ("bfloat16", "float16")
SIZES = ((2, 3, 4), (5, 8, 3))
SCALES = ({}, {"beta": 0.3, "alpha": 1.7}, {"beta": 0.0625, "alpha": 1.7}, {"beta": -4.775})


def _bits(torch, x):
    """The bit patterns: a tolerance would hide a rounding."""
    return x.detach().view(torch.int16).tolist()


def _made(torch, dtype, *shape):
    """Numbers of few bits, whose sums of products are exact in float32 in any order."""
    return (torch.randint(-64, 65, shape) / 32).to(dtype)


def _seen(torch, out, *leaves):
    found = torch.autograd.grad(out, leaves, _made(torch, out.dtype, *out.shape))
    return [_bits(torch, t) for t in (out, *found)]


def _leaves(torch, dtype, *shapes):
    return [_made(torch, dtype, *shape).requires_grad_() for shape in shapes]


@case("half_products.linear")
def _(torch):
    for name in HALVES:
        for m, k, n in SIZES:
            torch.manual_seed(m)
            for label, shape in (("vector", (k,)), ("matrix", (m, k)), ("stack", (2, m, k))):
                x, w, b = _leaves(torch, getattr(torch, name), shape, (n, k), (n,))
                yield f"{name} {label} {m}", _seen(torch, torch.nn.functional.linear(x, w, b * 0.1), x, w, b)


@case("half_products.addmm")
def _(torch):
    for name in HALVES:
        for m, k, n in SIZES:
            for i, scale in enumerate(SCALES):
                torch.manual_seed(i)
                c, a, b = _leaves(torch, getattr(torch, name), (m, n), (m, k), (k, n))
                yield f"{name} {m} {i}", _seen(torch, torch.addmm(c * 0.1, a, b, **scale), a, b, c)


@case("half_products.baddbmm")
def _(torch):
    for name in HALVES:
        for m, k, n in SIZES:
            for i, scale in enumerate(SCALES):
                torch.manual_seed(i)
                c, a, b = _leaves(torch, getattr(torch, name), (2, m, n), (2, m, k), (2, k, n))
                yield f"{name} {m} {i}", _seen(torch, torch.baddbmm(c * 0.1, a, b, **scale), a, b, c)
                c, a, b = _leaves(torch, getattr(torch, name), (m, n), (3, m, k), (3, k, n))
                yield f"in turn {name} {m} {i}", _seen(torch, torch.addbmm(c * 0.1, a, b, **scale), a, b, c)


@case("half_products.addmv")
def _(torch):
    for m, k, n in SIZES:
        for i, scale in enumerate(SCALES):
            torch.manual_seed(i)
            c, a, b = _leaves(torch, torch.bfloat16, (m,), (m, k), (k,))
            yield f"addmv {m} {i}", _bits(torch, torch.addmv(c * 0.1, a, b, **scale))
            c, a, b = _leaves(torch, torch.bfloat16, (m, n), (m,), (n,))
            yield f"addr {m} {i}", _bits(torch, torch.addr(c * 0.1, a, b, **scale))


@case("half_products.differentiated twice")
def _(torch):
    for name in HALVES:
        torch.manual_seed(1)
        x, w, b = _leaves(torch, getattr(torch, name), (3, 4), (2, 4), (2,))
        (g,) = torch.autograd.grad((torch.nn.functional.linear(x, w, b) ** 2).sum(), x, create_graph=True)
        yield name, [_bits(torch, t) for t in (g, *torch.autograd.grad(g.sum(), (x, w, b)))]
