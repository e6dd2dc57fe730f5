"""Every extension of the first and second order on a small network with convolutions."""

import torch
from backpack import backpack, extend
from backpack.extensions import (
    HMP,
    KFAC,
    KFLR,
    KFRA,
    BatchDiagGGNExact,
    BatchDiagHessian,
    BatchGrad,
    BatchL2Grad,
    DiagGGNExact,
    DiagGGNMC,
    DiagHessian,
    SqrtGGNExact,
    SumGradSquared,
    Variance,
)
from torch import nn


def program():
    torch.set_default_dtype(torch.float64)
    x, y = torch.randn(4, 2, 6, 6), torch.tensor([0, 2, 1, 2])
    net = extend(nn.Sequential(nn.Conv2d(2, 3, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(27, 5), nn.Sigmoid(), nn.Linear(5, 3)))
    loss_of = extend(nn.CrossEntropyLoss())
    for make, name in [
        (BatchGrad, "grad_batch"), (BatchL2Grad, "batch_l2"), (SumGradSquared, "sum_grad_squared"), (Variance, "variance"), (DiagGGNExact, "diag_ggn_exact"),
        (BatchDiagGGNExact, "diag_ggn_exact_batch"), (DiagHessian, "diag_h"), (BatchDiagHessian, "diag_h_batch"), (SqrtGGNExact, "sqrt_ggn_exact"),
        (KFLR, "kflr"), (KFAC, "kfac"), (DiagGGNMC, "diag_ggn_mc"),
    ]:
        net.zero_grad()
        torch.manual_seed(0)
        with backpack(make()):
            loss_of(net(x), y).backward()
        yield name, [getattr(p, name) for p in list(net.parameters())[-4:]], [p.grad for p in net.parameters()]
    small = extend(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)))
    square = extend(nn.MSELoss())
    with backpack(KFRA()):
        square(small(torch.randn(5, 3)), torch.randn(5, 2)).backward()
    yield "kfra", [p.kfra for p in small.parameters()]
    with backpack(HMP()):
        square(small(torch.randn(5, 3)), torch.randn(5, 2)).backward()
    yield "hmp", [p.hmp(torch.randn(2, *p.shape)) for p in small.parameters()]
