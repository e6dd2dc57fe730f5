"""torch.func.vjp under no_grad: its results need no gradient, what its function gives later does, as PyTorch's does."""

from compat_matrix.case import case


def _seen(x):
    return x.requires_grad, x.detach()


@case("pulled_back_later.leaf")
def _(torch):
    x, w = torch.tensor([3.0, 4.0], requires_grad=True), torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.no_grad():
        out, pull = torch.func.vjp(lambda x: x**2 * w, x)
        inside, = pull(torch.ones(2))
    later, = pull(torch.ones(2))
    yield "seen", _seen(out), _seen(inside), _seen(later)
    yield "second", torch.autograd.grad(later.sum(), (x, w))


@case("pulled_back_later.others")
def _(torch):
    x = torch.tensor([3.0, 4.0], requires_grad=True)
    with torch.no_grad():
        out, pull, aux = torch.func.vjp(lambda x: (x**2, x * 3), x, has_aux=True)
        yield "aux", _seen(out), _seen(aux)
        yield "grad", _seen(torch.func.grad(lambda x: (x**2).sum())(x)), _seen(torch.func.jacrev(lambda x: x**2)(x))
        _, nested = torch.func.vjp(lambda x: torch.func.grad(lambda z: (z**3).sum())(x), x)
        _, through = torch.func.vjp(torch.sin, x * 2)
    g, = nested(torch.ones(2))
    yield "nested", _seen(g), torch.autograd.grad(g.sum(), x)
    yield "detached", _seen(through(torch.ones(2))[0])
    y = x * 2
    with torch.no_grad():
        _, through = torch.func.vjp(torch.sin, y)
    g, = through(torch.ones(2))
    yield "not a leaf", _seen(g), torch.autograd.grad(g.sum(), x)
