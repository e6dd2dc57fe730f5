"""Steps with factored second moments and a measure of confidence."""

import torch
from came_pytorch import CAME


def program():
    model = torch.nn.Sequential(torch.nn.Linear(5, 6), torch.nn.Tanh(), torch.nn.Linear(6, 2))
    x = torch.randn(8, 5)
    optimizer = CAME(model.parameters(), lr=1e-2, weight_decay=1e-2)
    for step in range(5):
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        yield f"step {step}", loss.detach(), *(p.detach().clone() for p in model.parameters())
