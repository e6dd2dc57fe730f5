"""Complex numbers: values, the conjugate convention, parts, refusals."""

from compat_matrix.case import attempt, case, raises
from compat_matrix.probes import each, evaluate, fails, probe, table

Z = [1 + 2j, -0.5 + 0.3j, 2 - 1j]
W = [0.5 - 1j, 3 + 0.2j, -1 + 1j]
A = [1.0, -2.0, 0.5]
UNARY = ["abs", "angle", "conj", "real", "imag", "exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh",
    "tanh", "asin", "acos", "atan", "asinh", "acosh", "atanh", "neg", "square", "reciprocal", "sgn", "sigmoid",
    "rsqrt", "log2", "log10", "log1p", "expm1", "exp2", "positive", "sum", "mean", "prod", "view_as_real",
    "resolve_conj", "conj_physical", "isnan", "isfinite"]
table("complex.unary", probe, [(n, f"torch.{n}(x)", {"x": Z}) for n in UNARY])
table("complex.at_zero", probe,
    [(n, f"torch.{n}(x)",
        {"x": [0j, 1 + 0j, 1j, -1 + 0j]}) for n in ["abs", "angle", "sgn", "sqrt", "exp", "square", "sinh",
            "log", "reciprocal"]])
PAIRS = {"add": "x + y", "sub": "x - y", "mul": "x * y", "div": "x / y", "pow": "x ** y",
    "dot": "torch.dot(x, y)", "vdot": "torch.vdot(x, y)", "outer": "torch.outer(x, y)",
    "add alpha": "torch.add(x, y, alpha=2j)",
         "eq": "x == y", "where": "torch.where(x.real > 0, x, y)", "cat": "torch.cat([x, y])",
         "stack": "torch.stack([x, y])", "addcmul": "torch.addcmul(x, x, y, value=1j)",
         "lerp": "torch.lerp(x, y, 0.5)", "matmul": "x @ y",
         "conj mul": "x.conj() * y", "abs squared": "(x * y).abs() ** 2", "real of product": "(x * y).real",
         "einsum": "torch.einsum('i,j->', x, y)", "logaddexp": "torch.logaddexp(x, y)"}
table("complex.binary", probe, [(n, e, {"x": Z, "y": W}) for n, e in PAIRS.items()])
MIXED = {n: PAIRS[n] for n in ("add", "sub", "mul", "div", "pow", "where", "cat", "stack", "add alpha", "outer")}
table("complex.real_left", probe, [(n, e, {"x": A, "y": W}) for n, e in MIXED.items() if n not in ("outer", "where")])
table("complex.real_right", probe, [(n, e, {"x": Z, "y": A}) for n, e in MIXED.items() if n not in ("outer",)])
table("complex.scalars", probe, [
    ("times", "x * (2 + 1j)", {"x": Z}), ("real times", "x * (2 + 1j)", {"x": A}), ("plus", "x + 1j", {"x": A}),
    ("over", "1j / x", {"x": Z}), ("power", "x ** 2", {"x": Z}), ("power float", "x ** 0.5", {"x": Z}),
    ("power complex", "x ** 1j", {"x": Z}), ("base", "2 ** x", {"x": Z}),
    ("power zero", "x ** 0", {"x": [0j, 1j]}), ("power minus one", "x ** -1", {"x": Z}),
    ("cube", "x ** 3", {"x": Z}), ("rsub", "1 - x", {"x": Z}),
])
table("complex.structure", probe, [
    ("complex", "torch.complex(x, y)", {"x": A, "y": A}),
    ("polar", "torch.polar(x, y)", {"x": [1.0, 2.0, 0.0], "y": A}),
    ("view_as_complex", "torch.view_as_complex(x)", {"x": [[1.0, 2.0], [3.0, 4.0]]}),
    ("to complex", "x.to(torch.complex128) * 1j", {"x": A}), ("sum", "x.sum()", {"x": Z}),
    ("mean", "x.mean()", {"x": Z}), ("prod", "x.prod()", {"x": Z}),
    ("prod zero", "x.prod()", {"x": [0j, 1 + 1j, 2j]}), ("cumsum", "x.cumsum(0)", {"x": Z}),
    ("cumprod", "x.cumprod(0)", {"x": Z}), ("norm", "x.norm()", {"x": Z}),
    ("norm zero", "x.norm()", {"x": [0j, 0j]}), ("norm one", "x.norm(1)", {"x": Z}),
    ("var", "x.var()", {"x": Z}), ("std", "x.std()", {"x": Z}), ("index", "x[1:]", {"x": Z}),
    ("mask", "x[x.real > 0]", {"x": Z}),
    ("conj transpose", "x.mH", {"x": [Z, W]}), ("adjoint product", "x.mH @ x", {"x": [Z, W]}),
    ("matmul", "x @ y.mT", {"x": [Z, W], "y": [W, Z]}), ("view real", "torch.view_as_real(x) ** 2", {"x": Z}),
    ("real squared", "x.real ** 2", {"x": Z}), ("imag squared", "x.imag ** 2", {"x": Z}),
    ("sum of parts", "x.real + x.imag", {"x": Z}), ("conj twice", "x.conj().conj()", {"x": Z}),
    ("inverse", "torch.linalg.inv(x)", {"x": [[1 + 1j, 2 + 0j], [0j, 1 - 1j]]}),
    ("det", "torch.linalg.det(x)", {"x": [[1 + 1j, 2 + 0j], [0j, 1 - 1j]]}),
    ("trace", "x.trace()", {"x": [[1 + 1j, 2 + 0j], [0j, 1 - 1j]]}),
    ("masked_fill", "x.masked_fill(x.real > 0, 1j)", {"x": Z}), ("fft", "torch.fft.fft(x)", {"x": Z}),
    ("rfft", "torch.fft.rfft(x)", {"x": A}),
    ("ifft", "torch.fft.ifft(x)", {"x": Z}), ("irfft", "torch.fft.irfft(x, 4)", {"x": Z}),
    ("flip", "x.flip(0)", {"x": Z}), ("expand", "x.expand(2, 3) * 2j", {"x": Z}),
    ("softmax free", "x.abs().softmax(0)", {"x": Z}),
    ("hypot by hand", "(x.real ** 2 + x.imag ** 2).sqrt()", {"x": Z}),
])
table("complex.refused", fails, [(n, e, {"x": Z, "y": W}) for n, e in {
    "max": "x.max()", "min dim": "x.min(0)", "sort": "x.sort()", "less": "x < y", "floor": "x.floor()",
    "clamp": "x.clamp(0, 1)", "sign": "x.sign()", "relu": "F.relu(x)", "atan2": "torch.atan2(x, y)",
    "maximum": "torch.maximum(x, y)", "argmax": "x.argmax()",
    "median": "x.median()", "round": "x.round()", "mod": "x % y", "floor_divide": "x // y",
    "imag of real": "x.real.imag", "view_as_complex": "torch.view_as_complex(x.real)",
    "abs_": "x.detach().abs_()", "to float": "float(x[0])", "item": "int(x[1])",
    "polar dtype": "torch.polar(x, y)", "complex dtype": "torch.complex(x, y)", "leaky": "F.leaky_relu(x)",
    "int conversion of tensor": "x.int()", "topk": "x.topk(1)", "amax": "x.amax()", "softmax": "x.softmax(0)",
    "mse": "F.mse_loss(x, y)", "erf": "x.erf()", "logical": "x.logical_not()",
    "bitwise": "x & y", "fmod": "torch.fmod(x, y)", "hypot": "torch.hypot(x, y)", "cummax": "x.cummax(0)",
    "real into complex": "x.real.detach().add_(y.detach())"}.items()])


def cotangent(torch, expression):
    """The gradient for cotangents 1 and 1j, and of the real part."""
    z = torch.tensor(Z, dtype=torch.complex128, requires_grad=True)
    out = evaluate(torch, expression, z=z)
    for factor in (1, 1j) if out.is_complex() else (1, 2):
        v = torch.full(out.shape, factor, dtype=out.dtype)
        yield f"for {factor}", torch.autograd.grad(out, z, v, retain_graph=True)


each("complex.cotangent", cotangent,
    {"square": "z * z", "conj": "z.conj()", "real": "z.real", "imag": "z.imag", "abs": "z.abs()",
        "angle": "z.angle()", "exp": "z.exp()", "times constant": "z * (2 + 1j)", "sgn": "z.sgn()",
        "log": "z.log()", "pow": "z ** 3",
                                      "view_as_real": "torch.view_as_real(z)", "sum": "z.sum()",
                                      "reciprocal": "1 / z", "abs squared": "z.abs() ** 2",
                                      "z conj z": "z * z.conj()", "sin": "z.sin()", "sqrt": "z.sqrt()",
                                      "tanh": "z.tanh()"})


@case("complex.descent_direction")
def _(torch):
    z = torch.tensor(3 + 4j, dtype=torch.complex128, requires_grad=True)
    (z.abs() ** 2).backward()
    yield "grad", z.grad
    with torch.no_grad():
        z -= 0.5 * z.grad
    yield "minimum", z.detach()


@case("complex.dtypes")
def _(torch):
    z = torch.tensor([1 + 1j])
    yield ("default", z.dtype, z.real.dtype, z.abs().dtype, (z + torch.ones(1, dtype=torch.float64)).dtype,
        (z * 2.0).dtype)
    yield ("double", torch.tensor([1j], dtype=torch.complex128).abs().dtype,
        (torch.ones(1, dtype=torch.float64) + 1j).dtype, (torch.ones(1) + 1j).dtype)
    yield "int", (torch.tensor([1]) + 1j).dtype, (torch.tensor([True]) * 1j).dtype
    yield ("flags", z.is_complex(), z.is_floating_point(), torch.is_complex(z), z.dtype.is_complex,
        z.dtype.to_real(), torch.float32.to_complex())


@case("complex.python_values")
def _(torch):
    z = torch.tensor(1.5 - 2j)
    yield "item", z.item(), complex(z), z.tolist()
    yield "real to complex", complex(torch.tensor(2.0))
    yield "equal", z == 1.5 - 2j, (z == torch.tensor(1.5 - 2j)).item()


@case("complex.real_of_real")
def _(torch):
    x = torch.tensor([1.0], requires_grad=True)
    yield "real is self", x.real is x
    yield "imag", raises(lambda: x.imag), attempt(lambda: hasattr(x, "imag"))
    yield "conj is self", x.conj() is x
    def put():
        x.imag = torch.ones(1)
    yield "assign imag", raises(put)
    z = torch.zeros(2, dtype=torch.complex64)
    z.real = torch.ones(2)
    z.imag = torch.tensor([2.0, 3.0])
    yield "assigned", z


@case("complex.real_gradient_of_real_input")
def _(torch):
    a = torch.tensor([3.0], dtype=torch.float64, requires_grad=True)
    z = torch.tensor([1 + 2j], dtype=torch.complex128, requires_grad=True)
    (a * z).backward(torch.ones(1, dtype=torch.complex128))
    yield "grads", a.grad, z.grad
    yield "imag cotangent", torch.autograd.grad(a * z, a, torch.tensor([1j], dtype=torch.complex128))


@case("complex.anglewise_errors")
def _(torch):
    yield "require grad", attempt(lambda: torch.zeros(2, dtype=torch.complex64, requires_grad=True).requires_grad)
    z = torch.tensor([1j], requires_grad=True)
    yield "backward", raises(lambda: (z * z).sum().backward())
    yield "numpy of conj", raises(lambda: z.detach().conj().numpy())
    yield "numpy resolved", z.detach().conj().resolve_conj().numpy()


@case("complex.view_as_complex.strides")
def _(torch):
    x, y = torch.arange(36.0).reshape(3, 3, 4), torch.arange(9.0).reshape(3, 3)
    yield "fit", torch.view_as_complex(x[..., :2]), torch.view_as_complex(y[:1, :2]), torch.view_as_complex(torch.arange(2.0).expand(3, 2))
    yield "do not", [raises(lambda t=t: torch.view_as_complex(t)) for t in (x[..., 1:3], x[..., ::2], y[:, :2], y[0, 1:], torch.zeros(0, 3)[:, :2], y[:, :1])]


@case("complex.lbfgs")
def _(torch):
    for search in (None, "strong_wolfe"):
        p = torch.tensor([1 + 2j, -0.5 + 0.3j], dtype=torch.complex128, requires_grad=True)
        q = torch.tensor([0.5], dtype=torch.float64, requires_grad=True)
        optimizer = torch.optim.LBFGS([p, q], lr=0.3, max_iter=6, line_search_fn=search)

        def closure():
            optimizer.zero_grad()
            loss = ((p - (1 + 2j)) * (p - (2 - 1j)).conj()).abs().sum() + (q * p.real[0] - 1).pow(2).sum()
            loss.backward()
            return loss

        yield f"{search} losses", [optimizer.step(closure).item() for _ in range(3)]
        yield f"{search} parameters", p, q
