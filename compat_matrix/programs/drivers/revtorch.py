"""Reversible blocks, which compute their inputs again from their outputs in the backward pass."""

import torch
from revtorch import ReversibleBlock, ReversibleSequence


def program():
    model = ReversibleSequence(torch.nn.ModuleList([ReversibleBlock(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4), 1) for _ in range(3)]))
    x = torch.randn(3, 8, requires_grad=True)
    out = model(x)
    out.pow(2).mean().backward()
    yield "gradients", out.detach(), x.grad, *(p.grad for p in model.parameters())
