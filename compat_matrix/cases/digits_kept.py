"""Digits and signs that a formula could lose: small complex numbers, zeros, gradients at infinity; views of leaves that show a part of other memory."""

from compat_matrix.case import case


@case("digits_kept.log1p")
def _(torch):
    values = [1e-30 + 0j, 1e-20 + 1e-20j, -0.1 + 0.2j, 0.3 - 0.1j, 1e-10j, -2 + 1e-20j, complex(0.0, -0.0), complex(-0.0, 0.0), complex("inf"), complex("nan")]
    for dtype in (torch.complex128, torch.complex64):
        x = torch.tensor(values, dtype=torch.complex128).to(dtype).requires_grad_()
        out = torch.log1p(x)
        yield str(dtype), out, torch.special.log1p(x.detach())
        yield f"{dtype} gradient", torch.autograd.grad(out[:6].abs().sum(), x)[0][:6]


@case("digits_kept.zeros")
def _(torch):
    x = torch.tensor([-0.0, 0.0], dtype=torch.float64)
    for name in ("i1", "i1e", "bessel_j1", "modified_bessel_i1"):
        yield name, torch.signbit(getattr(torch.special, name)(x))


@case("digits_kept.hardswish")
def _(torch):
    x = torch.tensor([-5.0, float("-inf"), float("inf"), -3.0, 0.5], requires_grad=True)
    first, = torch.autograd.grad(torch.nn.functional.hardswish(x), x, torch.ones(5), create_graph=True)
    yield "first", first
    yield "second", torch.autograd.grad(first, x, torch.ones(5))


@case("digits_kept.strided_leaves")
def _(torch):
    def found(*view):
        x = torch.arange(12.0)[1::2].requires_grad_()
        y = x.as_strided(*view)
        return y, torch.autograd.grad((y * torch.arange(1.0, y.numel() + 1).reshape(y.shape)).sum(), x)

    yield "same", found((6,), (2,), 1)
    yield "more", found((2, 2), (1, 2))
    yield "from the first", found((2, 2), (1, 2), 0)
    yield "others alone", found((3,), (2,), 0)
    with torch.no_grad():
        yield "without", torch.arange(12.0)[1::2].requires_grad_().as_strided((3,), (2,), 0)


@case("digits_kept.bessel")
def _(torch):
    x = torch.tensor([5.2, 6.3, 7.123], dtype=torch.float64)
    for name in ("j0", "j1", "y0", "y1"):
        yield name, getattr(torch.special, f"bessel_{name}")(x)
