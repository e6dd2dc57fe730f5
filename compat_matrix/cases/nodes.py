"""grad_fn objects: names, edges, identity, metadata."""

from compat_matrix.case import attempt, case, raises, warned
from compat_matrix.probes import each, evaluate


def leaf(torch, values=(1.0, 2.0, 3.0)):
    return torch.tensor(list(values), requires_grad=True)


def describe(node):
    return None if node is None else (node.name(), type(node).__name__)


def named(torch, expression):
    x, y = leaf(torch), leaf(torch, (4.0, 5.0, 6.0))
    m = torch.arange(1.0, 7.0).reshape(2, 3).requires_grad_()
    out = evaluate(torch, expression, x=x, y=y, m=m, i=torch.tensor([0, 2]),
        z=torch.tensor([1 + 1j, 2.0], requires_grad=True))
    outs = [out] if isinstance(out, torch.Tensor) else [o for o in out if isinstance(o, torch.Tensor)]
    yield "nodes", [describe(o.grad_fn) for o in outs]
    yield ("next",
        [[None if n is None else (n.name(), nr) for n, nr in o.grad_fn.next_functions] for o in outs if o.grad_fn])
    yield "output_nr", [o.output_nr for o in outs]


NAMES = {
    "add": "x + y", "add number": "x + 1", "radd": "1 + x", "sub": "x - y", "rsub": "1 - x", "mul": "x * y",
    "mul number": "x * 2", "div": "x / y", "div number": "x / 2",
    "rdiv": "1 / x", "neg": "-x", "pow number": "x ** 2", "pow tensor": "x ** y", "rpow": "2 ** x",
    "floor_divide": "x // 2", "mod": "x % 2", "matmul": "m @ m.t()",
    "matmul vector": "m @ x", "dot": "x @ y", "mm": "m.mm(m.t())", "bmm": "m[None].bmm(m.t()[None])",
    "mv": "m.mv(x)", "outer": "torch.outer(x, y)", "abs": "x.abs()", "exp": "x.exp()",
    "log": "x.log()", "sqrt": "x.sqrt()", "rsqrt": "x.rsqrt()", "sin": "x.sin()", "tanh": "x.tanh()",
    "sigmoid": "x.sigmoid()", "relu": "x.relu()", "clamp": "x.clamp(0, 1)",
    "clamp min": "x.clamp(min=0)", "clamp_min": "x.clamp_min(0)", "clamp tensor": "x.clamp(y, y)",
    "square": "x.square()", "reciprocal": "x.reciprocal()", "sign": "x.sign()", "floor": "x.floor()",
    "round": "x.round()", "sum": "x.sum()", "sum dim": "m.sum(1)", "mean": "x.mean()", "mean dim": "m.mean(0)",
    "prod": "x.prod()", "prod dim": "m.prod(1)", "max": "x.max()", "max dim": "m.max(1)",
    "amax": "x.amax()", "min": "x.min()", "min dim": "m.min(0)", "amin": "m.amin(0)", "median": "x.median()",
    "median dim": "m.median(1)", "var": "x.var()", "std": "x.std()", "var dim": "m.var(1)", "norm": "x.norm()",
    "norm p": "x.norm(1)", "vector_norm": "torch.linalg.vector_norm(x)", "logsumexp": "x.logsumexp(0)",
    "softmax": "x.softmax(0)", "log_softmax": "x.log_softmax(0)", "cumsum": "x.cumsum(0)",
    "cumprod": "x.cumprod(0)", "view": "x.view(3, 1)", "reshape": "m.reshape(3, 2)",
    "reshape copy": "m.t().reshape(6)", "flatten": "m.flatten()", "unflatten": "x.unflatten(0, (3, 1))",
    "transpose": "m.transpose(0, 1)",
    "t": "m.t()", "T": "m.T", "mT": "m.mT", "permute": "m.permute(1, 0)", "squeeze": "x.view(1, 3).squeeze()",
    "squeeze dim": "x.view(1, 3).squeeze(0)", "unsqueeze": "x.unsqueeze(0)", "expand": "x.expand(2, 3)",
    "select": "m[0]", "slice": "x[1:]", "slice and int": "m[:, 1]", "full slice": "x[:]", "ellipsis": "x[...]",
    "none": "x[None]", "index": "x[i]", "mask": "x[x > 1]", "narrow": "x.narrow(0, 0, 2)",
    "unbind": "m.unbind(0)",
    "split": "x.split(2)", "split sizes": "x.split([1, 2])", "chunk": "x.chunk(2)",
    "tensor_split": "x.tensor_split(2)", "cat": "torch.cat([x, y])", "stack": "torch.stack([x, y])",
    "where": "torch.where(x > 1, x, y)",
    "where number": "torch.where(x > 1, x, 0.0)", "masked_fill": "x.masked_fill(x > 1, 0.0)",
    "gather": "x.gather(0, i)", "index_select": "x.index_select(0, i)", "scatter": "x.scatter(0, i, y)",
    "scatter_add": "x.scatter_add(0, i, y)",
    "index_add": "x.index_add(0, i, y[:2])", "index_put": "x.index_put((i,), y[:2])", "sort": "x.sort()",
    "topk": "x.topk(2)", "argsort": "x.sort().values", "flip": "x.flip(0)", "roll": "x.roll(1)",
    "repeat": "x.repeat(2)",
    "tile": "x.tile(2)", "repeat_interleave": "x.repeat_interleave(2)", "tril": "m.tril()", "triu": "m.triu()",
    "diag": "x.diag()", "diagonal": "m.diagonal()", "trace": "m[:, :2].trace()", "clone": "x.clone()",
    "contiguous": "m.t().contiguous()",
    "to double": "x.double()", "to": "x.to(torch.float64)", "half": "x.half()",
    "maximum": "torch.maximum(x, y)", "fmax": "torch.fmax(x, y)", "atan2": "torch.atan2(x, y)",
    "hypot": "torch.hypot(x, y)", "lerp": "torch.lerp(x, y, 0.5)",
    "addcmul": "torch.addcmul(x, x, y)", "addmm": "torch.addmm(m[:, :2], m, m.t())",
    "baddbmm": "torch.baddbmm(m[None, :, :2], m[None], m.t()[None])",
    "einsum": "torch.einsum('ij,kj->ik', m, m)", "linear": "F.linear(m, m)",
    "linear bias": "F.linear(m, m, x[:2])",
    "relu functional": "F.relu(x)", "leaky_relu": "F.leaky_relu(x)", "elu": "F.elu(x)", "gelu": "F.gelu(x)",
    "silu": "F.silu(x)", "softplus": "F.softplus(x)", "hardtanh": "F.hardtanh(x)",
    "logsigmoid": "F.logsigmoid(x)", "selu": "F.selu(x)", "celu": "F.celu(x)",
    "prelu": "F.prelu(x, y[:1])", "mse_loss": "F.mse_loss(x, y)", "l1_loss": "F.l1_loss(x, y)",
    "smooth_l1_loss": "F.smooth_l1_loss(x, y)", "huber_loss": "F.huber_loss(x, y)",
    "cross_entropy": "F.cross_entropy(m, i)", "nll_loss": "F.nll_loss(m, i)",
    "bce": "F.binary_cross_entropy(x.sigmoid(), y.sigmoid())",
    "bce logits": "F.binary_cross_entropy_with_logits(x, y)", "kl_div": "F.kl_div(x, y, reduction='sum')",
    "embedding": "F.embedding(i % 2, m)", "layer_norm": "F.layer_norm(m, (3,))",
    "dropout": "F.dropout(x, 0.5)", "pad": "F.pad(x, (1, 1))", "normalize": "F.normalize(x, dim=0)",
    "cosine": "F.cosine_similarity(x, y, 0)", "one more": "x.add(y, alpha=2)",
    "conv1d": "F.conv1d(m[None], m[:, :2].view(1, 2, 2))",
    "real": "z.real", "imag": "z.imag", "conj": "z.conj()", "abs complex": "z.abs()", "angle": "z.angle()",
    "view_as_real": "torch.view_as_real(z)", "movedim": "m.movedim(0, 1)",
    "as_strided": "x.as_strided((2,), (1,))", "unfold": "x.unfold(0, 2, 1)",
    "diff": "x.diff()", "cross": "torch.linalg.cross(x, y)", "inverse": "(m[:, :2]).inverse()",
    "det": "m[:, :2].det()", "nan_to_num": "x.nan_to_num()", "erf": "x.erf()", "frac": "x.frac()",
    "logaddexp": "torch.logaddexp(x, y)", "xlogy": "torch.xlogy(x, y)",
    "alias": "x.view_as(x)", "type_as": "x.type_as(y.double())", "mul inplace": "(x * 1).mul_(y)",
    "zero_": "(x * 1).zero_()", "copy_": "torch.zeros(3).copy_(x)",
    "setitem": "(lambda t: t.__setitem__(0, x[0]) or t)(torch.zeros(2))",
    "sum of list": "sum([x, y, x])", "chain": "((x * y) + x).sin().sum()", "cdist": "torch.cdist(m, m)",
    "meshgrid": "torch.meshgrid(x, y, indexing='ij')", "broadcast_tensors": "torch.broadcast_tensors(x, m)",
    "count": "x.sinc()",
}
each("nodes.of", named, NAMES)


@case("nodes.leaf")
def _(torch):
    x = leaf(torch)
    yield "leaf", x.grad_fn, x.is_leaf, x.output_nr
    node = (x * 2).grad_fn.next_functions[0][0]
    yield "accumulate", describe(node), node.variable is x, node.next_functions
    yield "same node for each use", node is (x + 1).grad_fn.next_functions[0][0]
    c = torch.ones(2)
    yield "constant", c.grad_fn, c.is_leaf, c.requires_grad


@case("nodes.identity")
def _(torch):
    x = leaf(torch)
    y = x * 2
    yield "same", y.grad_fn is y.grad_fn, y.grad_fn == y.grad_fn
    z = y + y
    yield ("shared", z.grad_fn.next_functions[0][0] is z.grad_fn.next_functions[1][0],
        z.grad_fn.next_functions[0][0] is y.grad_fn)
    yield "different", (x * 2).grad_fn is y.grad_fn
    yield "hash", hash(y.grad_fn) == hash(y.grad_fn), len({y.grad_fn, y.grad_fn})


@case("nodes.attributes")
def _(torch):
    x = leaf(torch)
    y = x * 2
    y.grad_fn.metadata["key"] = "value"
    yield "metadata", y.grad_fn.metadata, (x + 1).grad_fn.metadata
    meta = y.grad_fn._input_metadata
    yield "input metadata", len(meta), meta[0].shape, meta[0].dtype, str(meta[0].device)
    yield "requires_grad", y.grad_fn.requires_grad
    yield ("methods",
        [hasattr(y.grad_fn, n) for n in ("register_hook", "register_prehook", "name", "next_functions",
            "metadata", "_sequence_nr")])
    yield ("class", isinstance(y.grad_fn, torch.autograd.graph.Node),
        issubclass(type(y.grad_fn), torch.autograd.graph.Node))
    yield "repr", str(y.grad_fn)


@case("nodes.call")
def _(torch):
    x = leaf(torch)
    y = x * 2
    yield "called", y.grad_fn(torch.ones(3))
    yield "too many", raises(lambda: y.grad_fn(torch.ones(3), torch.ones(3)))
    yield "too few", raises(lambda: y.grad_fn())


@case("nodes.read_only")
def _(torch):
    x = leaf(torch)
    y = x * 2
    def put(name, value):
        setattr(y, name, value)
    yield "grad_fn", raises(lambda: put("grad_fn", None))
    yield "is_leaf", raises(lambda: put("is_leaf", True))
    yield "output_nr", raises(lambda: put("output_nr", 1))
    yield "_grad_fn", raises(lambda: put("_grad_fn", x.grad_fn))
    def drop(name):
        delattr(y, name)
    yield "del requires_grad", raises(lambda: drop("requires_grad"))
    yield "del _backward_hooks", raises(lambda: drop("_backward_hooks"))


@case("nodes.walk")
def _(torch):
    x, w = leaf(torch), leaf(torch)
    loss = ((x * w).sum() - 1) ** 2
    lines, stack = [], [(loss.grad_fn, 0)]
    while stack:
        node, depth = stack.pop()
        lines.append("  " * depth + node.name())
        stack += [(n, depth + 1) for n, _ in reversed(node.next_functions) if n is not None]
    yield "graph", lines


@case("nodes.alive_after_tensor")
def _(torch):
    x = leaf(torch)
    node = (x * 2).sin().grad_fn
    yield ("chain", node.name(), node.next_functions[0][0].name(),
        node.next_functions[0][0].next_functions[0][0].variable is x)


@case("nodes.constants_are_none")
def _(torch):
    x, c = leaf(torch), torch.ones(3)
    yield ("mul", [n is None for n, _ in (x * c).grad_fn.next_functions],
        [n is None for n, _ in (c * x).grad_fn.next_functions])
    yield "cat", [n is None for n, _ in torch.cat([c, x, c]).grad_fn.next_functions]
    yield ("linear",
        [n is None for n, _ in torch.nn.functional.linear(c.view(1, 3), x.view(1, 3), c[:1]).grad_fn.next_functions])


@case("nodes.second_order_graph")
def _(torch):
    x = leaf(torch)
    g, = torch.autograd.grad((x ** 3).sum(), x, create_graph=True)
    yield "has graph", g.grad_fn is not None, g.requires_grad, g.is_leaf
    (x * x).sum().backward(create_graph=True)
    yield "grad has graph", x.grad.grad_fn is not None, x.grad.requires_grad


@case("nodes.warnings.grad_access")
def _(torch):
    x = leaf(torch)
    y = (x * 2).sum()
    yield "non-leaf", warned(lambda: y.grad)
    yield "each read", warned(lambda: [y.grad, y.grad])
    yield "hasattr", warned(lambda: hasattr(y, "grad"))
    yield "item of requires grad", warned(lambda: y.item())
    yield "float", warned(lambda: float(y))
    yield "numpy of detached", warned(lambda: y.detach().numpy())


@case("nodes.requires_grad_propagates")
def _(torch):
    x, c = leaf(torch), torch.ones(3)
    for name, fn in [("add", lambda: x + c), ("cat", lambda: torch.cat([c, x])),
        ("where", lambda: torch.where(c > 0, x, c)), ("zeros_like", lambda: torch.zeros_like(x)),
                     ("ones_like", lambda: torch.ones_like(x, requires_grad=True)),
                     ("new_zeros", lambda: x.new_zeros(2)), ("empty_like", lambda: torch.empty_like(x)),
                     ("compare", lambda: x > c),
                     ("argmax", lambda: x.argmax()), ("floor", lambda: x.floor()), ("round", lambda: x.round()),
                     ("sign", lambda: x.sign()), ("isnan", lambda: x.isnan()), ("bool", lambda: x.bool()),
                     ("sum int", lambda: (x > 1).sum()), ("full_like", lambda: torch.full_like(x, 3)),
                     ("tensor", lambda: torch.tensor([1.0])), ("clone", lambda: c.clone()),
                     ("detach", lambda: x.detach())]:
        out = attempt(fn)
        yield name, out.requires_grad, out.is_leaf


@case("nodes.not_given")
def _(torch):
    F = torch.nn.functional
    x, image, v = torch.ones(2, 3, 8, requires_grad=True), torch.ones(2, 3, 4, 4, requires_grad=True), torch.ones(8, requires_grad=True)
    results = {
        "layer_norm": F.layer_norm(x, (8,)), "its weight": F.layer_norm(x, (8,), v), "its bias": F.layer_norm(x, (8,), None, v), "conv1d": F.conv1d(x, torch.ones(4, 3, 3)),
        "conv2d": F.conv2d(image, torch.ones(4, 3, 2, 2)), "conv_transpose1d": F.conv_transpose1d(x, torch.ones(3, 2, 2)), "group_norm": F.group_norm(image, 3),
        "batch_norm": F.batch_norm(x, torch.zeros(3), torch.ones(3)), "instance_norm": F.instance_norm(image), "clamp min": x.clamp(min=v), "clamp max": x.clamp(max=v),
        "embedding_bag": F.embedding_bag(torch.tensor([[0, 1]]), torch.ones(3, 2, requires_grad=True)), "cross_entropy": F.nll_loss(x[0], torch.tensor([0, 1, 2])),
        "binary_cross_entropy": F.binary_cross_entropy(x * 0.5, torch.ones(2, 3, 8)), "std": x.std(0)}
    for name, y in results.items():
        node, seen = y.grad_fn, []
        node.register_hook(lambda given, _, seen=seen: seen.append([None if g is None else list(g.shape) for g in given]))
        y.sum().backward()
        yield name, [None if n is None else n.name() for n, _ in node.next_functions], seen
