"""Liquid time-constant and closed-form continuous-time networks over a sequence."""

import torch
from ncps.torch import LTC, CfC
from ncps.wirings import AutoNCP


def program():
    torch.set_default_dtype(torch.float64)
    for name, net in {"wired": CfC(4, AutoNCP(10, 3)), "liquid": LTC(4, AutoNCP(10, 3)), "plain": CfC(4, 6)}.items():
        y, h = net(torch.randn(2, 5, 4))
        y.pow(2).sum().backward()
        yield name, y, h, [p.grad for p in net.parameters()]
