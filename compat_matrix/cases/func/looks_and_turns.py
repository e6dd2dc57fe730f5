"""Looks at tensors inside maps, dims that change in place there, running statistics beside mapped weights, derivatives of derivatives of two solvers."""

import warnings

from compat_matrix.case import case, raises


@case("func.looks_and_turns.looks")
def _(torch):
    vmap, grad, jvp, x = torch.func.vmap, torch.func.grad, torch.func.jvp, torch.tensor([1.0, 2.0])
    for name, look in (("item", lambda w: w.detach().item()), ("bool", bool), ("choice", lambda w: 1 if w > 0 else 2)):
        yield name, raises(lambda: vmap(lambda s: s * look(s))(x))
        yield f"{name} in a gradient", raises(lambda: vmap(grad(lambda w: w * look(w)))(x))
        yield f"{name} in jvp", raises(lambda: vmap(lambda s: jvp(lambda w: w * look(w), (s,), (s,))[1])(x))
        yield f"{name} in a map in a gradient", raises(lambda: grad(lambda x: vmap(lambda w: w * look(w))(x).sum())(x))
    yield "tangent alone", vmap(lambda s: jvp(lambda w: w * 3 if w.sum() > 0 else -w, (x,), (s,))[1])(torch.eye(2))


@case("func.looks_and_turns.turns")
def _(torch):
    vmap = torch.func.vmap
    turns = (lambda a: a.transpose_(0, 1), lambda a: a.transpose_(-1, -2).mul_(2), lambda a: a.t_(), lambda a: a.unsqueeze_(0), lambda a: a.unsqueeze_(-1),
             lambda a: a.unsqueeze_(1).add_(1).squeeze_(1))
    for i, turn in enumerate(turns):
        x = torch.arange(12.0).reshape(2, 2, 3)
        yield f"turn {i}", vmap(lambda a, turn=turn: turn(a) * 2)(x)
        yield f"outside {i}", x
    y = torch.arange(4.0).reshape(2, 1, 2, 1)
    yield "squeezed", vmap(lambda a: a.squeeze_())(y), y.shape


@case("func.looks_and_turns.statistics")
def _(torch):
    F, vmap = torch.nn.functional, torch.func.vmap
    x, rows = torch.arange(30.0).reshape(2, 3, 5).sin(), torch.arange(6.0).reshape(2, 3)
    for name, norm in (("batch", lambda *a: F.batch_norm(*a, training=True)), ("instance", F.instance_norm)):
        for i in range(4):
            own = [torch.zeros(3), torch.ones(3), torch.ones(3), torch.zeros(3)]
            dims = tuple(0 if k == i else None for k in range(4))
            own[i] = rows.clone()
            yield f"{name} {i}", vmap(lambda *a, norm=norm: norm(x, *a), in_dims=dims)(*own)
            yield f"{name} running {i}", own[:2]
        yield f"{name} refused", raises(lambda: vmap(lambda x: norm(x, torch.zeros(3), torch.ones(3), None, None))(torch.stack([x, x])))


@case("func.looks_and_turns.windows")
def _(torch):
    window = torch.hann_window(8, dtype=torch.float64)
    found = torch.stft(torch.arange(40, dtype=torch.float64).sin(), 8, window=window, return_complex=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield "both", torch.func.vmap(lambda a, w: torch.istft(a, 8, window=w))(torch.stack([found, found * 2]), torch.stack([window, window + 1]))
        yield "window", torch.func.vmap(lambda w: torch.istft(found, 8, window=w))(torch.stack([window, window + 1]))


@case("func.looks_and_turns.unpooled")
def _(torch):
    places, x = torch.tensor([[[0, 3]]]), torch.tensor([[[2.0, 3.0]]], dtype=torch.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cubes = lambda x: (torch.nn.functional.max_unpool1d(x, places, 2) ** 3).sum()  # noqa: E731
        yield "forward over reverse", torch.func.jacfwd(torch.func.jacrev(cubes))(x)
        yield "reverse over forward", torch.func.jacrev(torch.func.jacfwd(cubes))(x)
        yield "forward twice", torch.func.jacfwd(torch.func.jacfwd(cubes))(x)


@case("func.looks_and_turns.triangles")
def _(torch):
    b, grad, jvp = torch.tensor([[1.0], [2.0]], dtype=torch.float64), torch.func.grad, torch.func.jvp
    a, u = torch.tensor([[2.0, 0.5], [0.3, 1.5]], dtype=torch.float64), torch.tensor([[0.1, 0.2], [0.7, -0.4]], dtype=torch.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for upper in (True, False):
            for transpose in (True, False):
                def change(b, a, upper=upper, transpose=transpose):
                    return jvp(lambda b, a: torch.triangular_solve(b, a, upper, transpose).solution, (b, a), (b + 1, u))[1].square().sum()
                yield f"{upper} {transpose}", grad(change, argnums=(0, 1))(b, a)


@case("func.looks_and_turns.unmapped_written")
def _(torch):
    vmap, two = torch.func.vmap, torch.ones(2, 2, dtype=torch.float64)
    at, x = torch.tensor([0, 1]), torch.zeros(2, dtype=torch.float64)
    for name in ("logical_and_", "logical_or_", "logical_xor_"):
        yield name, raises(lambda: vmap(lambda y: getattr(x.clone(), name)(y))(two))
    yield "index_add_", raises(lambda: vmap(lambda y: x.clone().index_add_(0, at, y))(two))
    yield "scatter_add_", raises(lambda: vmap(lambda y: x.clone().scatter_add_(0, at, y))(two))
    yield "index_fill_", raises(lambda: vmap(lambda y: x.clone().index_fill_(0, y, 1.0))(torch.tensor([[0], [1]])))
