"""Maxima of windows that overlap, one pool after the other; what torch says about their padding and lists."""

import itertools

from compat_matrix.case import case


def _said(f):
    try:
        return [tuple(t.shape) for t in f()]
    except (RuntimeError, NotImplementedError) as e:
        return type(e).__name__, str(e).split("\n")[0]


@case("pools_that_overlap.maxima and gradients")
def _(torch):
    F = torch.nn.functional
    for n, shape in ((1, (2, 3, 9)), (2, (1, 2, 6, 7)), (3, (1, 1, 4, 5, 6))):
        pool = getattr(F, f"max_pool{n}d")
        for (k, s, p, d, ceil), fill in itertools.product(((3, 1, 1, 1, False), (3, 2, 1, 1, True), (2, 1, 0, 2, False), (3, 1, 1, 2, True)), (None, "nan", "-inf")):
            torch.manual_seed(n)
            x = torch.randint(0, 5, shape).double()
            if fill:
                x.view(-1)[::4 if fill == "nan" else 1] = float(fill)
            x.requires_grad_()
            out, at = pool(x, k, s, p, d, ceil, return_indices=True)
            (g,) = torch.autograd.grad((out * torch.arange(out.numel(), dtype=out.dtype).view(out.shape)).sum(), x)
            yield f"{n} dims, {k, s, p, d, ceil} of {fill}", out, at, g


@case("pools_that_overlap.one after the other")
def _(torch):
    torch.manual_seed(0)
    x = torch.rand(2, 2, 8, 8, dtype=torch.float64, requires_grad=True)
    y = x
    for _ in range(4):
        y = torch.min(y, torch.nn.functional.max_pool2d(y * y, 3, 1, 1))
    (g,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    (h,) = torch.autograd.grad((g * g).sum(), x)
    yield "value", y, g, h
    yield "forward", *torch.func.jvp(lambda v: torch.nn.functional.max_pool2d(v * v, 5, 1, 2), (x.detach(),), (torch.ones_like(x),))
    yield "mapped", torch.func.vmap(torch.func.grad(lambda v: torch.nn.functional.max_pool2d(v, 3, 1, 1).pow(2).sum()))(x.detach())


@case("pools_that_overlap.padding and lists that are refused")
def _(torch):
    F = torch.nn.functional
    for n in (1, 2, 3):
        x, pool = torch.zeros((1, 2) + (9,) * n), getattr(F, f"max_pool{n}d")
        for d, (k, p), indices in itertools.product((1, 2), ((3, 2), ((2, 3, 3)[:n], (1, 2, 1)[:n])), (False, True)):
            yield f"{n} dims, padding {p} of {k}, {d} apart {indices}", _said(lambda: pool(x, k, 1, p, d, return_indices=True) if indices else [pool(x, k, 1, p, d)])
    for shape in ((9,), (2, 3, 4, 5), (2, 0, 9)):
        for indices in (False, True):
            yield f"{shape} {indices}", _said(lambda: F.max_pool1d(torch.zeros(shape), 2, return_indices=True) if indices else [F.max_pool1d(torch.zeros(shape), 2)])
    for args in (((2, 2),), (2, (1, 1)), (0,)):
        yield f"lists {args}", _said(lambda: F.max_pool1d(torch.zeros(2, 3, 9), *args, return_indices=True)), _said(lambda: [F.max_pool1d(torch.zeros(2, 3, 9), *args)])
