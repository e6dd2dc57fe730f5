"""torch.func around modes: inference mode, grad modes, forward mode switched off."""

from compat_matrix.case import case


def _square(x):
    return (x**2).sum()


@case("func.modes.inference")
def _(torch):
    """Derivatives leave inference mode while they run."""
    f, x, seen = torch.func, torch.tensor([1.0, 2.0, 3.0]), []

    def looking(a):
        seen.append((torch.is_inference_mode_enabled(), torch.is_grad_enabled(), a.is_inference(), a.requires_grad))
        return _square(a)

    def pulled(g):
        out, pull = f.vjp(g, x)
        return pull(torch.tensor(1.0))[0]

    ways = {"grad": lambda g: f.grad(g)(x), "vjp": pulled, "jvp": lambda g: f.jvp(g, (x,), (x,))[1], "jacrev": lambda g: f.jacrev(g)(x),
            "jacfwd": lambda g: f.jacfwd(g)(x), "hessian": lambda g: f.hessian(g)(x), "vmap of grad": lambda g: f.vmap(f.grad(lambda a: a**2))(x),
            "grad of grad": lambda g: f.grad(lambda a: f.grad(g)(a).sum())(x)}
    for name, go in ways.items():
        seen.clear()
        with torch.inference_mode():
            out = go(looking)
            after = torch.is_inference_mode_enabled()
        yield name, out, name == "vmap of grad" or out.is_inference(), out.requires_grad, after, torch.is_inference_mode_enabled(), seen[:1]
    with torch.inference_mode():
        inside = f.vmap(lambda a: a * 2)(x)
        kept = torch.ones(3)
        out, pull = f.vjp(_square, x)
    yield "a map", inside, inside.is_inference()
    yield "an inference tensor", f.grad(_square)(kept), pull(torch.tensor(1.0)), out.is_inference()
    outer = x.clone().requires_grad_()
    with torch.inference_mode():
        yield "differentiated outside", f.grad(_square)(outer)


@case("func.modes.inference_inside")
def _(torch):
    x = torch.tensor([1.0, 2.0, 3.0])

    def without(a):
        with torch.inference_mode():
            c = a**2
        return (a - c).sum()

    yield "alone", torch.func.grad(without)(x)
    with torch.inference_mode():
        yield "in it", torch.func.grad(without)(x)
