"""Hooks on tensors: order, replacement, removal, errors."""

from compat_matrix.case import attempt, case, raises, warned
from compat_matrix.cases.hooks import leaf


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


@case("hooks.on_root")
def _(torch):
    x, seen = leaf(torch), []
    y = (x * x).sum()
    y.register_hook(lambda g: seen.append(g.clone()) or g * 2)
    y.backward()
    yield "seen", seen, x.grad


@case("hooks.on_leaf_root")
def _(torch):
    x, _seen = torch.tensor(3.0, requires_grad=True), []
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


@case("hooks.post_accumulate.results")
def _(torch):
    for name, value in (("number", 3), ("wrong shape", torch.ones(1)), ("tensor", torch.ones(2)), ("tuple", ()), ("false", False), ("none", None)):
        x = torch.ones(2, requires_grad=True)
        x.register_post_accumulate_grad_hook(lambda p, value=value: value)
        yield name, raises((x * 2).sum().backward), x.grad
