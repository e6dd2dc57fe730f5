"""Optimizers that find their learning rate."""

import dadaptation
import torch


def program():
    for kind in (dadaptation.DAdaptAdam, dadaptation.DAdaptSGD, dadaptation.DAdaptAdaGrad, dadaptation.DAdaptLion, dadaptation.DAdaptAdan):
        model, x = torch.nn.Linear(5, 4), torch.randn(6, 5)
        optimizer = kind(model.parameters(), lr=1.0)
        for _ in range(5):
            optimizer.zero_grad()
            model(x).pow(2).mean().backward()
            optimizer.step()
        yield kind.__name__, *(p.detach().clone() for p in model.parameters())
