"""torch.func around modes: inference mode, grad modes, forward mode switched off."""

from copy import deepcopy

from compat_matrix.case import attempt, case


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


@case("func.modes.tangents_off")
def _(torch):
    """What is computed while forward mode is switched off has no tangent."""
    fw, x, one = torch.autograd.forward_ad, torch.tensor(3.0), torch.tensor(1.0)

    def shifted(a):
        with fw._set_fwd_grad_enabled(False):
            shift = a**2
        return a**2 - shift

    yield "jvp", torch.func.jvp(shifted, (x,), (one,)), torch.func.jvp(lambda a: torch.func.jvp(shifted, (a,), (one,))[1], (x,), (one,))
    with fw._set_fwd_grad_enabled(False):
        yield "outside", torch.func.jvp(lambda a: a**2, (x,), (one,))

    def inner(a):
        with fw._set_fwd_grad_enabled(False):
            slope = torch.func.jvp(lambda b: b**3, (a,), (one,))[1]
        return a**2 - slope

    yield "a jvp in it", torch.func.jvp(inner, (x,), (one,))
    with fw.dual_level():
        dual = fw.make_dual(x, one)
        with fw._set_fwd_grad_enabled(False):
            squared, flat = dual**2, dual.view(-1)
            y = torch.tensor(2.0)
            y.mul_(dual)
            on = fw._is_fwd_grad_enabled()
        yield "dual", [tuple(fw.unpack_dual(t)) for t in (squared, dual**2 - squared, flat, y)], on
    seen = []

    class Looks(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            seen.append(fw._is_fwd_grad_enabled())
            return a * a

        @staticmethod
        def backward(ctx, g):
            seen.append(fw._is_fwd_grad_enabled())
            return g

    Looks.apply(torch.ones(1, requires_grad=True)).sum().backward()
    yield "in a Function", seen, fw._is_fwd_grad_enabled()


@case("func.modes.dual_odds")
def _(torch):
    """Copies, layouts and numbers of levels of dual tensors."""
    fw, x = torch.autograd.forward_ad, torch.ones(2, 3)
    with fw.dual_level():
        dual = fw.make_dual(x, torch.ones(3, 2).t())
        yield "layout", tuple(fw.unpack_dual(dual)), fw.unpack_dual(dual).tangent.stride()
        copied = deepcopy(dual)
        yield "copied", tuple(fw.unpack_dual(copied)), copied.requires_grad
        for level in (0, 1, -1, None):
            yield f"level {level}", attempt(lambda n=level: tuple(fw.unpack_dual(fw.make_dual(x, x, level=n)))), attempt(
                lambda n=level: fw.unpack_dual(dual, level=n).tangent)
