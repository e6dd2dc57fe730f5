"""Cosine transforms and their gradients."""

import torch
import torch_dct


def program():
    x = torch.randn(3, 8, dtype=torch.float64, requires_grad=True)
    for name in ("dct", "idct", "dct1", "idct1", "dct_2d", "idct_2d"):
        y = getattr(torch_dct, name)(x)
        yield name, y, *torch.autograd.grad(y.pow(3).sum(), x)
    yield "dct_3d", torch_dct.dct_3d(torch.randn(2, 4, 4, 4, dtype=torch.float64))
