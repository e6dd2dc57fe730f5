"""Rectified Adam with lookahead and centred gradients, and its siblings."""

import torch
from pytorch_ranger import Ranger, RangerQH, RangerVA


def program():
    for cls in (Ranger, RangerVA, RangerQH):
        net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
        x = torch.randn(5, 3)
        optimizer = cls(net.parameters(), lr=0.05)
        for _ in range(8):
            optimizer.zero_grad()
            loss = (net(x) - x.prod(1, keepdim=True)).pow(2).mean()
            loss.backward()
            optimizer.step()
        yield cls.__name__, loss, [p.detach() for p in net.parameters()]
