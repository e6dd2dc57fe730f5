"""Optimizers without schedules: training and evaluation weights."""

import schedulefree
import torch


def program():
    for name in ("SGDScheduleFree", "AdamWScheduleFree", "RAdamScheduleFree", "AdamWScheduleFreeReference"):
        torch.manual_seed(0)
        net = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.Tanh(), torch.nn.Linear(6, 2)).double()
        x, y = torch.randn(8, 4).double(), torch.randn(8, 2).double()
        optimizer, losses = getattr(schedulefree, name)(net.parameters(), lr=0.01), []
        optimizer.train()
        for _ in range(4):
            optimizer.zero_grad()
            loss = (net(x) - y).pow(2).mean()
            loss.backward()
            losses.append(loss.item())
            optimizer.step()
        yield name, losses, [p.detach().clone() for p in net.parameters()]
        optimizer.eval()
        yield f"{name} evaluated", [p.detach().clone() for p in net.parameters()]
