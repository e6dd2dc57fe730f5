"""Integrals by every rule, and the gradient of one with respect to its domain and its integrand."""

import torch
from torchquad import Boole, GaussLegendre, MonteCarlo, Simpson, Trapezoid, set_up_backend


def program():
    set_up_backend("torch", data_type="float64", torch_enable_cuda=False)
    domain = [[0.0, 1.0], [-1.0, 2.0]]

    def f(x):
        return torch.sin(x[:, 0]) + torch.exp(x[:, 1])

    for rule, n in [(Trapezoid(), 121), (Simpson(), 121), (Boole(), 169), (GaussLegendre(), 121)]:
        yield type(rule).__name__, rule.integrate(f, dim=2, N=n, integration_domain=domain, backend="torch")
    yield "Monte Carlo", MonteCarlo().integrate(f, dim=2, N=200, integration_domain=domain, seed=3, backend="torch")
    a = torch.tensor(2.0, requires_grad=True)
    bounds = torch.tensor([[0.0, 1.0]], requires_grad=True)
    out = Simpson().integrate(lambda x: (a * x[:, 0]) ** 3, dim=1, N=101, integration_domain=bounds)
    yield "gradients", out, torch.autograd.grad(out, [a, bounds])
