"""Fourier transforms at points that lie on no grid: both ways and their gradients, density compensation, Toeplitz kernels."""

import torch
import torchkbnufft as tk


def program():
    image = torch.randn(1, 2, 8, 8, dtype=torch.complex128, requires_grad=True)
    points = (torch.rand(2, 20, dtype=torch.float64) * 2 - 1) * torch.pi
    grids = {"im_size": (8, 8), "grid_size": (16, 16), "dtype": torch.complex128}
    forward, back = tk.KbNufft(**grids), tk.KbNufftAdjoint(**grids)
    found = forward(image, points)
    yield "there", found, torch.autograd.grad(found.abs().pow(2).sum(), image)
    k = found.detach().requires_grad_()
    again = back(k, points)
    yield "back", again, torch.autograd.grad(again.abs().pow(2).sum(), k)
    yield "sides", (found * k.conj()).sum() - (image * again.conj()).sum()
    yield "density", tk.calc_density_compensation_function(points, (8, 8))
    kernel = tk.calc_toeplitz_kernel(points, (8, 8))
    out = tk.ToepNufft()(image, kernel)
    yield "toeplitz", out, torch.autograd.grad(out.abs().pow(2).sum(), image)
    grid = torch.randn(1, 1, 16, 16, dtype=torch.complex128, requires_grad=True)
    on = tk.KbInterp(**grids)(grid, points)
    yield "interpolated", on, torch.autograd.grad(on.abs().pow(2).sum(), grid)
