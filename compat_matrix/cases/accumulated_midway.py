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
