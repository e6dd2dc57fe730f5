"""Fourier transforms: every form, sizes, dims, norms, dtypes, gradients, refusals."""

from compat_matrix.case import attempt, case
from compat_matrix.probes import fails, probe, table

V4, V5 = [1.0, -2.0, 0.5, 3.0], [0.5, -1.2, 0.3, 2.1, -0.7]
Z3, Z4 = [1 + 2j, -0.5 + 0.3j, 2 - 1j], [1 + 2j, -0.5 + 0.3j, 2 - 1j, 0.25j]
M34 = [[1.0, -2.0, 0.5, 3.0], [0.5, 1.0, -1.0, 0.25], [2.0, 0.0, 1.5, -0.5]]
Z34 = [[complex(a, b) for a, b in zip(row, row[::-1])] for row in M34]
NORMS = [None, "backward", "forward", "ortho"]
ONE = {"fft": (V4, Z4), "ifft": (V5, Z3), "rfft": (V4, V5), "irfft": (V4, Z3), "hfft": (V4, Z4), "ihfft": (V4, V5)}
SEVERAL = {"fft": (M34, Z34), "ifft": (M34, Z34), "rfft": (M34, M34), "irfft": (M34, Z34), "hfft": (M34, Z34), "ihfft": (M34, M34)}
for name, inputs in ONE.items():
    table(f"fft.{name}", probe, [(f"{i} {m}", f"torch.fft.{name}(x, norm={m!r})", {"x": x}) for i, x in enumerate(inputs) for m in NORMS] + [
        (f"{i} {label}", f"torch.fft.{name}(x, {more})", {"x": x}) for i, x in enumerate(inputs)
        for label, more in (("longer", "n=7"), ("shorter", "n=2"), ("one", "n=1"), ("dim", "dim=0"))])
    table(f"fft.{name}", probe, [
        ("rows", f"torch.fft.{name}(x, dim=0)", {"x": SEVERAL[name][1]}), ("batch", f"torch.fft.{name}(x, n=3)", {"x": SEVERAL[name][0]})])
for name, inputs in SEVERAL.items():
    for end in ("2", "n"):
        table(f"fft.{name}{end}", probe, [(f"{i} {m}", f"torch.fft.{name}{end}(x, norm={m!r})", {"x": x}) for i, x in enumerate(inputs) for m in NORMS] + [
            (f"{i} {label}", f"torch.fft.{name}{end}(x, {more})", {"x": x}) for i, x in enumerate(inputs)
            for label, more in (("sizes", "s=(2, 5)"), ("as it is", "s=(-1, 3)"), ("other order", "dim=(1, 0)"), ("one dim", "dim=(0,)"),
                                ("sized dim", "s=(5,), dim=(1,)"))])
table("fft.chains", probe, [
    ("round trip", "torch.fft.irfft(torch.fft.rfft(x), n=5)", {"x": V5}), ("power", "torch.fft.fft(x).abs() ** 2", {"x": V4}),
    ("convolution", "torch.fft.irfft(torch.fft.rfft(x) * torch.fft.rfft(y), n=4)", {"x": V4, "y": [0.5, 1.0, 0.0, -1.0]}),
    ("filter", "torch.fft.ifft(torch.fft.fft(x) * torch.fft.fft(y))", {"x": Z4, "y": V4}),
    ("shifted", "torch.fft.fftshift(x)", {"x": M34}), ("shifted back", "torch.fft.ifftshift(x, dim=1)", {"x": M34}),
    ("shift ints", "torch.fft.fftshift(x, (0,))", {"x": [1, 2, 3]}), ("ints", "torch.fft.fft(x)", {"x": [1, 2, 3]}),
    ("bools", "torch.fft.rfft(x)", {"x": [True, False, True]}), ("no dims", "torch.fft.fftn(x, dim=())", {"x": M34})])
GIVEN = {"x": V4, "z": Z4, "m": M34, "s": 1.0, "e": []}
table("fft.refused", fails, [(e, e, GIVEN) for e in (
    "torch.fft.fft(x, n=0)", "torch.fft.fft(x, n=-1)", "torch.fft.fft(x, dim=3)", "torch.fft.fft(x, norm='x')", "torch.fft.fft(s)", "torch.fft.fft(e)",
    "torch.fft.fft(x.half())", "torch.fft.rfft(z)", "torch.fft.ihfft(z)", "torch.fft.irfft(x[:1])", "torch.fft.irfft(x, n=0)", "torch.fft.fft2(x)",
    "torch.fft.fft2(m, dim=(0, 0))", "torch.fft.fft2(m, s=(2, 2, 2))", "torch.fft.fftn(m, s=(2, 2, 2))", "torch.fft.fftn(m, dim=(0, 5))",
    "torch.fft.fftn(m, s=(0, 2))", "torch.fft.rfftn(z)", "torch.fft.rfftn(m, dim=())", "torch.fft.irfftn(m, dim=())", "torch.fft.hfftn(m, dim=())",
    "torch.fft.ihfftn(m, dim=())", "torch.fft.ihfft2(torch.complex(m, m))", "torch.fft.fft(3)", "torch.fft.fft(x, n=2.5)", "torch.fft.fft()",
    "torch.fft.fftfreq(-1)", "torch.fft.fftfreq(5.0)", "torch.fft.fftfreq(4, dtype=torch.int64)", "torch.fft.fftshift(m, dim=2)",
    "torch.fft.fft(x, out=torch.zeros(4, dtype=torch.complex128))", "torch.fft.fft(x.detach(), out=torch.zeros(4))",
    "torch.fft.fftfreq(4, out=torch.zeros(2, requires_grad=True))")])


@case("fft.helpers")
def _(torch):
    for n in (0, 1, 4, 5):
        yield n, torch.fft.fftfreq(n), torch.fft.rfftfreq(n), torch.fft.fftfreq(n, 0.5, dtype=torch.float64)
    out = torch.zeros(4, dtype=torch.complex128)
    yield "out", torch.fft.fft(torch.tensor(V4, dtype=torch.float64), out=out) is out, out
    yield "grad", torch.fft.fftfreq(4, requires_grad=True).requires_grad


@case("fft.dtypes")
def _(torch):
    for name in ("float16", "float32", "float64", "int32", "bool", "complex64", "complex128"):
        x = torch.tensor(V4).to(getattr(torch, name))
        for f in ("fft", "rfft", "irfft", "fft2", "ihfft"):
            yield f"{name} {f}", attempt(lambda f=f, x=x: getattr(torch.fft, f)(x.view(2, 2)).dtype)
