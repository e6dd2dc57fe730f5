"""Solves many differential equations at once, each with steps of its own; gradients through the solver."""

import torch
import torchode as to


def program():
    decay = torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64, requires_grad=True)

    def f(t, y):
        return -decay[:, None] * y + torch.sin(t)[:, None]

    term = to.ODETerm(f)
    begin = torch.tensor([[1.0, 2.0], [0.5, -1.0], [3.0, 0.1]], dtype=torch.float64)
    times = torch.stack([torch.linspace(0, end, 5, dtype=torch.float64) for end in (1.0, 1.5, 2.0)])
    for method in (to.Tsit5, to.Dopri5, to.Heun):
        control = to.IntegralController(atol=1e-6, rtol=1e-4, term=term)
        solver = to.AutoDiffAdjoint(method(term), control)
        solution = solver.solve(to.InitialValueProblem(y0=begin, t_eval=times))
        yield method.__name__, solution.ys, solution.status, {k: v for k, v in solution.stats.items() if isinstance(v, torch.Tensor)}
        yield f"{method.__name__} gradient", torch.autograd.grad(solution.ys[:, -1].sum(), decay)[0]
    solution = to.AutoDiffAdjoint(to.Euler(term), to.FixedStepController()).solve(
        to.InitialValueProblem(y0=begin, t_eval=times), dt0=torch.full((3,), 0.25, dtype=torch.float64))
    yield "Euler", solution.ys
