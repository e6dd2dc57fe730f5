"""Starting a backward pass: roots, inputs, accumulation, freed graphs, `grad`, cotangents, undefined gradients, `.grad`."""

from compat_matrix.case import case, raises, warned


def leaf(torch, *values):
    return torch.tensor(list(values) or [1.0, 2.0, 3.0], requires_grad=True)


@case("relied_on.starting.roots")
def _(torch):
    x = leaf(torch)
    y, z = x * 2, x * 3
    torch.autograd.backward([y, z], [torch.ones(3), torch.ones(3)])
    yield "several", x.grad
    x.grad = None
    y = (x * 2).sum()
    torch.autograd.backward([y, y])
    yield "the same twice", x.grad
    x.grad = None
    y = x * 2
    torch.autograd.backward((y, (y * y).sum()), (torch.ones(3), None))
    yield "one depends on another", x.grad
    yield "no graph", raises(lambda: torch.ones(1).backward()), raises(lambda: torch.autograd.backward(torch.ones(1)))
    yield "not a scalar", raises(lambda: (x * 2).backward()), raises(lambda: torch.autograd.backward([(x * 2).sum(), x * 2]))
    c = torch.tensor([1 + 2j], requires_grad=True)
    yield "complex scalar", raises(lambda: (c * 2).sum().backward()), raises(lambda: torch.autograd.grad((c * 2).sum(), c))
    x.grad = None
    (x * 2).backward(gradient=torch.ones(3), retain_graph=False, create_graph=False, inputs=[x])
    yield "all arguments", x.grad


@case("relied_on.starting.inputs")
def _(torch):
    edge = torch.autograd.graph.get_gradient_edge
    x, w = leaf(torch), leaf(torch, 4.0, 5.0, 6.0)
    x.grad, log = torch.full((3,), 7.0), []
    y = x * w
    y.register_hook(lambda g: log.append("y"))
    x.register_hook(lambda g: log.append("x"))
    side = w * 5
    side.grad_fn.register_hook(lambda *a: log.append("side"))
    z = y * 2 + side
    z.sum().backward(inputs=w, retain_graph=True)
    yield "a tensor", w.grad, x.grad, log
    w.grad = None
    z.sum().backward(inputs=[y], retain_graph=True)
    yield "an inner one", y.grad, w.grad, x.grad, y.retains_grad, log
    z.sum().backward(inputs=[edge(y), edge(w)], retain_graph=True)
    yield "edges", y.grad, w.grad, x.grad
    z.sum().backward(inputs=(edge(w),), retain_graph=True)
    yield "an edge of a leaf", w.grad
    far = leaf(torch)
    z.sum().backward(inputs=[far, w], retain_graph=True)
    yield "unreachable", far.grad, w.grad
    yield "none", raises(lambda: z.sum().backward(inputs=[])), raises(lambda: torch.autograd.backward(z.sum(), inputs=()))
    z.sum().backward(inputs={"a": x, "b": w}, retain_graph=True)
    yield "a dict", x.grad, w.grad, log


@case("relied_on.starting.accumulation")
def _(torch):
    x = leaf(torch)
    x.grad = first = torch.ones(3)
    (x * 2).sum().backward()
    yield "in place", x.grad is first, first
    with torch.enable_grad():
        seen = warned(lambda: (x * x).sum().backward(create_graph=True))
    yield "a new one", x.grad is first, first, x.grad, x.grad.requires_grad, len(seen)
    x.grad = None
    a, b = leaf(torch), leaf(torch)
    (a + b).backward(torch.ones(3))
    yield "no buffer twice", a.grad.data_ptr() != b.grad.data_ptr()
    a.grad.add_(1)
    yield "no write to the other", a.grad, b.grad
    s = leaf(torch)
    s.sum().backward()
    yield "expanded", s.grad.is_contiguous(), s.grad.stride()
    s.grad[0] = 5
    yield "own memory", s.grad
    given = torch.ones(3)
    (s * 1).backward(given)
    (s * 1).backward(given)
    s.grad.mul_(2)
    yield "given ones stay", given, given._version
    for shape in ((0,), (0, 3), (2, 0)):
        e = torch.ones(shape, requires_grad=True)
        (e * 2).sum().backward()
        yield f"no elements {shape}", e.grad
    r, col = torch.ones(2, 3, requires_grad=True), torch.ones(2, 1, requires_grad=True)
    one = torch.ones(1, 1, 3, requires_grad=True)
    (r * col + one).sum().backward()
    yield "broadcast", r.grad, col.grad, one.grad


@case("relied_on.starting.freed")
def _(torch):
    x = leaf(torch)
    y = x * x
    y.sum().backward()
    yield "saved", raises(lambda: y.sum().backward()), raises(lambda: torch.autograd.grad(y.sum(), x))
    z = x + 1
    z.sum().backward()
    z.sum().backward()
    yield "nothing saved", x.grad
    import warnings
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        torch.autograd.grad((x * x).sum(), x, create_graph=True)
    yield "grad says nothing", len(seen)


@case("relied_on.starting.grad")
def _(torch):
    x, other = leaf(torch), leaf(torch)
    found = torch.autograd.grad((x * 2).sum(), x)
    yield "a tuple", found, x.grad
    y = x * 2
    yield "inner", torch.autograd.grad((y * y).sum(), [y, x])
    u = x.unbind()
    yield "outputs of one node", torch.autograd.grad([u[0] * 2, u[2] * 3], [u[0], u[2], x])
    v, i = x.sort(descending=True)
    yield "values of one", torch.autograd.grad((v * torch.arange(3.0)).sum(), [v, x]), i
    yield "unreachable", raises(lambda: torch.autograd.grad((x * 2).sum(), [x, other]))
    yield "allowed", torch.autograd.grad((x * 2).sum(), [x, other], allow_unused=True)
    yield "zeros", torch.autograd.grad((x * 2).sum(), [x, other], materialize_grads=True)
    yield "zeros with a graph", torch.autograd.grad((x * x).sum(), [x, other], materialize_grads=True, create_graph=True)
    yield "zeros, allowed", torch.autograd.grad((x * 2).sum(), [x, other], materialize_grads=True, allow_unused=True)
    yield "zeros, forbidden", raises(lambda: torch.autograd.grad((x * 2).sum(), [x, other], materialize_grads=True, allow_unused=False))
    yield "needs none", raises(lambda: torch.autograd.grad((x * 2).sum(), torch.ones(3))), raises(lambda: torch.autograd.grad(torch.ones(1), x))
    yield "no inputs", raises(lambda: torch.autograd.grad((x * 2).sum(), []))
    a = leaf(torch)
    out = (a * 2).sum()
    with torch.no_grad():
        a.set_(leaf(torch) * 2)
    yield "replaced by set_", raises(lambda: torch.autograd.grad(out, a))
    b = leaf(torch)
    out = (b * 2).sum()
    b = b.detach()
    yield "another", raises(lambda: torch.autograd.grad(out, b))
    yield "by name", torch.autograd.grad(outputs=(x * 2).sum(), inputs={"x": x, "other": other}, allow_unused=True)


@case("relied_on.starting.cotangents")
def _(torch):
    x = leaf(torch)
    y = x * 2
    for shape in ((2, 3), (1,), (), (3, 1)):
        yield f"shape {shape}", raises(lambda shape=shape: torch.autograd.grad(y, x, torch.ones(shape)))
    yield "second", raises(lambda: torch.autograd.grad([y, y], x, [torch.ones(3), torch.ones(2)]))
    yield "complex", raises(lambda: torch.autograd.grad(y, x, torch.ones(3) * 1j))
    c = torch.ones(2, dtype=torch.complex64, requires_grad=True)
    yield "real", raises(lambda: torch.autograd.grad(c * 2, c, torch.ones(2)))
    yield "batched", torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True, retain_graph=True)
    yield "batched integers", torch.autograd.grad(y, x, torch.eye(3, dtype=torch.int64), is_grads_batched=True, retain_graph=True)
    yield "batched shape", raises(lambda: torch.autograd.grad(y, x, torch.ones(2, 2), is_grads_batched=True))
    yield "batched too small", raises(lambda: torch.autograd.grad(y, x, torch.ones(3), is_grads_batched=True))
    yield "batched dtype", raises(lambda: torch.autograd.grad(y, x, torch.eye(3) * 1j, is_grads_batched=True))
    w = leaf(torch)
    yield "batched, two", torch.autograd.grad([y, w * x], [x, w], [torch.eye(3), torch.eye(3)], is_grads_batched=True)


@case("relied_on.starting.undefined")
def _(torch):
    class Drop(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return None

    names = ("exp", "sum", "relu", "t", "cumsum", "sort", "unbind", "split", "softmax", "mul", "matmul", "cat", "index", "where", "norm", "max", "prod", "to", "expand",
             "conv", "layer_norm", "copy", "chain")
    for name in names:
        x = torch.rand(3, 3, requires_grad=True)
        a = x * 2
        seen = []
        a.register_hook(lambda g: seen.append(g))  # noqa: B023 - read at once
        out = {
            "exp": lambda: a.exp(), "sum": lambda: a.sum(0), "relu": lambda: a.relu(), "t": lambda: a.t(), "cumsum": lambda: a.cumsum(0),
            "sort": lambda: a.sort()[0], "unbind": lambda: a.unbind()[0], "split": lambda: a.split(1)[1], "softmax": lambda: a.softmax(0),
            "mul": lambda: a * a, "matmul": lambda: a @ a, "cat": lambda: torch.cat([a, a]), "index": lambda: a[[0, 1]],
            "where": lambda: torch.where(a > 0, a, -a), "norm": lambda: a.norm(), "max": lambda: a.max(0)[0], "prod": lambda: a.prod(),
            "to": lambda: a.double(), "expand": lambda: a.expand(2, 3, 3), "conv": lambda: torch.conv2d(a[None, None], a[None, None]),
            "layer_norm": lambda: torch.nn.functional.layer_norm(a, (3,)), "copy": lambda: torch.zeros(3, 3).copy_(a), "chain": lambda: a.exp().log().sin()}[name]()
        (Drop.apply(out).sum() + x.sum() * 0).backward()
        yield name, seen, x.grad
    yield "unused then", torch.autograd.grad(Drop.apply(leaf(torch) * 2).sum(), leaf(torch), allow_unused=True)

    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return torch.ones(5)

    yield "wrong shape", raises(lambda: Wrong.apply(leaf(torch) * 2).sum().backward()), raises(lambda: Wrong.apply(leaf(torch)).sum().backward())
    n = leaf(torch)
    yield "no formula", raises(lambda: torch.nextafter(n, n.detach() + 1).sum().backward())
    yield "no formula either", raises(lambda: torch.heaviside(n, n).sum().backward())
    yield "sign and round", torch.autograd.grad((n.sign() + n.round()).sum(), n)
    yield "no graph at all", n.argmax().requires_grad, (n > 1).requires_grad, n.int().requires_grad


@case("relied_on.starting.grad attribute")
def _(torch):
    x = leaf(torch)
    y = x * 2

    def read():
        _ = y.grad

    yield "inner", warned(read), warned(read)
    y.retain_grad()
    yield "retained", warned(read)
    y.sum().backward()
    del x.grad
    yield "deleted", x.grad
    x.grad = torch.ones(3)
    yield "set", x.grad
    for wrong in (1, "a", [1.0], 2.5):
        yield f"not a tensor {wrong}", raises(lambda wrong=wrong: setattr(x, "grad", wrong))
    yield "shape", raises(lambda: setattr(x, "grad", torch.ones(2)))
    yield "dtype", raises(lambda: setattr(x, "grad", torch.ones(3, dtype=torch.double)))
    yield "integers", raises(lambda: setattr(x, "grad", torch.ones(3, dtype=torch.int64)))
    yield "itself", raises(lambda: setattr(x, "grad", x))
    yield "kept", x.grad
    yield "device", raises(lambda: setattr(x, "grad", torch.ones(3, device="meta")))
