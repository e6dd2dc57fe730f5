"""Splines through data with holes, and an equation driven by one."""

import torch
import torchcde


class Field(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 6)

    def forward(self, t, z):
        return self.linear(z).tanh().view(*z.shape[:-1], 3, 2)


def program():
    torch.set_default_dtype(torch.float64)
    x = torch.randn(2, 6, 2)
    holes = x.clone()
    holes[0, 2, 0] = holes[1, 0, 1] = holes[1, 4] = float("nan")
    for make in [torchcde.natural_cubic_coeffs, torchcde.linear_interpolation_coeffs, torchcde.hermite_cubic_coefficients_with_backward_differences]:
        yield make.__name__, make(x), make(holes)
    coefficients = torchcde.natural_cubic_coeffs(x.requires_grad_())
    spline = torchcde.CubicSpline(coefficients)
    t = torch.tensor([0.0, 1.3, 4.9])
    yield "spline", spline.evaluate(t), spline.derivative(t), spline.interval, torch.autograd.grad(spline.evaluate(t).pow(2).sum(), x, retain_graph=True)
    line = torchcde.LinearInterpolation(torchcde.linear_interpolation_coeffs(holes, rectilinear=None))
    yield "line", line.evaluate(2.5), line.derivative(2.5), line.grid_points
    field, start = Field(), torch.randn(2, 3, requires_grad=True)
    for adjoint in (False, True):
        z = torchcde.cdeint(X=torchcde.CubicSpline(coefficients), func=field, z0=start, t=spline.interval, adjoint=adjoint,
                            method="rk4", options={"step_size": 0.5})
        yield f"solved, adjoint {adjoint}", z, torch.autograd.grad(z[:, -1].pow(2).sum(), [start, *field.parameters()], retain_graph=True)
