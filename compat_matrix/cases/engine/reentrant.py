"""Passes inside passes, callbacks at the end of a pass, edges in the place of tensors."""

from compat_matrix.case import case, raises


def leaf(torch):
    return torch.tensor([1.0, 2.0, 3.0], requires_grad=True)


@case("engine.reentrant.in_function")
def _(torch):
    class Inner(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with torch.enable_grad():
                ctx.x = x.detach().requires_grad_()
                ctx.y = (ctx.x * ctx.x).sum()
            return ctx.y.detach()

        @staticmethod
        def backward(ctx, g):
            with torch.enable_grad():
                ctx.y.backward()
            return ctx.x.grad * g
    x = leaf(torch)
    (Inner.apply(x) * 2).backward()
    yield "grad", x.grad


@case("engine.reentrant.in_hooks")
def _(torch):
    x, log = leaf(torch), []
    y = x * 2
    def own_graph(g):
        with torch.enable_grad():
            z = x.detach().requires_grad_()
            (z ** 2).sum().backward()
        log.append(z.grad)
        return g * 2
    y.register_hook(own_graph)
    y.sum().backward()
    yield "own graph", x.grad, log
    w = leaf(torch)
    s = (w ** 2).sum()
    z = w * 3
    z.register_hook(lambda g: g + torch.autograd.grad(s, w, retain_graph=True)[0])
    z.sum().backward()
    yield "another graph", w.grad


@case("engine.reentrant.callbacks")
def _(torch):
    engine, x, log = torch.autograd.Variable._execution_engine, leaf(torch), []
    def late():
        log.append(("first", x.grad.tolist()))
        engine.queue_callback(lambda: log.append("second"))
    y = x * 2
    y.register_hook(lambda g: engine.queue_callback(late))
    y.sum().backward()
    yield "log", log
    yield "outside", raises(lambda: engine.queue_callback(late))
    def fails():
        raise ValueError("in a callback")
    z = x * 2
    z.register_hook(lambda g: engine.queue_callback(fails))
    yield "raises", raises(lambda: z.sum().backward())


@case("engine.reentrant.edges")
def _(torch):
    edge = torch.autograd.graph.get_gradient_edge
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    a, b = (x * 1).unbind(0)
    z = (a * b).sum()
    yield "numbers", edge(a).output_nr, edge(b).output_nr, edge(x).output_nr
    yield "inputs", torch.autograd.grad(z, [edge(b), edge(a)], retain_graph=True)
    yield "root", torch.autograd.grad(edge(a), x, torch.ones(3), retain_graph=True)
    torch.autograd.backward(edge(b), torch.ones(3) * 3, retain_graph=True)
    z.backward(inputs=[edge(x)])
    yield "accumulated", x.grad
    yield "unused", raises(lambda: torch.autograd.grad((x * 2).sum(), edge(x * 3)))


@case("engine.reentrant.node_class")
def _(torch):
    x = leaf(torch)
    Node, node = torch.autograd.graph.Node, (x * 2).grad_fn
    yield "instances", isinstance(node, Node), isinstance(node.next_functions[0][0], Node), isinstance(3, Node), issubclass(type(node), Node)
    meta, = node._input_metadata
    yield "metadata", meta.shape, meta.dtype, str(meta.device), meta.is_nested_tensor, node.metadata
    yield "order", (x * 2).grad_fn._sequence_nr() > node._sequence_nr()
    yield "abstract", raises(lambda: Node())["error"]["class"], sorted(Node.__abstractmethods__)
    yield "attribute", raises(lambda: setattr(node, "foo", 1))


@case("engine.reentrant.versions")
def _(torch):
    graph, x = torch.autograd.graph, torch.ones(2)
    v = x.view(2, 1)
    graph.increment_version(v)
    graph.increment_version([x, v])
    yield "counted", x._version, v._version
    y = leaf(torch) * 1
    z = y.sin()
    graph.increment_version(y)
    yield "error", raises(lambda: z.sum().backward())
    yield "no tensor", raises(lambda: graph.increment_version(3))
    yield "none among several", raises(lambda: graph.increment_version([x, None])), x._version


@case("engine.reentrant.read_once")
def _(torch):
    class Once(torch.autograd.Function):
        clear_saved_tensors_on_access = True

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    class Boxed(torch.autograd.Function):
        boxed_grads_call = True

        @staticmethod
        def forward(ctx, x, y):
            return x * 2, y * 3

        @staticmethod
        def backward(ctx, grads):
            return type(grads) is list and grads[0] * 2, grads[1] * 3
    x = leaf(torch)
    y = Once.apply(x)
    y.sum().backward(retain_graph=True)
    yield "grad", x.grad
    yield "again", raises(lambda: y.sum().backward())
    z = Once.apply(x)
    z.grad_fn.saved_tensors
    yield "looked at", raises(lambda: z.grad_fn.saved_tensors)
    a, b = Boxed.apply(x, x)
    yield "boxed", torch.autograd.grad((a + b).sum(), x)
