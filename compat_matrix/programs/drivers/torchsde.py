"""Ito and Stratonovich equations of every kind of noise under a fixed Brownian path; gradients through the solver and by the adjoint."""

import torch
import torchsde


class Equation(torch.nn.Module):
    def __init__(self, noise_type, sde_type):
        super().__init__()
        self.noise_type, self.sde_type = noise_type, sde_type
        self.a = torch.nn.Parameter(torch.tensor([0.3, -0.2], dtype=torch.float64))
        self.b = torch.nn.Parameter(torch.tensor([0.4, 0.5], dtype=torch.float64))

    def f(self, t, y):
        return torch.sin(t) * self.a * y

    def g(self, t, y):
        if self.noise_type == "additive":
            return self.b.expand(y.shape[0], 2, 2)
        if self.noise_type == "diagonal":
            return torch.tanh(self.b * y)
        columns = torch.stack([self.b * y, torch.cos(y)], -1)
        return columns[..., :1] if self.noise_type == "scalar" else columns


def program():
    start = torch.full((2, 2), 0.5, dtype=torch.float64, requires_grad=True)
    times = torch.linspace(0.0, 0.5, 3, dtype=torch.float64)
    for sde_type, noise, method in [
        ("ito", "diagonal", "euler"), ("ito", "diagonal", "milstein"), ("ito", "diagonal", "srk"), ("ito", "additive", "srk"), ("ito", "scalar", "srk"),
        ("stratonovich", "general", "midpoint"), ("stratonovich", "general", "heun"), ("stratonovich", "general", "euler_heun"),
        ("stratonovich", "general", "log_ode"), ("stratonovich", "diagonal", "reversible_heun"),
    ]:
        sde = Equation(noise, sde_type)
        levy = {"srk": "space-time", "log_ode": "foster"}.get(method, "none")
        path = torchsde.BrownianInterval(0.0, 0.5, size=(2, 1 if noise == "scalar" else 2), dtype=torch.float64, entropy=7, levy_area_approximation=levy)
        out = torchsde.sdeint(sde, start, times, bm=path, method=method, dt=0.1)
        yield f"{sde_type} {noise} {method}", out, torch.autograd.grad(out.pow(2).sum(), [start, *sde.parameters()])
    sde = Equation("diagonal", "stratonovich")
    path = torchsde.BrownianInterval(0.0, 0.5, size=(2, 2), dtype=torch.float64, entropy=3)
    out = torchsde.sdeint_adjoint(sde, start, times, bm=path, method="midpoint", dt=0.1)
    yield "adjoint", out, torch.autograd.grad(out.pow(2).sum(), [start, *sde.parameters()])
    yield "path", path(0.1, 0.3), path(0.3, 0.5)
