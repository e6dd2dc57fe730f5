"""What nodes keep: _saved_* attributes, packing hooks, what is released."""

from compat_matrix.case import attempt, case, raises
from compat_matrix.probes import each, evaluate


def leaf(torch, values=(1.0, 2.0, 3.0)):
    return torch.tensor(list(values), requires_grad=True)


def attributes(torch, expression):
    x, c = leaf(torch), torch.tensor([4.0, 5.0, 6.0])
    m = torch.arange(1.0, 7.0).reshape(2, 3).requires_grad_()
    out = evaluate(torch, expression, x=x, c=c, m=m, y=leaf(torch))
    node = out.grad_fn
    names = sorted(n for n in dir(node) if n.startswith("_saved_"))
    yield "names", names
    yield "raw", sorted(n for n in dir(node) if n.startswith("_raw_saved_"))
    for name in names:
        value = attempt(lambda name=name: getattr(node, name))
        yield (name,
            value if isinstance(value,
                (torch.Tensor, torch.Size, torch.dtype, int, float, bool, str, tuple, list, dict,
                    type(None))) else type(value).__name__)
    yield "identity", [attempt(lambda n=n: getattr(node, n) is x) for n in names]


each("saved.attributes", attributes, {
    "mul": "x * y", "mul constant": "x * c", "mul number": "x * 2", "constant mul": "c * x", "add": "x + y",
    "exp": "x.exp()", "log": "x.log()", "pow": "x ** 3", "pow tensor": "x ** y",
    "sum": "x.sum()", "sum dim": "m.sum(1)", "mean": "x.mean()", "dot": "x.dot(c)", "mm": "m.mm(m.t())",
    "view": "x.view(3, 1)", "select": "m[1]", "slice": "x[1:]", "softmax": "x.softmax(0)",
    "log_softmax": "x.log_softmax(0)",
    "cat": "torch.cat([x, y])", "stack": "torch.stack([x, y], 1)", "clamp": "x.clamp(0, 2)",
    "gelu": "F.gelu(x)", "sigmoid": "x.sigmoid()", "relu": "x.relu()", "tanh": "x.tanh()",
    "max dim": "m.max(1).values",
    "max": "x.max()", "index": "x[torch.tensor([0, 1])]", "div": "x / y", "div number": "x / 2",
    "norm": "x.norm()", "var": "x.var()", "std": "x.std()", "prod": "x.prod()", "cumsum": "x.cumsum(0)",
    "where": "torch.where(x > 1, x, y)", "leaky_relu": "F.leaky_relu(x, 0.2)", "transpose": "m.transpose(0, 1)",
    "permute": "m.permute(1, 0)", "unsqueeze": "x.unsqueeze(0)", "expand": "x.expand(2, 3)",
    "sort": "x.sort().values",
    "abs": "x.abs()", "sqrt": "x.sqrt()", "sin": "x.sin()", "logsumexp": "x.logsumexp(0)",
    "mse": "F.mse_loss(x, c)", "nll": "F.nll_loss(m, torch.tensor([0, 1]))",
    "masked_fill": "x.masked_fill(x > 1, 0.0)",
    "gather": "x.gather(0, torch.tensor([0]))", "maximum": "torch.maximum(x, y)",
    "softplus": "F.softplus(x, 2, 5)", "elu": "F.elu(x)", "square": "x.square()",
    "reciprocal": "x.reciprocal()", "threshold": "F.threshold(x, 1, 0)",
    "embedding": "F.embedding(torch.tensor([0, 1]), m)",
    "div rounding": "torch.div(x, 2, rounding_mode='floor')", "repeat": "x.repeat(2)", "tril": "m.tril()",
    "flip": "x.flip(0)", "lerp": "torch.lerp(x, y, 0.3)",
    "addmm": "torch.addmm(m[:, :2], m, m.t(), alpha=2)", "as_strided": "x.as_strided((2,), (1,), 1)",
    "squeeze dim": "x.view(1, 3).squeeze(0)", "clamp_min": "x.clamp_min(1)", "hardtanh": "F.hardtanh(x, -2, 2)",
    "amax": "m.amax(1)",
})


def offered_to_hooks(torch, expression):
    """Which tensors are packed, in order, and that the unpacked ones are used."""
    x, y, c = leaf(torch), leaf(torch, (4.0, 5.0, 6.0)), torch.tensor([7.0, 8.0, 9.0])
    packed = []
    def pack(t):
        packed.append(t.detach().clone())
        return t
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        out = evaluate(torch, expression, x=x, y=y, c=c)
    yield "packed", packed
    out.sum().backward()
    yield "grads", x.grad, y.grad


each("saved.packed", offered_to_hooks, {
    "mul": "x * y", "mul constant": "x * c", "square": "x * x", "add": "x + y", "exp": "x.exp()",
    "sum": "x.sum()", "pow": "x ** 2", "chain": "(x * y).sin()", "mul number": "x * 2", "matmul": "x @ y",
    "relu": "(x * 1).relu()", "constant only": "(c * c) + x", "div": "x / y",
    "where": "torch.where(c > 7, x, y)", "mean": "x.mean()", "softmax": "x.softmax(0)",
    "index": "x[torch.tensor([0, 0])]", "max": "x.max()",
})


@case("saved.hooks.replace_values")
def _(torch):
    x = leaf(torch)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach() * 10, lambda t: t):
        y = (x ** 3).sum()
    y.backward()
    yield "grad", x.grad


@case("saved.hooks.any_object")
def _(torch):
    x, log = leaf(torch), []
    def pack(t):
        log.append("pack")
        return t.tolist()
    def unpack(values):
        log.append("unpack")
        return torch.tensor(values)
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = (x.sin() * x).sum()
    y.backward()
    yield "log", log, x.grad


@case("saved.hooks.innermost")
def _(torch):
    x, log = leaf(torch), []
    def hooks(name):
        return torch.autograd.graph.saved_tensors_hooks(lambda t: log.append("pack " + name) or t,
            lambda t: log.append("unpack " + name) or t)
    with hooks("outer"):
        a = x.sin()
        with hooks("inner"):
            b = x.cos()
        c = x.exp()
    (a + b + c).sum().backward()
    yield "log", log


@case("saved.hooks.errors")
def _(torch):
    graph, x = torch.autograd.graph, leaf(torch)
    def failing(t):
        raise ValueError("in the hook")
    with graph.saved_tensors_hooks(failing, lambda t: t):
        yield "pack raises", raises(lambda: x.sin())
    with graph.saved_tensors_hooks(lambda t: t, failing):
        y = x.sin()
    yield "unpack raises", raises(lambda: y.sum().backward())
    with graph.saved_tensors_hooks(lambda t: t, lambda t: 3):
        y = x.sin()
    yield "unpack non-tensor", raises(lambda: y.sum().backward())
    def modify(t):
        t.add_(1)
        return t
    with graph.saved_tensors_hooks(modify, lambda t: t):
        yield "modifies input", raises(lambda: (x * 1).exp())
    with graph.saved_tensors_hooks(lambda: 0, lambda t: t):
        yield "arity", raises(lambda: x.sin())


@case("saved.hooks.disabled")
def _(torch):
    graph, x = torch.autograd.graph, leaf(torch)
    with graph.disable_saved_tensors_hooks("not now"):
        def go():
            with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
                x.sin()
        yield "error", raises(go)
    yield "afterwards", attempt(lambda: x.sin().requires_grad)


@case("saved.hooks.save_on_cpu")
def _(torch):
    x = leaf(torch)
    with torch.autograd.graph.save_on_cpu():
        y = (x.exp() * x).sum()
    y.backward()
    yield "grad", x.grad


@case("saved.hooks.function_saves")
def _(torch):
    packed = []
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]
    x = leaf(torch)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t.detach()) or t, lambda t: t * 100):
        y = Twice.apply(x)
    y.sum().backward()
    yield "packed", packed, x.grad


@case("saved.hooks.double_backward")
def _(torch):
    x, log = leaf(torch), []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: log.append("pack") or t,
            lambda t: log.append("unpack") or t):
        y = (x ** 3).sum()
        g, = torch.autograd.grad(y, x, create_graph=True)
    h, = torch.autograd.grad(g.sum(), x)
    yield "h", h
    yield "log", "pack" in log and "unpack" in log


@case("saved.register_hooks_on_slot")
def _(torch):
    x = leaf(torch)
    y = x.sin()
    slot = y.grad_fn._raw_saved_self
    yield "class", type(slot).__name__
    slot.register_hooks(lambda t: t * 2, lambda t: t)
    yield "twice", raises(lambda: slot.register_hooks(lambda t: t, lambda t: t))
    y.sum().backward()
    yield "grad", x.grad


@case("saved.slot_errors")
def _(torch):
    x = leaf(torch)
    y = x.sin()
    slot = y.grad_fn._raw_saved_self
    yield "wrong arguments", raises(lambda: slot.register_hooks(lambda t: t))
    y.sum().backward()
    yield "after release", raises(lambda: slot.register_hooks(lambda t: t, lambda t: t))
    yield "attribute", raises(lambda: y.grad_fn._saved_self)
    yield "construct", raises(lambda: torch._C._autograd.SavedTensor())


@case("saved.freed_attributes")
def _(torch):
    x = leaf(torch)
    y = x.exp()
    yield "before", y.grad_fn._saved_result
    y.sum().backward()
    yield "after", raises(lambda: y.grad_fn._saved_result)
    z = x.exp()
    z.sum().backward(retain_graph=True)
    yield "retained", z.grad_fn._saved_result.detach()


@case("saved.input_identity")
def _(torch):
    x = leaf(torch)
    y = x * 1
    z = y.sin()
    yield "input is the object", z.grad_fn._saved_self is y
    w = y.exp()
    yield "result is another object", w.grad_fn._saved_result is w, w.grad_fn._saved_result.grad_fn is w.grad_fn
    yield "versions shared", w.grad_fn._saved_result._version == w._version


@case("saved.checks_version_on_read")
def _(torch):
    x = leaf(torch)
    y = x * 1
    z = y.sin()
    y.add_(1)
    yield "error", raises(lambda: z.grad_fn._saved_self)


@case("saved.allow_mutation")
def _(torch):
    x = leaf(torch)
    with torch.autograd.graph.allow_mutation_on_saved_tensors() as ctx:
        y = x * 1
        z = y ** 2
        y.mul_(10)
        z.sum().backward()
        yield "grad", x.grad
        yield "cloned", len(ctx.cloned)
        def nested():
            with torch.autograd.graph.allow_mutation_on_saved_tensors():
                pass
        yield "nested", raises(nested)


@case("saved.anomaly.nan")
def _(torch):
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    with torch.autograd.detect_anomaly():
        y = (x.sqrt() * 0).sum()
        yield "error", raises(lambda: y.backward())
    z = torch.tensor([0.0], requires_grad=True)
    with torch.autograd.detect_anomaly(check_nan=False):
        attempt(lambda: (z.sqrt() * 0).sum().backward())
    yield "unchecked", z.grad


@case("saved.anomaly.switches")
def _(torch):
    yield "before", torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()
    with torch.autograd.detect_anomaly():
        yield "inside", torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        yield "set", torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()
    yield "after", torch.is_anomaly_enabled()
