"""A pass goes from node to node: undefined gradients among others, targets beside other results of their node, and what hooks see of both."""

from compat_matrix.case import case


def _shown(g):
    return None if g is None else round(float(g.sum()), 4)


def _makers(torch, events):
    """(apply(name, without, materialize, *inputs) -> two results, hook(name)): the inputs at the places `without` get no gradient."""
    class Two(torch.autograd.Function):
        @staticmethod
        def forward(ctx, name, without, materialize, *inputs):
            ctx.name, ctx.without, ctx.n = name, without, len(inputs)
            ctx.set_materialize_grads(materialize)
            total = sum(inputs[1:], inputs[0] * 1.0)
            return total * 2, total.sin()

        @staticmethod
        def backward(ctx, a, b):
            events.append((ctx.name, a is None, b is None))
            g = a if b is None else b if a is None else a + b
            return (None, None, None, *[None if g is None or k in ctx.without else g * (k + 1) for k in range(ctx.n)])

    def hook(name):
        def seen(*given):
            events.append((name, [[_shown(g) for g in x] if isinstance(x, tuple) else _shown(x) for x in given]))
        return seen

    return Two.apply, hook


def _leaves(torch, n=3):
    return [torch.tensor([0.1 * (k + 1), 0.2, -0.3 * k], requires_grad=True) for k in range(n)]


@case("from_node_to_node.leaves of one node")
def _(torch):
    """Leaves hear of their gradients in the order of the node's inputs, undefined ones too."""
    for without in ((), (0,), (1,), (2,), (0, 1), (0, 2), (0, 1, 2)):
        for turn in ((0, 1, 2), (2, 0, 1), (1, 0, 0)):
            events, leaves = [], _leaves(torch)
            apply, hook = _makers(torch, events)
            for k, leaf in enumerate(leaves):
                leaf.register_hook(hook(f"leaf {k}"))
                leaf.register_post_accumulate_grad_hook(lambda t, k=k: events.append((k, "accumulated", _shown(t.grad))))
            first, _ = apply("f", without, False, *[leaves[k] for k in turn])
            first.sum().backward()
            yield f"{without} of {turn}", list(events), [_shown(leaf.grad) for leaf in leaves]


@case("from_node_to_node.accumulated once")
def _(torch):
    """A leaf that got an undefined gradient early is not done again where another node gives undefined ones."""
    events, (a, b, c) = [], _leaves(torch)
    apply, hook = _makers(torch, events)
    for k, leaf in enumerate((a, b, c)):
        leaf.register_post_accumulate_grad_hook(lambda t, k=k: events.append((k, "accumulated", _shown(t.grad))))
    a.register_hook(hook("a"))
    _, y = apply("low", (0,), False, a, c)
    _, z = apply("middle", (), True, y)
    w = c + y
    _, top = apply("top", (0,), True, b, z * w)
    top.register_hook(hook("top"))
    top.sum().backward()
    yield "events", events, [_shown(leaf.grad) for leaf in (a, b, c)]


@case("from_node_to_node.hook of several")
def _(torch):
    for without in ((0,), (1,)):
        events, (a, b, c) = [], _leaves(torch)
        apply, hook = _makers(torch, events)
        x, y = apply("f", without, False, a, b)
        b.register_hook(hook("b"))
        torch.autograd.graph.register_multi_grad_hook((x, a, c), lambda gs: events.append(("all", [_shown(g) for g in gs])))
        (y * c).sum().backward()
        yield f"{without}", events


@case("from_node_to_node.beside the target")
def _(torch):
    """The root is another result of the target's node: the node is reached, its hooks run, the target gets nothing."""
    for how in ("grad", "inputs"):
        for materialize in (True, False):
            events, (a, b, _) = [], _leaves(torch)
            apply, hook = _makers(torch, events)
            x, y = apply("f", (1,), materialize, a, b)
            x.register_hook(hook("x"))
            y.register_hook(hook("y"))
            x.retain_grad()
            y.retain_grad()
            y.grad_fn.register_prehook(hook("before"))
            y.grad_fn.register_hook(hook("after"))
            a.register_hook(hook("a"))
            if how == "grad":
                yield f"grad {materialize}", [_shown(g) for g in torch.autograd.grad(y.sum(), (x, b), allow_unused=True)], events, _shown(x.grad), _shown(y.grad)
            else:
                y.sum().backward(inputs=[x])
                yield f"inputs {materialize}", events, _shown(x.grad), _shown(y.grad), a.grad is None


@case("from_node_to_node.through another result")
def _(torch):
    """The way to the target goes through another result of its node."""
    for split in (False, True):
        events, (a, b, _) = [], _leaves(torch)
        apply, hook = _makers(torch, events)
        x, y = torch.cat([a, b]).split(3) if split else apply("low", (), True, a, b)
        x.register_hook(hook("x"))
        y.grad_fn.register_hook(hook("after"))
        _, top = apply("top", (), False, y * 2)
        top.grad_fn.register_hook(hook("top"))
        g = torch.autograd.grad(top.sum(), (x,), allow_unused=True)
        yield f"grad {split}", [_shown(t) for t in g], events
        events.clear()
        _, top = apply("top", (), False, (a if split else y) * 2)
        top.sum().backward(inputs=[a, x])
        yield f"inputs {split}", _shown(a.grad), _shown(x.grad), events


@case("from_node_to_node.a target that is filled")
def _(torch):
    """Its node runs, its gradients go nowhere, and hooks see them."""
    for given in (0, 1):
        for without in ((), (0,)):
            events, (a, b, _) = [], _leaves(torch)
            apply, hook = _makers(torch, events)
            made = apply("f", without, True, a, b)
            made[given].retain_grad()
            made[0].grad_fn.register_hook(hook("after"))
            made[given].sum().backward(inputs=[made[given]])
            yield f"{given} {without}", events, _shown(made[given].grad), a.grad is None, b.grad is None


@case("from_node_to_node.hook of a written part")
def _(torch):
    """What a hook sees of the node of a write into a part."""
    x = torch.ones(3, requires_grad=True)
    z = x * 1.0
    z[:2].mul_(2.0)
    events = []
    z.grad_fn.register_hook(lambda ins, outs: events.append(([_shown(g) for g in ins], [_shown(g) for g in outs])))
    z.sum().backward()
    yield "gradient", x.grad
    yield "seen", events
