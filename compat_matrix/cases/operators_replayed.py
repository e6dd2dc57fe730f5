"""What a replay of PyTorch's own samples of operators found: divisions beyond the middle of the range, memory formats, windows, forward mode."""

import warnings

from compat_matrix.case import attempt, case

DIVISIONS = {
    "quotient": "x / y", "number by a quotient": "1 / (y / x)", "reciprocal": "x.reciprocal() * y",
    "logarithm": "(x / y).log()", "xlogy": "torch.xlogy(x, y)", "xlog1py": "torch.special.xlog1py(x, y)"}


for _what in DIVISIONS:
    @case(f"operators_replayed.divisions.{_what}", what=_what)
    def _(torch, what):
        for dtype, numbers in ((torch.float32, (1e-20, 1e-25, 1e25, 1.7)), (torch.float64, (1e-170, 1e200))):
            for number in numbers:
                x, y = torch.full((3,), number, dtype=dtype, requires_grad=True), torch.tensor([number, 2 * number, number / 2], dtype=dtype, requires_grad=True)
                for _turn in range(3):                     # the third time it is one compiled program
                    z = eval(DIVISIONS[what])
                    first = torch.autograd.grad(z.sum(), (x, y))
                    values = [v.tolist() for v in (z, *first)]
                yield f"{dtype} {number}", *[[float(f"{v:.5g}") for v in row] for row in values]


@case("operators_replayed.product below the range")
def _(torch):
    for dtype, small in ((torch.float32, 1e-25), (torch.float64, 1e-200)):
        x = torch.tensor([small, small, 1 / small], dtype=dtype, requires_grad=True)
        first, = torch.autograd.grad(x.prod(), x, create_graph=True)
        yield str(dtype), first, torch.autograd.grad(first.sum(), x)[0]


@case("operators_replayed.slopes of xlog1py")
def _(torch):
    x, y = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([1.0, 3.0], requires_grad=True)
    for f in (torch.xlogy, torch.special.xlog1py):
        grads = torch.autograd.grad(f(x, y).sum(), (x, y), create_graph=True)
        yield f.__name__, [g.grad_fn.name() for g in grads]


def _said(call):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        made = call()
    return made, [(w.category.__name__, str(w.message).split(" (Triggered")[0]) for w in said]


WARNED = {
    "stft": "torch.stft(torch.arange(10.0), n_fft=7, return_complex=True).shape", "istft": "torch.istft(torch.ones(6, 3, dtype=torch.complex128), 10).shape",
    "conv1d": "torch.nn.functional.conv1d(torch.ones(1, 1, 9), torch.ones(1, 1, 4), padding='same', dilation=3).shape",
    "conv2d, even dilation": "torch.nn.functional.conv2d(torch.ones(1, 1, 9, 9), torch.ones(1, 1, 4, 4), padding='same', dilation=2).shape",
    "renorm": "torch.ones(2, 2, dtype=torch.complex128).renorm(2, 1, 0.5).abs()",
    "stft, real": "torch.stft(torch.arange(10.0), 4, window=torch.ones(4), return_complex=False).shape",
    "histogramdd": "torch.histogramdd(9 * torch.ones(5, 2), (torch.arange(3.0), torch.arange(3.0)), density=True)[0]"}


for _what in WARNED:
    @case(f"operators_replayed.warnings.{_what}", what=_what)
    def _(torch, what):
        torch.set_warn_always(True)
        try:
            yield "first", *_said(lambda: eval(WARNED[what], {"torch": torch}))
            yield "second", *_said(lambda: eval(WARNED[what], {"torch": torch}))
        finally:
            torch.set_warn_always(False)


@case("operators_replayed.window whose root is of nothing")
def _(torch):
    for n in (3, 7, 64, 128, 1000):
        for beta in (1.0, 12.0, 41.2):
            ends = torch.signal.windows.kaiser(n, beta=beta, dtype=torch.float64)[[0, n - 1]]
            yield f"{n} {beta}", torch.isfinite(ends), (ends < 1).tolist()


@case("operators_replayed.logcumsumexp forward")
def _(torch):
    inf = float("inf")
    for values in ([-30.0], [-20.0, -25.0], [-40.0, -3.0], [800.0, 1.0], [-800.0, -801.0], [1.0, 2.0, 3.0], [-inf, 1.0], [-inf, -inf], [-30.0, -inf, 2.0]):
        for dtype in (torch.float64, torch.complex128):
            x, t = torch.tensor(values, dtype=dtype), torch.arange(1.0, 1 + len(values)).to(dtype)
            if dtype is torch.complex128 and values[0] > 100:
                continue
            with torch.autograd.forward_ad.dual_level():
                made = torch.logcumsumexp(torch.autograd.forward_ad.make_dual(x, t), 0)
                yield f"{values} {dtype}", torch.autograd.forward_ad.unpack_dual(made).tangent


LAYOUTS = {
    "every third": "torch.arange(12.0).view(2, 6)[:, ::3]", "turned": "torch.arange(6.0).view(2, 3).t()", "plain": "torch.ones(2, 3, 4, 5)",
    "turned, four": "torch.ones(2, 3, 4, 5).transpose(1, 2)", "channels last": "torch.ones(2, 3, 4, 5).to(memory_format=torch.channels_last)",
    "expanded": "torch.ones(2, 3, 4, 1).expand(2, 3, 4, 5)"}
CONVERSIONS = ["x.to(memory_format=f)", "x.to(torch.float32, memory_format=f)", "x.float(memory_format=f)", "x.cpu(memory_format=f)", "x.contiguous(memory_format=f)"]


for _what in LAYOUTS:
    @case(f"operators_replayed.formats.{_what}", what=_what)
    def _(torch, what):
        for form in ("contiguous_format", "preserve_format", "channels_last"):
            f, x = getattr(torch, form), eval(LAYOUTS[what]).requires_grad_()
            for code in CONVERSIONS:
                made = attempt(lambda code=code, x=x, f=f: eval(code, {"torch": torch, "x": x, "f": f}))
                if isinstance(made, torch.Tensor):
                    yield f"{form} {code}", made is x, made.is_contiguous(), made.grad_fn and made.grad_fn.name()
                elif not (form == "preserve_format" and "contiguous" in code and what == "channels last"):
                    yield f"{form} {code}", made


LONG = [
    "x.flip(n)", "x.flip((0, n))", "torch.flip(x, (n,))", "x.repeat(n, 1)", "x.repeat((1, n))", "x.view(n)", "x.view(-1, n)", "x.reshape(n)", "torch.reshape(x, (2, n))",
    "x.expand(n, 3)", "x.expand((n, 3))", "x.permute(n, 0)", "torch.permute(x, (0, n))", "x.amax((n,))", "x.sum((0, n))", "x.sum(n)", "x[n]", "x.roll(n)", "x.tile(n)"]


@case("operators_replayed.ints of more than 64 bits")
def _(torch):
    x = torch.zeros(2, 3)
    for code in LONG:
        try:
            eval(code, {"x": x, "torch": torch, "n": 2**70})
        except Exception as error:                      # what follows in torch is the stack of C++
            yield code, type(error).__name__, str(error).split("\n")[0].strip('"')


OUTS = """cumsum(x,0) cumprod(x,0) cumsum(x,0,dtype=x.dtype) cumprod(x,0,dtype=x.dtype) linalg.cholesky_ex(p) linalg.eigh(p) linalg.eigvalsh(p) linalg.inv_ex(p)
linalg.ldl_factor(p) linalg.ldl_factor_ex(p) linalg.lu(p) linalg.lu_factor(p) linalg.lu_factor_ex(p) linalg.slogdet(p) slogdet(p) linalg.solve_ex(p,x) linalg.svd(p)
linalg.svdvals(p) linalg.matrix_norm(p) linalg.norm(p,2) linalg.norm(v) linalg.vecdot(x,x) linalg.multi_dot([p,p]) histc(x) nonzero(x) linalg.cond(p) linalg.pinv(p)
linalg.tensorinv(p,ind=1) linalg.tensorsolve(p,v) linalg.eigvals(p) linalg.eig(p) linalg.lstsq(p,x) fft.fft2(x) fft.ifft2(x) fft.ifftn(x)
fft.rfft2(x) fft.irfft2(x+0j) fft.hfft2(x+0j) zeros(2,dtype=x.dtype) ones(2,dtype=x.dtype) full((2,),1.0,dtype=x.dtype) empty(2,dtype=x.dtype)
_chunk_cat([x,x],0,1)""".split()


@case("operators_replayed.outputs of another dtype")
def _(torch):
    p = torch.tensor([[2.0, 0.5, 0.0], [0.5, 3.0, 0.25], [0.0, 0.25, 4.0]], dtype=torch.float64)
    known = {"torch": torch, "x": p * 2, "p": p, "v": p[0].clone()}
    for code in OUTS:
        plain = eval(f"torch.{code}", known)
        several = isinstance(plain, tuple)
        for dtype in (torch.int16, torch.complex128):
            outs = [torch.ones(t.shape, dtype=dtype) for t in (plain if several else [plain])]
            try:
                eval(f"torch.{code[:-1]}, out=out)", {**known, "out": tuple(outs) if several else outs[0]})
                yield f"{code} {dtype}", "taken"
            except Exception as error:
                yield f"{code} {dtype}", type(error).__name__, str(error)


@case("operators_replayed.outputs of other sizes")
def _(torch):
    for code in ("zeros(3", "ones(3", "full((3,), 1.0", "empty(3", "eye(3", "linspace(0, 1, 3", "logspace(0, 1, 3", "arange(3", "arange(6", "randn(3", "rand(3", "randint(3, (3,)",
                 "randperm(3"):
        out = torch.ones(3, 2, dtype=torch.int64 if code.startswith(("randint", "randperm")) else torch.float32)
        yield code, _said(lambda code=code, out=out: tuple(eval(f"torch.{code}, out=out)", {"torch": torch, "out": out}).shape))


@case("operators_replayed.logspace of ints")
def _(torch):
    for start, end in ((4.3, 2), (4.3, 7.9), (-4.3, 2.2), (4, 2.9)):
        for steps in (1, 2, 5):
            for dtype in (torch.int64, torch.int32, torch.float64):
                for base in (2.0, 3.0):
                    yield f"{start} {end} {steps} {dtype} {base}", torch.logspace(start, end, steps, base=base, dtype=dtype)
                    yield f"{start} tensor {end} {steps} {dtype} {base}", torch.logspace(start, torch.tensor(end), steps, base=base, dtype=dtype)


SCATTERED = [
    "as_strided_scatter(x, y, (2,), (1,))", "as_strided_scatter(x[1:], y, (2,), (1,))", "as_strided_scatter(x[1:], y, (2,), (1,), 0)", "as_strided_scatter(x[::2], y, (2,), (1,), 0)",
    "as_strided_scatter(x[::2], y, (2,), (1,), 1)", "as_strided_scatter(x.view(2, 3).t(), y, (2,), (2,))", "as_strided_scatter(x[::2], y, (3,), (1,))",
    "as_strided_scatter(x, y, (2,), (1,), 7)", "as_strided_scatter(x, y)", "as_strided_scatter(x, y, 2, 1)"]


@case("operators_replayed.as_strided_scatter into views")
def _(torch):
    x, y = torch.arange(6.0), torch.tensor([7.0, 8.0])
    for code in SCATTERED:
        yield code, attempt(lambda code=code, x=x, y=y: eval(f"torch.{code}", {"torch": torch, "x": x.clone(), "y": y}))
        yield f"method {code}", attempt(lambda code=code, x=x, y=y: eval("x." + code.replace("(x, ", "(", 1) if "(x, " in code else "None", {"x": x.clone(), "y": y}))
    a, b = x.clone().requires_grad_(), y.clone().requires_grad_()
    z = torch.as_strided_scatter(a, b, (2,), (2,), 1)
    yield "gradients", z.grad_fn.name(), *torch.autograd.grad(z, (a, b), torch.arange(6.0))
    yield "aten", torch.ops.aten.as_strided_scatter(x, y, [2], [2], 1)


@case("operators_replayed.chosen elements into what they are chosen from")
def _(torch):
    x, places = torch.arange(6.0), torch.zeros(3, dtype=torch.long)
    yield "kthvalue", attempt(lambda: torch.kthvalue(x.view(2, 3), 2, 0, out=(x[:3], places)))
    yield "kthvalue, all", attempt(lambda: torch.kthvalue(x, 2, 0, True, out=(x, torch.tensor(0))))
    yield "mode", attempt(lambda: torch.mode(x.view(2, 3), 0, out=(x[:3], places)))
    yield "elsewhere", torch.kthvalue(x.view(2, 3), 2, 0, out=(torch.zeros(3), places))[0]


@case("operators_replayed.ranges that narrow_copy refuses")
def _(torch):
    x = torch.ones(10, 5, 20)
    for given in ((3, 0, 0), (0, 0, -1), (0, 8, 3), (0, 11, 0), (1, 6, 0)):
        yield str(given), attempt(lambda given=given: torch.narrow_copy(x, *given))
    yield "taken", torch.narrow_copy(x, 1, 4, 1).shape, torch.narrow_copy(x, -1, -2, 2).shape


@case("operators_replayed.reflections that ormqr refuses")
def _(torch):
    for columns in (0, 2, 5, 6):
        for count in (0, 2, 3, 6):
            for rows, wide, left in ((5, 2, True), (5, 7, True), (5, 3, False), (4, 5, True)):
                for dtype in (torch.float64, torch.int64):
                    other = torch.ones((rows, wide) if left else (wide, rows), dtype=dtype)
                    made = attempt(lambda c=columns, n=count, o=other, left=left, d=dtype: torch.ormqr(torch.ones(5, c, dtype=d), torch.ones(n, dtype=d), o, left).shape)
                    yield f"{columns} {count} {rows} {wide} {left} {dtype}", made


@case("operators_replayed.numbers, orders of norms and sums as other types")
def _(torch):
    for number in (torch.tensor(1 + 2j, requires_grad=True), torch.tensor(2.0, requires_grad=True)):
        for name in ("H", "mH", "mT", "T"):
            out = getattr(number, name)
            yield f"{name} of {number.dtype}", out, out.is_conj(), out is number
        out = number.adjoint() * (2 - 1j)
        yield f"adjoint of {number.dtype}", out, torch.autograd.grad(out, number, torch.ones_like(out))[0]
    x = torch.arange(24.0).reshape(2, 3, 4)
    for order in ("fro", "nuc", 2, None):
        for own in (x, x[0], x[0, 0], x[0, 0, 0]):
            yield f"norm {order} {own.ndim}", attempt(lambda order=order, own=own: torch.linalg.norm(own, order))
    for own in (x, x.long(), x > 5):
        for dtype in (torch.complex64, torch.complex128, torch.int32, torch.float16):
            yield f"nansum {own.dtype} {dtype}", attempt(lambda own=own, dtype=dtype: torch.nansum(own, 0, dtype=dtype))
