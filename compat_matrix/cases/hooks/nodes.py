"""Hooks on nodes, retain_grad, post-accumulate and multi-tensor hooks."""

from compat_matrix.case import attempt, case, raises
from compat_matrix.cases.hooks import leaf


@case("hooks.retain_grad.basic")
def _(torch):
    x = leaf(torch)
    y = x * 2
    yield "before", y.retains_grad, x.retains_grad
    y.retain_grad()
    y.retain_grad()
    yield "after", y.retains_grad
    (y * y).sum().backward(retain_graph=True)
    yield "grad", y.grad
    (y * y).sum().backward()
    yield "accumulated", y.grad
    yield "leaf", attempt(lambda: x.retain_grad()), x.retains_grad


@case("hooks.retain_grad.sees_replaced")
def _(torch):
    x = leaf(torch)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 10)
    y.grad_fn.register_prehook(lambda go: (go[0] * 100,))
    y.sum().backward()
    yield "grads", y.grad, x.grad


@case("hooks.retain_grad.errors")
def _(torch):
    yield "no grad", raises(lambda: torch.ones(2).retain_grad())


@case("hooks.retain_grad.under_grad")
def _(torch):
    x = leaf(torch)
    y = x * 2
    y.retain_grad()
    torch.autograd.grad((y * y).sum(), x)
    yield "grad", y.grad


@case("hooks.retain_grad.after_inplace")
def _(torch):
    x = leaf(torch)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    (y * 5).sum().backward()
    yield "grads", y.grad, x.grad


@case("hooks.retain_grad.multi_output")
def _(torch):
    x = torch.arange(4.0).reshape(2, 2).requires_grad_()
    a, b = (x * 1).unbind(0)
    a.retain_grad()
    b.retain_grad()
    (a * 2).sum().backward()
    yield "grads", a.grad, b.grad, x.grad


@case("hooks.node.arguments")
def _(torch):
    x, w, seen = leaf(torch), leaf(torch), []
    y = x * w
    y.grad_fn.register_hook(lambda gi, go: seen.append((gi, go)))
    y.sum().backward()
    yield "seen", seen


@case("hooks.node.none_slots")
def _(torch):
    x, seen = leaf(torch), []
    y = x * 2
    y.grad_fn.register_hook(lambda gi, go: seen.append([g is None for g in gi]))
    z = torch.where(x > 1, x, torch.zeros(3))
    z.grad_fn.register_hook(lambda gi, go: seen.append([g is None for g in gi]))
    w = x * torch.ones(3)
    w.grad_fn.register_hook(lambda gi, go: seen.append([g is None for g in gi]))
    (y + z + w).sum().backward()
    yield "seen", seen


@case("hooks.node.replace_inputs")
def _(torch):
    x = leaf(torch)
    y = x * 2
    y.grad_fn.register_hook(lambda gi, go: (gi[0] * 7, *gi[1:]))
    y.sum().backward()
    yield "grad", x.grad


@case("hooks.node.accumulate_grad")
def _(torch):
    x, seen = leaf(torch), []
    node = x.view_as(x).grad_fn.next_functions[0][0]
    yield "name", node.name(), type(node).__name__
    node.register_hook(lambda gi, go: seen.append(("post", gi, [g.clone() for g in go])))
    node.register_prehook(lambda go: (go[0] * 2,))
    (x * 3).sum().backward()
    yield "seen", seen
    yield "grad", x.grad
    yield "variable", node.variable is x


@case("hooks.node.unbind_gets_none")
def _(torch):
    x, seen = torch.arange(4.0).reshape(2, 2).requires_grad_(), []
    a, b = x.unbind(0)
    a.grad_fn.register_prehook(lambda go: seen.append([None if g is None else g.clone() for g in go]))
    b.sum().backward()
    yield "seen", seen


@case("hooks.multi_output.each_hook")
def _(torch):
    x, seen = torch.arange(4.0).reshape(2, 2).requires_grad_(), []
    a, b = x.unbind(0)
    a.register_hook(lambda g: seen.append(("a", None if g is None else g.clone())))
    b.register_hook(lambda g: seen.append(("b", None if g is None else g.clone())))
    (b * 2).sum().backward()
    yield "seen", seen


@case("hooks.multi_output.view_of_tuple")
def _(torch):
    x, seen = leaf(torch, (3.0, 1.0, 2.0)), []
    values, _ = x.sort()
    values.register_hook(lambda g: seen.append(g.clone()) or g * 2)
    (values * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    yield "seen", seen, x.grad


@case("hooks.post_accumulate.sees_grad")
def _(torch):
    x, seen = leaf(torch), []
    x.register_post_accumulate_grad_hook(lambda t: seen.append((t is x, t.grad.clone())))
    (x * 2).sum().backward()
    (x * 3).sum().backward()
    yield "seen", seen


@case("hooks.post_accumulate.optimizer_in_backward")
def _(torch):
    w = leaf(torch)
    def step(t):
        with torch.no_grad():
            t -= 0.1 * t.grad
        t.grad = None
    w.register_post_accumulate_grad_hook(step)
    for _ in range(3):
        (w * w).sum().backward()
    yield "w", w.detach(), w.grad


@case("hooks.post_accumulate.order_of_several")
def _(torch):
    x, seen = leaf(torch), []
    x.register_post_accumulate_grad_hook(lambda t: seen.append(1))
    x.register_post_accumulate_grad_hook(lambda t: seen.append(2))
    (x * 2).sum().backward()
    yield "seen", seen


@case("hooks.post_accumulate.with_inputs")
def _(torch):
    x, y, seen = leaf(torch), leaf(torch), []
    x.register_post_accumulate_grad_hook(lambda t: seen.append("x"))
    y.register_post_accumulate_grad_hook(lambda t: seen.append("y"))
    (x * y).sum().backward(inputs=[x])
    yield "seen", seen


@case("hooks.post_accumulate.zeroing")
def _(torch):
    x, seen = leaf(torch), []
    def hook(t):
        seen.append(t.grad.clone())
        t.grad.zero_()
    x.register_post_accumulate_grad_hook(hook)
    (x * 2).sum().backward()
    (x * 3).sum().backward()
    yield "seen", seen, x.grad


@case("hooks.create_graph.hook_result_is_differentiable")
def _(torch):
    x = leaf(torch)
    y = x * 2
    y.register_hook(lambda g: g * x)
    g, = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    yield "first", g
    yield "second", torch.autograd.grad(g.sum(), x)


@case("hooks.create_graph.node_hook_in_double_backward")
def _(torch):
    x, seen = leaf(torch), []
    y = x ** 3
    y.grad_fn.register_hook(lambda gi, go: seen.append("node"))
    y.register_hook(lambda g: seen.append("tensor"))
    g, = torch.autograd.grad(y.sum(), x, create_graph=True)
    g.sum().backward()
    yield "seen", seen


@case("hooks.gradient_flags_inside")
def _(torch):
    x, seen = leaf(torch), []
    y = x * x
    y.register_hook(lambda g: seen.append((g.requires_grad, g.is_leaf, torch.is_grad_enabled())))
    torch.autograd.grad((y * y).sum(), x, retain_graph=True)
    torch.autograd.grad((y * y).sum(), x, create_graph=True)
    yield "seen", seen


@case("hooks.multi_grad_hook.all")
def _(torch):
    x, y, seen = leaf(torch), leaf(torch), []
    a, b, c = x * 2, y * 3, x * 5
    handle = torch.autograd.graph.register_multi_grad_hook(
        (a, b, c), lambda grads: seen.append([None if g is None else g.clone() for g in grads]))
    (a.sum() + b.sum()).backward(retain_graph=True)
    yield "seen", seen
    (a.sum() + b.sum() + c.sum()).backward(retain_graph=True)
    yield "again", seen[1:]
    handle.remove()
    a.sum().backward()
    yield "removed", len(seen)


@case("hooks.multi_grad_hook.any")
def _(torch):
    x, y, seen = leaf(torch), leaf(torch), []
    a, b = x * 2, y * 3
    torch.autograd.graph.register_multi_grad_hook((a, b), lambda g: seen.append(("any", g.clone())), mode="any")
    a.register_hook(lambda g: seen.append("a"))
    b.register_hook(lambda g: seen.append("b"))
    (a.sum() + b.sum()).backward()
    yield "seen", seen


@case("hooks.multi_grad_hook.errors")
def _(torch):
    x = leaf(torch)
    yield "mode", raises(lambda: torch.autograd.graph.register_multi_grad_hook((x,), lambda g: None, mode="foo"))


@case("hooks.multi_grad_hook.any, a pass within the pass")
def _(torch):
    a, b = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    calls, seen = [], []

    def second(g):
        calls.append(1)
        if len(calls) == 2:
            with torch.enable_grad():
                (a * b * 3).sum().backward()

    for t in (a, b):
        t.register_hook(second)
    torch.autograd.graph.register_multi_grad_hook((a, b), lambda g: seen.append(g.clone()), mode="any")
    (a * b * 2).sum().backward()
    yield "once for each pass", seen, len(calls), a.grad, b.grad
