"""A pipeline of partitions run by threads, with checkpoints that compute again in the backward pass, skips between partitions, deferred batch statistics."""

import torch
from torch import nn
from torchgpipe import GPipe
from torchgpipe.skip import pop, skippable, stash


@skippable(stash=["kept"])
class First(nn.Module):
    def forward(self, x):
        yield stash("kept", x)
        return x * 2


@skippable(pop=["kept"])
class Last(nn.Module):
    def forward(self, x):
        kept = yield pop("kept")
        return x + kept.sin()


def trained(piped, x):
    """The output, and the gradients of a whole backward pass: the checkpoints allow no other."""
    x = x.detach().requires_grad_()
    piped.zero_grad()
    out = piped(x)
    out.pow(2).sum().backward()
    return out.detach(), x.grad, [p.grad.clone() for p in piped.parameters()]


def program():
    torch.set_default_dtype(torch.float64)
    net = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.BatchNorm1d(6), nn.Linear(6, 3))
    x = torch.randn(9, 4)
    for how in ("always", "except_last", "never"):
        piped = GPipe(net, balance=[2, 2], devices=["cpu", "cpu"], chunks=3, checkpoint=how, deferred_batch_norm=how == "never")
        yield how, *trained(piped, x)
    yield "running", list(net.buffers())
    skipping = GPipe(nn.Sequential(First(), nn.Linear(4, 4), Last()), balance=[1, 1, 1], devices=["cpu"] * 3, chunks=2)
    yield "skips", *trained(skipping, x)
