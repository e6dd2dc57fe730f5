"""Patches of inputs in one to three dims and back, as convolutions: values, gradients of both orders, convolutions by them."""

import torch
import unfoldNd


def program():
    torch.set_default_dtype(torch.float64)
    for n, size in ((1, (7,)), (2, (5, 4)), (3, (4, 3, 3))):
        x, kernel = torch.randn(2, 2, *size, requires_grad=True), (2,) * n
        options = {"dilation": 1, "padding": 1, "stride": 2}
        parts = unfoldNd.UnfoldNd(kernel, **options)(x)
        (slope,) = torch.autograd.grad(parts.square().sum(), x, create_graph=True)
        yield f"unfold {n}", parts, slope, torch.autograd.grad(slope.cos().sum(), x, retain_graph=True)
        back = unfoldNd.FoldNd(size, kernel, **options)(parts)
        yield f"fold {n}", back, torch.autograd.grad(back.sin().sum(), x)
        weight = torch.randn(3, 2, *kernel, requires_grad=True)
        convolved = getattr(torch.nn.functional, f"conv{n}d")(x, weight, stride=2, padding=1)
        by_parts = (weight.flatten(1) @ unfoldNd.unfoldNd(x, kernel, **options)).reshape(convolved.shape)
        yield f"convolution {n}", by_parts, (by_parts - convolved).abs().max() < 1e-12, torch.autograd.grad(by_parts.exp().sum(), (x, weight))
        spread = unfoldNd.unfold_transposeNd(x.detach(), kernel, stride=2) if n < 3 else None
        yield f"transposed {n}", spread
