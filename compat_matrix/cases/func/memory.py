"""torch.func and memory: what a map or a derivative shares with the tensors that it was given."""

from compat_matrix.case import attempt, case


def _rows(torch, **kwargs):
    return torch.arange(6.0, **kwargs).reshape(2, 3)


_VIEWS = {
    "itself": (lambda a: a, {}),
    "itself, moved": (lambda a: a, {"out_dims": 1}),
    "slice": (lambda a: a[1:], {}),
    "transposed": (lambda a: a.view(3, 1).transpose(0, 1), {}),
    "two": (lambda a: (a[0], a[1:]), {}),
    "copy": (lambda a: a.clone(), {}),
    "expanded": (lambda a: a.expand(2, 3), {}),
    "sum": (lambda a: a + 0, {}),
    "slice of slice": (lambda a: a[1:][0], {}),
    "columns": (lambda a: a.view(-1), {"in_dims": 1, "out_dims": 1}),
}


@case("func.memory.results_of_maps")
def _(torch):
    """A result of a map that is a view of an argument shares its memory."""
    for name, (f, dims) in _VIEWS.items():
        y = _rows(torch, requires_grad=True) * 1
        out = torch.func.vmap(f, **dims)(y)
        outs = out if isinstance(out, tuple) else (out,)
        yield name, [(r is y, r._is_view(), r._base is y, r.stride(), r.storage_offset()) for r in outs]
        yield f"{name}, written", attempt(lambda r=outs[0]: r.mul_(2)), y, [r.detach().clone() for r in outs]
        yield f"{name}, nodes", y.grad_fn.name(), outs[0].grad_fn.name() if name in ("slice", "copy", "sum") else None


@case("func.memory.maps_and_later_writes")
def _(torch):
    vmap, x = torch.func.vmap, _rows(torch)
    r = vmap(lambda a: a[1:])(x)
    x.mul_(10)
    yield "the argument is written later", r, r._version, x._version
    leaf = _rows(torch, requires_grad=True)
    b = leaf * 1
    r = vmap(lambda a: a[1:])(b)
    r.mul_(10)
    b.sum().backward()
    yield "gradient", leaf.grad, b, r.grad_fn.name(), b.grad_fn.name()
    x = torch.zeros(2, 3)
    r = vmap(lambda a: a.add_(1))(x)
    r.mul_(7)
    yield "a write inside and one after", r, x, r is x
    deep = torch.arange(12.0).reshape(2, 2, 3)
    r = vmap(vmap(lambda a: a[1:]))(deep)
    r.mul_(3)
    yield "two maps", r, deep, r._base is deep
    same = torch.arange(3.0)
    r = vmap(lambda a: same)(torch.ones(2))
    yield "the same for all", r, r._base is same, r.stride(), attempt(lambda: r.mul_(2))


@case("func.memory.arguments_of_jvp")
def _(torch):
    """What a function writes to a dual tensor is written to primal and tangent."""
    jvp, vmap = torch.func.jvp, torch.func.vmap
    x, t = torch.tensor([1.0, 2.0, 3.0]), torch.ones(3)
    yield "scaled", jvp(lambda a: a.mul_(2), (x,), (t,)), x, t
    x, t, y, u = torch.arange(6.0).reshape(3, 2).clone(), torch.ones(3, 2), torch.full((3, 2), 5.0), torch.full((3, 2), 7.0)
    yield "mapped", vmap(lambda *a: jvp(lambda p, q: p.copy_(q), a[:2], a[2:]), in_dims=1)(x, y, t, u), x, t

    def through_view(p, q):
        v = p[:, ::2]
        v.copy_(q)
        return v, p

    x, t = torch.arange(24.0).reshape(2, 6, 2).clone(), torch.ones(2, 6, 2)
    y, u = torch.full((2, 2, 3), 5.0), torch.full((2, 2, 3), 7.0)
    yield "through a view", vmap(lambda *a: jvp(through_view, a[:2], a[2:]), in_dims=(2, 1, 2, 1))(x, y, t, u), x, t

    def through_base(p, q):
        v = p[0, ::2]
        p.copy_(q)
        return p, v

    x, t = torch.arange(24.0).reshape(2, 2, 6).clone(), torch.ones(2, 6, 2)
    y, u = torch.full((2, 2, 6), 5.0), torch.full((2, 2, 6), 7.0)
    yield "through its base", vmap(lambda *a: jvp(through_base, a[:2], a[2:]), in_dims=(1, 1, 2, 1))(x, y, t, u), x


def _scale(x, y):
    y.mul_(x)
    return y.sum()


@case("func.memory.other_arguments")
def _(torch):
    """What a function writes to an argument that is not differentiated stays there, without the history of the level."""
    x = torch.tensor([1.0, 2.0, 3.0])
    for name in ("grad", "grad_and_value", "jacrev"):
        go, y = getattr(torch.func, name)(_scale), torch.ones(3)
        yield name, attempt(lambda go=go, y=y: go(x, y)), y, y.requires_grad, y._version
        b = torch.ones(2, 3)
        y = b[0]
        yield f"{name} view", attempt(lambda go=go, y=y: go(x, y)), y, b, b.requires_grad
        xs, y = x.clone().requires_grad_(), torch.ones(3)
        g = attempt(lambda go=go, y=y, xs=xs: go(xs, y))
        yield f"{name} differentiated outside", g, y, y.requires_grad

    def shows(a, y):
        y.mul_(a)
        return y

    y = torch.ones(3)
    yield "vjp", attempt(lambda: torch.func.vjp(shows, x, y)), attempt(lambda: torch.func.jacrev(shows)(x, y)), y, y.requires_grad
    c = torch.zeros(3)
    yield "captured", attempt(lambda: torch.func.grad(lambda a: (c[0].add_(a.sum()), a.sum())[1])(x)), c
