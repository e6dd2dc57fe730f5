"""Optimal transport: plans, distances and their gradients."""

import ot
import torch


def program():
    torch.set_default_dtype(torch.float64)
    a, b = torch.ones(5) / 5, torch.ones(4) / 4
    x, y = torch.randn(5, 2, requires_grad=True), torch.randn(4, 2)
    cost = ot.dist(x, y)
    exact = ot.emd2(a, b, cost)
    yield "exact", exact, *torch.autograd.grad(exact, x)
    yield "entropic", ot.sinkhorn2(a, b, cost.detach(), 0.5)
    sliced = ot.sliced_wasserstein_distance(x, y, n_projections=5, seed=0)
    yield "sliced", sliced, *torch.autograd.grad(sliced, x)
    yield "gromov", ot.gromov.gromov_wasserstein2(ot.dist(x, x).detach(), ot.dist(y, y), a, b)
