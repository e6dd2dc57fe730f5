"""Irreducible representations, spherical harmonics, tensor products and gates, with gradients."""

import torch
from e3nn import o3
from e3nn.math import soft_one_hot_linspace
from e3nn.nn import BatchNorm, FullyConnectedNet, Gate


def program():
    torch.set_default_dtype(torch.float64)
    x = torch.randn(5, 3, requires_grad=True)
    y = o3.spherical_harmonics([0, 1, 2, 3], x, normalize=True, normalization="component")
    yield "harmonics", y, torch.autograd.grad(y.pow(3).sum(), x)
    yield ("wigner", o3.wigner_3j(1, 2, 1), o3.wigner_D(2, torch.tensor(0.1), torch.tensor(0.2), torch.tensor(0.3)),
           o3.Irreps("2x1e + 3x0o").D_from_matrix(o3.rand_matrix()))
    one, two, out = o3.Irreps("2x0e + 1x1o"), o3.Irreps("1x0e + 1x1o"), o3.Irreps("2x0e + 1x1o + 1x1e")
    for product in [o3.FullyConnectedTensorProduct(one, two, out), o3.FullTensorProduct(one, two), o3.ElementwiseTensorProduct(two, two)]:
        a, b = torch.randn(3, product.irreps_in1.dim, requires_grad=True), torch.randn(3, product.irreps_in2.dim, requires_grad=True)
        z = product(a, b)
        yield type(product).__name__, z, torch.autograd.grad(z.pow(2).sum(), [a, b, *product.parameters()]), str(product)
    linear = o3.Linear(out, one)
    z = linear(torch.randn(3, out.dim))
    yield "linear", z, torch.autograd.grad(z.pow(2).sum(), list(linear.parameters()))
    gate = Gate("2x0e", [torch.tanh], "1x0e", [torch.sigmoid], "1x1o")
    yield "gate", gate(torch.randn(3, gate.irreps_in.dim)), str(gate.irreps_out)
    net = FullyConnectedNet([3, 8, 2], torch.nn.functional.silu)
    yield "net", net(torch.randn(4, 3)), BatchNorm(one)(torch.randn(6, one.dim))
    yield "basis", soft_one_hot_linspace(torch.linspace(0, 2, 4), 0.0, 2.0, 3, basis="gaussian", cutoff=True), o3.Norm(out)(torch.randn(2, out.dim))
