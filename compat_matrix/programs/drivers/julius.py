"""Resampling and filters of sound."""

import julius
import torch


def program():
    x = torch.randn(2, 200, requires_grad=True)
    tasks = {"resampled": lambda: julius.resample_frac(x, 3, 2), "low": lambda: julius.lowpass_filter(x, 0.1), "high": lambda: julius.highpass_filter(x, 0.1),
             "bands": lambda: julius.split_bands(x, 8000, 4)}
    for name, task in tasks.items():
        y = task()
        yield name, y, *torch.autograd.grad(y.pow(2).sum(), x)
