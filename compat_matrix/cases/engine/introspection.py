"""What a running pass tells about itself; batched gradients; odd nodes."""

from compat_matrix.case import attempt, case, raises
from compat_matrix.probes import each, evaluate


def leaf(torch, values=(1.0, 2.0, 3.0)):
    return torch.tensor(list(values), requires_grad=True)


@case("engine.execution_order.predicted")
def _(torch):
    x, seen = leaf(torch), []
    with torch.autograd.set_multithreading_enabled(False):
        loss = (x.sin() * x.cos()).exp().sum()
        loss.register_hook(lambda g: seen.append(
            [n.name() for n in torch._C._current_graph_task_execution_order()]))
        loss.backward(retain_graph=True)
        loss.backward(inputs=[x])
    yield "names", seen


@case("engine.execution_order.outside")
def _(torch):
    yield "error", raises(lambda: torch._C._current_graph_task_execution_order())


@case("engine.multithreading asked below")
def _(torch):
    seen = [torch._C._is_multithreading_enabled()]
    with torch.autograd.set_multithreading_enabled(False):
        seen.append(torch._C._is_multithreading_enabled())
    yield "seen", [*seen, torch._C._is_multithreading_enabled()]


@case("engine.sequence_numbers.changed")
def _(torch):
    x, seen = leaf(torch), []
    a, b = x * 2, x * 3
    for name, t in (("a", a), ("b", b)):
        t.register_hook(lambda g, name=name: seen.append(name))
    a.grad_fn._set_sequence_nr(b.grad_fn._sequence_nr() + 100)
    (a + b).sum().backward()
    yield "order", seen


@case("engine.keep_graph.visible")
def _(torch):
    x, seen = leaf(torch), []
    y = x * 2
    y.register_hook(
        lambda g: seen.append(torch._C._autograd._get_current_graph_task_keep_graph()))
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    yield "seen", seen


@case("engine.queue_callback.nested")
def _(torch):
    x, seen = leaf(torch), []
    engine = torch.autograd.Variable._execution_engine

    def second():
        seen.append("second")

    def first():
        seen.append("first")
        engine.queue_callback(second)

    def hook(g):
        engine.queue_callback(first)
    y = x * 2
    y.register_hook(hook)
    x.register_hook(lambda g: seen.append("leaf"))
    y.sum().backward()
    yield "seen", seen


@case("engine.queue_callback.errors")
def _(torch):
    x = leaf(torch)
    engine = torch.autograd.Variable._execution_engine

    def bad():
        raise ValueError("from the callback")
    y = x * 2
    y.register_hook(lambda g: engine.queue_callback(bad))
    yield "raised", raises(lambda: y.sum().backward())
    yield "outside", raises(lambda: engine.queue_callback(lambda: None))


@case("engine.delayed_error")
def _(torch):
    x = leaf(torch)
    y = torch._C._functions.DelayedError("too late", 1)(x)
    yield "forward", y.requires_grad, y.grad_fn.name()
    yield "backward", raises(lambda: y.sum().backward())


@case("engine.undefined_grad")
def _(torch):
    x, seen = leaf(torch), []
    x.register_hook(lambda g: seen.append("leaf"))
    y = torch._C._functions.UndefinedGrad()(x)
    y.sum().backward()
    yield "grad", x.grad, seen


@case("engine.undefined_grad.into_builtin_ops")
def _(torch):
    x = leaf(torch)
    undefined = torch._C._functions.UndefinedGrad()
    (undefined(x * 2) + x * 3).sum().backward()
    yield "grad", x.grad


@case("engine.gradient_edge.as_root_and_input")
def _(torch):
    graph, x = torch.autograd.graph, leaf(torch)
    y = x * 2
    z = (y * y).sum()
    yield "fields", graph.get_gradient_edge(z)._fields[:2]
    torch.autograd.backward(graph.get_gradient_edge(z), inputs=[x], retain_graph=True)
    yield "root", x.grad
    yield "given", torch.autograd.grad(
        graph.get_gradient_edge(y), x, torch.ones(3), retain_graph=True)
    yield "no grad", raises(lambda: graph.get_gradient_edge(torch.ones(1)))


@case("engine.gradient_edge.means_the_old_version")
def _(torch):
    graph, x = torch.autograd.graph, leaf(torch)
    y = x * 2
    old = graph.get_gradient_edge(y)
    y.mul_(5)
    yield "old and new", torch.autograd.grad((y * 1).sum(), [old, y])


@case("engine.gradient_edge.multi_output")
def _(torch):
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    a, b = x.unbind(0)
    edge = torch.autograd.graph.get_gradient_edge(b)
    yield "edge", edge.output_nr, edge.node is a.grad_fn
    yield "grad", torch.autograd.grad((a * b).sum(), [edge])


@case("engine.leaf_replaced_by_set_")
def _(torch):
    x = torch.ones(2, requires_grad=True)
    y = (x * 2).sum()
    with torch.no_grad():
        x.set_(torch.ones(2))
    yield "grad", attempt(lambda: torch.autograd.grad(y, x))


@case("engine.batched.several_outputs_and_inputs")
def _(torch):
    x, y = leaf(torch), leaf(torch)
    a, b = x * y, (x + y).sum()
    yield "grads", torch.autograd.grad(
        [a, b], [x, y], [torch.eye(3)[:2], torch.tensor([1.0, 10.0])], is_grads_batched=True)


@case("engine.batched.unused")
def _(torch):
    x, y = leaf(torch), leaf(torch)
    rows = torch.eye(3)
    yield "none", torch.autograd.grad(
        x * 2, [x, y], rows, is_grads_batched=True, allow_unused=True)
    yield "error", raises(lambda: torch.autograd.grad(x * 2, [y], rows, is_grads_batched=True))
    yield "materialized", torch.autograd.grad(
        x * 2, [x, y], rows, is_grads_batched=True, materialize_grads=True)


@case("engine.batched.create_graph")
def _(torch):
    x = leaf(torch)
    jacobian, = torch.autograd.grad(
        x ** 3, x, torch.eye(3), is_grads_batched=True, create_graph=True)
    yield "jacobian", jacobian
    yield "second", torch.autograd.grad(jacobian.sum(), x)


def batched(torch, expression):
    x = torch.tensor([[0.5, -1.0], [2.0, 0.25]], dtype=torch.float64, requires_grad=True)
    out = evaluate(torch, expression, x=x)
    rows = torch.eye(out.numel(), dtype=torch.float64).reshape(out.numel(), *out.shape)
    together, = torch.autograd.grad(out, x, rows, is_grads_batched=True, retain_graph=True)
    yield "jacobian", together


each("engine.batched.jacobian", batched, {
    "matmul": "x @ x", "softmax": "x.softmax(0)", "index": "x[0]", "max": "x.max(1).values",
    "cat": "torch.cat([x, x * 2])", "norm": "x.norm(dim=0)", "view": "x.view(4)[1:]",
    "where": "torch.where(x > 0, x, x * x)", "inplace": "(x * 1).mul_(3)", "sort": "x.sort(1).values",
    "setitem": "(lambda t: t.__setitem__(0, t[1].clone()) or t)(x * 2)", "cumsum": "x.cumsum(0)",
})


@case("engine.batched.hooks_see_batches")
def _(torch):
    x, seen = leaf(torch), []
    y = x * 2
    y.register_hook(lambda g: seen.append(tuple(g.shape)))
    found = attempt(lambda: torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True))
    yield "grads", found
    yield "seen", seen


@case("engine.errors.dtype_of_inputs")
def _(torch):
    x = leaf(torch)
    yield "backward to bool", raises(lambda: torch.autograd.backward((x > 1).sum()))
    yield "int tensor", raises(lambda: torch.tensor(3).backward())
    yield "grad of int", raises(lambda: torch.autograd.grad(x.sum().long(), x))


@case("engine.errors.grad_outputs_length")
def _(torch):
    x = leaf(torch)
    out = [x.sum(), x.sum()]
    yield "short", raises(lambda: torch.autograd.grad(out, x, [None]))
    yield "one tensor for two", raises(lambda: torch.autograd.grad(out, x, torch.tensor(1.0)))


@case("engine.node_not_run_when_unneeded")
def _(torch):
    x, w, ran = leaf(torch), leaf(torch), []

    class Watch(torch.autograd.Function):
        @staticmethod
        def forward(ctx, t):
            return t * 1

        @staticmethod
        def backward(ctx, g):
            ran.append("ran")
            return g
    y = Watch.apply(x) * w
    torch.autograd.grad(y.sum(), w, retain_graph=True)
    yield "not needed", list(ran)
    torch.autograd.grad(y.sum(), x)
    yield "needed", ran


@case("engine.threads.each_its_own_graph")
def _(torch):
    import threading
    x, found = leaf(torch), []

    def work(k):
        found.append((k, torch.autograd.grad((x * k).sum(), x)[0]))
    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    yield "grads", sorted(found, key=lambda pair: pair[0])


@case("engine.threads.shared_leaf")
def _(torch):
    import threading
    x = leaf(torch)
    threads = [threading.Thread(target=lambda: (x * 2).sum().backward()) for _ in range(5)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    yield "grad", x.grad


@case("engine.lifetime.graph_dies_with_its_end")
def _(torch):
    import gc
    import weakref
    x = leaf(torch)

    class Note:
        pass
    note = Note()
    y = x * 2
    y.grad_fn.metadata["note"] = note
    alive = weakref.ref(note)
    del note
    yield "kept", alive() is not None
    del y
    gc.collect()
    yield "gone", alive() is None


@case("engine.lifetime.hook_closure_freed")
def _(torch):
    import gc
    import weakref

    class Big:
        pass

    def build():
        big = Big()
        y = torch.ones(2, requires_grad=True) * 2
        y.register_hook(lambda g: (big, g)[1])
        return weakref.ref(big), y
    alive, y = build()
    yield "kept", alive() is not None
    del y
    gc.collect()
    yield "gone", alive() is None
