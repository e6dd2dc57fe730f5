"""Sparse maps to the simplex and their losses: custom Functions with bisection and sorting."""

import entmax
import torch


def program():
    x, w = torch.randn(3, 5, dtype=torch.float64, requires_grad=True), torch.arange(5.0).double()
    maps = {"sparsemax": entmax.sparsemax, "entmax15": entmax.entmax15, "bisect": lambda z: entmax.entmax_bisect(z, alpha=1.3)}
    for name, f in maps.items():
        y = f(x)
        yield name, y, torch.autograd.grad((y * w).sum(), x)[0]
    target = torch.tensor([0, 1, 4])
    for kind in (entmax.SparsemaxLoss, entmax.Entmax15Loss, entmax.SparsemaxBisectLoss, entmax.EntmaxBisectLoss):
        loss = kind()(x, target)
        yield kind.__name__, loss, torch.autograd.grad(loss.sum(), x)[0]
