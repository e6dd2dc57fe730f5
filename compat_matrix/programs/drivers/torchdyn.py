"""Neural differential equations by every way to their gradients."""

import torch
from torchdyn.core import NeuralODE


def program():
    torch.set_default_dtype(torch.float64)
    nn = torch.nn
    for way in ("autograd", "adjoint", "interpolated_adjoint"):
        for solver in ("rk4", "dopri5"):
            torch.manual_seed(0)
            model = NeuralODE(nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 2)), sensitivity=way, solver=solver, atol=1e-3, rtol=1e-3)
            x = torch.randn(3, 2, requires_grad=True)
            _, y = model(x, torch.linspace(0, 1, 3))
            y[-1].pow(2).sum().backward()
            yield f"{way} {solver}", y, x.grad, [p.grad for p in model.parameters()]
