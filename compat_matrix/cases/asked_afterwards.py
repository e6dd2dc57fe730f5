"""`requires_grad_()` of what a graph has saved, between the forward pass and `create_graph=True`: PyTorch's gradients lead to the tensor as it is then."""

from compat_matrix.case import case

_CALLS = {
    "mul": lambda torch, x, c: x * c, "div": lambda torch, x, c: x / c, "pow": lambda torch, x, c: c ** x, "matmul": lambda torch, x, c: x @ c,
    "where": lambda torch, x, c: torch.where(c > 1, x * c, x)}


@case("asked_afterwards.on")
def _(torch):
    for name, call in _CALLS.items():
        x, c = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([0.5, 3.0])
        y = call(torch, x, c).sum()
        c.requires_grad_()
        g, = torch.autograd.grad(y, x, create_graph=True)
        yield f"{name}: gradient", g.detach()
        yield name, g.requires_grad, torch.autograd.grad(g.sum(), c, allow_unused=True) if g.requires_grad else None


@case("asked_afterwards.off")
def _(torch):
    for name, call in _CALLS.items():
        x, c = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([0.5, 3.0], requires_grad=True)
        y = call(torch, x, c).sum()
        c.requires_grad_(False)
        g, = torch.autograd.grad(y, x, create_graph=True)
        yield f"{name}: gradient", g.detach()
        yield name, g.requires_grad
        c.requires_grad_()
        (g * x).sum().backward()
        yield f"{name}: after", x.grad, c.grad
