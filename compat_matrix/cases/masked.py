"""torch.masked: reductions and normalizations with a mask; torch.signal.windows."""

from compat_matrix.case import attempt, case
from compat_matrix.probes import fails, probe, table

M, K, FULL = [[1.0, -2.0, 3.0], [4.0, 5.0, 0.5]], [[True, False, True], [False, True, True]], [[True, False, True], [False, False, False]]
I = [[1, -2, 3], [4, 5, 6]]
REDUCED = ("sum", "prod", "amax", "amin", "mean", "var", "std", "logsumexp")
RUN = ("cumsum", "cumprod", "softmax", "log_softmax", "softmin", "median")
for name in REDUCED:
    table(f"masked.{name}", probe, [(label, f"torch.masked.{name}(x, {args}, mask=k)", {"x": M, "k": k}) for label, args, k in (
        ("row", "1", K), ("column kept", "0, keepdim=True", K), ("all", "None", K), ("two", "(0, -1)", K), ("left out", "1", FULL),
        ("broadcast", "1", [True, True, False]))] + [("no mask", f"torch.masked.{name}(x, 1)", {"x": M})])
for name in RUN:
    table(f"masked.{name}", probe, [(label, f"torch.masked.{name}(x, {args}, mask=k)", {"x": M, "k": k}) for label, args, k in (
        ("row", "1", K), ("column", "0", K), ("left out", "1", FULL))])
table("masked.norms", probe, [(f"{f} {o} {d}", f"torch.masked.{f}(x, {o}, {d}, mask=k)", {"x": M, "k": K})
                              for f in ("norm", "normalize") for o in ("2.0", "1.0", "inf", "-inf") for d in (0, 1)])
table("masked.logaddexp", probe, [("both", "torch.masked.logaddexp(x, 2 * x, input_mask=k, other_mask=~k)", {"x": M, "k": K}),
                                  ("row", "torch.masked.logaddexp(x, x[0], other_mask=k)", {"x": M, "k": [True, False, True]})])
GIVEN = {"x": M, "k": K, "i": I, "b": K, "full": FULL}
table("masked.refused", fails, [(e, e, GIVEN) for e in (
    "torch.masked.sum(x, (1, 1))", "torch.masked.sum(x, 5)", "torch.masked.sum(x, 1, mask=torch.ones(2, 2, 3, dtype=torch.bool))",
    "torch.masked.mean(x, (1, 1))", "torch.masked.mean(i, 1)", "torch.masked.norm(i, 2.0, 1)", "torch.masked.amax(b, 1, mask=k)",
    "torch.masked.argmax(b, 1, mask=k)",
    "torch.masked.softmax(b, 1, mask=k)", "torch.masked.amin(torch.complex(x, x), 1, mask=k)", "torch.masked.median(i, 1, mask=full)",
    "torch.masked.var(x, 1, True, correction=1)", "torch.masked.amax(x[:0], 0)", "torch.masked.softmax(i, 1)", "torch.masked.var(b, 1)")])


@case("masked.dtypes")
def _(torch):
    k = torch.tensor(K)
    for name in (*REDUCED, *RUN, "argmax", "argmin"):
        for dtype in ("float16", "float32", "int32", "uint8", "bool", "complex64"):
            x = torch.tensor(I).to(getattr(torch, dtype))
            yield f"{name} {dtype}", attempt(lambda name=name, x=x: getattr(torch.masked, name)(x, 1, mask=k))
            yield f"{name} {dtype} wide", attempt(lambda name=name,
                                                  x=x: getattr(torch.masked, name)(x, 1, mask=k, dtype=torch.complex64 if x.is_complex() else torch.float64))


@case("masked.windows")
def _(torch):
    windows = torch.signal.windows
    for name in ("bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming", "hann", "kaiser", "nuttall"):
        own = {"a": [0.4, 0.3, 0.2]} if name == "general_cosine" else {}
        f = getattr(windows, name)
        for length in (0, 1, 2, 5):
            yield f"{name} {length}", f(length, **own), f(length, sym=False, dtype=torch.float64, **own)
        yield f"{name} refused", attempt(lambda f=f, own=own: f(-1, **own)), attempt(lambda f=f, own=own: f(5, dtype=torch.int64, **own))
        yield f"{name} leaf", f(3, requires_grad=True, **own).requires_grad
    yield "own", windows.exponential(5, center=1.0, tau=2.0, sym=False), windows.gaussian(5, std=2.5), windows.kaiser(5, beta=3.0), windows.general_hamming(5,
        alpha=0.3)
    for label, f in (("tau", lambda: windows.exponential(5, tau=-1)), ("center", lambda: windows.exponential(5, center=1.0)),
                     ("std", lambda: windows.gaussian(5, std=0)), ("beta", lambda: windows.kaiser(5, beta=-1)),
                     ("none", lambda: windows.general_cosine(5, a=[])),
                     ("a", lambda: windows.general_cosine(5, a=3)), ("half", lambda: windows.hann(5, dtype=torch.float16))):
        yield label, attempt(f)


@case("masked.asked_whether")
def _(torch):
    """Programs ask whether they were given a masked tensor."""
    x = torch.ones(2)
    yield "no", isinstance(x, torch.masked.MaskedTensor), torch.masked.is_masked_tensor(x), torch.masked.is_masked_tensor(3)


@case("masked.normalize over several dims")
def _(torch):
    x = torch.arange(1.0, 13).reshape(2, 2, 3)
    mask = x % 4 != 0
    for dim in ((), (0, 1), (0, -1), None, 1, (2,)):
        for p in (2.0, 1, float("inf")):
            yield f"{dim} {p}", torch.masked.normalize(x, p, dim, mask=mask), torch.masked.normalize(x, p, dim)


@case("masked.no dims")
def _(torch):
    x, mask = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[True, False], [True, True]])
    for name in ("sum", "prod", "amax", "amin", "mean", "median", "var", "logsumexp", "softmax", "cumsum"):
        for dim in ([], (), None):
            yield f"{name} {dim}", attempt(lambda: getattr(torch.masked, name)(x, dim=dim, mask=mask))
