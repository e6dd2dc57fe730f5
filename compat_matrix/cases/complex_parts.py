"""Complex arithmetic where a part is infinite, not a number or a zero with a sign: torch's kernels multiply by 1, divide part by part and subtract from 0."""

from compat_matrix.probes import each, leaf

INF, NAN = float("inf"), float("nan")
PARTS = (INF, NAN, -0.0, 0.0, 1.0, -2.0)
MANY = [complex(a, b) for a in PARTS for b in PARTS]
FINITE = {"x": [1 + 2j, -0.5 + 0j, -2j], "y": [0.3 - 1j, 2 + 0j, 1 + 1j]}


def parts(torch, expression):
    z = torch.tensor(MANY, dtype=torch.complex128)
    x, y = z.repeat_interleave(len(MANY)), z.repeat(len(MANY))
    out = eval(expression, {"torch": torch, "x": x, "y": y, "z": z, "inf": INF})
    yield "parts", torch.view_as_real(out.resolve_neg())


each("complex_parts.values", parts, {
    "add": "x + y", "sub": "x - y", "mul": "x * y", "add alpha": "torch.add(x, y, alpha=2)", "rsub": "torch.rsub(x, y)", "addcmul": "torch.addcmul(x, y, x)",
    "addcdiv": "torch.addcdiv(x, y, x)", "add real": "x + y.real", "real add": "x.real + y", "sub real": "x - y.real", "add_": "x.clone().add_(y)",
    "sub_": "x.clone().sub_(y)", "number": "z + 1.5", "less number": "z - 1.5", "number less": "2 - z", "complex number": "z - 1j", "far number": "z + inf",
    "neg": "-z", "neg_": "z.clone().neg_()", "sgn": "z.sgn()", "neg of one": "-z[24]", "add of one": "z[0] + z[3]",
    "neg of few": "torch.cat([(-z[14:15]).sqrt(), (-z[12:15]).sqrt(), (-z[10:15]).sqrt(), (-z[12:21]).sqrt()])",
    "neg of few singles": "torch.cat([-z[12:15].to(torch.complex64), -z[12:24].to(torch.complex64)])"})


def gradients(torch, expression):
    made = {name: leaf(torch, value) for name, value in FINITE.items()}
    out = eval(expression, {"torch": torch, **made})
    first = torch.autograd.grad(out, list(made.values()), torch.full_like(out, complex(INF, 1)), allow_unused=True)
    yield "infinite cotangent", first
    first = torch.autograd.grad(eval(expression, {"torch": torch, **made}).abs().sum(), list(made.values()), create_graph=True, allow_unused=True)
    yield "first", [None if g is None else g.detach() for g in first]
    yield "second", torch.autograd.grad(sum(g.abs().sum() for g in first if g is not None), list(made.values()), allow_unused=True)


each("complex_parts.gradients", gradients, {
    "add": "x + y", "sub": "x - y", "rsub": "torch.rsub(x, y)", "neg": "-x", "addcmul": "torch.addcmul(x.detach(), y, x)", "number": "2 - x", "broadcast": "x[:, None] - y",
    "branch cut": "(-(x * x.detach())).sqrt()", "sgn": "x.sgn() * y"})
