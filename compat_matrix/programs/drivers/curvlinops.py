"""Hessian, Gauss-Newton, Fisher and Kronecker-factored matrices applied to vectors; an inverse, traces."""

import curvlinops as cl
import torch
from torch import nn


def program():
    torch.set_default_dtype(torch.float64)
    net = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3))
    data = [(torch.randn(6, 4), torch.tensor([0, 1, 2, 0, 1, 1])), (torch.randn(2, 4), torch.tensor([2, 0]))]
    loss = nn.CrossEntropyLoss()
    params = list(net.parameters())
    n = sum(p.numel() for p in params)
    v = torch.randn(n, 2)
    for make in [cl.HessianLinearOperator, cl.GGNLinearOperator, cl.EFLinearOperator]:
        op = make(net, loss, params, data)
        yield make.__name__, op @ v, op.shape
    for kind in (cl.FisherType.TYPE2, cl.FisherType.EMPIRICAL, cl.FisherType.MC):
        op = cl.KFACLinearOperator(net, loss, params, data, fisher_type=kind, separate_weight_and_bias=False)
        yield f"kfac {kind.name}", op @ v
    yield "ekfac", cl.EKFACLinearOperator(net, loss, params, data, fisher_type=cl.FisherType.TYPE2) @ v
    jacobian = cl.JacobianLinearOperator(net, params, data)
    yield "jacobian", jacobian @ v[:, 0]
    ggn = cl.GGNLinearOperator(net, loss, params, data)
    yield "trace", cl.hutchinson_trace(ggn, num_matvecs=3), cl.hutchpp_trace(ggn, num_matvecs=6)
    yield "diagonal", cl.hutchinson_diag(ggn, num_matvecs=3)
