"""What a pass that is not over yet has accumulated, and what hangs on nodes and packed values that nobody holds."""

import gc
import itertools

from compat_matrix.case import case


def _network(torch):
    values = itertools.count(1)
    layers = []
    for n, m in ((2, 3), (3, 3), (3, 1)):
        layer = torch.nn.Linear(n, m)
        with torch.no_grad():
            for p in layer.parameters():
                p.copy_(torch.tensor([next(values) * 0.01 for _ in range(p.numel())]).view(p.shape))
        layers += [layer, torch.nn.Tanh()]
    return torch.nn.Sequential(*layers[:-1])


@case("accumulated_midway.seen by hooks")
def _(torch):
    """A leaf is accumulated as soon as nothing more can arrive at it: hooks further down see it."""
    net, seen, h = _network(torch), [], torch.ones(1, 2)
    for layer in net:
        h = layer(h)
        h.register_hook(lambda g: seen.append(sum(p.grad is not None for p in net.parameters())))
    h.sum().backward()
    yield "tensor hooks", seen
    net, stepped = _network(torch), []

    def step(module, gradients):
        for n, p in net.named_parameters():
            if p.grad is not None:
                stepped.append(n)
                p.grad = None

    for layer in net:
        layer.register_full_backward_pre_hook(step)
    net(torch.ones(1, 2, requires_grad=True)).sum().backward()
    yield "module hooks", stepped, [p.grad is None for p in net.parameters()]


def _filled(net):
    return "".join("x" if p.grad is not None else "." for p in net.parameters())


@case("accumulated_midway.all kinds of passes")
def _(torch):
    """The same with a graph, for chosen leaves, with anomaly mode, over a record that was read in between, and in a Function."""
    def run(name, read=(), **options):
        net, seen, h = _network(torch), [], torch.ones(1, 2)
        params = list(net.parameters())
        for i, layer in enumerate(net):
            h = layer(h)
            h.register_hook(lambda g: seen.append(_filled(net)))
            if i in read:
                h.sum().item()
        if "inputs" in options:
            options = {"inputs": [params[i] for i in options["inputs"]]}
        h.sum().backward(**options)
        return name, seen, [None if p.grad is None else p.grad.detach().clone() for p in params]

    yield run("with a graph", create_graph=True)
    yield run("kept", retain_graph=True)
    yield run("chosen", inputs=[1, 4, 5])
    for read in ((1,), (2, 3), (0, 1, 2, 3, 4)):
        yield run(f"read after {read}", read)
    with torch.autograd.detect_anomaly(check_nan=False):
        yield run("anomaly mode")
    net, seen = _network(torch), []

    class Look(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            seen.append(_filled(net))
            return g

    h = torch.ones(1, 2)
    for layer in net:
        h = Look.apply(layer(h))
    h.sum().backward()
    yield "Functions", seen


@case("accumulated_midway.where more is to come")
def _(torch):
    """A leaf that is used again further down waits for all of its gradient."""
    for read in (False, True):
        w, v, seen = torch.full((2,), 3.0, requires_grad=True), torch.full((2,), 2.0, requires_grad=True), []
        w.grad = torch.ones(2)

        def look(g):
            seen.append((w.grad.tolist(), None if v.grad is None else v.grad.tolist()))

        a = w * 2
        a.register_hook(look)
        b = a * v
        b.register_hook(look)
        if read:
            b.sum().item()
        c = b * w
        c.register_hook(look)
        d = c + v
        d.register_hook(look)
        d.sum().backward()
        yield read, seen, w.grad, v.grad
    w, seen = torch.ones(2, requires_grad=True), []
    a = w * 2
    a.register_hook(lambda g: seen.append(w.grad is None))
    old = w.sum()
    with torch.no_grad():
        w.add_(1)
    b = a * w
    b.register_hook(lambda g: seen.append(w.grad is None))
    (b.sum() + old).backward()
    yield "two histories", seen, w.grad


@case("accumulated_midway.what hooks do with it")
def _(torch):
    """Steps of an optimizer, gradients taken away and passes within the pass, where some leaves are filled."""
    net = _network(torch)
    optimizers = {p: torch.optim.SGD([p], lr=0.1) for p in net.parameters()}

    def step(module, gradients):
        for p, o in optimizers.items():
            if p.grad is not None:
                o.step()
                o.zero_grad()

    for layer in net:
        layer.register_full_backward_pre_hook(step)
    for _ in range(3):
        net(torch.ones(1, 2, requires_grad=True)).sum().backward()
        step(None, None)
    yield "layer by layer", list(net.parameters()), [p.grad is None for p in net.parameters()]
    net, h = _network(torch), torch.ones(1, 2)
    last = net[-1].weight

    def inner(g):
        with torch.enable_grad():
            (last * last).sum().backward()

    for layer in net[:-1]:
        h = layer(h)
    h.register_hook(inner)
    net[-1](h).sum().backward()
    yield "a pass within", [p.grad for p in net.parameters()]
    net, h = _network(torch), torch.ones(1, 2)
    for layer in net:
        h = layer(h)
        h.register_hook(lambda g: net[-1].weight.grad.mul_(2) if net[-1].weight.grad is not None else None)
    h.sum().backward()
    yield "written", [p.grad for p in net.parameters()]
    net, h, norms = _network(torch), torch.ones(1, 2), []
    for layer in net:
        h = layer(h)
        h.register_hook(lambda g: norms.append([p.grad.norm().item() for p in net.parameters() if p.grad is not None]))
    h.sum().backward()
    yield "read", norms


@case("accumulated_midway.a pass that fails")
def _(torch):
    """What was complete before a hook raised stays accumulated."""
    for read in (False, True):
        net, h = _network(torch), torch.ones(1, 2)

        def fail(g):
            raise ValueError("no further")

        for i, layer in enumerate(net):
            h = layer(h)
            if i == 1:
                h.register_hook(fail)
            if read:
                h.sum().item()
        try:
            h.sum().backward()
        except ValueError as e:
            yield f"{e} {read}", [p.grad for p in net.parameters()]
        net(torch.ones(1, 2)).sum().backward()
        yield f"after it {read}", [p.grad for p in net.parameters()]


@case("accumulated_midway.hooks of every leaf")
def _(torch):
    """Where each leaf has a hook of its own they are accumulated one by one."""
    net, seen = _network(torch), []
    for p in net.parameters():
        p.register_post_accumulate_grad_hook(lambda p: seen.append([q.grad is not None for q in net.parameters()]))
    net(torch.ones(1, 2)).sum().backward()
    yield "seen", seen


@case("accumulated_midway.hooks of a node that is let go")
def _(torch):
    """Hooks of an accumulation node that nobody holds go with the graph that showed it."""
    x = torch.ones(2, requires_grad=True)
    x.view_as(x).grad_fn.next_functions[0][0].register_prehook(lambda g: (g[0] * 100,))
    gc.collect()
    (x * 2).sum().backward()
    yield "let go", x.grad
    y = torch.ones(2, requires_grad=True)
    node = y.view_as(y).grad_fn.next_functions[0][0]
    node.register_prehook(lambda g: (g[0] * 100,))
    (y * 2).sum().backward()
    yield "held", y.grad


@case("accumulated_midway.packed and written")
def _(torch):
    """What hooks pack is the tensor itself: a later write to its memory is seen, and no version is checked."""
    x, mask = torch.ones(3, requires_grad=True), torch.zeros(3)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = x * mask
    mask.fill_(7.0)
    y.sum().backward()
    yield "identity", x.grad
    x, mask = torch.ones(3, requires_grad=True), torch.zeros(3)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        y = x * mask
    mask.fill_(7.0)
    y.sum().backward()
    yield "copied", x.grad


@case("accumulated_midway.weights written before they are read")
def _(torch):
    """A weight that a hook writes may not be read by a node that comes after; one whose node has run may be."""
    def writing(w):
        def write(*gradients):
            with torch.no_grad():
                w.mul_(2)
        return write

    class Write(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            ctx.w = w
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            writing(ctx.w)()
            return g, None

    def run(name, place, read=(), backward=torch.autograd.backward):
        w, x = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([3.0, 4.0], requires_grad=True)
        y = x * w
        if 0 in read:
            y.sum().item()
        z = Write.apply(y, w) if place == "function" else y * w
        if 1 in read:
            z.sum().item()
        if place == "tensor":
            y.register_hook(writing(w))
        elif place == "before":
            y.grad_fn.register_prehook(writing(w))
        elif place == "after":
            z.grad_fn.register_hook(writing(w))
        elif place == "late":
            x.register_hook(writing(w))
        try:
            backward(z.sum())
            seen = "passes"
        except RuntimeError as e:
            seen = str(e)
        (x * w).sum().backward()
        return name, seen, x.grad, w.grad

    for place in ("tensor", "before", "after", "function", "late"):
        yield run(place, place)
    for read in ((0,), (1,), (0, 1)):
        yield run(f"read {read}", "tensor", read)
    yield run("kept", "tensor", (), lambda loss: loss.backward(retain_graph=True))
    yield run("with a graph", "tensor", (), lambda loss: loss.backward(create_graph=True))
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * 1.5).exp()
    z = y * 2

    def write(g):
        with torch.no_grad():
            y.mul_(2)

    z.register_hook(write)
    try:
        z.sum().backward()
        yield "a result", "passes"
    except RuntimeError as e:
        yield "a result", str(e)
