"""Bytes that are shown as truth values and other than 0 and 1; strides of indices and of results that are resized."""

from ..case import case


@case("bytes_of_bools.shown")
def _(torch):
    def made():
        u = torch.tensor([0, 1, 2, 255, 128], dtype=torch.uint8)
        return u, u.view(torch.bool)

    u, b = made()
    yield "shown", b, b.view(torch.uint8), b[1:4].view(torch.uint8), b.int(), b.sum(), b.view(torch.int8)
    yield "floats", torch.tensor([1.5, -2.0]).view(torch.bool).view(torch.float32)
    u, b = made()
    b[1] = False
    b[0] = True
    yield "written", u, b, b._version, b.view(torch.uint8)
    u, b = made()
    u[2] = 0
    yield "written below", u, b, b.view(torch.uint8)
    u, b = made()
    b.logical_not_()
    yield "turned", u, b.view(torch.uint8)


@case("bytes_of_bools.strides")
def _(torch):
    for shape in ((5,), (3, 3), (2, 2, 1), ()):
        x = torch.ones(shape)
        out = torch.empty(0, dtype=torch.int64)
        yield str(shape), torch.nonzero(x).stride(), torch.argwhere(x).stride(), torch.nonzero(x, out=out).stride(), torch.nonzero(x.reshape(-1), as_tuple=True)[0].stride()
    a = torch.eye(3) * 2
    for f in (torch.linalg.inv, torch.linalg.cholesky, torch.inverse):
        yield f.__name__, f(a, out=torch.empty(0)).stride()
    outs = torch.empty(0), torch.empty(0, dtype=torch.int32)
    yield "lu_factor", [t.stride() for t in torch.linalg.lu_factor(a, out=outs)]
