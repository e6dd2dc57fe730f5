"""An optimizer with Nesterov momentum of gradients' differences."""

import torch
from adan_pytorch import Adan


def program():
    w = torch.nn.Parameter(torch.linspace(-1, 1, 6, dtype=torch.float64).view(2, 3))
    optimizer = Adan([w], lr=0.05, betas=(0.02, 0.08, 0.01), weight_decay=0.02)
    for step in range(5):
        optimizer.zero_grad()
        loss = ((w - 0.3) ** 4).sum()
        loss.backward()
        optimizer.step()
        yield f"step {step}", loss, w.detach().clone()
