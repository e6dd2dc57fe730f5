"""Maps over gradients of what other maps made, which have ended: Jacobians row by row through `torch.autograd.grad`."""

from compat_matrix.case import case


def _made(torch):
    x = torch.tensor([[0.1, -0.4, 0.7], [1.2, 0.3, -0.2]], dtype=torch.float64)
    w = torch.tensor([0.5, -1.0, 0.25], dtype=torch.float64, requires_grad=True)
    return w, torch.vmap(lambda row: (row * w).sin())(x)


@case("mapped_twice.rows")
def _(torch):
    units = torch.eye(6, dtype=torch.float64).view(6, 2, 3)
    w, y = _made(torch)
    rows = torch.vmap(lambda v: torch.autograd.grad(y, w, v, retain_graph=True)[0])(units)
    yield "rows", rows, rows.requires_grad
    yield "at once", torch.autograd.grad(y, w, units, retain_graph=True, is_grads_batched=True)[0]
    yield "out of another dim", torch.vmap(lambda v: torch.autograd.grad(y, w, v, retain_graph=True)[0], out_dims=1)(units)
    yield "nested", torch.vmap(torch.vmap(lambda v: torch.autograd.grad(y, w, v, retain_graph=True)[0]))(units.view(2, 3, 2, 3))
    yield "used", torch.vmap(lambda v: torch.autograd.grad(y, w, v, retain_graph=True)[0] * 2 + v.sum())(units)
    twice = torch.vmap(lambda row: row.exp() * w)(y)
    yield "of two maps", torch.vmap(lambda v: torch.autograd.grad(twice, w, v, retain_graph=True)[0])(units)


@case("mapped_twice.again")
def _(torch):
    units = torch.eye(6, dtype=torch.float64).view(6, 2, 3)
    w, y = _made(torch)
    rows = torch.vmap(lambda v: torch.autograd.grad(y, w, v, create_graph=True)[0])(units)
    yield "rows", rows, rows.requires_grad
    yield "gradient", torch.autograd.grad(rows.sum(), w, retain_graph=True)[0]
    outer = torch.eye(18, dtype=torch.float64).view(18, 6, 3)
    yield "rows of rows", torch.vmap(lambda v: torch.autograd.grad(rows, w, v, retain_graph=True)[0])(outer)
    yield "after", torch.is_grad_enabled(), (w * 2).requires_grad
