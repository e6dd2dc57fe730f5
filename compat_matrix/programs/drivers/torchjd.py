"""Aggregations of several gradients into one direction, and a backward pass of several losses."""

import torch
from torchjd.aggregation import IMTLG, MGDA, AlignedMTL, Mean, PCGrad, Sum, TrimmedMean
from torchjd.autojac import backward


def program():
    torch.set_default_dtype(torch.float64)
    rows = torch.tensor([[-4.0, 1.0, 1.0], [6.0, 1.0, 1.5], [1.0, -2.0, 3.0], [2.0, 2.0, 2.0]])
    for rule in (Mean(), MGDA(), PCGrad(), IMTLG(), AlignedMTL(), TrimmedMean(1), Sum()):
        yield str(rule), rule(rows)
    net = torch.nn.Linear(3, 2)
    backward(net(torch.randn(5, 3)).pow(2).mean(0))
    yield "jacobians", [p.jac for p in net.parameters()]
