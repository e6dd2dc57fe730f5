"""Attention along one axis after the other, and reversible layers."""

import torch
from axial_attention import AxialAttention, AxialImageTransformer, AxialPositionalEmbedding


def program():
    torch.set_default_dtype(torch.float64)
    x = torch.randn(1, 4, 6, 5, requires_grad=True)
    out = AxialPositionalEmbedding(dim=4, shape=(6, 5))(x)
    out = AxialAttention(dim=4, dim_index=1, heads=2, num_dimensions=2)(out)
    yield "attention", out, torch.autograd.grad(out.pow(2).sum(), x)[0]
    for reversible in (True, False):
        net = AxialImageTransformer(dim=4, depth=2, reversible=reversible, heads=2, dim_heads=2, axial_pos_emb_shape=(6, 5))
        out = net(x)
        out.pow(2).sum().backward()
        yield f"reversible {reversible}", out, x.grad, [p.grad.norm() for p in net.parameters() if p.grad is not None]
        x.grad = None
