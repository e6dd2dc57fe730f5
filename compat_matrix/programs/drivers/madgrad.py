"""A few steps with the MADGRAD optimizer."""

import torch
from madgrad import MADGRAD


def program():
    net = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.Tanh(), torch.nn.Linear(6, 2)).double()
    x, y = torch.randn(8, 4).double(), torch.randn(8, 2).double()
    optimizer = MADGRAD(net.parameters(), lr=0.01, weight_decay=0.1)
    for _ in range(4):
        optimizer.zero_grad()
        loss = (net(x) - y).pow(2).mean()
        loss.backward()
        optimizer.step()
        yield "step", loss, [p.grad.clone() for p in net.parameters()]
    yield "end", list(net.parameters()), len(optimizer.state)
