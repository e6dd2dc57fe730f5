"""Rosenbrock's valley by every method; least squares, bounds, an optimizer."""

import torch
from torchmin import Minimizer, least_squares, minimize


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def program():
    torch.set_default_dtype(torch.float64)
    start = torch.tensor([-0.5, 0.8, 0.3])
    for method in ["bfgs", "l-bfgs", "cg", "newton-cg", "newton-exact", "trust-ncg", "trust-exact"]:
        found = minimize(rosenbrock, start, method=method, max_iter=4)
        yield method, found.x, found.fun, int(found.nit), bool(found.success)
    target = torch.tensor([1.0, 2.0, 0.5])
    t = torch.linspace(0, 1, 8)
    found = least_squares(lambda p: p[0] * torch.exp(-p[1] * t) + p[2] - torch.cos(t), target, method="trf", max_nfev=5)
    yield "least squares", found.x, found.cost, found.grad
    p = torch.nn.Parameter(start.clone())
    optimizer = Minimizer([p], method="bfgs", max_iter=3)
    loss = optimizer.step(lambda: rosenbrock(p))
    yield "optimizer", loss, p.detach()
