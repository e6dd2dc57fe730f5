"""Hooks after the node of a write to a view: they are shown the whole gradient of the base, with those of the operator that wrote, and may change both."""

from compat_matrix.case import case

_WRITES = {
    "mul": lambda v, x, w: v.mul_(w), "mul by what is beside": lambda v, x, w: v.mul_(x[:2]), "sin": lambda v, x, w: v.sin_(), "twice": lambda v, x, w: v.addcmul_(w, w),
    "zero": lambda v, x, w: v.zero_(), "copy": lambda v, x, w: v.copy_(w * 3), "masked": lambda v, x, w: v.masked_fill_(v.detach() > 7, 3.0), "div": lambda v, x, w: v.div_(w),
    "tanh": lambda v, x, w: v.tanh_(), "index": lambda v, x, w: v.__setitem__(0, w[1]), "lerp": lambda v, x, w: v.lerp_(w, 0.25)}
_VIEWS = {
    "slice": lambda b: b[1:3], "strided": lambda b: b[::2], "diagonal": lambda b: b.view(2, 2).diagonal(), "as_strided": lambda b: b.as_strided((2,), (3,)),
    "column": lambda b: b.view(2, 2).t()[0], "part": lambda b: b.narrow(0, 2, 2)}


def _written_by(torch, answer):
    class Writes(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, w):
            ctx.mark_dirty(a)
            ctx.save_for_backward(w)
            return a.mul_(w)

        @staticmethod
        def backward(ctx, g):
            return answer(g, ctx.saved_tensors[0]), g * 7

    return lambda v, x, w: Writes.apply(v, w)


def _hook(heard, how):
    def after(given, got):
        heard.append(([None if g is None else g.detach().clone() for g in given], [None if g is None else g.detach().clone() for g in got]))
        if how == "doubled":
            return tuple(None if g is None else g * 2 for g in given)
        if how == "nothing":
            return (None,) * len(given)
        if how == "the base alone":
            return (given[0], *(None,) * (len(given) - 1))
        if how == "raises":
            raise ValueError("a hook")

    return after


def _run(torch, write, view, how):
    x = torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64, requires_grad=True)
    w = torch.tensor([5.0, 6.0], dtype=torch.float64, requires_grad=True)
    b = x.detach().clone() if how == "no history" else x * 3
    beside = (b + 1).sum() if how == "used before" else 0
    write(view(b), x, w)
    heard = []
    if b.grad_fn is None:
        return ()
    b.grad_fn.register_prehook(lambda g: heard.append("before"))
    b.grad_fn.register_hook(_hook(heard, how))
    if how == "doubled":
        b.grad_fn.register_hook(_hook(heard, "looks"))
    out = (b * torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64)).sum() + beside
    said = []
    try:
        if how == "a graph":
            found = torch.autograd.grad(out, [x, w], create_graph=True, allow_unused=True)
            square = sum((g ** 2).sum() for g in found if g is not None)
            said = [found, torch.autograd.grad(square, [x, w], allow_unused=True) if square.requires_grad else None]
        elif how in ("of x", "of w"):
            said = torch.autograd.grad(out, [x if how == "of x" else w], allow_unused=True)
        elif how in ("kept", "twice"):
            out.backward(retain_graph=how == "kept")
            out.backward()
        elif how == "anomaly":
            with torch.autograd.detect_anomaly():
                out.backward()
        else:
            out.backward()
    except (RuntimeError, ValueError) as e:
        said = [type(e).__name__, str(e)]
    return heard, said, x.grad, w.grad


_HOWS = ("looks", "doubled", "nothing", "the base alone", "raises", "a graph", "of x", "of w", "kept", "twice", "anomaly", "used before", "no history")


@case("hooks_of_writes.operators")
def _(torch):
    for name, write in _WRITES.items():
        for how in _HOWS:
            yield f"{name}: {how}", _run(torch, write, _VIEWS["slice"], how)
    for name, view in _VIEWS.items():
        for how in ("doubled", "the base alone", "a graph"):
            yield f"{name}: {how}", _run(torch, _WRITES["mul"], view, how)


@case("hooks_of_writes.Functions")
def _(torch):
    for name, view in _VIEWS.items():
        for how in _HOWS if name == "slice" else ("doubled", "of x"):
            yield f"{name}: {how}", _run(torch, _written_by(torch, lambda g, w: g * w), view, how)


@case("hooks_of_writes.Functions without a gradient of the view")
def _(torch):
    for how in ("looks", "doubled", "of w"):
        yield how, _run(torch, _written_by(torch, lambda g, w: None), _VIEWS["slice"], how)


@case("hooks_of_writes.registered on the way")
def _(torch):
    class Doubles(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    def written(x):
        b = x * 3
        b[1:].mul_(x[:1])
        return b

    for name, call in {"operator": lambda x: x * 2, "Function": Doubles.apply, "write": written}.items():
        for where in ("tensor", "node", "result"):
            for kind in ("register_hook", "register_prehook"):
                x = torch.tensor([1.0, 2.0], requires_grad=True)
                y = call(x)
                node, z, heard = y.grad_fn, y * 1, []

                def register(*_, node=node, kind=kind, heard=heard):
                    getattr(node, kind)(lambda *grads: heard.append([[None if g is None else g.clone() for g in gs] for gs in grads]))

                (node.register_prehook if where == "node" else (y if where == "tensor" else z).register_hook)(register)
                z.sum().backward()
                yield f"{name}: {kind} by that of the {where}", heard, x.grad
