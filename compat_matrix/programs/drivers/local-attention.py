"""Attention within windows."""

import torch
from local_attention import LocalAttention


def program():
    q, k, v = (torch.randn(2, 2, 16, 8, requires_grad=True) for _ in range(3))
    out = LocalAttention(dim=8, window_size=4, causal=True, look_backward=1)(q, k, v)
    yield "out", out, *torch.autograd.grad(out.pow(2).sum(), (q, k, v))
