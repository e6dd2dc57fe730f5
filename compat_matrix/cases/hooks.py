"""Hooks on tensors and nodes: order, replacement, removal, errors."""

from compat_matrix.case import attempt, case, raises, warned


def leaf(torch, values=(1.0, 2.0, 3.0)):
    return torch.tensor(list(values), requires_grad=True)


@case("hooks.tensor.sees_gradient")
def _(torch):
    x, seen = leaf(torch), []
    y = x * 2
    y.register_hook(lambda g: seen.append(g.clone()))
    (y * y).sum().backward()
    yield "seen", seen
    yield "grad", x.grad


@case("hooks.tensor.replaces")
def _(torch):
    x = leaf(torch)
    y = x * 2
    y.register_hook(lambda g: g * 10)
    y.sum().backward()
    yield "grad", x.grad


@case("hooks.tensor.several_in_order")
def _(torch):
    x, seen = leaf(torch), []
    y = x * 2
    y.register_hook(lambda g: seen.append(g.clone()))
    y.register_hook(lambda g: g + 1)
    y.register_hook(lambda g: seen.append(g.clone()))
    y.register_hook(lambda g: g * 2)
    y.sum().backward()
    yield "seen", seen
    yield "grad", x.grad


@case("hooks.leaf.sees_the_sum_once")
def _(torch):
    x, seen = leaf(torch), []
    x.register_hook(lambda g: seen.append(g.clone()))
    (x * x + x.sin() * 0 + x).sum().backward()
    yield "seen", seen


@case("hooks.leaf.replaces_what_is_accumulated")
def _(torch):
    x = leaf(torch)
    x.register_hook(lambda g: g * 0 + 7)
    (x * x).sum().backward()
    (x * x).sum().backward()
    yield "grad", x.grad


@case("hooks.leaf.under_functional_grad")
def _(torch):
    x, seen = leaf(torch), []
    x.register_hook(lambda g: seen.append("hook") or g * 3)
    x.register_post_accumulate_grad_hook(lambda t: seen.append("post"))
    yield "grad", torch.autograd.grad((x * 2).sum(), x)
    yield "seen", seen, x.grad


@case("hooks.non_leaf.under_functional_grad")
def _(torch):
    x, seen = leaf(torch), []
    y = x * 2
    y.register_hook(lambda g: seen.append("tensor") or g + 1)
    y.grad_fn.register_prehook(lambda g: seen.append("pre"))
    y.grad_fn.register_hook(lambda gi, go: seen.append("post"))
    yield "captured", torch.autograd.grad((y * y).sum(), y, retain_graph=True)
    yield "seen", list(seen)
    yield "beyond", torch.autograd.grad((y * y).sum(), x)
    yield "seen beyond", seen


@case("hooks.order.everything")
def _(torch):
    x, seen = leaf(torch), []
    y = x * 2
    node = torch.autograd.graph.get_gradient_edge(x).node
    y.register_hook(lambda g: seen.append("tensor 1"))
    y.retain_grad()
    y.register_hook(lambda g: seen.append("tensor 2"))
    y.grad_fn.register_prehook(lambda go: seen.append(("prehook", y.grad is None)))
    y.grad_fn.register_hook(lambda gi, go: seen.append("posthook"))
    x.register_hook(lambda g: seen.append("leaf tensor"))
    node.register_prehook(lambda go: seen.append(("accumulate pre", x.grad is None)))
    x.register_post_accumulate_grad_hook(lambda t: seen.append(("post accumulate", t.grad is None)))
    node.register_hook(lambda gi, go: seen.append(("accumulate post", len(gi), len(go))))
    y.sum().backward()
    yield "seen", seen


@case("hooks.order.interleaved_registration")
def _(torch):
    x, seen = leaf(torch), []
    y = x * 2
    y.grad_fn.register_hook(lambda gi, go: seen.append("post 1"))
    y.grad_fn.register_prehook(lambda go: seen.append("pre 1"))
    y.register_hook(lambda g: seen.append("tensor 1"))
    y.grad_fn.register_prehook(lambda go: seen.append("pre 2"))
    y.grad_fn.register_hook(lambda gi, go: seen.append("post 2"))
    y.register_hook(lambda g: seen.append("tensor 2"))
    y.sum().backward()
    yield "seen", seen


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


@case("hooks.inplace.before_and_after")
def _(torch):
    x, seen = leaf(torch), []
    y = x * 2
    y.register_hook(lambda g: seen.append(("old", g.clone())))
    y.mul_(5)
    y.register_hook(lambda g: seen.append(("new", g.clone())))
    y.sum().backward()
    yield "seen", seen


@case("hooks.inplace.replacing_before")
def _(torch):
    x = leaf(torch)
    y = x * 2
    y.register_hook(lambda g: g + 100)
    y.mul_(5)
    y.sum().backward()
    yield "grad", x.grad


@case("hooks.inplace.gradient_modified_in_hook")
def _(torch):
    x = leaf(torch)
    y = x * 2
    y.register_hook(lambda g: g.mul_(3))
    z = y * 1
    z.sum().backward()
    yield "grad", x.grad
    w = leaf(torch)
    def silently(g):
        g.mul_(3)
    v = w * 2
    v.register_hook(silently)
    (v * 1).sum().backward()
    yield "without return", w.grad


@case("hooks.remove.before")
def _(torch):
    x, seen = leaf(torch), []
    handle = x.register_hook(lambda g: seen.append("removed"))
    x.register_hook(lambda g: seen.append("kept"))
    handle.remove()
    handle.remove()
    (x * 2).sum().backward()
    yield "seen", seen


@case("hooks.remove.during")
def _(torch):
    x, seen = leaf(torch), []
    handles = []
    def once(g):
        seen.append("once")
        handles[0].remove()
    handles.append(x.register_hook(once))
    x.register_hook(lambda g: seen.append("always"))
    (x * 2).sum().backward()
    (x * 2).sum().backward()
    yield "seen", seen


@case("hooks.remove.as_context")
def _(torch):
    x, seen = leaf(torch), []
    with x.register_hook(lambda g: seen.append("inside")):
        (x * 2).sum().backward()
    (x * 2).sum().backward()
    yield "seen", seen


@case("hooks.remove.node_hooks")
def _(torch):
    x, seen = leaf(torch), []
    y = x * 2
    pre = y.grad_fn.register_prehook(lambda go: seen.append("pre"))
    post = y.grad_fn.register_hook(lambda gi, go: seen.append("post"))
    z = y.sum()
    z.backward(retain_graph=True)
    pre.remove()
    z.backward(retain_graph=True)
    post.remove()
    z.backward()
    yield "seen", seen


@case("hooks.remove.post_accumulate")
def _(torch):
    x, seen = leaf(torch), []
    handle = x.register_post_accumulate_grad_hook(lambda t: seen.append("post"))
    (x * 2).sum().backward()
    handle.remove()
    (x * 2).sum().backward()
    yield "seen", seen


@case("hooks.errors.registration")
def _(torch):
    x = leaf(torch)
    yield "no grad", raises(lambda: torch.ones(2).register_hook(lambda g: g))
    yield "not callable", attempt(lambda: type(x.register_hook(3)).__name__)
    yield "post on non-leaf", raises(lambda: (x * 2).register_post_accumulate_grad_hook(lambda t: None))
    yield "post without grad", raises(lambda: torch.ones(2).register_post_accumulate_grad_hook(lambda t: None))


@case("hooks.errors.wrong_result")
def _(torch):
    def with_hook(hook):
        x = leaf(torch)
        y = x * 2
        y.register_hook(hook)
        return raises(lambda: y.sum().backward())
    def named(g):
        return torch.ones(2)
    yield "shape", with_hook(named)
    yield "lambda shape", with_hook(lambda g: torch.ones(4))
    yield "number", with_hook(lambda g: 3.0)
    yield "string", with_hook(lambda g: "text")
    yield "dtype", with_hook(lambda g: g.double())
    yield "integers", with_hook(lambda g: torch.ones(3, dtype=torch.int64))
    yield "broadcastable", with_hook(lambda g: torch.ones(1))


@case("hooks.errors.post_accumulate_returns")
def _(torch):
    x = leaf(torch)
    x.register_post_accumulate_grad_hook(lambda t: t)
    yield "error", raises(lambda: (x * 2).sum().backward())


@case("hooks.errors.exception")
def _(torch):
    x, seen = leaf(torch), []
    y = x * 2
    def bad(g):
        raise ValueError("bad hook")
    y.register_hook(bad)
    x.register_hook(lambda g: seen.append("leaf"))
    yield "error", raises(lambda: y.sum().backward())
    yield "seen", seen, x.grad, torch.is_grad_enabled()


@case("hooks.errors.node_hook_results")
def _(torch):
    def pre(result):
        x = leaf(torch)
        y = x * 2
        y.grad_fn.register_prehook(lambda go: result)
        return attempt(lambda: y.sum().backward()), x.grad
    def post(result):
        x = leaf(torch)
        y = x * 2
        y.grad_fn.register_hook(lambda gi, go: result)
        return attempt(lambda: y.sum().backward()), x.grad
    yield "pre right", pre((torch.full((3,), 5.0),))
    yield "pre none", pre(None)
    yield "pre length", pre((torch.ones(3), torch.ones(3)))
    yield "pre shape", pre((torch.ones(2),))
    yield "pre tensor", pre(torch.ones(3))
    yield "post right", post((torch.full((3,), 5.0), None))
    yield "post length", post((torch.ones(3),))
    yield "post shape", post((torch.ones(2), None))


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


@case("hooks.on_root")
def _(torch):
    x, seen = leaf(torch), []
    y = (x * x).sum()
    y.register_hook(lambda g: seen.append(g.clone()) or g * 2)
    y.backward()
    yield "seen", seen, x.grad


@case("hooks.on_leaf_root")
def _(torch):
    x, seen = torch.tensor(3.0, requires_grad=True), []
    x.register_hook(lambda g: g * 5)
    x.backward()
    yield "grad", x.grad


@case("hooks.same_function_twice")
def _(torch):
    x, seen = leaf(torch), []
    def hook(g):
        seen.append("call")
    x.register_hook(hook)
    x.register_hook(hook)
    (x * 1).sum().backward()
    yield "seen", seen


@case("hooks.callable_objects")
def _(torch):
    class Scale:
        def __init__(self, k):
            self.k = k

        def __call__(self, g):
            return g * self.k
    x = leaf(torch)
    x.register_hook(Scale(4))
    (x * 1).sum().backward()
    yield "grad", x.grad


@case("hooks.not_reached")
def _(torch):
    x, seen = leaf(torch), []
    y = x * 2
    z = x * 3
    y.register_hook(lambda g: seen.append("y"))
    z.sum().backward()
    yield "seen", seen


@case("hooks.handle_attributes")
def _(torch):
    x = leaf(torch)
    handle = x.register_hook(lambda g: g)
    yield "class", type(handle).__name__, isinstance(handle.id, int)
    yield "backward_hooks", len(x._backward_hooks)
    handle.remove()
    yield "after", len(x._backward_hooks)


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


@case("hooks.sum_of_uses_before_hook")
def _(torch):
    x, seen = leaf(torch), []
    y = x * 1
    y.register_hook(lambda g: seen.append(g.clone()))
    a, b, c = y * 2, y * 3, y[1:]
    (a.sum() + b.sum() + c.sum()).backward()
    yield "seen", seen


@case("hooks.backward_twice_fires_twice")
def _(torch):
    x, seen = leaf(torch), []
    y = x * 2
    y.register_hook(lambda g: seen.append("y"))
    z = y.sum()
    z.backward(retain_graph=True)
    z.backward()
    yield "seen", seen


@case("hooks.register_during_backward")
def _(torch):
    x, seen = leaf(torch), []
    y = x * 2
    z = y * 3
    z.register_hook(lambda g: y.register_hook(lambda h: seen.append("late")) and None)
    z.sum().backward(retain_graph=True)
    yield "same pass", list(seen)
    z.sum().backward()
    yield "next pass", seen


@case("hooks.detached_and_cloned_have_none")
def _(torch):
    x, seen = leaf(torch), []
    x.register_hook(lambda g: seen.append("x"))
    d = x.detach().requires_grad_()
    (d * 2).sum().backward()
    c = x.clone()
    torch.autograd.grad(c.sum(), c)
    yield "seen", seen


@case("hooks.names_of_warning_free_use")
def _(torch):
    x = leaf(torch)
    y = x * 2
    yield "warnings", warned(lambda: (y.register_hook(lambda g: g), y.retain_grad(), y.sum().backward(), y.grad))
