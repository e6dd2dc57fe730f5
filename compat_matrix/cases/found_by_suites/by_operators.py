"""Of the list of operators that tests are generated from."""

import warnings

from compat_matrix.case import case
from compat_matrix.cases.found_by_suites import _made


@case("found_by_suites.terms_that_cancel")
def _(torch):
    """Sums over numbers below 0 whose terms cancel those above: PyTorch adds them in double."""
    x = torch.tensor([-8.5, -7.25, -3.3, -0.5, -20.5, 0.01, 20.])
    for n in (2, 4):
        yield f"polygamma {n}", torch.polygamma(n, x)
        yield f"zeta {n + 1}", torch.special.zeta(torch.tensor(n + 1.), x)
    leaf = torch.tensor([-8.5, 2.5], requires_grad=True)
    torch.polygamma(3, leaf).sum().backward()
    yield "gradient", leaf.grad


@case("found_by_suites.outputs_of_other_types")
def _(torch):
    """`ldexp` casts into any output but where it scales floats by whole exponents; frequencies say what does not fit as `arange` does."""
    for name, x, e in (("whole", [1, 3], [2, 1]), ("real exponent", [1., 3.], [2., 1.]), ("scaled", [1., 3.], [2, 1])):
        for kind in (torch.float16, torch.float32, torch.float64, torch.complex64, torch.int32):
            yield f"ldexp {name} {kind}", _made(lambda x=x, e=e, kind=kind: torch.ldexp(torch.tensor(x), torch.tensor(e), out=torch.empty(2, dtype=kind)))
    x = torch.arange(6.).reshape(2, 3)
    for name, given in {"all": (), "unbiased": (True,), "dim": (1, False), "no dim": (None,)}.items():
        for f in (torch.std, torch.var):
            yield f"{f.__name__} {name}", _made(lambda f=f, given=given: f(x, *given, out=torch.empty(0)))
    for f in (torch.fft.fftfreq, torch.fft.rfftfreq):
        for room in ((), (3,), (0,), (6,)):
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                out = torch.empty(room)
                f(10, out=out)
            yield f"{f.__name__} {room}", (out, [str(w.message).partition(" (Trig")[0] for w in said])


@case("found_by_suites.strides_over_parts")
def _(torch):
    """Strides over the memory of complex numbers that a real part shows, and spectrograms of real parts, with gradients."""
    z = torch.complex(torch.arange(24.), -torch.arange(24.)).reshape(2, 12)
    for name, part in (("real", z.real), ("imag", z.imag), ("of every second", z[:, ::2].real)):
        yield f"{name} strided", part.as_strided((2, 3), (24, 2))
        yield f"{name} beyond", _made(lambda part=part: part.as_strided((4, 6), (13, 2)))
        window = torch.ones(4)
        yield f"{name} stft", torch.stft(part, 4, 2, window=window, center=False, return_complex=True)
    leaf = z.clone().requires_grad_()
    torch.stft(leaf.real, 4, 2, window=torch.tensor([1., 2., 3., 4.]), center=False, return_complex=True).abs().sum().backward()
    yield "gradient", leaf.grad
    written = z.clone()
    written.real.as_strided((2, 3), (24, 2)).mul_(0)
    yield "written", written


@case("found_by_suites.identities_of_masked_reductions")
def _(torch):
    """What a masked reduction does not notice, by its name and the type of its input."""
    for name in ("sum", "masked.prod", "mean", "amax", "argmin", "logsumexp", "logaddexp", "norm", "median", "std", "any"):
        for kind in (torch.float32, torch.int32, torch.bool, torch.complex64):
            yield f"{name} {kind}", _made_or_none(lambda name=name, kind=kind: torch.masked._reduction_identity(name, torch.ones(2, dtype=kind)))
    yield "least norm", torch.masked._reduction_identity("norm", torch.ones(2), -float("inf"))


def _made_or_none(f):
    try:
        return f()
    except (NotImplementedError, TypeError) as refused:
        return type(refused).__name__, str(refused)


@case("found_by_suites.windows_in_halves")
def _(torch):
    """Windows of halves are computed with numbers in that dtype, Kaiser's in single; sparse ones are refused."""
    for kind in (torch.float16, torch.bfloat16):
        for name in ("hann", "hamming", "blackman", "bartlett", "kaiser"):
            window = getattr(torch, f"{name}_window")
            for size, periodic in ((2, True), (12, False), (12, True), (50, True)):
                yield f"{name} {kind} {size} {periodic}", window(size, periodic, dtype=kind)
    for name in ("hann", "hamming", "kaiser"):
        yield f"{name} sparse", _made(lambda name=name: getattr(torch, f"{name}_window")(3, layout=torch.sparse_coo))


@case("found_by_suites.devices_of_legacy_constructors")
def _(torch):
    """`FloatTensor(..., device=)` refuses other kinds of devices, `new` those that differ from the tensor's own, on which it makes one."""
    meta = torch.ones(2, device="meta")
    for name, f in {"FloatTensor": torch.FloatTensor, "Tensor": torch.Tensor, "new": torch.ones(2).new, "new of meta": meta.new}.items():
        for device in ("cuda", "cpu", torch.device("cpu")) if "meta" in name else ("cuda", "meta", "cpu", torch.device("cpu")):
            yield f"{name} {device!r}", _made(lambda f=f, device=device: f([1, 2], device=device))
    yield "where", str(meta.new(2, 3).device)


@case("found_by_suites.outputs_within_inputs")
def _(torch):
    """`out=` that lies in what is read: elementwise functions take all of it, those that move elements none, those that begin with a copy part of none."""
    where, x = torch.zeros(4, 3, dtype=torch.long), torch.linspace(0.5, 2, 20)
    eye, order, room = torch.eye(3), torch.arange(4), torch.empty(0, dtype=torch.long)
    given = torch.ones(4, 3)
    calls = {
        "cross": lambda a, out: torch.cross(a, given, dim=1, out=out), "addmm": lambda a, out: torch.addmm(a, given, eye, out=out),
        "baddbmm": lambda a, out: torch.baddbmm(a[None], given[None], eye[None], out=out[None]), "addr": lambda a, out: torch.addr(given, given[:, 0], a[0], out=out),
        "index_add": lambda a, out: torch.index_add(given, 0, order, a, out=out), "index_add to": lambda a, out: torch.index_add(a, 0, order, given, out=out),
        "scatter": lambda a, out: torch.scatter(given, 0, where, a, out=out), "scatter to": lambda a, out: torch.scatter(a, 0, where, given, out=out),
        "gelu": lambda a, out: torch._C._nn.gelu(a, out=out), "nan_to_num": lambda a, out: torch.nan_to_num(a, out=out),
        "logical_not": lambda a, out: torch.logical_not(a, out=out), "sort": lambda a, out: torch.sort(a, out=(out, room))[0],
        "msort": lambda a, out: torch.msort(a, out=out), "logsumexp": lambda a, out: torch.logsumexp(a[None], 0, out=out),
        "renorm": lambda a, out: torch.renorm(a, 2, 0, 1.0, out=out), "logcumsumexp": lambda a, out: torch.logcumsumexp(a, 0, out=out)}
    for name, f in calls.items():
        memory = [x.clone() for _ in range(2)]
        for place, a, out in (("all", memory[0][:12].view(4, 3), memory[0][:12].view(4, 3)), ("part", memory[1][:12].view(4, 3), memory[1][3:15].view(4, 3))):
            made = _made(lambda f=f, a=a, out=out: f(a, out))
            yield f"{name} {place}", made if place == "all" or made[0] == "RuntimeError" else "taken"


@case("found_by_suites.factors_of_whole_numbers")
def _(torch):
    """`addr` of integers refuses float factors, also 0.0 and 1.0, and takes whole ones."""
    for kind in (torch.int64, torch.bool, torch.float32):
        m, a, b = (torch.ones(n).to(kind) for n in ((2, 3), 2, 3))
        for factors in ({"alpha": 1}, {"alpha": 1.0}, {"beta": 0.0}, {"beta": 0}, {"alpha": True}, {"beta": True}, {"beta": 2.5}):
            yield f"{kind} {factors}", _made(lambda m=m, a=a, b=b, factors=factors: torch.addr(m, a, b, **factors))
