"""Interpolation by radial functions: every kernel, smoothing, the slope at the points asked for and of the data."""

import torch
from torchrbf import RBFInterpolator

KERNELS = ["linear", "thin_plate_spline", "cubic", "quintic", "multiquadric", "inverse_multiquadric", "inverse_quadratic", "gaussian"]


def program():
    torch.set_default_dtype(torch.float64)
    places = torch.rand(12, 2)
    values = torch.stack([torch.sin(4 * places[:, 0]) * places[:, 1], places.square().sum(1)], 1)
    asked = torch.rand(5, 2)
    for kernel in KERNELS:
        net = RBFInterpolator(places, values, smoothing=0.01, kernel=kernel, epsilon=1.3)
        x = asked.clone().requires_grad_()
        seen = net(x)
        slope, = torch.autograd.grad(seen[:, 0].sum() + seen[:, 1].square().sum(), x, create_graph=True)
        yield kernel, seen, slope
        try:
            torch.autograd.grad(slope.square().sum(), x)
        except NotImplementedError as error:
            yield "no second derivative", str(error)
        yield "kept", sorted(net.state_dict())
    for degree in (-1, 0, 2):
        yield "degree", degree, RBFInterpolator(places, values, kernel="gaussian", epsilon=2.0, degree=degree)(asked)
