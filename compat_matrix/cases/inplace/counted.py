"""Writes that are only counted: `increment_version`, `mark_dirty` without a node, operators of torch.library that say what they write.  What was saved before is
stale, what is read afterwards is not."""

from compat_matrix.case import attempt, case


def _summed(torch, w, out):
    w.grad = None
    out.sum().backward()
    return w.grad


@case("inplace.counted.versions")
def _(torch):
    count = torch.autograd.graph.increment_version
    w = torch.ones(4, requires_grad=True)
    for name, made in {"data": lambda: torch.ones(4), "leaf": lambda: torch.ones(4, requires_grad=True), "result": lambda: w.clone(), "view": lambda: torch.ones(2, 4)[0],
                       "part of a result": lambda: torch.stack([w, w])[1]}.items():
        x = made()
        before = x * w
        count(x)
        yield name, x._version, x.grad_fn and x.grad_fn.name(), attempt(lambda x=x: _summed(torch, w, x * w)), x.is_leaf
        yield f"{name}, saved before", attempt(lambda before=before: _summed(torch, w, before))
    base = torch.ones(2, 4)
    part, shown = base[0], base.detach()
    count([part])
    yield "what shares the memory", base._version, shown._version, attempt(lambda: _summed(torch, w, base[1] * w)), attempt(lambda: _summed(torch, w, shown[0] * w))
    h, seen = w * 2, []
    h.retain_grad()
    h.register_hook(lambda g: seen.append(g.clone()))
    count(h)
    yield "watched", attempt(lambda: _summed(torch, w, h * h)), h.grad, seen
    yield "in a transformation", torch.func.grad(lambda z: (count(z), (z * z).sum())[1])(torch.ones(3))


@case("inplace.counted.functions")
def _(torch):
    class Add(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.add_(1)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 3

    w = torch.ones(2, requires_grad=True)
    x = torch.zeros(2)
    yield "of data", Add.apply(x) is x, x._version, attempt(lambda: _summed(torch, w, x * w))
    with torch.no_grad():
        y = Add.apply(x)
    yield "without gradients", y is x, x._version, attempt(lambda: _summed(torch, w, y * w))
    before = x * w
    Add.apply(x)
    yield "saved before", attempt(lambda: _summed(torch, w, before))
    yield "of a result", attempt(lambda: _summed(torch, w, Add.apply(w * 2) * w))


@case("inplace.counted.operators")
def _(torch):
    @torch.library.custom_op("counted::inc", mutates_args={"x"})
    def inc(x: torch.Tensor) -> None:
        x.add_(1)

    x, w = torch.zeros(2), torch.ones(2, requires_grad=True)
    inc(x)
    before = x * w
    yield "read", x, x._version, attempt(lambda: _summed(torch, w, x * w))
    inc(x)
    yield "again", attempt(lambda: _summed(torch, w, x * w)), attempt(lambda: _summed(torch, w, before))
