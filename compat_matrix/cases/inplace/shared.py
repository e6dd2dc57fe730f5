"""Writes to tensors that show an element several times, and over what is read."""

from compat_matrix.case import attempt, case
from compat_matrix.probes import each

TWINS = ("x.add_(1)", "x.mul_(x.clone())", "x.relu_()", "x.tril_()", "x.triu_(1)", "x.masked_fill_(m, 9)",
         "x.masked_fill_(m, x.new_tensor(9))", "x.index_fill_(0, i, 9)", "x.index_fill_(1, i, 9)", "x.index_put_((i,), x.new_tensor(9))",
         "x.fill_(4)", "x.zero_()",
         "x[0].fill_(4)", "x[0].zero_()",
         "x[:, 0].fill_(4)", "x.t().fill_(4)", "x.copy_(x.clone())", "x.sin_()", "x.clamp_(0.5)", "x.bitwise_and_(1)", "x.lerp_(x.clone(), 0.5)",
         "x.__setitem__(0, 5)", "x.__setitem__(slice(None), 5)", "x.__setitem__(m, 5)", "x.__setitem__(i, 5)",
         "x.__setitem__(slice(None), x.new_tensor(5))",
         "x.conj_physical_()", "F.threshold_(x, 1, 0)", "F.hardtanh_(x)", "x.eq_(1)", "x.neg_()", "x.addmm_(x.clone(), x.clone())", "x.sub_(1)",
         "x.addcdiv_(x.clone(), x.clone())")
SHAPES = {"rows": lambda t: t[:, 0].clone().expand(3, 3), "columns": lambda t: t[:, :1].clone().expand(3, 3),
          "nothing": lambda t: t[:0, :1].clone().expand(0, 3)}


def repeated(torch, expression):
    for kind in (torch.float32, torch.int64, torch.bool):
        start = torch.tensor([[2, 0, 0], [1, 0, 0], [3, 0, 0]]).to(kind)
        for shape, show in SHAPES.items():
            if shape == "nothing" and ("[0]" in expression or "i" in expression.partition("(")[2]):
                continue
            x = show(start)
            m, i = torch.zeros(x.shape, dtype=torch.bool), torch.tensor([0])
            m[:1, :1] = True
            names = {"torch": torch, "F": torch.nn.functional, "x": x, "m": m, "i": i, "slice": slice}
            failure = attempt(lambda names=names: (eval(expression, names), None)[1])
            yield f"{kind} {shape}", failure, x.tolist()


each("inplace.repeated", repeated, {e: e for e in TWINS})

OVER = ("torch.cat([x[:1], x[1:]], out=x)", "torch.cat([x], out=x)", "torch.cat([x, x], out=x)", "torch.cat([x[0]], out=x[1])",
        "torch.stack([x[0], x[1]], out=x)",
        "torch.vstack([x[1], x[0]], out=x)", "torch.gather(x, 0, z, out=x)", "torch.gather(x[0], 0, z[0], out=x[1])", "torch.index_select(x, 0, i, out=x)",
        "torch.take(x, z, out=x)", "torch.max(x, 0, out=(x[0], z[0]))", "torch.add(x, 1, out=x)", "torch.add(v[:3], 1, out=v[1:4])",
        "torch.where(v[:3] > 0, v[:3], v[:3], out=v[1:4])", "torch.clamp(v[:3], 0, 1, out=v[1:4])", "torch.cumsum(x, 0, out=x)",
        "torch.cumsum(v[:5], 0, out=v[1:])", "torch.sort(x, 1, True, out=(x, z))", "torch.tril(x, out=x)", "v[1:4].add_(v[:3])", "v[1:4].copy_(v[:3])",
        "x.scatter_(0, z, x)", "x.scatter_add_(0, z, x)", "x.index_add_(0, i, x)", "x.index_copy_(0, i, x)", "x.index_put_((i,), x)", "x.put_(z, x)",
        "x.masked_fill_(x > 1, x[0, 1])", "x.fill_(x[1, 1])", "x.mul_(x)", "x.copy_(x.flip(0))", "x.scatter_(0, z, x.clone())")


def over_itself(torch, expression):
    x = torch.arange(6.0).reshape(2, 3)
    names = {"torch": torch, "x": x, "v": x.view(-1), "z": torch.zeros(2, 3, dtype=torch.int64), "i": torch.tensor([1, 0])}
    failure = attempt(lambda: (eval(expression, names), None)[1])
    yield "out", failure, None if failure else x.tolist()


each("inplace.over_itself", over_itself, {e: e for e in OVER})


@case("inplace.shared.a fill of what repeats, and its gradient")
def _(torch):
    for shape, wide in (((3, 1), (3, 4)), ((3,), (2, 3)), ((3, 1), (3, 1)), ((0, 1), (0, 4))):
        for name, write in (("zero_", lambda v: v.zero_()), ("fill_", lambda v: v.fill_(3.0))):
            x = torch.ones(shape, dtype=torch.float64, requires_grad=True)
            b = x * 2
            before = b * 1
            write(b.expand(wide))
            yield f"{name} {wide} from {shape}", b.detach(), b.grad_fn.name(), b._version
            yield f"{name} {wide} from {shape} backward", attempt(lambda b=b, x=x: torch.autograd.grad(b.sum(), x, retain_graph=True)[0])
            yield f"{name} {wide} from {shape} before", torch.autograd.grad(before.sum(), x)[0]
            with torch.no_grad():
                write((x * 2).expand(wide))
                yield f"{name} {wide} from {shape} no_grad", x
        value = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
        for v in (value, value.detach()):
            yield f"tensor {wide} from {shape} {v.requires_grad}", attempt(lambda v=v: torch.ones(shape, dtype=torch.float64).expand(wide).fill_(v).detach())
