"""Moving averages of parameters."""

import torch
from torch_ema import ExponentialMovingAverage


def program():
    net = torch.nn.Linear(4, 2).double()
    average, optimizer = ExponentialMovingAverage(net.parameters(), decay=0.9), torch.optim.SGD(net.parameters(), 0.1)
    for _ in range(3):
        optimizer.zero_grad()
        net(torch.ones(2, 4).double()).pow(2).sum().backward()
        optimizer.step()
        average.update()
    with average.average_parameters():
        yield "inside", list(net.parameters())
    yield "outside", list(net.parameters()), average.state_dict()
