"""Views made in one mode and written in another; in-place view methods; multi-views."""

from compat_matrix.case import attempt, case, raises
from compat_matrix.probes import evaluate

MAKERS = {
    "slice": "b[:2]", "view": "b.view(4)", "unbind": "b.unbind(0)[0]", "split": "b.split(2)[0]",
    "chunk": "b.chunk(2)[0]", "detach": "b.detach()", "view of unbind": "b.view(2, 2).unbind(0)[0].view(2)",
}
WRITES = {
    "mul_": "v.mul_(2)", "setitem": "v.__setitem__(Ellipsis, 1.0)", "squeeze_": "v.squeeze_()",
    "unsqueeze_": "v.unsqueeze_(0)", "t_": "v.t_()", "transpose_": "v.transpose_(0, 0)",
}


def grid(torch, made, written, base, maker, write):
    """Make a view of a leaf or non-leaf in a mode, write to it in a mode."""
    x = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=base != "constant")
    b = x * 1 if base == "non-leaf" else x
    with mode(torch, made):
        v = evaluate(torch, maker, b=b)
    yield "made", v.requires_grad, v._is_view(), v.grad_fn.name() if v.grad_fn else None

    def go():
        with mode(torch, written):
            evaluate(torch, write, v=v)
    yield "written", raises(go)
    yield "flags", attempt(lambda: v.requires_grad), attempt(lambda: v.is_leaf)
    yield "node", attempt(lambda: v.grad_fn.name() if v.grad_fn else None)
    yield "values", b.detach().clone(), attempt(lambda: v.detach().clone())
    yield "versions", v._version, b._version


def mode(torch, name):
    return torch.enable_grad() if name == "grad" else torch.no_grad()


for base in ("leaf", "non-leaf", "constant"):
    for made in ("grad", "no_grad"):
        for written in ("grad", "no_grad"):
            for name, maker in MAKERS.items():
                case(f"views.modes.{base}.{made}.{written}.{name}", made=made, written=written,
                     base=base, maker=maker, write=WRITES["mul_"])(grid)
for base in ("leaf", "non-leaf", "constant"):
    for made in ("grad", "no_grad"):
        for name in ("setitem", "squeeze_", "unsqueeze_", "t_", "transpose_"):
            for maker in ("slice", "unbind"):
                case(f"views.modes.{base}.{made}.{name}.{maker}", made=made, written="grad",
                     base=base, maker=MAKERS[maker], write=WRITES[name])(grid)


@case("views.modes.write_with_a_tensor_that_requires_grad")
def _(torch):
    w = torch.ones(2, requires_grad=True)
    b = torch.zeros(4)
    with torch.no_grad():
        v = b[:2]
    yield "view made in no_grad", raises(lambda: v.add_(w))
    with torch.no_grad():
        v.add_(w)
    yield "written in no_grad", b, b.requires_grad
    u = b[2:]
    u.add_(w)
    yield "ordinary", b.requires_grad, u.grad_fn.name()


@case("views.modes.view_of_view_in_no_grad")
def _(torch):
    x = torch.ones(4, requires_grad=True)
    y = x * 1
    v = y[:3]
    with torch.no_grad():
        w = v[1:]
    yield "error", raises(lambda: w.mul_(2))
    with torch.no_grad():
        w.mul_(2)
    yield "values", y.detach(), v.detach().clone()


@case("views.modes.multi_view_in_no_grad")
def _(torch):
    x = torch.ones(2, 2, requires_grad=True)
    with torch.no_grad():
        a, _b = x.unbind(0)
        a.zero_()
        x[1].fill_(5)
        for row in x:
            row += 1
    yield "leaf", x.detach(), x.requires_grad, x.is_leaf
    yield "outside", raises(lambda: a.add_(1))


@case("views.modes.base_written_in_no_grad")
def _(torch):
    x = torch.ones(4, requires_grad=True)
    y = x * 1
    v = y[:2]
    with torch.no_grad():
        y.mul_(5)
    yield "nodes", y.grad_fn.name(), v.grad_fn.name(), v._version
    v.sum().backward()
    yield "grad", x.grad, v.detach().clone()


@case("views.modes.view_written_in_no_grad")
def _(torch):
    x = torch.ones(4, requires_grad=True)
    y = x * 1
    v = y[:2]
    with torch.no_grad():
        v.mul_(5)
    yield "nodes", y.grad_fn.name(), v.grad_fn.name()
    (y * 2).sum().backward()
    yield "grad", x.grad, y.detach()


@case("views.modes.detached_view_written")
def _(torch):
    x = torch.ones(4, requires_grad=True)
    y = x * 1
    d = y.detach()
    d[:2] = 7
    yield "values", y.detach(), y._version, d._version, y.grad_fn.name()
    d.requires_grad_()
    yield "detached leaf", raises(lambda: d.mul_(2)), d.is_leaf


@case("views.modes.view_of_leaf_made_in_no_grad_is_a_leaf")
def _(torch):
    x = torch.ones(4, requires_grad=True)
    with torch.no_grad():
        v, whole, same, row = x[:2], x.view(4), x.view_as(x), x.unbind(0)[0]
        moved, wide, copied = x.expand(2, 4), x.unsqueeze(0), x.reshape(2, 2)
    for name, t in (("slice", v), ("view", whole), ("view_as", same), ("unbind", row), ("expand", moved),
                    ("unsqueeze", wide), ("reshape", copied), ("detach", x.detach()), ("data", x.data)):
        yield name, t.requires_grad, t.is_leaf, t.grad_fn, t._is_view()
    (v * 3).sum().backward()
    yield "grads", v.grad, x.grad
    with torch.no_grad():
        yield "ordinary results", (x * 1).requires_grad, x.clone().requires_grad, x[torch.tensor([0])].requires_grad
        yield "of a view", v[:1].requires_grad, v.detach().requires_grad


@case("views.modes.no_grad_view_of_non_leaf")
def _(torch):
    x = torch.ones(4, requires_grad=True)
    y = x * 2
    with torch.no_grad():
        v = y[:2]
    yield "flags", v.requires_grad, v.is_leaf, v.grad_fn
    yield "used", attempt(lambda: (v * 3).sum().backward())
    yield "grads", x.grad, attempt(lambda: v.grad)


@case("views.modes.no_grad_view_in_a_training_step")
def _(torch):
    w = torch.ones(2, 2, requires_grad=True)
    (w * 2).sum().backward()
    with torch.no_grad():
        w[0] -= w.grad[0]
        w.view(4)[1:3].mul_(5)
        for row in w.unbind(0):
            row.add_(1)
    yield "w", w.detach(), w.requires_grad, w.is_leaf, w._version
    (w * w).sum().backward()
    yield "grad", w.grad
