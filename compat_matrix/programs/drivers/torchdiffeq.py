"""An oscillator solved by several methods; gradients through the solver and by the adjoint method; an event."""

import torch
from torchdiffeq import odeint, odeint_adjoint, odeint_event


class Oscillator(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.k = torch.nn.Parameter(torch.tensor([2.0, 0.3], dtype=torch.float64))

    def forward(self, t, y):
        return torch.stack([y[1], -self.k[0] * y[0] - self.k[1] * y[1]])


def program():
    field = Oscillator()
    start = torch.tensor([1.0, 0.0], dtype=torch.float64, requires_grad=True)
    times = torch.linspace(0.0, 1.5, 4, dtype=torch.float64)
    for method in ["euler", "midpoint", "rk4", "explicit_adams", "implicit_adams", "heun3", "dopri5", "dopri8", "bosh3", "adaptive_heun", "scipy_solver"]:
        options = {"solver": "RK45"} if method == "scipy_solver" else None
        yield method, odeint(field, start, times, method=method, options=options, rtol=1e-6, atol=1e-8)
    for solve in (odeint, odeint_adjoint):
        loss = solve(field, start, times, rtol=1e-8, atol=1e-8).pow(2).sum()
        yield solve.__name__, loss, torch.autograd.grad(loss, [start, *field.parameters()])
    when, states = odeint_event(field, start, torch.tensor(0.0, dtype=torch.float64), event_fn=lambda t, y: y[0], rtol=1e-11, atol=1e-11)  # found to that only
    yield "event", when, states, torch.autograd.grad(when, start)
