"""A few steps with the Prodigy optimizer."""

import torch
from prodigyopt import Prodigy


def program():
    net = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.Tanh(), torch.nn.Linear(6, 2)).double()
    x, y = torch.randn(8, 4).double(), torch.randn(8, 2).double()
    optimizer = Prodigy(net.parameters(), lr=1.0)
    for _ in range(4):
        optimizer.zero_grad()
        loss = (net(x) - y).pow(2).mean()
        loss.backward()
        optimizer.step()
        yield "step", loss, [p.grad.clone() for p in net.parameters()]
    yield "end", list(net.parameters()), len(optimizer.state)
