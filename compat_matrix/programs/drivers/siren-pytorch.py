"""A network of sines, and its gradient with respect to the place."""

import torch
from siren_pytorch import SirenNet


def program():
    torch.set_default_dtype(torch.float64)
    net, x = SirenNet(dim_in=2, dim_hidden=16, dim_out=1, num_layers=2, w0_initial=5.0), torch.rand(8, 2, requires_grad=True)
    slope, = torch.autograd.grad(net(x).sum(), x, create_graph=True)
    slope.pow(2).sum().backward()
    yield "slope", slope
    yield "weights", [p.grad for p in net.parameters()]
