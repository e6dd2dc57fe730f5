"""Hooks of tensors, of nodes, after accumulation, of several tensors, of modules."""

import gc
import weakref

from compat_matrix.case import case, raises


def leaf(torch, *values):
    return torch.tensor(list(values) or [1.0, 2.0, 3.0], requires_grad=True)


@case("relied_on.hooks.of tensors")
def _(torch):
    x, log = leaf(torch), []
    y = x * 2
    y.register_hook(lambda g: log.append(("1", g.tolist())))
    y.register_hook(lambda g: g * 10)
    y.register_hook(lambda g: log.append(("3", g.tolist())))
    y.sum().backward()
    yield "order and replacing", log, x.grad
    a, seen = leaf(torch), []
    u = a.unbind()
    u[0].register_hook(lambda g: seen.append(("0", g)))
    u[1].register_hook(lambda g: seen.append(("1", g)))
    (u[1] * 2).backward()
    yield "only others", seen
    x, count = leaf(torch), []
    h = x.register_hook(lambda g: count.append(1))
    h.remove()
    h.remove()
    (x * 2).sum().backward()
    yield "removed twice", count
    x, log = leaf(torch), []
    y = x * 2

    def first(g):
        log.append("first")
        handles[1].remove()
        handles[0].remove()
    handles = [y.register_hook(first), y.register_hook(lambda g: log.append("second"))]
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    yield "removed while running", log

    class Called:
        def __call__(self, g):
            return g + 1
    x = leaf(torch)
    x.register_hook(Called())
    (x * 2 + x * 3 + x).sum().backward()
    yield "any callable, the sum", x.grad
    x, log = leaf(torch), []
    y = x * 2
    y.register_hook(lambda g: log.append(("old", g.tolist())))
    y.mul_(5)
    y.register_hook(lambda g: log.append(("new", g.tolist())))
    y.sum().backward()
    yield "before a write", log
    x, log = leaf(torch), []
    b = x * 1
    v = b[0:2]
    v.register_hook(lambda g: log.append(("old", g.tolist())))
    b.mul_(2)
    _ = v.grad_fn
    v.register_hook(lambda g: log.append(("new", g.tolist())))
    (v * 3).sum().backward()
    yield "stale view", log, x.grad


@case("relied_on.hooks.retained gradients")
def _(torch):
    x = leaf(torch)
    y = x * 2
    y.retain_grad()
    y.retain_grad()
    x.retain_grad()
    yield "flags", y.retains_grad, x.retains_grad
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    yield "sums up", y.grad
    for through in (False, True):
        x = leaf(torch)
        y = x * 2
        y.retain_grad()
        (y[0:2] if through else y).mul_(3)
        y.sum().backward()
        yield f"written {through}", y.grad, x.grad, y.retains_grad
    x = leaf(torch)
    a, b = (x * 1).split([1, 2])
    a = x.unsafe_split(1)[0]
    a.retain_grad()
    a.mul_(4)
    a.sum().backward()
    yield "one of several", a.grad, x.grad
    x = leaf(torch)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 7)
    y.grad_fn.register_prehook(lambda gs: (gs[0] * 100,))
    y.sum().backward()
    yield "which one", y.grad, x.grad
    y = leaf(torch) * 2
    y.retain_grad()
    ref = weakref.ref(y)
    y.sum().backward()
    del y
    yield "no cycle", ref() is None


@case("relied_on.hooks.of nodes")
def _(torch):
    x, log = leaf(torch), []
    y = x * 2
    node = y.grad_fn
    node.register_prehook(lambda gs: log.append(("pre", type(gs).__name__, len(gs), gs[0].tolist())))
    node.register_prehook(lambda gs: (gs[0] * 2,))
    node.register_hook(lambda gi, go: log.append(("post", type(gi).__name__, [None if g is None else g.tolist() for g in gi], [g.tolist() for g in go])))
    node.register_hook(lambda gi, go: (gi[0] * 3, gi[1]))
    y.register_hook(lambda g: log.append(("tensor", g.tolist())))
    y.sum().backward()
    yield "all", log, x.grad
    x, log = leaf(torch), []
    y = x * 2

    def once(gi, go):
        log.append("once")
        h.remove()
    h = y.grad_fn.register_hook(once)
    y.grad_fn.register_hook(lambda gi, go: log.append("stays"))
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    yield "removed while running", log
    x, log = leaf(torch), []
    acc = x.view_as(x).grad_fn.next_functions[0][0]
    acc.register_prehook(lambda gs: log.append(("pre", [g.tolist() for g in gs], x.grad is None)))
    acc.register_hook(lambda gi, go: log.append(("post", len(gi), [g.tolist() for g in go], x.grad.tolist())))
    (x * 2).sum().backward()
    yield "of accumulation", log, acc.name(), acc.variable is x
    x, log = leaf(torch), []
    y = x.exp()
    z = y * 2
    y.register_hook(lambda g: log.append("tensor"))
    y.grad_fn.register_hook(lambda *a: log.append("node"))
    y.grad_fn.register_prehook(lambda *a: log.append("prehook"))
    torch.autograd.grad(z.sum(), y)
    yield "captured only", log
    u = leaf(torch)
    parts = u.unbind()
    parts[0].grad_fn.register_prehook(lambda gs: log.append([g if g is None else g.tolist() for g in gs]))
    parts[2].backward()
    yield "missing ones", log[-1]
    yield "wrong number", raises(lambda: wrong(torch, lambda gs: (gs[0], gs[0]), pre=True)), raises(lambda: wrong(torch, lambda gi, go: (gi[0],)))
    yield "wrong kind", raises(lambda: wrong(torch, lambda gs: 1, pre=True)), raises(lambda: wrong(torch, lambda gi, go: 1.5))


def wrong(torch, hook, pre=False):
    y = leaf(torch) * leaf(torch)
    (y.grad_fn.register_prehook if pre else y.grad_fn.register_hook)(hook)
    y.sum().backward()


@case("relied_on.hooks.after accumulation")
def _(torch):
    x, log = leaf(torch), []
    yield "of an inner one", raises(lambda: (leaf(torch) * 2).register_post_accumulate_grad_hook(lambda p: None))
    acc = x.view_as(x).grad_fn.next_functions[0][0]
    acc.register_hook(lambda *a: log.append("node post"))
    acc.register_prehook(lambda *a: log.append("node pre"))
    x.register_post_accumulate_grad_hook(lambda p, x=x: log.append(("after", p is x, p.grad.tolist())))
    x.register_hook(lambda g: log.append("tensor"))
    (x * 2).sum().backward()
    yield "order", log
    x.register_post_accumulate_grad_hook(lambda p: p.grad)
    yield "answers", raises((x * 2).sum().backward)
    p = torch.nn.Parameter(torch.ones(3))
    opt = torch.optim.Adam([p], lr=0.1)

    def step(t):
        opt.step()
        opt.zero_grad()
    p.register_post_accumulate_grad_hook(step)
    for _ in range(3):
        (p * p).sum().backward()
    yield "a step in it", p, p.grad
    holder = type("Holder", (), {"__call__": lambda self, t: None})()
    ref = weakref.ref(holder)
    x = leaf(torch)
    x.register_post_accumulate_grad_hook(holder)
    del holder, x
    gc.collect()
    yield "goes with it", ref() is None


@case("relied_on.hooks.of several tensors")
def _(torch):
    multi = torch.autograd.graph.register_multi_grad_hook
    a, b, c, log = leaf(torch), leaf(torch), leaf(torch), []
    h = multi((a, b, c), lambda gs: log.append([None if g is None else g.tolist() for g in gs]))
    (a * 2 + b).sum().backward()
    (a * 2 + b * 4 + c).sum().backward()
    (c * 9).sum().backward(inputs=[c])
    yield "all", log
    h.remove()
    (a * 2).sum().backward()
    yield "removed", len(log)
    log.clear()
    x = leaf(torch)
    y, z = x * 2, x * 3
    y.register_hook(lambda g: log.append("ordinary y"))
    z.register_hook(lambda g: log.append("ordinary z"))
    h = multi((y, z), lambda g: log.append(g.tolist()), mode="any")
    (y + z * 5).sum().backward(retain_graph=True)
    (y + z * 5).sum().backward()
    yield "any", log
    log.clear()
    p = leaf(torch)
    q, r = p * 2, p * 3
    multi((q, r), lambda gs: log.append(len(gs)))
    bad = q.register_hook(lambda g: 1 / 0)
    yield "failed", raises(lambda: (q + r).sum().backward(retain_graph=True)), log
    bad.remove()
    (q + r).sum().backward()
    yield "after it", log
    yield "words", raises(lambda: multi((a, b), lambda g: None, mode="foo"))
    log.clear()
    s = leaf(torch)
    t, u = s * 2, s * 3
    multi((t, u), lambda gs: log.append([None if g is None else g.tolist() for g in gs]))

    def inside(g):
        with torch.enable_grad():
            torch.autograd.grad((u * 7).sum(), s, retain_graph=True)
    t.register_hook(inside)
    (t + u).sum().backward(retain_graph=True)
    yield "passes in passes", log


@case("relied_on.hooks.of modules")
def _(torch):
    m, log = torch.nn.Linear(2, 2), []
    with torch.no_grad():
        m.weight.copy_(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        m.bias.zero_()
    m.register_full_backward_hook(lambda mod, gi, go: log.append((type(mod).__name__, [g.tolist() for g in gi], [g.tolist() for g in go])))
    m.register_full_backward_pre_hook(lambda mod, go: log.append(("pre", [g.tolist() for g in go])))
    x = torch.ones(1, 2, requires_grad=True)
    out = (m(x) ** 2).sum()
    (g,) = torch.autograd.grad(out, x, create_graph=True)
    yield "first order", log
    log.clear()
    (g * g).sum().backward()
    yield "double", log, x.grad
    ref = weakref.ref(m)
    del m, out, g, x
    gc.collect()
    yield "goes away", ref() is None
