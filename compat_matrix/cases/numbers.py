"""Python numbers that the dtype of a result cannot hold: refused, or taken as torch takes them; whatever was recorded before."""

from compat_matrix.case import attempt, case
from compat_matrix.probes import each

KINDS = ("uint8", "int16", "int64", "float16", "float32", "complex64")
VALUES = (1, -1, 255, 300, 2**31, 2**63, 1e5, 0.5, True)
FAR = {"uint8": (1e40, float("inf")), "int16": (1e40, float("inf")), "int64": (-1e40, float("nan")), "float16": (1e40, float("inf"))}
TAKERS = {
    "clamp least": "torch.clamp(x, min=n)", "clamp greatest": "torch.clamp(x, max=n)",
    "clamp both": "x.clamp(0.5 if x.is_floating_point() else 0, n) if n < 2**63 else None", "clamp_": "x.clamp_(max=n)",
    "clamp_min": "torch.clamp_min(x, n)", "hardtanh": "F.hardtanh(x, 0, n)", "threshold": "F.threshold(x, n, 1)", "threshold value": "F.threshold(x, 1, n)",
    "leaky_relu": "F.leaky_relu(x, n)", "elu": "F.elu(x, n)", "hardshrink": "F.hardshrink(x, n)", "softplus": "F.softplus(x, 1, n)",
    "add alpha": "torch.add(x, x, alpha=n)", "add_ alpha": "x.add_(x.clone(), alpha=n)", "sub alpha": "torch.sub(x, x, alpha=n)",
    "rsub alpha": "torch.rsub(x, x, alpha=n)", "pow": "x ** n", "addcmul": "torch.addcmul(x, x, x, value=n)", "addcdiv": "torch.addcdiv(x, x, x + 1, value=n)",
    "lerp": "torch.lerp(x, x + 1, n)", "fill": "torch.fill(x, n)", "fill_": "x.fill_(n)", "full": "torch.full((2,), n, dtype=x.dtype)",
    "masked_fill": "x.masked_fill(x == 1, n)", "index_fill": "x.index_fill(0, torch.tensor([0, 2]), n)", "scatter": "x.scatter(0, torch.tensor([0, 2]), n)",
    "addmm beta": "torch.addmm(x[None], x[None], x.expand(3, 3), beta=n)", "addmm alpha": "torch.addmm(x[None], x[None], x.expand(3, 3), alpha=n)",
    "addmv": "torch.addmv(x, x.expand(3, 3), x, beta=n)", "less": "x < n", "equal": "x == n",
    "padding": "torch.constant_pad_nd(x, (1, 0), n)", "plus": "x + n", "where": "torch.where(x == 1, x, n)"}


def held(torch, expression, kinds=KINDS):
    for kind in kinds:
        for n in (*VALUES, *(FAR.get(kind, ()) if "clamp" not in expression else ())):
            x = torch.tensor([0, 1, 3]).to(getattr(torch, kind))
            names = {"torch": torch, "F": torch.nn.functional, "x": x, "n": n}
            yield f"{kind} {n!r}", attempt(lambda names=names: eval(expression, names))


each("numbers.held", held, {k: v for k, v in TAKERS.items() if k not in ("elu", "pow", "where", "plus") and "addmm" not in k})
each("numbers.held", held, {"elu": TAKERS["elu"]}, kinds=("float16", "float32"))
each("numbers.held", held, {k: TAKERS[k] for k in ("addmm beta", "addmm alpha")}, kinds=("uint8", "int16", "int64", "float32", "complex64"))


@case("numbers.remembered")
def _(torch):
    x = torch.tensor([1, 2, 3], dtype=torch.uint8)
    for i, n in enumerate((200, 300, 200, 2, 256)):
        yield f"{i} clamp {n}", attempt(lambda n=n: x.clamp(0, n))
        yield f"{i} add {n}", attempt(lambda n=n: torch.add(x, x, alpha=n))
        yield f"{i} clamp_ {n}", attempt(lambda n=n: x.clone().clamp_(max=n))


@case("numbers.held by float32")
def _(torch):
    x = torch.tensor([1.0, 2.0])
    yield "fill", attempt(lambda: torch.fill(x, 1e40)), attempt(lambda: torch.full((2,), 1e40)), attempt(lambda: x.masked_fill(x > 1, -1e40))


@case("numbers.held by float32, remembered")
def _(torch):
    x = torch.tensor([1.0, 2.0])
    yield "clamp", [attempt(lambda n=n: x.clamp(max=n).tolist()) for n in (*[1.5] * 8, 1e40)]


@case("numbers.whole powers")
def _(torch):
    for kind in (torch.int8, torch.int32, torch.int64, torch.uint8):
        x = torch.tensor([0, 1, 3, 5]).to(kind)
        for n in (0, 5, 63, 64, 100, 127):
            yield f"{kind} {n}", x ** n, x ** torch.tensor(n), torch.pow(3, torch.full((2,), n, dtype=kind))
        for n in (-0.5, -1.0, -2.0, 2.5):
            yield f"{kind} {n}", x ** n


@case("numbers.beside floats")
def _(torch):
    x, m = torch.tensor([1.0, 2.0]), torch.tensor([True, False])
    for n in (2**63, 2**64 - 1, -2**63):
        yield f"{n}", x.masked_fill(m, n), x.index_fill(0, torch.tensor([0]), n), torch.where(m, x, n), torch.full((2,), n, dtype=torch.float64)


@case("numbers.memory formats")
def _(torch):
    last = torch.channels_last
    for shape in ((1, 2, 2, 2), (1, 1, 2, 2), (1, 3, 1, 1)):
        x = torch.arange(12.0)[: shape[1] * shape[2] * shape[3]].reshape(shape).clone()
        a, b = x.contiguous(memory_format=last), x.to(memory_format=last)
        yield f"{shape}", a is x, b is x
        b.add_(1)
        yield f"{shape} after", x, b, x.float(memory_format=last) is x
    w = torch.ones(1, 2, 2, 2, requires_grad=True)
    yield "nodes", [f(memory_format=last).grad_fn.name() for f in (w.to, w.contiguous, w.double)]
    yield "rank", [attempt(lambda f=f: f(memory_format=last)) for f in (torch.ones(2, 3, 4).contiguous, torch.ones(2, 3, 4).to)]
