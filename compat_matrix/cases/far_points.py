"""Where formulas meet infinities, nothing at all, or a million elements: values, tangents, first and second gradients."""

from compat_matrix.case import attempt, case
from compat_matrix.probes import each, evaluate, leaf

INF, NAN = float("inf"), float("nan")
SIX = [-INF, -1.0, -0.0, 1.0, INF, NAN]


def tangents(torch, expression):
    expression, inputs = expression
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        made = {}
        for name, value in inputs.items():
            x = leaf(torch, value).detach()
            made[name] = fw.make_dual(x, torch.ones_like(x))
        out = evaluate(torch, expression, **made)
        yield "tangents", [fw.unpack_dual(o).tangent for o in (out if isinstance(out, tuple) else [out])]


PAIRS = {"x": [a for a in SIX for _ in SIX], "y": SIX * 6}
NOTHING = {"x": [], "y": []}
each("far_points.tangents", tangents, {
    "div": ("x / y", PAIRS), "div of one": ("x / y.detach()", {"x": PAIRS["x"], "y": PAIRS["y"]}), "div by": ("(x * 0).detach() / y", PAIRS),
    "div_mode": ("torch.div(x, y, rounding_mode=None)", PAIRS), "addcdiv": ("torch.addcdiv(x.detach(), x, y)", PAIRS),
    "logcumsumexp": ("x.logcumsumexp(0)", {"x": [-INF, -INF, 1.0]}), "logcumsumexp inf": ("x.logcumsumexp(0)", {"x": [-INF, INF, 1.0]}),
    "logit": ("torch.logit(x, -1.0)", {"x": [-3.0, -0.5, 0.0, 0.3, 1.0, 1.5, 2.5]}), "log_ndtr": ("torch.special.log_ndtr(x)", {"x": [-INF, INF, NAN, 0.0]}),
    "var": ("x.var(())", {"x": [1.0, 2.0, 4.0]}),
    **{f"{f} of nothing": (f"F.{f}(x, y)", NOTHING) for f in ("mse_loss", "huber_loss", "smooth_l1_loss", "l1_loss", "kl_div")},
    **{f"{f} of nothing": (f"F.{f}(x, y.detach())", NOTHING) for f in ("soft_margin_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits")},
    **{f"{f} of nothing": (f"F.{f}(x, y, reduction='sum')", NOTHING) for f in ("mse_loss", "huber_loss")},
    "logsumexp of nothing": ("x.logsumexp(0)", NOTHING), "logsumexp of nothing, complex": ("x.to(torch.complex128).logsumexp(0)", NOTHING),
    "var_mean of nothing": ("torch.var_mean(x)", NOTHING), "std_mean of nothing": ("torch.std_mean(x, 0)", NOTHING), "mean of nothing": ("x.mean()", NOTHING)})


def gradients(torch, expression):
    """The gradient and that of its sum."""
    expression, inputs = expression
    made = {name: leaf(torch, value) for name, value in inputs.items()}
    first = torch.autograd.grad(evaluate(torch, expression, **made).sum(), list(made.values()), create_graph=True)
    yield "first", [g.detach() for g in first]
    for name, g in zip(made, first, strict=True):
        yield f"second of {name}", attempt(lambda g=g: torch.autograd.grad(g.sum(), list(made.values()), retain_graph=True, allow_unused=True)[-1])


THREE = {"x": [1.0, 2.0, 4.0]}
each("far_points.gradients", gradients, {
    "var": ("x.var(())", THREE), "std": ("x.std(())", THREE), "var, no correction": ("x.var((), correction=0)", {"x": [[1.0], [2.0], [4.0]]}),
    "var of one": ("x.var((), correction=0)", {"x": 2.0}), "var_mean": ("sum(torch.var_mean(x, (), correction=3))", THREE), "std_mean": ("torch.std_mean(x, ())[0]", THREE),
    "logit": ("torch.logit(x, -1.0)", {"x": [-3.0, -0.5, 0.3, 1.5, 2.5]}), "log_ndtr": ("torch.special.log_ndtr(x)", {"x": [-INF, INF, NAN, 50.0, 0.0]}),
    "addcdiv": ("torch.addcdiv(y, y + 1, y, value=0.5)", {"y": [1.0, INF, 0.0, -INF]})})


@case("far_points.a million steps")
def _(torch):
    """The gradient of logcumsumexp in single precision, far from 0 and near: how many digits it holds."""
    for far in (0.0, 1000.0, -1000.0):
        x = (torch.arange(1000000, dtype=torch.float64) * 0.7).sin() + far
        found = []
        for kind in (torch.float32, torch.float64):
            y = x.to(torch.float32).to(kind).requires_grad_()
            y.logcumsumexp(0).sum().backward()
            found.append(y.grad.double())
        worst = ((found[0] - found[1]).abs() / found[1]).max().item()
        yield f"{far}", worst < (1e-5 if far == 0 else 1e-4)


@case("far_points.the mean beside a variance")
def _(torch):
    """A running mean: lost after an infinity that is not the last element, never too large for its type."""
    for row in ([1.0, INF, 2.0], [1.0, 2.0, INF], [INF], [3e38, 3e38, 3e38], [-INF, 1.0, INF]):
        yield f"{row}", torch.var_mean(torch.tensor(row)), torch.std_mean(torch.tensor(row), correction=0)
    table = torch.tensor([[1.0, INF, 2.0], [1.0, 2.0, -INF], [INF, INF, 1.0]], dtype=torch.float64)
    yield "dims", torch.var_mean(table, 0), torch.var_mean(table, 1, keepdim=True), torch.var_mean(torch.complex(table, table.T), 1)
    x = torch.tensor([1.0, INF, 2.0], requires_grad=True)
    torch.var_mean(x)[1].backward()
    yield "gradient", x.grad


@case("far_points.slopes of log_ndtr")
def _(torch):
    for kind in (torch.float32, torch.float64):
        x = torch.tensor([-745.0, -100.0, -5.0, 0.0, 5.0], dtype=kind, requires_grad=True)
        slope, = torch.autograd.grad(torch.special.log_ndtr(x).sum(), x, create_graph=True)
        yield f"{kind}", (slope * 100).round(), slope[2:]


@case("far_points.searching for nothing")
def _(torch):
    for kind in (torch.bool, torch.complex64):
        none, one = torch.tensor([], dtype=kind), torch.tensor([1], dtype=kind)
        yield f"{kind}", torch.bucketize(none, one), torch.searchsorted(one, none), torch.searchsorted(none, none.float())
        yield f"{kind} refused", attempt(lambda one=one: torch.bucketize(one, one)), attempt(lambda one=one: torch.searchsorted(one.float(), one))
    yield "among bools", torch.bucketize(0.5, torch.tensor([False, True])), torch.searchsorted(torch.tensor([False]), torch.tensor([1.0, 0.0]))


@case("far_points.polynomials at the ends")
def _(torch):
    """Of a high degree, where the recurrence would lose digits."""
    s, ends = torch.special, torch.tensor([1.0, -1.0, 0.0])
    for n in (500, 501, 3, 0, -1):
        yield f"{n}", s.legendre_polynomial_p(ends, n), s.laguerre_polynomial_l(ends[2:], n)
    yield "several", s.legendre_polynomial_p(ends[:2].double(), torch.tensor([[512], [513]])), s.laguerre_polynomial_l(torch.zeros(2), torch.tensor([400, -2]))


@case("far_points.powers of complex numbers")
def _(torch):
    yield "logspace", torch.logspace(0, 2 + 1j, 3), torch.logspace(1j, 2, 4, base=2.0, dtype=torch.complex128), torch.logspace(0, 1j, 1)
    yield "of tensors", torch.logspace(torch.tensor(1j), torch.tensor(2.0), 4), torch.logspace(0, 1j, 0)
    yield "refused", attempt(lambda: torch.logspace(0, 1j, 3, dtype=torch.float32)), attempt(lambda: torch.logspace(0, 2, 3, base=2j))


@case("far_points.nothing to add up")
def _(torch):
    x, g = torch.zeros(0, 3, requires_grad=True), torch.ones(3, requires_grad=True)
    first, = torch.autograd.grad(x.logsumexp(0), x, g, create_graph=True)
    yield "logsumexp", first.shape, torch.autograd.grad(first, g, torch.ones_like(first))
    yield "histogramdd", torch.histogramdd(torch.ones(3, 0), [])
    yield "no dims", attempt(lambda: torch.fft.rfft2(torch.ones(2, 2), dim=())), attempt(lambda: torch.fft.irfft2(torch.ones(2, 2), dim=()))
    yield "hfft2", attempt(lambda: torch.fft.hfft2(torch.ones(2, 2), dim=())), attempt(lambda: torch.fft.ihfft2(torch.ones(2, 2), dim=()))


@case("far_points.histograms of what has a history")
def _(torch):
    x, w = torch.tensor([0.1, 0.4, 0.5, 0.9], requires_grad=True), torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    b, y = torch.tensor([0.0, 0.5, 1.0], requires_grad=True), torch.arange(8.0).reshape(4, 2).requires_grad_()

    def told(t):
        return t.requires_grad, t.grad_fn and t.grad_fn.name(), t.grad_fn and len(t.grad_fn.next_functions)

    for label, (hist, edges) in (("counts", torch.histogram(x, 3)), ("weights", torch.histogram(x.detach(), 3, weight=w)), ("edges", torch.histogram(x.detach(), b)),
                                 ("all", torch.histogram(x, b, weight=w)), ("none", torch.histogram(x.detach(), 3))):
        yield label, hist, told(hist), told(edges), hist.grad_fn is edges.grad_fn
    for label, (hist, edges) in (("several", torch.histogramdd(y, [2, 3], weight=w)), ("between", torch.histogramdd(y, [b, b]))):
        yield label, hist, told(hist), [told(e) for e in edges], edges[0] is b
        yield f"{label}, back", attempt(lambda hist=hist: hist.sum().backward())
    yield "back", attempt(lambda: torch.histogram(x, 3).hist.sum().backward()), attempt(lambda: torch.histogramdd(y, 2).bin_edges[0].sum().backward())
