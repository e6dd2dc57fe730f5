"""NaN among the elements that torch's CPU kernels take many at once, and among the rest."""

from compat_matrix.probes import each


def lengths(torch, expression):
    for dtype in (torch.float32, torch.float64):
        for n in (7, 9, 17, 33, 40):
            x = torch.where(torch.arange(n) % 3 == 0, float("nan"), torch.arange(n).sub(4).mul(0.2).to(dtype)).to(dtype).requires_grad_()
            y = expression(torch, x)
            (g,) = torch.autograd.grad(y, x, torch.arange(n).add(1).to(dtype), create_graph=True)
            yield f"{dtype} {n}", y, torch.signbit(y.nan_to_num(1.0)), g, torch.autograd.grad(g.sum(), x)[0]


each("nan_in_blocks.of", lengths, {
    "hardtanh": lambda torch, x: torch.nn.functional.hardtanh(x),
    "relu6": lambda torch, x: torch.nn.functional.relu6(x),
    "hardshrink": lambda torch, x: torch.nn.functional.hardshrink(x),
    "softshrink": lambda torch, x: torch.nn.functional.softshrink(x),
    "hardswish": lambda torch, x: torch.nn.functional.hardswish(x),
    "elu": lambda torch, x: torch.nn.functional.elu(x, 1.5),
    "celu": lambda torch, x: torch.nn.functional.celu(x, 1.5),
    "selu": lambda torch, x: torch.nn.functional.selu(x),
})
