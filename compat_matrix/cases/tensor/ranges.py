"""Evenly spaced numbers to the last bit, and what is read at them: a place that moves by a rounding lies between other pixels."""

from compat_matrix.case import case

FLOATS = ("float32", "float64", "float16", "bfloat16")


def bits(torch, x):
    whole = {8: torch.int64, 4: torch.int32, 2: torch.int16}[x.element_size()]
    return x.view(whole).tolist() if x.numel() < 12 else int((x.view(whole).long() * torch.arange(1, x.numel() + 1)).sum())


@case("tensor.ranges.linspace to the bit")
def _(torch):
    for name in FLOATS:
        for ends in ((-1, 1), (0, 10), (-3.3, 7.1), (5.0, -2.5)):
            yield f"{name} {ends}", [bits(torch, torch.linspace(*ends, n, dtype=getattr(torch, name))) for n in (1, 2, 3, 7, 8, 28, 33, 50, 100)]


@case("tensor.ranges.linspace of integers")
def _(torch):
    for name in ("int64", "int32", "uint8"):
        for ends in ((0, 10), (0.9, 7.1), (9.9, 2.5)):
            yield f"{name} {ends}", [torch.linspace(*ends, n, dtype=getattr(torch, name)).tolist() for n in (1, 2, 3, 7, 8, 11)]
    yield "below zero", [torch.linspace(-3.3, 7.1, n, dtype=torch.int64).tolist() for n in (3, 7, 50)]


@case("tensor.ranges.arange to the bit")
def _(torch):
    for name in FLOATS:
        for start, end, step in ((-1, 1, 0.1), (0, 10, 0.3), (-3.3, 7.1, 0.07), (1.0, 0.0, -0.05), (0, 100, 1)):
            yield f"{name} {start} {end} {step}", bits(torch, torch.arange(start, end, step, dtype=getattr(torch, name)))


@case("tensor.ranges.grid of the identity")
def _(torch):
    F = torch.nn.functional
    for size in (6, 7, 16, 28):
        image = torch.arange(2.0 * size * size).reshape(2, 1, size, size).remainder(7)
        weight = torch.arange(2.0 * size * size).reshape(2, 1, size, size).remainder(5) / 8
        for corners in (False, True):
            theta = torch.tensor([[1.0, 0, 0], [0, 1, 0]]).repeat(2, 1, 1).requires_grad_()
            grid = F.affine_grid(theta, image.size(), align_corners=corners)
            yield f"grid {size} {corners}", bits(torch, grid.detach().flatten())
            out = F.grid_sample(image, grid, align_corners=corners)
            yield f"values {size} {corners}", out, torch.autograd.grad((out * weight).sum(), theta)[0]
