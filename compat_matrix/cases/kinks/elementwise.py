"""Elementwise functions at their special points."""

from compat_matrix.probes import each, evaluate, leaf, probe, table

INF, NAN = float("inf"), float("nan")
LINE = [-2.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0]
SPECIAL = [0.0, -0.0, INF, -INF, NAN, 1.0, -1.0]
UNARY = ["abs", "sign", "sgn", "neg", "positive", "square", "sqrt", "rsqrt", "reciprocal", "exp", "exp2",
    "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
    "tanh", "asinh", "acosh", "atanh", "sigmoid", "relu", "floor", "ceil", "round", "trunc", "frac", "erf",
    "erfc", "erfinv", "sinc", "logit", "lgamma", "digamma", "i0", "angle", "deg2rad", "rad2deg", "nan_to_num",
    "isnan", "isinf", "isfinite", "signbit", "isposinf", "isneginf", "real", "logical_not"]
POINTS = {"default": LINE, "special": SPECIAL}
for name in UNARY:
    for kind, points in POINTS.items():
        table(f"kinks.{name}", probe, [(kind, f"torch.{name}(x)", {"x": points})])

table("kinks.scalar_power", probe, [
    ("zero", "x ** 0", {"x": [0.0, 1.0, NAN, -2.0]}), ("zero float", "x ** 0.0", {"x": [0.0, 1.0, NAN]}),
    ("one", "x ** 1", {"x": LINE}), ("two", "x ** 2", {"x": LINE}), ("three", "x ** 3", {"x": LINE}),
    ("half", "x ** 0.5", {"x": [0.0, 1.0, 4.0, -1.0]}), ("minus one", "x ** -1", {"x": [0.0, 1.0, -2.0]}),
    ("minus two", "x ** -2", {"x": [0.0, 1.0, -2.0]}), ("minus half", "x ** -0.5", {"x": [0.0, 1.0, 4.0]}),
    ("large", "x ** 10", {"x": LINE}), ("fraction", "x ** 1.5", {"x": [0.0, 1.0, 2.0, -1.0]}),
    ("pow method", "x.pow(3)", {"x": LINE}),
    ("float three", "x.pow(3.0)", {"x": LINE}), ("base two", "2 ** x", {"x": LINE}),
    ("base zero", "0.0 ** x", {"x": [0.0, 1.0, -1.0, 0.5]}),
    ("base one", "1 ** x", {"x": LINE}), ("base negative", "(-2.0) ** x", {"x": [0.0, 1.0, 2.0, 0.5]}),
    ("float_power", "torch.float_power(x, 2)", {"x": LINE}),
])
table("kinks.power", probe, [
    ("zero base", "torch.pow(x, y)", {"x": [0.0, 0.0, 0.0, 0.0, 0.0], "y": [0.0, 1.0, 2.0, 0.5, -1.0]}),
    ("negative base", "torch.pow(x, y)", {"x": [-1.0, -2.0, -2.0], "y": [2.0, 3.0, 0.5]}),
    ("itself", "x ** x", {"x": [0.0, 1.0, 2.0]}),
    ("regular", "x ** y", {"x": [1.0, 2.0, 3.0], "y": [1.0, 2.0, -1.5]}),
    ("broadcast", "x ** y", {"x": [[1.0], [2.0]], "y": [1.0, 2.0, 0.0]}),
    ("scalar tensor", "x ** torch.tensor(2.0)", {"x": [0.0, 1.0, -3.0]}),
    ("integer tensor", "x ** y", {"x": [0.0, 2.0, -3.0], "y": [0, 1, 2]}),
])
table("kinks.clamp", probe, [
    ("both", "x.clamp(0, 1)", {"x": [-1.0, 0.0, 0.5, 1.0, 2.0, NAN]}),
    ("min", "x.clamp(min=0.5)", {"x": [0.0, 0.5, 1.0]}),
    ("max", "x.clamp(max=0.5)", {"x": [0.0, 0.5, 1.0]}),
    ("crossed", "x.clamp(2, 1)", {"x": [0.0, 1.0, 1.5, 2.0, 3.0]}),
    ("tensors", "torch.clamp(x, lo, hi)", {"x": [-1.0, 0.0, 0.5, 1.0, 2.0], "lo": [0.0] * 5, "hi": [1.0] * 5}),
    ("tensors crossed", "torch.clamp(x, lo, hi)", {"x": [0.0, 1.0, 1.5, 3.0], "lo": [2.0] * 4, "hi": [1.0] * 4}),
    ("tensor min", "torch.clamp(x, min=lo)", {"x": [0.0, 0.5, 1.0], "lo": [0.5, 0.5, 0.5]}),
    ("tensor max broadcast", "torch.clamp(x, max=hi)", {"x": [[0.0, 0.5], [1.0, 2.0]], "hi": [0.5, 0.5]}),
    ("clamp_min", "torch.clamp_min(x, 0.5)", {"x": [0.0, 0.5, 1.0]}),
    ("clamp_max", "torch.clamp_max(x, 0.5)", {"x": [0.0, 0.5, 1.0]}),
    ("clamp_min tensor", "torch.clamp_min(x, t)", {"x": [0.0, 0.5, 1.0], "t": [0.5, 0.5, 0.5]}),
    ("clamp_max tensor", "torch.clamp_max(x, t)", {"x": [0.0, 0.5, 1.0], "t": [0.5, 0.5, 0.5]}),
    ("squared", "x.clamp(0, 1) ** 2", {"x": [-1.0, 0.0, 0.5, 1.0, 2.0]}),
    ("clip", "torch.clip(x, 0, 1)", {"x": [0.0, 1.0]}),
    ("infinite", "x.clamp(-inf, inf)", {"x": SPECIAL}),
])
PAIRS = {"x": [1.0, 2.0, 3.0, NAN, 1.0, NAN, 0.0], "y": [1.0, 3.0, 2.0, 1.0, NAN, NAN, -0.0]}
GRID = {"x": [0.0, 0.0, 1.0, -1.0, 0.0, INF, -0.0, 5.5, -5.5], "y": [0.0, 1.0, 0.0, 0.0, -1.0, INF, 0.0, 2.0, 2.0]}
for name in ["maximum", "minimum", "fmax", "fmin"]:
    table(f"kinks.{name}", probe,
        [("ties", f"torch.{name}(x, y)", PAIRS), ("squared", f"torch.{name}(x, y) ** 2", PAIRS)])
for name in ["atan2", "hypot", "fmod", "remainder", "copysign", "xlogy", "logaddexp", "logaddexp2", "div",
        "true_divide", "nextafter", "ldexp", "special.xlog1py"]:
    table(f"kinks.{name}", probe, [("grid", f"torch.{name}(x, y)", GRID)])
table("kinks.binary", probe, [
    ("max of two", "torch.max(x, y)", PAIRS), ("min of two", "torch.min(x, y)", PAIRS),
    ("mul zero inf", "x * y", {"x": [0.0, INF], "y": [INF, 0.0]}),
    ("fmod scalar", "x.fmod(2)", {"x": [-5.0, -4.0, 0.0, 4.0, 5.5]}),
    ("remainder scalar", "x % 2", {"x": [-5.0, -4.0, 0.0, 4.0, 5.5]}),
    ("fmod zero", "x.fmod(0)", {"x": [1.0, -1.0]}), ("rfmod", "7 % x", {"x": [-2.0, 3.0, 0.5]}),
    ("div floor", "torch.div(x, y, rounding_mode='floor')", GRID),
    ("div trunc", "torch.div(x, y, rounding_mode='trunc')", GRID), ("floor_divide", "x // y", GRID),
    ("rfloor", "7 // x", {"x": [2.0, -2.0]}),
    ("logaddexp inf", "torch.logaddexp(x, y)", {"x": [INF, -INF, -INF, INF], "y": [INF, -INF, 0.0, 0.0]}),
    ("xlogy", "torch.xlogy(x, y)", {"x": [0.0, 0.0, 0.0, 1.0, NAN], "y": [0.0, 1.0, -1.0, 0.0, 0.0]}),
    ("xlogy scalar", "torch.xlogy(2, y)", {"y": [0.0, 1.0, 2.0]}),
    ("div zero", "x / y", {"x": [0.0, 1.0, -1.0], "y": [0.0, 0.0, 0.0]}),
    ("lerp", "torch.lerp(x, y, 0.75)", {"x": [0.0, 1.0], "y": [2.0, 3.0]}),
    ("lerp tensor", "torch.lerp(x, y, w)", {"x": [0.0, 1.0], "y": [2.0, 3.0], "w": [0.5, 0.25]}),
    ("addcmul", "torch.addcmul(x, y, z, value=2)", {"x": [1.0], "y": [2.0], "z": [3.0]}),
    ("addcdiv", "torch.addcdiv(x, y, z)", {"x": [1.0, 1.0], "y": [0.0, 2.0], "z": [0.0, 4.0]}),
    ("heaviside", "torch.heaviside(x, y)", {"x": [-1.0, 0.0, 1.0], "y": [0.5, 0.5, 0.5]}),
    ("dist", "torch.dist(x, y)", {"x": [1.0, 2.0], "y": [1.0, 2.0]}),
    ("dist one", "torch.dist(x, y, 1)", {"x": [1.0, 2.0], "y": [1.0, 3.0]}),
    ("dist inf", "torch.dist(x, y, inf)", {"x": [1.0, 2.0], "y": [1.0, 3.0]}),
    ("abs difference", "(x - y).abs()", {"x": [1.0, 2.0], "y": [1.0, 3.0]}),
    ("sub alpha", "torch.sub(x, y, alpha=2)", {"x": [1.0], "y": [2.0]}),
    ("logit eps", "torch.logit(x, eps=0.1)", {"x": [0.0, 0.05, 0.1, 0.5, 0.9, 0.95, 1.0]}),
    ("round decimals", "torch.round(x, decimals=1)", {"x": [0.25, 0.35, -0.25]}),
    ("half to even", "torch.round(x)", {"x": [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]}),
    ("nan_to_num values", "x.nan_to_num(1.0, 2.0, 3.0)", {"x": SPECIAL}),
    ("frexp", "torch.frexp(x)", {"x": [0.0, 1.0, -3.0, 0.3]}),
    ("rsub", "torch.rsub(x, 3, alpha=2)", {"x": [1.0, 2.0]}),
    ("square sum of abs", "x.abs() * x.abs()", {"x": LINE}),
])
table("kinks.where", probe, [
    ("branch", "torch.where(x > 0, x.log(), 0.0)", {"x": [-1.0, 0.0, 2.0]}),
    ("nan up the graph", "torch.where(x > 0, x.sqrt(), x)", {"x": [0.0, 4.0]}),
    ("safe", "torch.where(x > 0, torch.where(x > 0, x, 1.0).log(), 0.0)", {"x": [-1.0, 0.0, 2.0]}),
    ("tensors", "torch.where(c, x, y)", {"c": [True, False], "x": [1.0, 2.0], "y": [3.0, 4.0]}),
    ("scalar left", "torch.where(c, 1.0, y)", {"c": [True, False], "y": [3.0, 4.0]}),
    ("broadcast", "torch.where(c, x, y) ** 2", {"c": [[True], [False]], "x": [1.0, 2.0], "y": 3.0}),
    ("inf branch", "torch.where(x > 0, x, 1 / x * 0)", {"x": [0.0, 1.0]}),
    ("method", "x.where(x > 1, y)", {"x": [1.0, 2.0], "y": [3.0, 4.0]}),
    ("masked_fill", "(1 / x).masked_fill(x == 0, 0.0)", {"x": [0.0, 2.0]}),
    ("mul mask", "(1 / x) * (x != 0)", {"x": [0.0, 2.0]}),
    ("tril nan", "(x / x).tril()", {"x": [[1.0, 0.0], [2.0, 3.0]]}),
])
ACT = [-800.0, -30.0, -3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0, 6.0, 21.0, 800.0]
for expression in ["relu", "leaky_relu", "elu", "celu", "selu", "gelu", "silu", "mish", "softplus",
        "logsigmoid", "hardtanh", "relu6", "hardsigmoid", "hardswish", "hardshrink", "softshrink", "tanhshrink",
        "softsign", "sigmoid", "tanh"]:
    table("kinks.activation", probe, [(expression, f"F.{expression}(x)", {"x": ACT})])
table("kinks.activation", probe, [
    ("leaky slope", "F.leaky_relu(x, 0.2) ** 2", {"x": [-1.0, 0.0, 1.0]}),
    ("elu alpha", "F.elu(x, 2.0)", {"x": [-1.0, 0.0, 1.0]}),
    ("gelu tanh", "F.gelu(x, approximate='tanh')", {"x": ACT}),
    ("softplus beta", "F.softplus(x, 2, 3)", {"x": [-1.0, 0.0, 1.0, 1.5, 2.0]}),
    ("softplus threshold", "F.softplus(x)", {"x": [19.9, 20.0, 20.1]}),
    ("hardtanh bounds", "F.hardtanh(x, -2, 3)", {"x": [-3.0, -2.0, 0.0, 3.0, 4.0]}),
    ("threshold", "F.threshold(x, 0.5, 9.0)", {"x": [0.0, 0.5, 1.0]}),
    ("prelu", "F.prelu(x, w)", {"x": [-1.0, 0.0, 1.0], "w": [0.25]}),
    ("hardshrink lambda", "F.hardshrink(x, 1.0)", {"x": [-2.0, -1.0, 0.0, 1.0, 2.0]}),
    ("softshrink lambda", "F.softshrink(x, 1.0)", {"x": [-2.0, -1.0, 0.0, 1.0, 2.0]}),
    ("glu", "F.glu(x)", {"x": [1.0, -1.0, 0.0, 2.0]}),
    ("relu squared", "F.relu(x) ** 2", {"x": [-1.0, 0.0, 1.0]}),
    ("relu nan", "F.relu(x)", {"x": [NAN, INF, -INF]}),
    ("rrelu eval", "F.rrelu(x, 0.1, 0.3)", {"x": [-1.0, 0.0, 1.0]}),
])


def in_float32(torch, expression):
    x = torch.tensor([-2.0, -0.5, 0.0, 0.5, 2.0], requires_grad=True)
    out = evaluate(torch, expression, x=x)
    out.sum().backward()
    yield "values", out.detach(), x.grad


each("kinks.float32", in_float32,
    {n: f"torch.{n}(x)" for n in ("abs", "exp", "sin", "tanh", "sigmoid", "relu", "erf", "square", "sign", "expm1")})


def zero_dim(torch, expression):
    x = leaf(torch, 0.0)
    out = evaluate(torch, expression, x=x)
    g, = torch.autograd.grad(out, x, create_graph=True)
    yield "values", out.detach(), g.detach(), out.shape


each("kinks.zero_dim", zero_dim,
    {n: f"torch.{n}(x)" for n in ("abs", "sqrt", "relu", "sinc", "sign", "exp", "cos", "sum", "max", "norm",
        "prod", "median")})

EDGES = [-1.0, 0.0, 0.5, 1.0]
for name in ["entr", "ndtr", "ndtri", "i0e", "i1", "i1e", "expit", "erfcx", "log_ndtr", "psi", "gammaln"]:
    table("kinks.special", probe, [(name, f"torch.special.{name}(x)", {"x": EDGES})])
table("kinks.special", probe, [
    ("polygamma", "torch.polygamma(1, x)", {"x": [0.5, 1.0, 3.0]}),
    ("multigammaln", "torch.mvlgamma(x, 2)", {"x": [1.0, 3.0]}),
    ("log_softmax", "torch.special.log_softmax(x, 0)", {"x": EDGES}),
    ("softmax", "torch.special.softmax(x, 0)", {"x": EDGES}),
    ("zeta", "torch.special.zeta(x, y)", {"x": [2.0], "y": [1.0]}),
    ("gammainc", "torch.special.gammainc(x, y)", {"x": [1.0], "y": [2.0]}),
    ("logsumexp", "torch.special.logsumexp(x, 0)", {"x": EDGES}), ("exp2", "torch.special.exp2(x)", {"x": EDGES}),
])
table("kinks.composed", probe, [
    ("softplus by hand", "(1 + x.exp()).log()", {"x": [-800.0, 0.0, 30.0]}),
    ("log of softmax", "x.softmax(0).log()", {"x": [0.0, 1000.0]}),
    ("sqrt of square", "(x * x).sqrt()", {"x": [-1.0, 0.0, 2.0]}),
    ("norm by hand", "(x * x).sum().sqrt()", {"x": [0.0, 0.0]}),
    ("safe norm", "((x * x).sum() + 1e-12).sqrt()", {"x": [0.0, 0.0]}),
    ("sigmoid by hand", "1 / (1 + (-x).exp())", {"x": [-800.0, 0.0, 800.0]}),
    ("relu by max", "torch.maximum(x, torch.zeros(3).double())", {"x": [-1.0, 0.0, 1.0]}),
    ("relu by mask", "x * (x > 0)", {"x": [-1.0, 0.0, 1.0]}),
    ("huber by where", "torch.where(x.abs() < 1, 0.5 * x ** 2, x.abs() - 0.5)", {"x": [-2.0, -1.0, 0.0, 1.0, 2.0]}),
    ("soft clamp", "x.clamp(-1, 1) - (x.clamp(-1, 1) - x).detach()", {"x": [-2.0, 0.5, 2.0]}),
    ("max minus min", "x.max() - x.min()", {"x": [1.0, 1.0]}),
    ("log of clamp", "x.clamp(min=1e-8).log()", {"x": [0.0, 1e-8, 1.0]}),
    ("cross entropy by hand", "-(x * y.log()).sum()", {"x": [0.0, 1.0], "y": [0.0, 0.5]}),
    ("standardise", "(x - x.mean()) / x.std()", {"x": [2.0, 2.0]}),
    ("abs cubed", "x.abs() ** 3", {"x": [-1.0, 0.0, 1.0]}),
    ("sign times", "x.sign() * x", {"x": [-1.0, 0.0, 2.0]}),
    ("floor straight through", "x + (x.floor() - x).detach()", {"x": [0.5, 1.0]}),
    ("sort then prod", "x.sort().values.cumprod(0)", {"x": [2.0, 0.0, 2.0]}),
    ("pow chain", "(x ** 2) ** 0.5", {"x": [-1.0, 0.0, 2.0]}), ("exp log", "x.log().exp()", {"x": [0.0, 1.0]}),
    ("inner where", "torch.where(x == 0, x, x.sin() / x)", {"x": [0.0, 1.0]}),
])
