"""Distances of rows to themselves: the gradient of a distance of 0 is 0, by either way of computing them."""

from compat_matrix.case import case


@case("distances.of_rows_to_themselves")
def _(torch):
    for rows in (6, 27):
        x = (torch.arange(2.0 * rows, dtype=torch.float64).reshape(rows, 2) * 7 % 23).requires_grad_()  # whole numbers: a product makes zeros exactly
        scale = torch.zeros(2, dtype=torch.float64, requires_grad=True)
        yield f"{rows} plain", torch.autograd.grad(torch.cdist(x, x).sum(), x)
        yield f"{rows} one side", torch.autograd.grad(torch.cdist(x, x.detach()).sum(), x), torch.autograd.grad(torch.cdist(x.detach(), x).sum(), x)
        kernel = torch.exp(-0.5 * torch.cdist(x / scale.exp(), x / scale.exp()).pow(2))
        yield f"{rows} kernel", kernel.diagonal(), torch.autograd.grad(kernel.sum(), (x, scale))
