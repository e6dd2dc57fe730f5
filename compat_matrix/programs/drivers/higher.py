"""Gradients through inner loops of optimizers that change modules."""

import higher
import torch


def program():
    net, x = torch.nn.Linear(3, 2).double(), torch.randn(4, 3).double()
    makers = {"SGD": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9), "Adam": lambda p: torch.optim.Adam(p, lr=0.1),
              "RMSprop": lambda p: torch.optim.RMSprop(p, lr=0.1), "Adagrad": lambda p: torch.optim.Adagrad(p, lr=0.1)}
    for name, make in makers.items():
        optimizer = make(net.parameters())
        with higher.innerloop_ctx(net, optimizer, copy_initial_weights=False) as (inner, steps):
            for _ in range(3):
                steps.step(inner(x).pow(2).mean())
            loss = inner(x).pow(2).sum()
            yield name, loss, torch.autograd.grad(loss, list(net.parameters()))
