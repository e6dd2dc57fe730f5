"""Sines and cosines for places on lines, planes and in space."""

import torch
from positional_encodings import torch_encodings as p


def program():
    for name, shape in (("1D", (2, 5, 6)), ("2D", (2, 4, 3, 8)), ("3D", (1, 3, 2, 4, 11))):
        x = torch.randn(shape, requires_grad=True)
        encode = getattr(p, f"PositionalEncoding{name}")(shape[-1])
        yield name, encode(x), torch.equal(encode(x), encode(x)), encode.channels
        moved = x.movedim(-1, 1)
        yield f"{name} permuted", getattr(p, f"PositionalEncodingPermute{name}")(shape[-1])(moved).shape
        summed = p.Summer(encode)(x)
        yield f"{name} summed", torch.autograd.grad(summed.pow(2).sum(), x)[0]
