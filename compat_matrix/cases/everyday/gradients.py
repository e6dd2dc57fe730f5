"""What a gradient that has a graph prints: the node that made it."""

from compat_matrix.case import case
from compat_matrix.probes import each, evaluate

FUNCTIONS = {name: f"torch.{name}(x)" for name in (
    "sin cos tan exp exp2 expm1 log log2 log10 log1p sqrt rsqrt tanh sinh cosh asin acos atan asinh atanh sigmoid erf erfc lgamma digamma relu abs square "
    "reciprocal neg sinc logit erfinv").split()}
FUNCTIONS |= {f"F.{name}": f"F.{name}(x)" for name in "elu celu selu silu gelu softplus logsigmoid leaky_relu hardtanh mish softsign hardshrink".split()}
FUNCTIONS |= {
    "cube": "x ** 3", "half power": "x ** 0.5", "tensor power": "x ** y", "power of 2": "2 ** x", "div": "x / y", "mul": "x * y", "add": "x + y", "sub": "x - y",
    "rsub": "1 - x", "atan2": "torch.atan2(x, y)", "hypot": "torch.hypot(x, y)", "maximum": "torch.maximum(x, y)", "where": "torch.where(x > 0.3, x, y)",
    "logaddexp": "torch.logaddexp(x, y)", "xlogy": "torch.xlogy(x, y)", "lerp": "torch.lerp(x, y, 0.5)", "softmax": "x.softmax(0)", "log_softmax": "x.log_softmax(0)",
    "logsumexp": "x.logsumexp(0)", "norm": "x.norm()", "prod": "x.prod()", "std": "x.std()", "var": "x.var()", "mean": "x.mean()", "sum": "x.sum()",
    "cumsum": "x.cumsum(0)", "cumprod": "x.cumprod(0)", "amax": "x.amax(0)", "max dim": "x.max(0)[0]", "max": "x.max()", "sort": "x.sort()[0]",
    "topk": "x.topk(2)[0]", "dot": "x @ y", "mv": "M @ x", "mm": "M @ M", "trace": "torch.trace(M)", "mse": "F.mse_loss(x, y)", "l1": "F.l1_loss(x, y)",
    "bce": "F.binary_cross_entropy(x, torch.ones_like(x))", "bce logits": "F.binary_cross_entropy_with_logits(x, torch.ones_like(x))",
    "cross entropy": "F.cross_entropy(M, torch.tensor([0, 1, 2]))", "index": "x[torch.tensor([0, 1])]", "select": "x[0]", "slice": "x[:2]",
    "gather": "x.gather(0, torch.tensor([0, 1]))", "index_select": "x.index_select(0, torch.tensor([0, 1]))", "masked": "x[x > 0.3]", "clamp": "x.clamp(0, 0.6)",
    "roll": "x.roll(1)", "flip": "x.flip(0)", "diag": "torch.diag(x)", "repeat": "x.repeat(2)", "expand": "x.expand(2, 3)", "view": "M.view(9)",
    "unsqueeze": "x.unsqueeze(0)", "cat": "torch.cat([x, y])", "stack": "torch.stack([x, y])", "chunk": "x.chunk(2)[0]",
}
SMOOTH = "sin exp log sqrt tanh sigmoid cube div softmax logsumexp norm prod std atan2 hypot".split() + ["tensor power", "cross entropy", "F.gelu", "F.softplus"]


def leaves(torch):
    x = torch.tensor([0.5, 0.25, 0.75], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([1.2, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
    return {"x": x, "y": y, "M": (torch.eye(3, dtype=torch.float64) + 0.1).requires_grad_()}


def names(gradients):
    return [None if g is None else g.grad_fn.name() if g.grad_fn is not None else "no node" for g in gradients]


def first(torch, expression):
    made = leaves(torch)
    out = evaluate(torch, expression, **made)
    ones = torch.ones_like(out, requires_grad=True)
    yield "nodes", names(torch.autograd.grad(out, list(made.values()), ones, create_graph=True, allow_unused=True))


def second(torch, expression):
    made = leaves(torch)
    out = evaluate(torch, expression, **made)
    found = torch.autograd.grad(out.sum(), list(made.values()), create_graph=True, allow_unused=True)
    total = sum(g.sum() for g in found if g is not None)
    yield "nodes", names(torch.autograd.grad(total, list(made.values()), create_graph=True, allow_unused=True))


each("everyday.gradient node", first, FUNCTIONS)
each("everyday.second gradient node", second, {name: FUNCTIONS[name] for name in SMOOTH})


def _transposed(torch, examples):
    torch.manual_seed(0)
    x = torch.randn(examples, 3, 4, 4, dtype=torch.float64, requires_grad=True)
    w, v = torch.randn(examples, 16, 3, dtype=torch.float64), torch.randn(examples, 3, 4, 4, dtype=torch.float64)
    for name, norm in (("batch", torch.nn.BatchNorm2d(3)), ("batch, evaluating", torch.nn.BatchNorm2d(3).eval()), ("instance", torch.nn.InstanceNorm2d(3)),
                       ("group", torch.nn.GroupNorm(3, 3)), ("layer", torch.nn.LayerNorm((4, 4)))):
        norm = norm.double()
        for how in ("as it is", "contiguous"):
            def loss(x):
                y = norm(x).flatten(2).transpose(1, 2)
                return ((y if how == "as it is" else y.contiguous()) * w).sum()

            g, = torch.autograd.grad(loss(x), x)
            with torch.no_grad():
                measured = (loss(x + 1e-6 * v) - loss(x - 1e-6 * v)) / 2e-6
            yield f"{name}, {how}", abs((g * v).sum().item() - measured.item()) < 1e-6


@case("everyday.gradient that lies transposed")
def _(torch):
    """What comes back to a normalization through flatten and transpose, against central differences."""
    yield from _transposed(torch, 2)


@case("everyday.gradient that lies transposed, of one example")
def _(torch):
    yield from _transposed(torch, 1)


@case("everyday.gradient printed")
def _(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    g, = torch.autograd.grad((x ** 3).sum(), x, create_graph=True)
    yield "once", str(g)
    h, = torch.autograd.grad(g.sum(), x, create_graph=True)
    yield "twice", str(h), str(h.grad_fn).split(" at ")[0]
    y = x.detach().requires_grad_()
    a, b = torch.autograd.grad((x / y).sum(), (x, y), create_graph=True)
    yield "two", a.grad_fn.name(), b.grad_fn.name(), a.grad_fn is b.grad_fn


@case("everyday.accumulated gradient printed")
def _(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x ** 2).sum().backward(create_graph=True)
    yield "first", str(x.grad)
    (x ** 2).sum().backward(create_graph=True)
    yield "second", str(x.grad)
