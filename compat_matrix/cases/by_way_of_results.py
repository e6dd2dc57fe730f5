"""Second derivatives that go by way of saved results: what hooks of a result see of them, and what they make of the rest."""

from compat_matrix.case import case

FUNCTIONS = ("abs", "angle", "sgn", "exp", "sqrt", "rsqrt", "tanh", "sigmoid", "tan", "reciprocal", "expm1", "exp2", "square")
REAL = ("i0", "i0e", "i1", "i1e", "erfcx", "log_ndtr", "ndtri", "expit", "exp2", "expm1")


def _hooked(torch, f, given, factor):
    x = given.clone().requires_grad_()
    first = x * 1
    out, seen = f(first), []
    out.register_hook(lambda g: (seen.append(g.detach().clone()), g * factor)[1])
    start = torch.full_like(out, 1 - 0.5j if out.is_complex() else 1)
    g, = torch.autograd.grad(out, x, start, create_graph=True)
    loss = (g.abs().pow(2) if g.is_complex() else g * torch.arange(1.0, 1 + g.numel(), dtype=g.dtype)).sum()
    return g.detach(), torch.autograd.grad(loss, (x, first, out), allow_unused=True), seen


@case("by_way_of_results.complex")
def _(torch):
    z = torch.tensor([1 + 2j, -3 + 0.5j], dtype=torch.complex128)
    for name in FUNCTIONS:
        f = getattr(torch, name)
        for factor in (1.0, 3.0) if name in ("abs", "angle") else (1.0, 1j, 2 - 1j):
            yield f"{name} {factor}", _hooked(torch, f, z, factor)


@case("by_way_of_results.special")
def _(torch):
    x = torch.tensor([0.95, 0.65, 0.1, 0.3], dtype=torch.float64)
    for name in REAL:
        for shift in (0.0, -0.3):
            yield f"{name} {shift}", _hooked(torch, getattr(torch.special, name), x if name == "ndtri" else x + shift, 3.0)
