"""Operators where seldom a program goes: mapped without elements, with a NaN in one group of a convolution, with arguments that are seldom given together."""

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
