"""Attention from few latents to an image."""

import torch
from perceiver_pytorch import Perceiver


def program():
    torch.set_default_dtype(torch.float64)
    net = Perceiver(input_channels=3, input_axis=2, num_freq_bands=2, max_freq=4.0, depth=1, num_latents=4, latent_dim=16, cross_heads=1, latent_heads=2,
                    cross_dim_head=8, latent_dim_head=8, num_classes=3)
    out = net(torch.randn(1, 6, 6, 3))
    out.pow(2).sum().backward()
    yield "out", out
    yield "weights", [p.grad.sum() for p in net.parameters()]
