"""What one pass does: values, freeing, create_graph, inputs=."""

from compat_matrix.case import attempt, case, raises
from compat_matrix.probes import each, evaluate


def leaf(torch, values=(1.0, 2.0, 3.0), dtype=None):
    return torch.tensor(list(values), dtype=dtype, requires_grad=True)


@case("engine.diamond")
def _(torch):
    x = leaf(torch)
    a, b = x * 2, x * 3
    (a * b + a).sum().backward()
    yield "grad", x.grad


@case("engine.fan_out")
def _(torch):
    x = leaf(torch)
    y = x * x
    (y + y + y * y).sum().backward()
    yield "grad", x.grad


@case("engine.two_leaves")
def _(torch):
    x, y = leaf(torch), leaf(torch, (4.0, 5.0, 6.0))
    (x * y).sum().backward()
    yield "grads", x.grad, y.grad


@case("engine.three_roots")
def _(torch):
    x = leaf(torch)
    torch.autograd.backward([x.sum(), (x * x).sum(), x * 2], [None, torch.tensor(2.0), torch.ones(3)])
    yield "grad", x.grad


@case("engine.constant_branch")
def _(torch):
    x = leaf(torch)
    c = torch.tensor([1.0, 1.0, 2.0])
    (x * c + c).sum().backward()
    yield "grads", x.grad, c.grad


@case("engine.leaf_unused")
def _(torch):
    x, y = leaf(torch), leaf(torch)
    x.sum().backward()
    yield "grads", x.grad, y.grad


@case("engine.broadcast_reduces")
def _(torch):
    x, y, z = torch.ones(3, requires_grad=True), torch.ones(2, 1, requires_grad=True), torch.tensor(2.0,
        requires_grad=True)
    (x * y * z).sum().backward()
    yield "grads", x.grad, y.grad, z.grad


@case("engine.zero_elements")
def _(torch):
    x = torch.zeros(0, 3, requires_grad=True)
    y = torch.ones(3, requires_grad=True)
    (x * y).sum().backward()
    yield "grads", x.grad, y.grad


@case("engine.mixed_dtypes")
def _(torch):
    x = torch.ones(2, requires_grad=True)
    y = torch.ones(2, dtype=torch.float64, requires_grad=True)
    out = x * y
    out.sum().backward()
    yield "dtypes", out.dtype, x.grad.dtype, y.grad.dtype
    z = torch.ones(2, dtype=torch.float16, requires_grad=True)
    (z.double() * 3).sum().backward()
    yield "half", z.grad


@case("engine.dtype_chain")
def _(torch):
    x = leaf(torch)
    y = x.double().float().to(torch.bfloat16)
    y.float().sum().backward()
    yield "grad", x.grad


@case("engine.integers_drop_the_graph")
def _(torch):
    x = leaf(torch)
    yield "long", x.long().requires_grad, x.int().grad_fn is None
    yield "compare", (x > 1).requires_grad
    yield "argmax", x.argmax().requires_grad


@case("engine.detach_cuts")
def _(torch):
    x = leaf(torch)
    (x * x.detach()).sum().backward()
    yield "grad", x.grad
    yield "detached", x.detach().requires_grad, x.detach().grad_fn, x.detach().is_leaf


@case("engine.no_grad_cuts")
def _(torch):
    x = leaf(torch)
    with torch.no_grad():
        y = x * 2
    yield "y", y, y.is_leaf
    (x * y).sum().backward()
    yield "grad", x.grad


@case("engine.requires_grad_later")
def _(torch):
    x = torch.tensor([1.0, 2.0])
    y = x * 2
    x.requires_grad_()
    z = x * 3
    yield "flags", y.requires_grad, z.requires_grad
    (y + z).sum().backward()
    yield "grad", x.grad


@case("engine.requires_grad_off_after_use")
def _(torch):
    x = leaf(torch)
    y = (x * x).sum()
    x.requires_grad_(False)
    yield "backward", attempt(lambda: y.backward())
    yield "grad", x.grad, x.requires_grad


@case("engine.second_order")
def _(torch):
    x = leaf(torch)
    g, = torch.autograd.grad((x ** 3).sum(), x, create_graph=True)
    h, = torch.autograd.grad(g.sum(), x, create_graph=True)
    t, = torch.autograd.grad(h.sum(), x)
    yield "orders", g, h, t


@case("engine.fourth_order")
def _(torch):
    x = torch.tensor([0.3, 1.2], dtype=torch.float64, requires_grad=True)
    y = x.sin()
    for order in range(1, 5):
        y, = torch.autograd.grad(y.sum(), x, create_graph=True)
        yield f"order {order}", y


@case("engine.mixed_second_order")
def _(torch):
    x, y = leaf(torch, (1.0, 2.0)), leaf(torch, (3.0, 4.0))
    gx, gy = torch.autograd.grad((x * x * y).sum(), [x, y], create_graph=True)
    yield "first", gx, gy
    yield "second", torch.autograd.grad((gx * gy).sum(), [x, y])


@case("engine.double_backward_into_grad")
def _(torch):
    x = leaf(torch)
    g, = torch.autograd.grad((x ** 3).sum(), x, create_graph=True)
    (g * g).sum().backward()
    yield "grad", x.grad


@case("engine.hessian_vector")
def _(torch):
    x = leaf(torch, dtype=torch.float64)
    g, = torch.autograd.grad((x.exp() * x).sum(), x, create_graph=True)
    v = torch.tensor([1.0, 0.5, -1.0], dtype=torch.float64)
    yield "hvp", torch.autograd.grad(g, x, v)


@case("engine.gradient_penalty")
def _(torch):
    w = torch.tensor([[0.5, -1.0], [2.0, 0.25]], dtype=torch.float64, requires_grad=True)
    x = torch.tensor([[1.0, 2.0]], dtype=torch.float64, requires_grad=True)
    g, = torch.autograd.grad(torch.tanh(x @ w).sum(), x, create_graph=True)
    ((g.norm(2, dim=1) - 1) ** 2).mean().backward()
    yield "grads", w.grad, x.grad


@case("engine.jvp_by_two_vjps")
def _(torch):
    x = leaf(torch, dtype=torch.float64)
    u = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    g, = torch.autograd.grad(x.sin(), x, u, create_graph=True)
    yield "jvp", torch.autograd.grad(g, u, torch.ones(3, dtype=torch.float64))


@case("engine.free.partial_graph_shared")
def _(torch):
    x = leaf(torch)
    y = x.exp()
    a, b = (y * 2).sum(), (y * y).sum()
    a.backward()
    yield "second root", raises(lambda: b.backward())
    yield "grad", x.grad


@case("engine.free.shared_without_saved")
def _(torch):
    x = leaf(torch)
    y = x * 2
    a, b = y.sum(), (y * y).sum()
    a.backward()
    yield "second root", attempt(lambda: b.backward())
    yield "grad", x.grad


@case("engine.free.retain_then_release")
def _(torch):
    x = leaf(torch)
    y = (x * x).sum()
    first = torch.autograd.grad(y, x, retain_graph=True)
    second = torch.autograd.grad(y, x)
    yield "grads", first, second
    yield "third", raises(lambda: torch.autograd.grad(y, x))


@case("engine.free.create_graph_retains")
def _(torch):
    x = leaf(torch)
    y = (x * x).sum()
    torch.autograd.grad(y, x, create_graph=True)
    yield "again", attempt(lambda: torch.autograd.grad(y, x))
    yield "then freed", raises(lambda: torch.autograd.grad(y, x))


@case("engine.inputs.only_these")
def _(torch):
    x, y = leaf(torch), leaf(torch)
    y.grad = torch.full((3,), 7.0)
    (x * y).sum().backward(inputs=[x])
    yield "grads", x.grad, y.grad


@case("engine.inputs.single_tensor")
def _(torch):
    x, y = leaf(torch), leaf(torch)
    (x * y).sum().backward(inputs=x)
    yield "grads", x.grad, y.grad


@case("engine.inputs.non_leaf_accumulates")
def _(torch):
    x = leaf(torch)
    y = x * 2
    z = (y * y).sum()
    z.backward(inputs=[y], retain_graph=True)
    z.backward(inputs=[y, x])
    yield "grads", x.grad, y.grad


@case("engine.inputs.hooks_off_the_path")
def _(torch):
    x, y = leaf(torch), leaf(torch)
    a, b = x * 2, y * 3
    seen = []
    a.register_hook(lambda g: seen.append("a"))
    b.register_hook(lambda g: seen.append("b"))
    y.register_hook(lambda g: seen.append("y"))
    (a * b).sum().backward(inputs=[x])
    yield "seen", seen
    yield "grads", x.grad, y.grad


@case("engine.inputs.gradient_edge")
def _(torch):
    x = leaf(torch)
    y = x * 2
    edge = torch.autograd.graph.get_gradient_edge(y)
    yield "edge", edge.node.name(), edge.output_nr
    yield "grad", torch.autograd.grad((y * y).sum(), [edge])
    out = (x * 3).sum()
    yield "as output", torch.autograd.grad(torch.autograd.graph.get_gradient_edge(out), x)


@case("engine.grad.non_leaf_and_leaf")
def _(torch):
    x = leaf(torch)
    y = x * 2
    z = y.exp()
    yield "all", torch.autograd.grad(z.sum(), [x, y, z])
    yield "no side effect", x.grad


@case("engine.grad.output_is_input")
def _(torch):
    x = leaf(torch)
    y = x * 2
    yield "self", torch.autograd.grad(y, y, torch.ones(3))
    yield "both", torch.autograd.grad(y, [y, x], torch.ones(3))


@case("engine.grad.several_outputs_of_one_node")
def _(torch):
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    a, b = x.unbind(0)
    yield "a", torch.autograd.grad(a.sum(), x, retain_graph=True)
    yield "both", torch.autograd.grad([a.sum(), (b * b).sum()], x)


@case("engine.grad.input_is_output_of_multi_node")
def _(torch):
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    y = x * 2
    a, b = y.unbind(0)
    yield "wrt a", torch.autograd.grad((a * b).sum(), [a, b])
    yield "output_nr", a.output_nr, b.output_nr, a.grad_fn is b.grad_fn


@case("engine.grad.values_and_indices")
def _(torch):
    x = leaf(torch, (3.0, 1.0, 2.0))
    values, indices = x.sort()
    yield "flags", values.requires_grad, indices.requires_grad
    yield "grad", torch.autograd.grad((values * torch.tensor([1.0, 10.0, 100.0])).sum(), x)


@case("engine.grad.older_version")
def _(torch):
    x = leaf(torch)
    y = x * 2
    z = y * y
    y.add_(1)
    yield "error", raises(lambda: torch.autograd.grad(z.sum(), x))


@case("engine.undefined_gradients")
def _(torch):
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    a, b = (x * 2).split(1)
    seen = []
    b.register_hook(lambda g: seen.append(g))
    a.sum().backward()
    yield "grad", x.grad
    yield "hook on the other output", seen


@case("engine.not_implemented")
def _(torch):
    x = leaf(torch)
    for name, fn in [("floor_divide", lambda: x // 2), ("heaviside", lambda: torch.heaviside(x, x)),
                     ("nextafter", lambda: torch.nextafter(x, x + 1))]:
        out = attempt(fn)
        yield name, out.requires_grad, raises(lambda out=out: out.sum().backward())


@case("engine.grad_mode_inside_backward")
def _(torch):
    x = leaf(torch)
    seen = []
    y = x * x
    y.register_hook(lambda g: seen.append(torch.is_grad_enabled()))
    torch.autograd.grad(y.sum(), x, retain_graph=True)
    torch.autograd.grad(y.sum(), x, create_graph=True)
    yield "modes", seen, torch.is_grad_enabled()


@case("engine.backward_under_no_grad")
def _(torch):
    x = leaf(torch)
    y = (x * x).sum()
    with torch.no_grad():
        y.backward()
        yield "flag", torch.is_grad_enabled()
    yield "grad", x.grad


@case("engine.create_graph_under_no_grad")
def _(torch):
    x = leaf(torch)
    y = (x * x).sum()
    with torch.no_grad():
        g, = torch.autograd.grad(y, x, create_graph=True)
    yield "grad", g


@case("engine.grad_of_a_parameter_like_loop")
def _(torch):
    w = torch.tensor([[0.5, -0.5], [1.0, 2.0]], requires_grad=True)
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    y = torch.tensor([[1.0], [0.0], [1.0]])
    for step in range(4):
        loss = ((x @ w).sum(1, keepdim=True) - y).pow(2).mean()
        loss.backward()
        with torch.no_grad():
            w -= 0.01 * w.grad
            w.grad.zero_()
        yield f"loss {step}", loss.item().__round__(4)
    yield "w", w.detach(), w.is_leaf, w.requires_grad


def twice(torch, expression):
    x = leaf(torch)
    y = evaluate(torch, expression, x=x)
    y.backward(torch.ones_like(y))
    yield "second", raises(lambda: y.backward(torch.ones_like(y)))


each("engine.free.by_op", twice, {
    "add": "x + x", "mul constant": "x * 2", "mul": "x * x", "exp": "x.exp()", "sum": "x.sum(0, keepdim=True)",
    "view": "x.view(3, 1)", "index": "x[1:]", "pow": "x ** 2", "neg": "-x", "div": "x / 2", "relu": "x.relu()",
    "cat": "torch.cat([x, x])", "where": "torch.where(x > 1, x, 0.0)", "clamp": "x.clamp(0, 2)", "mean": "x.mean()",
    "abs": "x.abs()", "sign": "x.sign()", "to double": "x.double()", "clone": "x.clone()",
    "stack": "torch.stack([x, x])",
    "advanced index": "x[torch.tensor([0, 0])]", "max dim": "x.max(0)[0]", "sort": "x.sort()[0]",
    "cumsum": "x.cumsum(0)",
    "masked_fill": "x.masked_fill(x > 1, 0.0)", "expand": "x.expand(2, 3)", "square": "x.square()",
    "sqrt": "x.sqrt()",
    "rsub": "1 - x", "transpose": "x.view(1, 3).t()", "pow zero": "x ** 0", "max": "x.max()", "flip": "x.flip(0)",
    "repeat": "x.repeat(2)", "tril": "x.view(1, 3).tril()", "gather": "x.gather(0, torch.tensor([0]))",
    "matmul constant": "torch.ones(2, 3) @ x", "add constant": "x + 1", "pow one": "x ** 1",
    "float mask": "x * (x > 1)",
})


def flags_of_first_order(torch, expression):
    x = leaf(torch)
    out = evaluate(torch, expression, x=x)
    g, = torch.autograd.grad(out, x, torch.ones_like(out), create_graph=True)
    yield "requires_grad", g.requires_grad, g.grad_fn is not None


def second_order_none(torch, expression):
    x = leaf(torch)
    out = evaluate(torch, expression, x=x)
    v = torch.ones_like(out).requires_grad_()
    g, = torch.autograd.grad(out, x, v, create_graph=True)
    yield "first", g
    yield "second", attempt(lambda: torch.autograd.grad(g.sum(), [x, v], allow_unused=True))


SMALL = {
    "add": "x + 1", "mul constant": "x * 3", "square": "x * x", "exp": "x.exp()", "relu": "x.relu()",
    "abs": "x.abs()",
    "sum": "x.sum() * 2", "index": "x[1:]", "sin": "x.sin()", "max": "x.max()", "clamp": "x.clamp(0, 2)",
    "sigmoid": "x.sigmoid()",
    "pow one": "x ** 1", "pow two": "x ** 2", "neg": "-x", "max dim": "x.max(0)[0]", "cumsum": "x.cumsum(0)",
    "norm": "x.norm()",
    "leaky_relu": "F.leaky_relu(x)", "maximum": "torch.maximum(x, torch.ones(3))", "div": "x / 2",
    "reciprocal": "1 / x",
    "where": "torch.where(x > 1, x, 0.0)", "cat": "torch.cat([x, x])", "mean": "x.mean()", "sort": "x.sort()[0]",
    "tanh": "x.tanh()", "softmax": "x.softmax(0)", "view": "x.view(3, 1)", "double": "x.double()",
    "floor": "x.floor()",
    "masked_fill": "x.masked_fill(x > 1, 0.0)", "prod": "x.prod()", "dot": "x @ x", "var": "x.var()",
    "softplus": "F.softplus(x)",
}
each("engine.first_order_flags", flags_of_first_order, SMALL)
each("engine.second_order_none", second_order_none, SMALL)
