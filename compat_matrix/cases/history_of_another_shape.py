"""Tensors that are no leaves and were given another shape without their history being told: what backward makes of the gradient; and histories begun anew."""

from compat_matrix.case import attempt, case

_MADE = {"mul": lambda a: a * 2, "clone": lambda a: a.clone(), "sum": lambda a: a.sum(0, keepdim=True), "scalar": lambda a: a.sum(), "leaf": lambda a: a}
_TURNED = {"unsqueezed first": lambda torch, t: t.unsqueeze_(0), "unsqueezed last": lambda torch, t: t.unsqueeze_(-1), "transposed": lambda torch, t: t.t_(),
           "squeezed": lambda torch, t: t.squeeze_(), "strided": lambda torch, t: t.as_strided_((1,), (1,)), "set": lambda torch, t: t.set_(torch.ones(5)),
           "data larger": lambda torch, t: setattr(t, "data", torch.ones(4, 2, 3)), "data smaller": lambda torch, t: setattr(t, "data", torch.tensor(3.0))}


def _turned(torch, make, turn):
    a = torch.arange(6.0).reshape(2, 3).requires_grad_()
    t = make(a)
    with torch.no_grad():
        turn(torch, t)
    return a, t


def _said(f):
    """What comes of it; of a refusal, what it says of the gradient (who gave it is not asked)."""
    try:
        return f()
    except RuntimeError as e:
        return str(e)[str(e).index("invalid gradient"):]


@case("history_of_another_shape.roots")
def _(torch):
    for made, make in _MADE.items():
        for turned, turn in _TURNED.items():
            a, t = _turned(torch, make, turn)
            yield f"{made}, {turned}", tuple(t.shape), _said(lambda a=a, t=t: (t.backward(torch.ones(t.shape)), a.grad))


@case("history_of_another_shape.before the root")
def _(torch):
    for made, make in _MADE.items():
        for turned, turn in _TURNED.items():
            a, t = _turned(torch, make, turn)
            yield f"{made}, {turned}", _said(lambda a=a, t=t: torch.autograd.grad((t * 3).sum(), a, create_graph=True))
            yield f"{made}, {turned}, itself", _said(lambda a=a, t=t: torch.autograd.grad((t * 3).sum(), t))


@case("history_of_another_shape.looked at on the way")
def _(torch):
    a, t = _turned(torch, lambda a: a.sum(), lambda torch, t: t.unsqueeze_(0))
    seen = []
    t.retain_grad()
    t.register_hook(lambda g: seen.append(g.clone()))
    t.backward()
    yield "seen", a.grad, t.grad, seen


@case("history_of_another_shape.gradients where a Function wrote")
def _(torch):
    class Written(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, a):
            ctx.mark_dirty(x)
            return x.mul_(3)

        @staticmethod
        def backward(ctx, g):
            return g * 3, g

    for name, make in (("no gradient", lambda: torch.ones(2)), ("computed", lambda: torch.ones(2, requires_grad=True) * 1)):
        a, x = torch.ones(2, requires_grad=True), make()
        x.grad = torch.full((2,), 7.0)
        yield name, attempt(lambda a=a, x=x: Written.apply(x, a) is x), x.grad
        x.sum().backward()
        yield f"{name}, then", a.grad, x.requires_grad
