"""Likeness of images at several scales."""

import torch
from pytorch_msssim import ms_ssim, ssim


def program():
    a = torch.rand(1, 1, 176, 176, requires_grad=True)
    like = ms_ssim(a, a.detach() * 0.8 + 0.1, data_range=1.0)
    yield "ms_ssim", like, torch.autograd.grad(like, a)[0][0, 0, :4, :4]
    yield "ssim", ssim(a, a * 0.5, data_range=1.0)
