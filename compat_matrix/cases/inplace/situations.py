"""In-place operations in context: versions, messages, data, out=, leaves."""

from compat_matrix.case import attempt, case, raises
from compat_matrix.cases.inplace import leaf
from compat_matrix.probes import each, evaluate


@case("inplace.operators")
def _(torch):
    t = torch.tensor([1.0, 2.0, 3.0])
    same = t
    t += 1
    t *= 2
    t -= 0.5
    t /= 2
    t **= 2
    yield "value", t, t is same, t._version
    t //= 2
    t %= 2
    yield "floor", t
    n = torch.tensor([1, 2, 3])
    n <<= 1
    n |= 1
    n &= 7
    n ^= 2
    n >>= 1
    yield "integers", n
    m = torch.ones(2, 2)
    same = m
    m @= torch.ones(2, 2)
    yield "matmul", m, m is same


@case("inplace.leaf_under_no_grad")
def _(torch):
    x = leaf(torch)
    with torch.no_grad():
        x.add_(1)
        x[0] = 10
        x *= 2
    yield "value", x.detach(), x.requires_grad, x.is_leaf, x._version
    (x * x).sum().backward()
    yield "grad", x.grad


@case("inplace.leaf_through_data")
def _(torch):
    x = leaf(torch)
    x.data.add_(1)
    x.data[0] = 10
    yield "value", x.detach(), x._version
    (x * x).sum().backward()
    yield "grad", x.grad


@case("inplace.leaf_without_grad_becomes_non_leaf")
def _(torch):
    t, x = torch.zeros(3), leaf(torch)
    t.add_(x)
    yield "flags", t.requires_grad, t.is_leaf, t.grad_fn.name()
    t.mul_(x)
    t.sum().backward()
    yield "grad", x.grad


@case("inplace.message.names_the_version")
def _(torch):
    x = leaf(torch)
    y = x.exp()
    y.add_(1).add_(1)
    yield "exp", raises(lambda: y.sum().backward())
    a, b = leaf(torch), torch.ones(3)
    c = a * b
    b.mul_(2)
    yield "constant", raises(lambda: c.sum().backward())
    w = torch.ones(2, 2, dtype=torch.float64, requires_grad=True)
    out = torch.ones(1, 2, dtype=torch.float64) @ w.t()
    with torch.no_grad():
        w.add_(1)
    yield "weight", attempt(lambda: out.sum().backward())


@case("inplace.message.through_detach")
def _(torch):
    x = leaf(torch)
    y = x * 1
    z = y * y
    y.detach().zero_()
    yield "detach", raises(lambda: z.sum().backward())
    y = x * 1
    z = y * y
    with torch.no_grad():
        y.zero_()
    yield "no_grad", raises(lambda: z.sum().backward())
    y = x * 1
    z = y * y
    y[0] = 0
    yield "setitem", raises(lambda: z.sum().backward())


@case("inplace.only_needed_values_are_saved")
def _(torch):
    x, c = leaf(torch), torch.ones(3)
    y = x * 1
    z = y * c
    y.add_(1)
    yield "factor not needed", attempt(lambda: z.sum().backward()), x.grad
    c2 = torch.ones(3)
    y2 = x * c2
    c2.add_(1)
    yield "factor needed", raises(lambda: y2.sum().backward())


@case("inplace.older_readers_keep_the_old_value")
def _(torch):
    x = leaf(torch)
    y = x * 2
    z = y + 1
    y.mul_(10)
    yield "z", z.detach(), y.detach()
    (z + y).sum().backward()
    yield "grad", x.grad


@case("inplace.chain")
def _(torch):
    x = leaf(torch, dtype=torch.float64)
    y = x.clone()
    y.mul_(2).add_(1).pow_(2).sub_(x)
    yield "value", y.detach(), y._version, y.grad_fn.name()
    y.sum().backward()
    yield "grad", x.grad


@case("inplace.second_order")
def _(torch):
    x = leaf(torch, dtype=torch.float64)
    y = x.clone()
    y.mul_(x).mul_(x)
    g, = torch.autograd.grad(y.sum(), x, create_graph=True)
    yield "first", g
    yield "second", torch.autograd.grad(g.sum(), x)


@case("inplace.broadcast")
def _(torch):
    t = torch.zeros(2, 3)
    t.add_(torch.tensor([1.0, 2.0, 3.0]))
    yield "value", t
    yield "self never grows", raises(lambda: torch.zeros(3).add_(torch.ones(2, 3)))
    yield "mismatch", raises(lambda: torch.zeros(3).add_(torch.ones(2)))
    x = leaf(torch)
    t = torch.ones(2, 3)
    t.mul_(x)
    t.sum().backward()
    yield "grad", x.grad


@case("inplace.copy_converts")
def _(torch):
    t = torch.zeros(3)
    t.copy_(torch.tensor([1, 2, 3]))
    yield "int to float", t
    n = torch.zeros(3, dtype=torch.int64)
    n.copy_(torch.tensor([1.9, -1.9, 2.0]))
    yield "float to int", n
    x = leaf(torch, dtype=torch.float64)
    t = torch.zeros(2, 3)
    t.copy_(x)
    t.sum().backward()
    yield "grad", x.grad, t.grad_fn.name()
    yield "wrong shape", raises(lambda: torch.zeros(2).copy_(torch.ones(3)))


@case("inplace.result_dtype")
def _(torch):
    n = torch.tensor([1, 2, 3])
    yield "int mul float", raises(lambda: n.mul_(1.5))
    yield "int add float tensor", raises(lambda: n.add_(torch.tensor([1.5, 1.5, 1.5])))
    yield "int div", raises(lambda: n.div_(2))
    yield "bool add", raises(lambda: torch.tensor([True]).add_(1))
    yield "float add complex", raises(lambda: torch.ones(2).add_(1j))
    f = torch.ones(2)
    f.add_(torch.ones(2, dtype=torch.float64))
    yield "float32 stays", f
    n.add_(True)
    yield "int add bool", n


@case("inplace.requires_grad_after")
def _(torch):
    t = torch.zeros(2)
    t.add_(1).requires_grad_()
    yield "leaf", t.is_leaf, t.requires_grad, t._version
    t2 = torch.zeros(2, requires_grad=True)
    with torch.no_grad():
        yield "same object", t2.add_(1) is t2


@case("inplace.detach_")
def _(torch):
    x = leaf(torch)
    y = x * 2
    y.detach_()
    yield "flags", y.requires_grad, y.grad_fn, y.is_leaf
    yield "view", raises(lambda: (x * 2).view(3).detach_())
    z = x * 2
    v = z[:2]
    z.detach_()
    yield "view kept", v.requires_grad


@case("inplace.data_shares")
def _(torch):
    x = leaf(torch)
    y = x * 1
    z = (y * y).sum()
    d = y.data
    d.mul_(10)
    yield "value", y.detach(), y._version, d._version
    yield "flags", d.requires_grad, d.grad_fn, d.is_leaf
    yield "pointer", d.data_ptr() == y.data_ptr()
    yield "passes unnoticed", attempt(lambda: z.backward())


@case("inplace.data_assignment")
def _(torch):
    x = leaf(torch)
    same = x
    x.data = torch.tensor([5.0, 6.0])
    yield "value", x.detach(), x is same, x.shape, x.requires_grad, x.is_leaf
    (x * 2).sum().backward()
    yield "grad", x.grad
    def put(value):
        x.data = value
    yield "none", raises(lambda: put(None))
    yield "int", raises(lambda: put(torch.tensor([1, 2])))
    def drop():
        del x.data
    yield "delete", raises(drop)


@case("inplace.version_counter")
def _(torch):
    t = torch.zeros(3)
    seen = [t._version]
    for step in (lambda: t.add_(1), lambda: t.view(3).mul_(2), lambda: t[0].fill_(5), lambda: t.__setitem__(1, 2.0),
                 lambda: t + 1, lambda: t.detach().add_(1), lambda: t.data.add_(1), lambda: t.copy_(t.clone()),
                 lambda: t.requires_grad_(False), lambda: torch.add(t, 1, out=t)):
        step()
        seen.append(t._version)
    yield "versions", seen
    def put():
        t._version = 3
    yield "read only", raises(put)


@case("inplace.out_argument")
def _(torch):
    out = torch.zeros(3)
    back = torch.add(torch.ones(3), 2, out=out)
    yield "value", out, back is out, out._version
    torch.mul(torch.ones(3), torch.tensor([1.0, 2.0, 3.0]), out=out)
    yield "again", out
    yield "wrong dtype", raises(lambda: torch.add(torch.ones(2), 1.5, out=torch.zeros(2, dtype=torch.int64)))
    wide = torch.zeros(2, dtype=torch.float64)
    torch.add(torch.ones(2), 1, out=wide)
    yield "wider", wide
    empty = torch.empty(0)
    torch.exp(torch.zeros(2, 2), out=empty)
    yield "resized", empty


@case("inplace.out_argument.grad")
def _(torch):
    x, out = leaf(torch), torch.zeros(3)
    yield "operand", raises(lambda: torch.add(x, 1, out=out))
    yield "result", raises(lambda: torch.add(torch.ones(3), 1, out=x))
    yield "mul", raises(lambda: torch.mul(x, x, out=out))
    with torch.no_grad():
        torch.add(x, 1, out=out)
    yield "under no_grad", out


@case("inplace.out_argument.several")
def _(torch):
    values, indices = torch.empty(0), torch.empty(0, dtype=torch.int64)
    torch.max(torch.tensor([[1.0, 3.0], [5.0, 2.0]]), 1, out=(values, indices))
    yield "max", values, indices
    torch.sort(torch.tensor([3.0, 1.0]), out=(values, indices))
    yield "sort", values, indices
    a = torch.empty(4)
    torch.cat([torch.ones(2), torch.zeros(2)], out=a)
    yield "cat", a


@case("inplace.random_fills")
def _(torch):
    t = torch.zeros(3)
    for name, op in [("uniform_", lambda: t.uniform_()), ("normal_", lambda: t.normal_()),
        ("bernoulli_", lambda: t.bernoulli_(0.5)),
                     ("exponential_", lambda: t.exponential_())]:
        before = t._version
        yield name, op() is t, t._version - before, t.requires_grad


@case("inplace.overlap")
def _(torch):
    t = torch.arange(4.0)
    e = torch.zeros(1).expand(3)
    yield "expanded", raises(lambda: e.add_(1))
    yield "expanded fill", raises(lambda: e.fill_(1))
    yield "expanded setitem", raises(lambda: e.__setitem__(0, 1.0))
    yield "slices", raises(lambda: t[1:].copy_(t[:-1]))
    yield "slices add", raises(lambda: t[1:].add_(t[:-1]))


@case("inplace.swap_views_inside_base")
def _(torch):
    t = torch.arange(4.0)
    t[0], t[3] = t[3].clone(), t[0].clone()
    yield "value", t


@case("inplace.clamp_relu_on_intermediate")
def _(torch):
    x = leaf(torch, (-1.0, 0.0, 2.0))
    y = (x * 2).relu_()
    yield "node", y.grad_fn.name()
    y.sum().backward()
    yield "grad", x.grad


@case("inplace.in_loop")
def _(torch):
    x = leaf(torch, (0.5, 0.25))
    h = torch.zeros(2)
    for _ in range(3):
        h.mul_(0.5).add_(x)
    h.sum().backward()
    yield "grad", x.grad
    acc = torch.zeros(())
    for i in range(3):
        acc += (x[0] * i)
    yield "accumulator", acc, acc.grad_fn.name()


@case("inplace.needs_grad_through_no_grad_buffer")
def _(torch):
    buf = torch.zeros(3)
    x = leaf(torch)
    buf[1] = x[2] * 5
    yield "buffer", buf, buf.grad_fn.name()
    buf.sum().backward()
    yield "grad", x.grad


@case("inplace.set_and_resize")
def _(torch):
    t = torch.arange(4.0)
    t.resize_(2, 2)
    yield "resized", t
    yield "requires grad", raises(lambda: leaf(torch).resize_(2))
    u = torch.zeros(2)
    u.set_(torch.arange(3.0))
    yield "set", u


@case("inplace.increment_version")
def _(torch):
    t = torch.zeros(2)
    torch.autograd.graph.increment_version(t)
    torch.autograd.graph.increment_version([t, t])
    yield "version", t._version
    x = leaf(torch)
    y = x * 1
    z = y * y
    torch.autograd.graph.increment_version(y)
    yield "error", raises(lambda: z.sum().backward())


@case("inplace.transpositions")
def _(torch):
    for name, op in [("t_", lambda t: t.t_()), ("transpose_", lambda t: t.transpose_(0, 1)),
        ("squeeze_", lambda t: t.squeeze_()),
                     ("unsqueeze_", lambda t: t.unsqueeze_(0)), ("swapaxes_", lambda t: t.swapaxes_(0, 1))]:
        t = torch.arange(3.0).reshape(1, 3)
        back = op(t)
        yield name, t, back is t, t.stride(), t._version


@case("inplace.where_style_mask_updates")
def _(torch):
    x = leaf(torch, (-1.0, 2.0, -3.0))
    y = x * 2
    y[y < 0] = 0
    yield "value", y.detach(), y.grad_fn.name()
    y.sum().backward()
    yield "grad", x.grad


@case("inplace.integer_and_bool")
def _(torch):
    n = torch.tensor([5, -3, 7])
    n.clamp_(0, 6)
    yield "clamp", n
    n.bitwise_and_(4)
    yield "and", n
    b = torch.tensor([True, False])
    b.logical_not_()
    yield "not", b
    b ^= True
    yield "xor", b
    n.eq_(4)
    yield "eq_", n
    f = torch.tensor([1.0, 2.0])
    f.gt_(1.5)
    yield "gt_", f


@case("inplace.numpy_memory")
def _(torch):
    t = torch.zeros(3)
    a = t.numpy()
    t.add_(1)
    yield "tensor write seen in array", a
    yield "requires grad", raises(lambda: leaf(torch).numpy())


def refused_on_leaf(torch, expression):
    x = leaf(torch)
    yield "error", raises(lambda: evaluate(torch, expression, x=x))
    yield "kept", x.detach(), x._version, x.is_leaf


each("inplace.leaf", refused_on_leaf, {
    "add_": "x.add_(1)", "mul_": "x.mul_(2)", "zero_": "x.zero_()", "fill_": "x.fill_(1)",
    "copy_": "x.copy_(torch.ones(3))",
    "exp_": "x.exp_()", "uniform_": "x.uniform_()", "clamp_": "x.clamp_(0, 1)", "setitem": "x.__setitem__(0, 1.0)",
    "setitem slice": "x.__setitem__(slice(0, 2), 1.0)", "iadd": "x.__iadd__(1)", "view add_": "x.view(3).add_(1)",
    "slice add_": "x[1:].add_(1)", "unsqueeze mul_": "x.unsqueeze(0).mul_(1)", "squeeze_": "x.squeeze_()",
    "index_fill_": "x.index_fill_(0, torch.tensor([0]), 1.0)", "unsqueeze_": "x.unsqueeze_(0)",
    "detach_": "x.detach_()",
    "view of view": "x[1:][0].mul_(2)", "mask setitem": "x.__setitem__(x > 1, 0.0)",
})


@case("inplace.detach.of_saved")
def _(torch):
    def run(f, then=lambda a: None):
        x = torch.tensor(1.0, requires_grad=True)
        a = x.clone()
        b = f(a)
        a.detach_()
        then(a)
        b.backward()
        return x.grad

    yield "input", attempt(lambda: run(torch.sin))
    yield "asked again", attempt(lambda: run(torch.sin, lambda a: a.requires_grad_()))
    yield "looked at", attempt(lambda: run(lambda a: [b := a.sin(), b.item()][0]))
    yield "result of the next", run(torch.exp), run(lambda a: a * 2)
    yield "through a view", run(lambda a: a.view(()).sin())
    x = torch.tensor(1.0, requires_grad=True)
    e = x.exp()
    f = e * 3
    e.detach_()
    f.backward()
    yield "own result", x.grad, e.requires_grad
    h = torch.zeros(2)
    w = torch.ones(2, requires_grad=True)
    for _ in range(3):
        h = (h + w).tanh()
        h.sum().backward()
        h.detach_()
    yield "truncated", w.grad


@case("inplace.activations.negative_slope")
def _(torch):
    f = torch.nn.functional

    def run(call):
        x = torch.tensor([-1.0, 0.5], requires_grad=True)
        y = call(x.clone())
        y.backward(torch.ones(2))
        return y.detach(), x.grad

    for name, call in (("leaky", lambda x, a: f.leaky_relu_(x, a)), ("elu", lambda x, a: f.elu_(x, a)), ("celu", lambda x, a: f.celu_(x, a)),
                       ("rrelu", lambda x, a: f.rrelu_(x, a, 1.0)), ("flag", lambda x, a: f.leaky_relu(x, a, inplace=True)), ("out of place", f.leaky_relu)):
        for a in (-2.0, -2, -1.0, 0.5):
            yield f"{name} {a}", attempt(lambda call=call, a=a: run(lambda x: call(x, a)))


@case("inplace.resize.versions")
def _(torch):
    x = torch.ones(1)
    seen = []
    for size in ((1, 2), (3,), (3,), (1, 3), (2,)):
        x.resize_(size)
        seen.append(x._version)
    y = torch.ones(3)
    x.resize_as_(y)
    x.resize_as_(y)
    yield "versions", seen, x._version
    a = torch.ones(4, requires_grad=True)
    b = a * 2
    c = b * b
    b.detach().resize_(2, 2)
    yield "saved", attempt(lambda: c.sum().backward())
