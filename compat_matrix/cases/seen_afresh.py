"""Nodes of writes to views and tangents, where several of their parts meet: nodes that are called, hooks that raise, tangents that read the view alone."""

import re

from compat_matrix.case import case


def _written(torch, scale=1.0):
    a = torch.arange(1.0, 5.0).requires_grad_()
    w = torch.tensor([2.0, 3.0], requires_grad=True)
    return a, w, a * scale


@case("seen_afresh.nodes of writes to views called")
def _(torch):
    a, w, b = _written(torch)
    b[1:3].mul_(w)
    yield "both", b.grad_fn(torch.ones(4))
    yield "undefined", b.grad_fn(None)
    with torch.no_grad():
        yield "without grad", b.grad_fn(torch.arange(4.0))
    b.grad_fn.register_hook(lambda gi, go: (gi[0] * 100, gi[1]))
    yield "hooks are not", b.grad_fn(torch.ones(4))
    b[0:2].addcmul_(w, w, value=2)
    yield "several", b.grad_fn(torch.ones(4))
    b[1:3].mul_(3.0)
    yield "number", b.grad_fn(torch.ones(4))
    b[1:3].zero_()
    yield "zeros", b.grad_fn(torch.ones(4))
    c = a.detach() * 1
    c[1:3].mul_(w)
    yield "base without", c.grad_fn(torch.ones(4))


@case("seen_afresh.hooks that raise")
def _(torch):
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(y.clone())
            ctx.mark_dirty(x)
            return x.mul_(y)

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            return g * y, g * 5

    for name, write in (("operator", lambda v, w: v.mul_(w)), ("function", lambda v, w: Scaled.apply(v, w))):
        a, w, b = _written(torch)
        write(b[1:3], w)
        left = [2]

        def hook(gi, go, left=left):
            left[0] -= 1
            if left[0] >= 0:
                raise ValueError("said by the hook")

        b.grad_fn.register_hook(hook)
        for k in range(3):
            try:
                b.sum().backward()
                yield f"{name} {k}", a.grad, w.grad
            except ValueError as e:
                yield f"{name} {k}", str(e)
        a, w, b = _written(torch)
        write(b[1:3], w)
        total, again = b.sum(), []

        def asks(gi, go, total=total, again=again, a=a, w=w):
            if not again:
                again.append(None)
                again.append(torch.autograd.grad(total, [a, w], retain_graph=True))

        b.grad_fn.register_hook(asks)
        total.backward()
        yield f"{name} inside", again[1], a.grad, w.grad


@case("seen_afresh.tangents that read a view alone")
def _(torch):
    fad = torch.autograd.forward_ad
    for hooked in (False, True):
        a, w, b = _written(torch)
        with fad.dual_level():
            b[1:3].mul_(fad.make_dual(w, torch.ones(2)))
            if hooked:
                b.grad_fn.register_hook(lambda gi, go: None)
            yield f"{hooked} tangent", torch.autograd.grad(fad.unpack_dual(b).tangent.sum(), [a, w], retain_graph=True)
            yield f"{hooked} primal", torch.autograd.grad(fad.unpack_dual(b).primal.sum(), [a, w])


def _ways(torch, f, x, t, others=()):
    fad = torch.autograd.forward_ad
    with fad.dual_level():
        p, tangent = fad.unpack_dual(f(fad.make_dual(x, t), *others))
        yield tangent, tangent.requires_grad, p.requires_grad
        if tangent.requires_grad:
            inputs = [v for v in (x, t, *others) if torch.is_tensor(v) and v.requires_grad]
            yield torch.autograd.grad(torch.view_as_real(tangent).sum() if tangent.is_complex() else tangent.sum(), inputs, allow_unused=True)


@case("seen_afresh.tangents of steps")
def _(torch):
    for of_tangent in (False, True):
        x, t = torch.tensor([1.5, -3.0, 10.0], requires_grad=not of_tangent), torch.tensor([1.0, 2.0, 3.0], requires_grad=of_tangent)
        for name, f in (("fmod", torch.fmod), ("remainder", torch.remainder), ("%", lambda x, y: x % y)):
            for k, other in enumerate((2.0, torch.tensor(2.0), torch.tensor([2.0, 3.0, 4.0]), torch.tensor([2.0, 3.0, 4.0], requires_grad=True))):
                yield f"{name} {k} {of_tangent}", list(_ways(torch, f, x, t, (other,)))
                yield f"{name} {k} {of_tangent} turned", list(_ways(torch, lambda x, y, f=f: f(y, x), x, t, (torch.as_tensor(other),)))
        yield f"frexp {of_tangent}", list(_ways(torch, lambda x: torch.frexp(x).mantissa, x, t))
        for name in ("ceil", "floor", "round", "trunc", "sign", "sgn"):
            yield f"{name} {of_tangent}", list(_ways(torch, getattr(torch, name), x, t))
            yield f"{name} {of_tangent} in place", list(_ways(torch, lambda x, name=name: getattr(x.clone(), name + "_")(), x, t))
        z = torch.tensor([1.5 + 1j, -3.0, 2j], requires_grad=not of_tangent)
        s = torch.tensor([1.0, 2j, 3.0], requires_grad=of_tangent)
        yield f"sgn of complex {of_tangent}", list(_ways(torch, torch.sgn, z, s))


@case("seen_afresh.numbers of levels in print")
def _(torch):
    said, x = [], torch.tensor([1.0, 2.0])

    def shown(v):
        said.append(re.findall(r"lvl=\d+", repr(v)))
        return v

    with torch.autograd.forward_ad.dual_level():
        torch.func.vmap(shown)(x)
        torch.func.vmap(torch.func.vmap(shown))(x[None])
        torch.func.grad(lambda v: shown(v).sum())(x)
        torch.func.vmap(torch.func.grad(lambda v: shown(v).sum()))(x[None])
    torch.func.jvp(torch.func.vmap(shown), (x,), (x,))
    yield "numbers", said


@case("seen_afresh.phases under transformations")
def _(torch):
    fad, weights = torch.autograd.forward_ad, torch.tensor([[1.0, 2.0], [3.0, 5.0]])
    matrix, along = torch.tensor([[2.0, 0.5 + 1j], [0.5 - 1j, 3.0]]), torch.tensor([[1.0, 0.2j], [-0.2j, 0.5]])
    upper = torch.ones(2, 2).triu()
    losses = {
        "eigh": lambda A: (torch.linalg.eigh(A)[1].abs().square() * weights).sum(),
        "eig": lambda A: (torch.linalg.eig(A + upper)[1].abs().square() * weights).sum(),
        "svd": lambda A: (torch.linalg.svd(A + upper)[0].abs().square() * weights).sum(),
        "ill-defined": lambda A: torch.linalg.eigh(A)[1].imag.sum() + torch.linalg.eigh(A)[1].real.sum()}
    for name, loss in losses.items():
        A = matrix.clone().requires_grad_()

        def passed(A=A, loss=loss):
            with fad.dual_level():
                return torch.autograd.grad(fad.unpack_dual(loss(fad.make_dual(A, along))).primal, A)

        programs = {"dual level": passed, "jvp of grad": lambda loss=loss: torch.func.jvp(torch.func.grad(loss), (matrix,), (along,))}
        if name != "svd":
            programs["vmap of grad"] = lambda loss=loss: torch.func.vmap(torch.func.grad(loss))(torch.stack([matrix, matrix * 2]))
        for which, program in programs.items():
            try:
                found = program()
                yield f"{name} {which}", "computed" if name == "ill-defined" else found  # numbers that depend on the phase
            except RuntimeError as e:
                yield f"{name} {which}", str(e)
