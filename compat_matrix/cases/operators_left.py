"""Operators where seldom a program goes: mapped without elements, with a NaN in one group of a convolution, with arguments that are seldom given together."""

import warnings

from compat_matrix.case import case
from compat_matrix.observe import attempt


@case("operators_left.gradients of nothing under a map")
def _(torch):
    for name, more in (("lgamma", ()), ("digamma", ()), ("polygamma", (2,)), ("mvlgamma", (2,)), ("erfinv", ()), ("sinc", ()), ("i0", ())):
        f = torch.func.grad(lambda x, n=name, m=more: getattr(x, n)(*m).sum())
        for shape in ((2, 0, 3), (0, 2), (2, 3, 0)):
            yield f"{name}, {shape}", attempt(lambda f=f, s=shape: torch.func.vmap(f)(torch.full(s, 0.5)))
        yield f"{name}, the next look", attempt(lambda: torch.ones(2) * 3)
    x = torch.ones(0, requires_grad=True)
    yield "refused without a map", attempt(lambda: torch.autograd.grad(torch.igamma(x, torch.ones(0)).sum(), x))


def _where_nan(torch, t, dims):
    return torch.isnan(t).flatten(dims).any(dims)


def _groups(torch, f, x, w):
    bad = x.clone()
    bad[:, 0] = float("nan")
    bad.requires_grad_()
    w.requires_grad_()
    out = f(bad, w)
    gx, gw = torch.autograd.grad(out.sum(), (bad, w))
    yield "of the input", [_where_nan(torch, out, 2), _where_nan(torch, gx, 2), _where_nan(torch, gw, 1)]
    x = x.clone().requires_grad_()
    out = f(x, w)
    g = torch.ones_like(out)
    g[:, 0] = float("nan")
    gx, gw = torch.autograd.grad(out, (x, w), g)
    yield "of the gradient", [_where_nan(torch, gx, 2), _where_nan(torch, gw, 1)]


@case("operators_left.a NaN stays in its group of a convolution")
def _(torch):
    for dtype in (torch.float32, torch.float64):
        for n, batch, c, m in ((1, 1, 1, 1), (1, 2, 1, 2), (1, 3, 2, 2), (2, 1, 2, 2), (2, 2, 1, 1), (2, 3, 1, 2), (3, 1, 1, 2), (3, 2, 2, 1)):
            for name, shape in ((f"conv{n}d", (2 * m, c)), (f"conv_transpose{n}d", (2 * c, m))):
                x, w = torch.ones(batch, 2 * c, *[5] * n, dtype=dtype), torch.ones(*shape, *[2] * n, dtype=dtype)
                f = getattr(torch.nn.functional, name)
                for what, found in _groups(torch, lambda x, w, f=f: f(x, w, groups=2), x, w):
                    yield f"{name}, {dtype}, {batch} x {c} -> {m}, {what}", found


@case("operators_left.a NaN stays in its channel, four groups with several results")
def _(torch):
    for n, stride, padding in ((1, 1, 0), (2, 2, 1)):
        x, w = torch.ones(2, 4, *[5] * n), torch.ones(8, 1, *[3] * n)
        f = getattr(torch.nn.functional, f"conv{n}d")
        yield n, list(_groups(torch, lambda x, w, f=f, s=stride, p=padding: f(x, w, stride=s, padding=p, groups=4), x, w))


@case("operators_left.rows of powers under a map")
def _(torch):
    x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says that it has no rule for it
        for n, increasing in ((None, False), (0, False), (1, True), (2, False), (2, True), (4, False)):
            yield f"{n}, {increasing}", torch.func.vmap(lambda x, n=n, i=increasing: torch.vander(x, n, i))(x)
        yield "of integers", torch.func.vmap(lambda x: torch.vander(x, 3))(x.to(torch.int32))
        yield "inside out", torch.func.vmap(lambda x: torch.vander(x, 3), in_dims=1, out_dims=2)(x)


@case("operators_left.mixtures of numbers of two dtypes")
def _(torch):
    for own, other in ((torch.float32, torch.float64), (torch.float64, torch.float32)):
        for shapes in (((), ()), ((1,), ()), ((), (2,))):
            for w in (0.3, 0.7):
                a, b = (torch.full(s, v, dtype=own, requires_grad=True) for s, v in zip(shapes, (0.1, 0.7)))
                weight = torch.tensor(w, dtype=other, requires_grad=True)
                out = torch.lerp(a, b, weight)
                yield f"{own}, {other}, {shapes}, {w}", out, torch.autograd.grad(out.sum(), (a, b, weight))
                yield f"{own}, {other}, {shapes}, {w}, written", attempt(lambda a=a, b=b, w=weight: a.detach().clone().lerp_(b.detach(), w.detach()))
        for out in (torch.float16, torch.float32, torch.float64):
            yield f"{own}, {other}, out, {out}", torch.lerp(*(torch.tensor(v, dtype=own) for v in (0.1, 0.7)), torch.tensor(0.3, dtype=other), out=torch.empty((), dtype=out))


_CHEBYSHEV = {"t": 6, "u": 8, "v": 8, "w": 8, "shifted t": 6, "shifted u": 6, "shifted v": 6, "shifted w": 4}  # the last degrees by recurrence


@case("operators_left.Chebyshev polynomials of high degree")
def _(torch):
    for kind, low in _CHEBYSHEV.items():
        shifted, letter = kind.startswith("shifted"), kind[-1]
        f = getattr(torch.special, f"{'shifted_' * shifted}chebyshev_polynomial_{letter}")
        inside = torch.tensor([0.1, 0.3, 0.62, 0.9], dtype=torch.float64)
        yield f"{kind}, degrees around", [f(inside, n) for n in (low - 1, low, low + 1, low + 2)]
        ends = torch.tensor([1.0, 0.0, -1.0, 1.5], dtype=torch.float64)[:3 - shifted]
        yield f"{kind}, at the ends", [f(ends, n) for n in (0, 3, 4, low + 1, low + 2, 10**10, 10**10 + 1)]
        yield f"{kind}, far degrees", [f(inside, torch.tensor(n, dtype=torch.float64)) for n in (1000.0, float("nan"), 1e30, float("inf"), -1e30)]
        yield f"{kind}, outside", f(torch.tensor([1.5, 3.0], dtype=torch.float64), low + 3)
        yield f"{kind}, in float", [f(torch.tensor([1.0, 0.25]), n) for n in (20, 21)]
