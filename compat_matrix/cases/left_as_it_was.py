"""What a transformation leaves of tensors that were there before it began."""

from compat_matrix.case import case


def _shifted(torch):
    def f(x):
        with torch.no_grad():
            shift = x**3
        return x**3 - shift

    return f


@case("left_as_it_was.requires_grad of leaves and results, where gradients are off")
def _(torch):
    x = torch.tensor(1.5, requires_grad=True)
    y = torch.func.grad(_shifted(torch))(x)
    z = torch.autograd.grad(y, x)
    with torch.no_grad():
        out, pull = torch.func.vjp(lambda x: x**2, x)
    yield "after vjp", x.requires_grad, y.requires_grad, (x * 3).requires_grad, out.requires_grad, z
    with torch.no_grad():
        pulled = pull(torch.tensor(1.0))
    yield "pulled", pulled, x.requires_grad, y.requires_grad
    yield "differentiated again", torch.autograd.grad(x * x, x)


@case("left_as_it_was.looked at within")
def _(torch):
    x, w = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([3.0, 4.0], requires_grad=True)
    y = x * w
    seen = []

    def f(t):
        s = (t * w).sum()
        seen.append(s.item())
        return (s * s).sin()

    with torch.no_grad():
        g = torch.func.grad(f)(x)
        _, value = torch.func.grad_and_value(f)(x.detach())
        t = torch.func.jvp(f, (x,), (torch.ones(2),))
    yield "seen", seen, g, value, t
    yield "left", x.requires_grad, w.requires_grad, y.requires_grad, y.grad_fn.name()
    yield "gradients", torch.autograd.grad(y.sum(), (x, w))


@case("left_as_it_was.maps and Jacobians")
def _(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * 2).exp()
    with torch.no_grad():
        out = torch.func.jacrev(lambda x: x.sin() * float(x.sum().detach() > 0))(x), torch.func.vmap(torch.func.grad(lambda t: t * t))(x)
    yield "values", out
    yield "left", x.requires_grad, y.requires_grad, torch.autograd.grad(y.sum(), x)
