"""A language model whose attention is linear, with random features."""

import torch
from performer_pytorch import PerformerLM


def program():
    net = PerformerLM(num_tokens=16, max_seq_len=16, dim=16, depth=1, heads=2, causal=False, nb_features=8)
    out = net(torch.randint(0, 16, (1, 16)))
    out.pow(2).mean().backward()
    yield "out", out[0, :4]
    yield "weights", [p.grad.sum() for p in net.parameters() if p.grad is not None]
