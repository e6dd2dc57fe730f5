"""Arguments far from the ordinary: powers of two that overflow on the way, logits and weights without end, bounds that are no numbers, frequencies of less than nothing."""

from compat_matrix.case import attempt, case

_INF, _NAN = float("inf"), float("nan")


def _with_gradients(torch, f, *xs):
    xs = [x.clone().requires_grad_() for x in xs]
    y = f(*xs)
    return y, torch.autograd.grad(y, xs, torch.ones_like(y))


@case("far_ends.ldexp by integers")
def _(torch):
    x = torch.tensor([1.0, 2.0, -3.0, 0.0, _INF, _NAN, 1e30])
    for e in ([127, 128, 129, 200, -200, -120, -150], [-1, -2, 0, 1, 62, 63, 64]):
        for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
            yield f"{e} {dtype}", _with_gradients(torch, lambda a, e=e: torch.ldexp(a, torch.tensor(e)), x.to(dtype))
    for dtype in (torch.int8, torch.uint8, torch.int32):
        e = torch.tensor([7, 8, 9, 1], dtype=dtype)
        yield f"{dtype}", _with_gradients(torch, lambda a, e=e: torch.ldexp(a, e), torch.ones(4)), torch.ldexp(torch.tensor([1, 2, 3, 4]), e)
    yield "complex", _with_gradients(torch, lambda a: torch.view_as_real(torch.ldexp(a, torch.tensor([-1, 2]))), torch.tensor([1 + 2j, 2 - 1j]))


@case("far_ends.ldexp by floats")
def _(torch):
    x, e = torch.tensor([1.0, 2.0, -3.0, 0.0, 1e30]), torch.tensor([-1.0, 200.0, -200.0, 1.5, 20.0])
    for dtype in (torch.float32, torch.float64):
        yield f"{dtype}", _with_gradients(torch, torch.ldexp, x.to(dtype), e), _with_gradients(torch, torch.ldexp, x, e.to(dtype))
    yield "forward", torch.func.jvp(torch.ldexp, (x[2:], e[2:]), (torch.ones(3), torch.ones(3)))


def _logits(torch):
    return torch.tensor([_INF, -_INF, _NAN, 80.0, -100.0, 1e4, 0.0, 3.0, 20.0, -3.0])


@case("far_ends.cross entropy of logits")
def _(torch):
    for chance in (None, 2.0, 0.0, _INF):
        for aim in (0.0, 1.0, 0.5):
            z = _logits(torch)
            weight = None if chance is None else torch.full_like(z, chance)
            yield f"{chance} {aim}", _with_gradients(torch, lambda a, b, weight=weight: torch.nn.functional.binary_cross_entropy_with_logits(
                a, b, pos_weight=weight, reduction="none"), z, torch.full_like(z, aim))


@case("far_ends.cross entropy of logits again")
def _(torch):
    for reduction in ("none", "mean", "sum"):
        for weight in (None, torch.full((3,), 2.0)):
            x, t = torch.tensor([[20.0, -3.0, 0.5]], requires_grad=True), torch.tensor([[1.0, 0.0, 0.3]], requires_grad=True)
            y = torch.nn.functional.binary_cross_entropy_with_logits(x, t, weight, pos_weight=weight, reduction=reduction)
            first = torch.autograd.grad(y.sum(), [x, t], create_graph=True)
            yield f"{reduction} {weight is None}", [g.grad_fn.name() for g in first], first, torch.autograd.grad([g.sum() for g in first], [x, t])


@case("far_ends.cross entropy of logits written in place")
def _(torch):
    f = torch.binary_cross_entropy_with_logits
    z = torch.ones(2, 3)
    for shape in ((4, 2, 3), (1, 3), (1,), (), (2,), (1, 1, 3)):
        w = torch.ones(shape)
        yield f"{shape}", [attempt(g) for g in (
            lambda w=w: f(z, z, pos_weight=w), lambda w=w: f(z, z, w), lambda w=w: f(z, w), lambda w=w: f(w, z),
            lambda w=w: f(w, z, pos_weight=z[0]), lambda w=w: f(z, w, pos_weight=z[0]))]
    for own, aim in ((torch.float16, torch.float32), (torch.float32, torch.float16), (torch.float64, torch.float32), (torch.float32, torch.int64),
                     (torch.int64, torch.float32)):
        yield f"{own} {aim}", attempt(lambda own=own, aim=aim: f(z.to(own), z.to(aim)))
    for name in ("weight", "pos_weight"):
        yield name, attempt(lambda name=name: f(z, z, **{name: torch.ones(3, requires_grad=True)}))


@case("far_ends.tangents of clamped")
def _(torch):
    x, b = torch.tensor([-1.0, 0.0, 0.5, 1.0, _NAN, _INF]), torch.tensor([0.0, 0.0, 0.5, _NAN, 1.0, _INF])
    for name in ("clamp_min", "clamp_max", "minimum", "fmax"):
        yield name, torch.func.jvp(getattr(torch, name), (x, b), (torch.arange(1.0, 7), torch.arange(1.0, 7) * 2))


@case("far_ends.frequencies")
def _(torch):
    for n in (-1, -2, -4, 0, 3):
        yield f"{n}", [attempt(lambda n=n, f=f: f(n)) for f in (torch.fft.fftfreq, torch.fft.rfftfreq)]
    for dtype in (torch.int32, torch.complex64, torch.float64):
        yield f"{dtype}", [attempt(lambda f=f, k=k, dtype=dtype: f(5, out=torch.empty(0, dtype=dtype), **k))
                           for f in (torch.fft.fftfreq, torch.fft.rfftfreq) for k in ({}, {"dtype": torch.float64})]


@case("far_ends.zeta")
def _(torch):
    x = torch.tensor([1.5, 2.0, 3.0, 1.1, 1.0, 0.5])
    for q in (1e5, 1e8, 1e10, 1e30):
        yield f"{q}", torch.special.zeta(x, torch.full_like(x, q)), torch.special.zeta(x.double(), torch.full_like(x, q).double())
