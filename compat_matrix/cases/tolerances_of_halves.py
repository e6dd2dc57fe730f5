"""Closeness of half-precision numbers, which torch rounds at each step; a bound of infinity; systems of one number."""

from compat_matrix.case import case


@case("tolerances_of_halves.isclose")
def _(torch):
    for dtype in (torch.bfloat16, torch.float16, torch.float32):
        for k in range(12):
            x, y = ((torch.arange(8) * 0.37 + k * 0.01 + more).to(dtype) for more in (0, 1))
            yield f"{dtype} {k}", [torch.isclose(x, y, rtol, atol).tolist() for rtol, atol in ((0.0, 1.0), (0.5, 0.5), (0.25, 0.125))]
            yield f"all {dtype} {k}", torch.allclose(x[:2], y[:2], 0.0, 1.0), torch.allclose(x, x + 0, 0.0, 0.0)


@case("tolerances_of_halves.renorm")
def _(torch):
    for p in (0.5, 1, 2, 3.0, float("inf")):
        for most in (float("inf"), 1.0, 0.5):
            x = torch.tensor([[1.8, -1.0, -0.4], [0.2, 0.8, 1.4]], dtype=torch.float64, requires_grad=True)
            y = x.renorm(p, 0, most)
            yield f"{p} {most}", y.detach(), torch.autograd.grad(y.sin().sum(), x)[0]


@case("tolerances_of_halves.tensorsolve")
def _(torch):
    for a, b in ((torch.tensor([2.0]), torch.tensor([3.0])), (torch.ones(()), torch.ones(())), (torch.full((1, 1), 4.0), torch.tensor([3.0]))):
        yield f"{a.shape}", torch.linalg.tensorsolve(a, b)
