"""Slots that compete for inputs."""

import torch
from slot_attention import MultiHeadSlotAttention, SlotAttention


def program():
    torch.set_default_dtype(torch.float64)
    x = torch.randn(2, 10, 8, requires_grad=True)
    for net in (SlotAttention(num_slots=3, dim=8, iters=3, hidden_dim=16), MultiHeadSlotAttention(num_slots=3, dim=8, heads=2, dim_head=4, iters=2)):
        torch.manual_seed(2)
        out = net(x)
        name = type(net).__name__
        yield name, out, torch.autograd.grad(out.pow(2).sum(), x, retain_graph=True)[0]
        out.sum().backward()
        yield f"{name} parameters", {n: p.grad.norm() for n, p in net.named_parameters() if p.grad is not None}
