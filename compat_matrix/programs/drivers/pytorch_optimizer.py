"""Optimizers that PyTorch does not have, a hundred by name: a few of each kind, on a small net."""

import torch
from pytorch_optimizer import load_optimizer

NAMES = ("adabelief", "adabound", "adan", "adanorm", "adapnm", "aggmo", "amos", "apollodqn", "avagrad", "came", "diffgrad", "fromage", "gravity", "lamb",
         "lars", "lion", "msvag", "nero", "novograd", "pid", "qhadam", "qhm", "radam", "ranger", "rotograd", "srmm", "swats", "tiger", "yogi")


def program():
    torch.set_default_dtype(torch.float64)
    x, y = torch.randn(16, 4), torch.randn(16, 1)
    for name in NAMES:
        try:
            maker = load_optimizer(name)
        except NotImplementedError:
            continue
        torch.manual_seed(1)
        net = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 1))
        optimizer = maker(net.parameters(), lr=0.01)
        for _ in range(4):
            optimizer.zero_grad()
            loss = (net(x) - y).square().mean()
            loss.backward()
            optimizer.step()
        yield name, loss, [p.norm() for p in net.parameters()]
