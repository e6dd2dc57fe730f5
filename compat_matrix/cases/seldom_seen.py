"""What is known to differ and seldom seen: gradients as objects, packing that detaches, parameters given twice, looks between a tangent and its gradient."""

import importlib
import warnings

from compat_matrix.case import attempt, case


@case("seldom_seen.a gradient retained by its hook")
def _(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.register_hook(lambda g: g.retain_grad() if g.requires_grad else None)
    g, = torch.autograd.grad((x * x * x).sum(), x, create_graph=True)
    second, = torch.autograd.grad(g.sum(), x)
    yield "gradients", g.detach(), second
    yield "retained", g.grad


@case("seldom_seen.packed without history")
def _(torch):
    for written in (False, True):
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach(), lambda t: t):
            g, = torch.autograd.grad((x * x * 3).sin().sum(), x, create_graph=True)
            if written:
                with torch.no_grad():
                    x.mul_(2)
            yield f"written: {written}", attempt(lambda g=g, x=x: torch.autograd.grad(g.sum(), x, allow_unused=True))


@case("seldom_seen.a parameter given twice")
def _(torch):
    for momentum in (0.0, 0.9):
        x = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            optimizer = torch.optim.SGD([x, x], lr=0.1, momentum=momentum)
        for g in (1.0, 2.0):
            x.grad = torch.tensor(g, dtype=torch.float64)
            optimizer.step()
        yield f"momentum {momentum}", x.detach()


@case("seldom_seen.a look between a tangent and its gradient")
def _(torch):
    forward_ad = importlib.import_module(f"{torch.__name__}.autograd.forward_ad")
    for looked in (False, True):
        x, a = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([0.5, 0.3], requires_grad=True)
        with forward_ad.dual_level():
            y = forward_ad.make_dual(x, torch.ones(2)) + a
            if looked:
                y.tolist()
            tangent = forward_ad.unpack_dual((y + 1).cumsum(0) * 1).tangent
            later = forward_ad.unpack_dual(forward_ad.make_dual(x * 1, torch.ones(2)) * x + a).tangent
        yield f"looked: {looked}", tangent.requires_grad, torch.autograd.grad(later.sum(), [x, a], allow_unused=True)


@case("seldom_seen.products by einsum")
def _(torch):
    x, y = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True), torch.tensor([[0.5, 1.0], [2.0, -1.0]], requires_grad=True)
    v = torch.ones(2, 2, requires_grad=True)
    gx, gy = torch.autograd.grad(torch.einsum("ij,jk->ik", x, y), (x, y), v, create_graph=True)
    yield "first", torch.autograd.grad(gx.sum(), y)
    yield "second", attempt(lambda: torch.autograd.grad(gy.sum(), x))


@case("seldom_seen.nodes of views that were written")
def _(torch):
    x, w = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True), torch.tensor([5.0, 6.0])
    b, heard = x * 3, []
    v = b.view(2, 2)
    u = v[0]
    u.mul_(w)
    v.grad_fn.register_prehook(lambda g: heard.append("v"))
    u.grad_fn.register_prehook(lambda g: heard.append("u"))
    (v.sum() + u.sum()).backward()
    yield "gradient", x.grad, sorted(heard)
    yield "order", heard


@case("seldom_seen.a hook after cat")
def _(torch):
    x, seen = torch.ones(2, requires_grad=True), []
    y = torch.cat([x, torch.ones(1)])
    y.grad_fn.register_hook(lambda given, got: seen.extend(given))
    y.sum().backward()
    yield "of the leaf", seen[0], x.grad
    yield "of the other", seen[1]
