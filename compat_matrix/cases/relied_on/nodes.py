"""Nodes of the graph: who leads where, node classes, edges, saved values and their slots, what is saved at all."""

import gc

from compat_matrix.case import attempt, case, raises


def leaf(torch, *values):
    return torch.tensor(list(values) or [1.0, 2.0, 3.0], requires_grad=True)


def described(node):
    """A graph as nested names."""
    if node is None:
        return None
    return [node.name(), [(described(n), i) for n, i in node.next_functions]]


@case("relied_on.nodes.graph")
def _(torch):
    x, w = leaf(torch), leaf(torch)
    yield "described", [described(t.grad_fn) for t in ((x * 2 + w).sum(), x[0], x.view(3, 1) @ w.view(1, 3), (x / w).exp().mean(), x.softmax(0), x.clone().mul_(w),
                                                       torch.cat([x, w]), torch.stack([x, w], 1), (x - 1) ** 2, x.double(), torch.where(x > 1, x, w), -x, 1 / x)]
    y = x * 2
    z = y + y
    n = z.grad_fn.next_functions
    yield "shared", n[0][0] is n[1][0], n[0][0] is y.grad_fn, y.grad_fn is y.grad_fn
    u = x.unbind()
    yield "outputs", [t.output_nr for t in u], u[0].grad_fn is u[2].grad_fn, (u[1] * 2).grad_fn.next_functions[0][1]
    node = y.grad_fn
    yield "names", node.name(), type(node).__name__, node.next_functions[0][0].name(), type(node.next_functions[0][0]).__name__
    node.metadata["k"] = 1
    yield "metadata", y.grad_fn.metadata
    m = u[0].grad_fn._input_metadata
    yield "of inputs", len(m), [tuple(i.shape) for i in m], [str(i.dtype) for i in m], [str(i.device) for i in m], [i.is_nested_tensor for i in m]
    yield "called", y.grad_fn(torch.ones(3)), raises(lambda: y.grad_fn(torch.ones(3), torch.ones(3))), raises(lambda: y.grad_fn())
    yield "called, several", u[0].grad_fn(torch.ones(()), None, torch.ones(())), raises(lambda: u[0].grad_fn(torch.ones(())))
    yield "required", y.grad_fn.requires_grad, (x * w).grad_fn.next_functions[1][0].variable is w

    class Once(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, g):
            return g * 2
    o = Once.apply(x)
    yield "of a Function", o.grad_fn.name(), type(o.grad_fn).__name__
    g, = torch.autograd.grad(o.sum(), x, create_graph=True)
    yield "once", g.requires_grad, g.grad_fn is None or g.grad_fn.name()
    o = Once.apply(x)
    c = torch.ones(3, requires_grad=True)
    g, = torch.autograd.grad(o, x, c * 2, create_graph=True)
    yield "once, with a graph", g.grad_fn.name(), type(g.grad_fn).__name__, raises(lambda: g.sum().backward())
    b = torch.zeros(3)
    b[0:2] = x[0:2]
    yield "copies", b.grad_fn.name(), described(b.grad_fn)
    yield "to another dtype", described(x.to(torch.double).grad_fn)


@case("relied_on.nodes.classes and edges")
def _(torch):
    graph = torch.autograd.graph
    x = leaf(torch)

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            held.append(ctx)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2
    held = []
    y, t = x * 2, Twice.apply(x)
    acc = y.grad_fn.next_functions[0][0]
    late = torch._C._functions.DelayedError("no", 1)(x).grad_fn
    for name, n in (("op", y.grad_fn), ("function", t.grad_fn), ("ctx", held[0]), ("leaf", acc), ("delayed", late)):
        yield name, isinstance(n, graph.Node), issubclass(type(n), graph.Node), graph.Node in type(n).__mro__
    yield "others", isinstance(x, graph.Node), isinstance(1, graph.Node), issubclass(torch.autograd.function.BackwardCFunction, graph.Node), held[0] is t.grad_fn
    yield "made", raises(lambda: graph.Node())
    a = leaf(torch)
    b = a.exp()
    c = b * 2
    edge, root = graph.get_gradient_edge(b), graph.get_gradient_edge(c)
    yield "edges", edge.node is b.grad_fn, edge.output_nr, len(edge), graph.get_gradient_edge(a).node.name()
    yield "as an input", torch.autograd.grad(c.sum(), edge, retain_graph=True), torch.autograd.grad([root], [graph.get_gradient_edge(a)], [torch.ones(3)], retain_graph=True)
    root2 = graph.GradientEdge(c.grad_fn, 0)
    torch.autograd.backward([root2], [torch.ones(3)], retain_graph=True)
    yield "as a root", a.grad
    yield "needs a gradient", raises(lambda: torch.autograd.backward([root]))
    yield "of a constant", raises(lambda: graph.get_gradient_edge(torch.ones(2)))
    d = a * 1
    old = graph.get_gradient_edge(d)
    d.mul_(5)
    yield "old version", torch.autograd.grad(d.sum(), [old, d, a])
    yield "zeros for an edge", raises(lambda: torch.autograd.grad((a * 2).sum(), [graph.get_gradient_edge(b)], materialize_grads=True))
    v, i = a.sort()
    e = graph.get_gradient_edge(v)
    yield "of several", e.output_nr, torch.autograd.grad((v * v).sum(), [e])


@case("relied_on.nodes.slots")
def _(torch):
    x, w = leaf(torch), leaf(torch, 4.0, 5.0, 6.0)
    y = x * w
    n = y.grad_fn
    yield "input", n._saved_self is x, n._saved_other is w
    e = x.exp()
    r = e.grad_fn._saved_result
    yield "result", r is e, r.equal(e), r._version == e._version, r.grad_fn is e.grad_fn
    with torch.no_grad():
        e.mul_(1)
    yield "shared version", r._version, e._version, raises(lambda: e.grad_fn._saved_result)
    raw = n._raw_saved_self
    yield "raw", type(raw).__name__, type(raw).__module__, isinstance(raw, torch._C._autograd.SavedTensor)
    log = []
    raw.register_hooks(lambda t: log.append("pack") or t * 10, lambda t: log.append("unpack") or t)
    yield "hooked", torch.autograd.grad(y.sum(), [x, w], retain_graph=True), log
    yield "twice", raises(lambda: raw.register_hooks(lambda t: t, lambda t: t))
    yield "arguments", [raises(lambda a=a: n._raw_saved_other.register_hooks(*a)) for a in ((lambda t: t,), (1, 2), (lambda t: t, 3))]
    yield "changing", raises(lambda: n._raw_saved_other.register_hooks(lambda t: t.mul_(2), lambda t: t))
    k = x * 2
    yield "nothing there", k.grad_fn._saved_self, raises(lambda: k.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t))
    z = x * w
    m, slot = z.grad_fn, z.grad_fn._raw_saved_self
    z.sum().backward()
    yield "freed", raises(lambda: m._saved_self), raises(lambda: slot.register_hooks(lambda t: t, lambda t: t)), raises(lambda: m._raw_saved_self)
    yield "made by hand", raises(lambda: torch._C._autograd.SavedTensor())
    c = torch.cat([x, w])
    yield "freed scalars", c.grad_fn._saved_dim, c.sum().backward(), attempt(lambda: c.grad_fn._saved_dim)
    s = torch.stack([x, w]).exp()
    p = s[0]
    yield "a view's", p.grad_fn._saved_dim, p.grad_fn._saved_index, p.grad_fn._saved_self_sym_sizes


@case("relied_on.nodes.attributes")
def _(torch):
    F = torch.nn.functional
    a, m = torch.rand(4, requires_grad=True), torch.rand(4, 4, requires_grad=True)
    i = torch.rand(1, 1, 4, 4, requires_grad=True)
    made = {
        "stack": lambda: torch.stack([a, a], 0), "stack last": lambda: torch.stack([a, a], -1), "mul": lambda: a * a, "mul number": lambda: a * 2,
        "indexing": lambda: m[[0, 1], [2, 3]], "indexing partly": lambda: m[:, [0]],
        "mean": lambda: m.mean(), "mean dim": lambda: m.mean(1), "interpolate": lambda: F.interpolate(i, 8, mode="bilinear", align_corners=False),
        "interpolate scale": lambda: F.interpolate(i, scale_factor=2, mode="bilinear", align_corners=False), "nearest": lambda: F.interpolate(i, scale_factor=2),
        "conv2d": lambda: F.conv2d(i, torch.rand(1, 1, 2, 2, requires_grad=True), torch.rand(1, requires_grad=True)),
        "conv2d without bias": lambda: F.conv2d(i, torch.rand(1, 1, 2, 2, requires_grad=True)),
        "addbmm": lambda: torch.addbmm(m, torch.rand(2, 4, 3), torch.rand(2, 3, 4, requires_grad=True)), "unfold": lambda: a.unfold(0, 2, 1),
        "pdist": lambda: F.pdist(m), "logit": lambda: torch.logit(a, 0.2), "logit without": lambda: torch.logit(a), "qr": lambda: torch.linalg.qr(m)[0],
        "div": lambda: torch.div(a, a, rounding_mode="trunc"), "div plain": lambda: a / a, "threshold": lambda: F.threshold(a, 0.2, 1),
        "threshold float": lambda: F.threshold(a, 1, 1.0), "as_strided": lambda: m.as_strided((2, 2), (4, 1), 1), "tanh": lambda: a.tanh(),
        "nll_loss": lambda: F.nll_loss(m.log_softmax(1), torch.tensor([0, 1, 2, 3])),
        "nll_loss weight": lambda: F.nll_loss(m.log_softmax(1), torch.tensor([0, 1, 2, 3]), weight=torch.ones(4)),
        "pow": lambda: a ** 3, "pow tensor": lambda: a ** a, "sum": lambda: m.sum(),
        "dot": lambda: a.dot(a), "view": lambda: m.view(16), "select": lambda: m.select(1, 1), "softmax": lambda: m.softmax(-1), "cat": lambda: torch.cat([m, m], -1),
        "clamp": lambda: a.clamp(0.1, 0.5), "clamp one": lambda: a.clamp(min=0.1), "gelu": lambda: F.gelu(a, approximate="tanh"), "norm": lambda: a.norm(3),
        "p of cdist": lambda: torch.cdist(m, m, 1.0), "gather": lambda: m.gather(1, torch.zeros(4, 1, dtype=torch.int64)), "var": lambda: m.var(1)}
    yield from looked_at(torch, made)


def looked_at(torch, made):
    for name, make in made.items():
        node = make().grad_fn
        fields = sorted(k for k in dir(node) if k.startswith(("_saved_", "_raw_saved_")))
        yield name, node.name(), [(k, shown(torch, attempt(lambda k=k, node=node: getattr(node, k)))) for k in fields]


@case("relied_on.nodes.attributes of other nodes")
def _(torch):
    """A mask, a number from the end and the operators over lists, which are recorded as places, as a number from the front and one by one."""
    a, m = torch.rand(4, requires_grad=True), torch.rand(4, 4, requires_grad=True)
    yield from looked_at(torch, {"mask": lambda: m[torch.ones(4, 4, dtype=torch.bool)], "from the end": lambda: m.select(0, -1),
                                 "lists": lambda: torch._foreach_maximum([a, a], [0.5, 0.6])[0]})
    packed, x = [], leaf(torch)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(tuple(t.shape)) or t, lambda t: t):
        torch.ones(3).clone()[torch.tensor([True, False, True])] = x[:2]
    yield "a mask written to", packed


def shown(torch, value):
    """The kind of what is saved, with shapes for tensors and types for numbers."""
    if isinstance(value, torch.Tensor):
        return ["tensor", list(value.shape), str(value.dtype)]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, [shown(torch, v) for v in value]]
    return [type(value).__name__, value if isinstance(value, (int, float, str, bool, dict, type(None))) else "object"]


@case("relied_on.nodes.what is saved")
def _(torch):
    packed = []

    def count(make):
        packed.clear()
        with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(tuple(t.shape)) or t, lambda t: t):
            make()
        return list(packed)
    x, y, c = leaf(torch), leaf(torch), torch.ones(3)
    i = torch.tensor([True, False, True])
    for name, make in (("constant", lambda: x * c), ("constant first", lambda: c * x), ("both", lambda: x * y), ("number", lambda: x * 2), ("sum", lambda: x.sum()),
                       ("add", lambda: x + y), ("sub", lambda: x - c), ("div number", lambda: x / 2), ("div", lambda: x / y), ("pow number", lambda: x ** 2),
                       ("exp", lambda: x.exp()), ("masked", lambda: x.clone().__setitem__(i, 1.0)), 
                       ("mean", lambda: x.mean()), ("dot", lambda: x.dot(c)), ("where", lambda: torch.where(i, x, y)), ("relu", lambda: x.relu()),
                       ("masked_fill", lambda: x.masked_fill(i, 1.0)), ("matmul", lambda: x.view(1, 3) @ c.view(3, 1)), ("addcmul", lambda: torch.addcmul(x, c, c)),
                       ("index", lambda: x[[0, 1]]), ("max", lambda: x.max(0)), ("no grad", lambda: c * c), ("copy", lambda: torch.zeros(3).copy_(x))):
        yield name, count(make)
    gone = []
    import weakref
    big = torch.ones(3)
    ref = weakref.ref(big)
    z = x + big
    del big
    gc.collect()
    gone.append(ref() is None)
    big = torch.ones(3, requires_grad=False)
    ref = weakref.ref(big)
    z = torch.ones(3) * 1 * big
    del big
    gone.append(ref() is None)
    yield "kept alive", gone, z
