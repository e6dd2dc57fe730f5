"""Arguments that a function of torch.func writes to: what they hold when its forward mode derivative is done, under maps too."""

from compat_matrix.case import case


def _of(torch):
    return torch.tensor([1.0, 2.0, 3.0]), torch.tensor([4.0, 5.0]), torch.tensor([6.0, 7.0])


def _put(x, y):
    x[:2] = y
    return (x**2).sum()


def _copied(x, y):
    x.copy_(y.repeat(2)[:3])
    return (x**2).sum()


def _scaled(x, y):
    x.mul_(y.sum())
    return (x**2).sum()


def _found(f):
    try:
        return f()
    except RuntimeError as e:
        return str(e).split(".")[0]


WRITES = {"put": _put, "copied": _copied, "scaled": _scaled}


def _jacobians(torch, write):
    f = torch.func
    x, y, z = _of(torch)
    yield "one", f.jacfwd(write, argnums=1)(x, y), x, x + 1, f.jacfwd(torch.sin)(x)
    x, y, z = _of(torch)
    yield "two", f.jacfwd(lambda x, y, z: write(x, y) + z.sum(), argnums=(1, 2))(x, y, z), x
    x, y, z = _of(torch)
    yield "itself", f.jacfwd(write, argnums=(0, 1))(x, y), x
    x, y, z = _of(torch)
    yield "hessian", f.hessian(write, argnums=1)(x, y), x
    x, y, z = _of(torch)
    yield "reverse", f.jacrev(write, argnums=1)(x, y), x
    x, y, z = _of(torch)
    yield "jvp", f.jvp(lambda x, y: write(x, y), (x, y), (torch.ones(3), torch.ones(2))), x


def _maps(torch, write):
    f = torch.func
    x, y, z = _of(torch)
    yield "tangent of one", _found(lambda: f.vmap(lambda t: f.jvp(write, (x, y), (torch.ones(3), t))[1])(torch.eye(2))), x
    x, y, z = _of(torch)
    yield "tangents of both", f.vmap(lambda t, u: f.jvp(write, (x, y), (u, t))[1])(torch.eye(2), torch.ones(2, 3)), x
    x, y, z = _of(torch)
    yield "primal", _found(lambda: f.vmap(lambda y: f.jvp(write, (x, y), (torch.ones(3), torch.ones(2)))[1])(torch.eye(2))), x


for _name, _write in WRITES.items():
    case(f"arguments_written_by_jacobians.{_name}")(lambda torch, write=_write: _jacobians(torch, write))
    case(f"arguments_written_by_jacobians.{_name}.mapped")(lambda torch, write=_write: _maps(torch, write))


@case("arguments_written_by_jacobians.of_views")
def _(torch):
    f, y = torch.func, torch.tensor([4.0, 5.0])
    base = torch.tensor([1.0, 2.0, 3.0, 9.0])
    x = base[:3]
    yield "a view", f.jacfwd(_put, argnums=1)(x, y), x, base, base + x[0]
    base = torch.tensor([1.0, 2.0, 3.0, 9.0])
    x = base[:3]
    yield "a view itself", f.jacfwd(_put, argnums=(0, 1))(x, y), x, base
    x = torch.tensor([1.0, 2.0, 3.0])
    view = x[1:]
    yield "its views", f.jacfwd(_put, argnums=1)(x, y), x, view, x._version, view._version


@case("arguments_written_by_jacobians.differentiated_again")
def _(torch):
    f, y = torch.func, torch.tensor([4.0, 5.0])
    ones = torch.ones(3), torch.ones(2)

    def outer(x, y):
        x = x.clone()
        r = f.jacfwd(_put, argnums=(0, 1))(x, y)
        return r[0].sum() + r[1].sum() + (x**2).sum()

    yield "grad of jacfwd", f.grad(outer, argnums=(0, 1))(torch.tensor([1.0, 2.0, 3.0]), y)
    x, w = torch.tensor([1.0, 2.0, 3.0]), y.clone().requires_grad_()
    f.jvp(_put, (x, w), ones)
    yield "written with a graph", x.requires_grad, torch.autograd.grad(x.sum(), w)
    x, t = torch.tensor([1.0, 2.0, 3.0]), torch.ones(3)
    f.jvp(_put, (x, y), (t, torch.tensor([7.0, 8.0])))
    yield "tangent", x, t, x._version, t._version
