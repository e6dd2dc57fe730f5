"""What a review of changes asked: ends of single calls."""

import inspect

from compat_matrix.case import attempt, case


@case("seldom_asked.dual numbers that show a part of their memory")
def _(torch):
    x, one = torch.arange(6.0).reshape(2, 3), torch.ones(3)
    yield "row", torch.func.jvp(lambda a: a.as_strided((2,), (1,)), (x[1],), (one,))
    yield "rest of a row", torch.func.jvp(lambda a: a[1:].as_strided((2,), (1,)), (x[1],), (one,))
    yield "column", torch.func.jvp(lambda a: a.as_strided((2,), (2,)), (x.reshape(3, 2).t()[0],), (one,))
    yield "offset", torch.func.jvp(lambda a: a.storage_offset() * a.sum(), (x[1],), (one,))


@case("seldom_asked.data of the other kind")
def _(torch):
    x = torch.ones(2, 3, requires_grad=True)
    y = x * 2
    y.data = torch.ones(2, 3, dtype=torch.complex64)
    yield "complex root", attempt(lambda: y.backward(torch.ones_like(y)))


@case("seldom_asked.operators by their names")
def _(torch):
    aten, x, image = torch.ops.aten, torch.arange(6.0).reshape(2, 3), torch.arange(16.0).reshape(1, 1, 4, 4)
    for name, arguments in (("backwards", (1, 0, 3, -1)), ("step of nothing", (1, 0, 3, 0)), ("dim", (2, 0, 3, 1)), ("from the end", (-1, -2, None, 2))):
        yield name, attempt(lambda: aten.slice(x, *arguments))
    yield "of a number", attempt(lambda: aten.slice(torch.tensor(1.0), 0, 0, 1, 1))
    for name, sizes, factors in (("height", [6, 6], {"scales_h": 1.5}), ("width", [6, 7], {"scales_w": 1.9}), ("both", [6, 7], {"scales_w": 1.9, "scales_h": 1.6})):
        yield name, aten.upsample_nearest2d.default(image, sizes, **factors), aten.upsample_bilinear2d.default(image, sizes, True, **factors)
    yield "by place", aten.upsample_nearest2d.default(image, [6, 7], None, 1.9)


@case("seldom_asked.signs and repeated places")
def _(torch):
    yield "erfinv", torch.erfinv(torch.tensor([-0.0, 0.0, 1.0, -1.0, 2.0])), torch.erfinv(torch.tensor([-0.0])).signbit()
    for rows, columns, shape in ((1, 2, (1, 1)), (2, 2, (1, 2)), (2, 3, (2, 1))):
        yield f"eye {rows} {columns}", torch.eye(rows, columns, out=torch.zeros(shape).expand(rows, columns))


@case("seldom_asked.factors of nothing")
def _(torch):
    for name, shapes in (("columns", ((3, 2), (2,), (3, 0))), ("batch", ((0, 3, 2), (0, 2), (0, 3, 4)))):
        tensors = [torch.ones(s, requires_grad=True) for s in shapes]
        found = torch.autograd.grad(torch.ormqr(*tensors).sum(), tensors, allow_unused=True)
        yield name, [g is None for g in found], [None if g is None else g.shape for g in found]


@case("seldom_asked.signatures")
def _(torch):
    F = torch.nn.functional
    yield "arguments", [inspect.getfullargspec(f).args for f in (F.relu, F.cross_entropy, F.dropout, torch.autograd.grad, torch.split)]
    yield "defaults", F.relu.__defaults__, F.dropout.__defaults__


@case("seldom_asked.several of what a node saved were written")
def _(torch):
    def written(f):
        w, x, v = (torch.ones(s, requires_grad=True) for s in ((4, 5), (3, 4), (3, 5)))
        out = f(w, x, v).sum()
        with torch.no_grad():
            for t in (w, x, v):
                t.mul_(1.0)
        return attempt(lambda: torch.autograd.grad(out, [w, x, v]))

    yield "a product", written(lambda w, x, v: x @ w * v.sum())
    yield "and a sum", written(lambda w, x, v: torch.addmm(v, x, w))
    yield "and a quotient", written(lambda w, x, v: (x @ w) / v)
    yield "angles", written(lambda w, x, v: torch.atan2(v, x @ w))
