"""Distances between two clouds and their gradients."""

import torch
from geomloss import SamplesLoss


def program():
    x, y = torch.randn(6, 2, dtype=torch.float64, requires_grad=True), torch.randn(5, 2, dtype=torch.float64)
    for name in ("sinkhorn", "energy", "gaussian", "laplacian"):
        loss = SamplesLoss(name, blur=0.1, backend="tensorized")(x, y)
        yield name, loss, torch.autograd.grad(loss, x)
    loss = SamplesLoss("sinkhorn", p=1, blur=0.2, debias=False, reach=1.0, backend="tensorized")(x, y)
    yield "unbalanced", loss, torch.autograd.grad(loss, x)
    yield "potentials", SamplesLoss("sinkhorn", blur=0.3, potentials=True, backend="tensorized")(x.detach(), y)
