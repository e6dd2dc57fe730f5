"""Writes to dual tensors where no graph is made: the tangent is written as anywhere, what required grad goes on doing so."""

from compat_matrix.case import case

WRITES = {
    "mul": lambda torch, y, d: y.mul_(2), "by dual": lambda torch, y, d: y.mul_(d), "set": lambda torch, y, d: y.__setitem__(0, 5.0),
    "set dual": lambda torch, y, d: y.__setitem__(slice(0, 1), d[1:2]), "copy": lambda torch, y, d: y.copy_(d), "view": lambda torch, y, d: y[1:].mul_(3),
    "zero": lambda torch, y, d: y.zero_(), "detached": lambda torch, y, d: y.detach().mul_(2), "data": lambda torch, y, d: y.data.mul_(2),
    "addcmul": lambda torch, y, d: y.addcmul_(d, d), "index_put": lambda torch, y, d: y.index_put_((torch.tensor([0]),), d[:1]),
    "foreach": lambda torch, y, d: torch._foreach_mul_([y], 2.0), "view of view": lambda torch, y, d: y.view(3)[0:2].add_(d[0:2]),
}


def writes(torch, needs):
    forward_ad = torch.autograd.forward_ad
    v = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=needs != "none")
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(v * 1, v * 2 if needs == "both" else v.detach() * 2)
        for name, write in WRITES.items():
            y = dual * 3
            with torch.no_grad():
                write(torch, y, dual)
            parts = forward_ad.unpack_dual(y)
            yield name, y.detach(), parts.tangent.detach(), y.requires_grad, y._version
            if needs != "none" and name in ("mul", "by dual", "view", "detached"):
                yield name + " after", forward_ad.unpack_dual(y * dual).tangent.detach()


for needs in ("none", "primal", "both"):
    case(f"tangents_written.no_grad.{needs}", needs=needs)(writes)


@case("tangents_written.gradient after the level")
def _(torch):
    forward_ad = torch.autograd.forward_ad
    v = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(v * v, v * 2)
        y = dual * dual
        with torch.no_grad():
            y.mul_(dual)
        z = y * y
        yield "tangent", forward_ad.unpack_dual(z).tangent.detach()
    yield "gradient", torch.autograd.grad(z.sum(), v)


@case("tangents_written.in jvp")
def _(torch):
    def f(x):
        y = x * x
        with torch.no_grad():
            y.mul_(x)
        return y * x

    x = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    yield "jvp", torch.func.jvp(f, (x,), (torch.ones_like(x),))
    out, tangent = torch.func.jvp(f, (x.clone().requires_grad_(),), (torch.ones_like(x),))
    yield "jvp of what requires grad", out.detach(), tangent.detach()
    yield "grad", torch.func.grad(lambda x: f(x).sum())(x)
    yield "jvp of grad", torch.func.jvp(torch.func.grad(lambda x: f(x).sum()), (x,), (x,))
    yield "grad of jvp", torch.func.grad(lambda x: torch.func.jvp(f, (x,), (x,))[1].sum())(x)
    yield "hessian", torch.func.hessian(lambda x: f(x).sum())(x)


@case("tangents_written.rows_scaled_down")
def _(torch):
    F, fw = torch.nn.functional, torch.autograd.forward_ad
    w = torch.arange(6.0, dtype=torch.float64).reshape(3, 2)
    t = w + 1
    rows = torch.tensor([2, 1, 1])
    yield "jvp", torch.func.jvp(lambda w: F.embedding(rows, w, max_norm=1.0), (w.clone(),), (t,))
    with fw.dual_level():
        dual = fw.make_dual(w.clone(), t)
        out = F.embedding(rows, dual, max_norm=1.0)
        yield "dual", list(fw.unpack_dual(out)), list(fw.unpack_dual(dual))
    yield "grad", torch.func.grad(lambda w: F.embedding(rows, w, max_norm=1.0).pow(2).sum())(w.clone())
    yield "jvp of grad", torch.func.jvp(torch.func.grad(lambda w: F.embedding(rows, w, max_norm=1.0).pow(2).sum()), (w.clone(),), (t,))
