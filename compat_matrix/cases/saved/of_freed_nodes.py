"""What freed nodes tell of tensors that were absent, and what slots of results and hooks that came later see."""

from compat_matrix.case import case, raises


def _made(torch, x):
    """Results of nodes that save less than they could."""
    f = torch.nn.functional
    yield "layer_norm", f.layer_norm(x, (4,))
    yield "batch_norm", f.batch_norm(x, None, None, training=True)
    yield "nll", f.nll_loss(x, torch.tensor([0, 1, 2]))
    yield "bce", f.binary_cross_entropy(x.sigmoid(), torch.ones(3, 4))
    yield "number", x * 2
    yield "one side", torch.ones(3, 4) * x
    yield "linear", f.linear(x, torch.ones(2, 4), torch.ones(2))
    yield "lists", x[torch.tensor([0])]


def _told(torch, read):
    out = read()
    return tuple(out.shape) if isinstance(out, torch.Tensor) else out if out is None or isinstance(out, (bool, float)) else type(out).__name__


@case("saved.of_freed_nodes.absent")
def _(torch):
    x = torch.linspace(-1, 1, 12).reshape(3, 4).requires_grad_()
    for name, y in _made(torch, x):
        node = y.grad_fn
        y.sum().backward()
        for a in sorted(a for a in dir(node) if a.startswith("_saved_")):
            yield f"{name} {a}", raises(lambda node=node, a=a: _told(torch, lambda: getattr(node, a)))


@case("saved.of_freed_nodes.absent_slots")
def _(torch):
    x = torch.linspace(-1, 1, 12).reshape(3, 4).requires_grad_()
    for name, y in _made(torch, x):
        node = y.grad_fn
        slots = {a: getattr(node, a) for a in sorted(dir(node)) if a.startswith("_raw_saved_") and not isinstance(getattr(node, a), tuple)}
        for a, slot in slots.items():
            yield f"{name} {a}", raises(lambda slot=slot: _told(torch, slot.unpack))
        y.sum().backward()
        for a, slot in slots.items():
            yield f"{name} {a} freed", raises(lambda slot=slot: _told(torch, slot.unpack))


@case("saved.of_freed_nodes.results")
def _(torch):
    x = torch.linspace(-1, 1, 12).reshape(3, 4).requires_grad_()
    for name, y in (("exp", x.exp()), ("std", x.std()), ("in place", x.clone().sigmoid_())):
        slot = y.grad_fn._raw_saved_result
        yield name, raises(slot.unpack), slot.data.requires_grad
        slot.register_hooks(lambda t: t, lambda t: t)
        yield f"{name} hooked", raises(slot.unpack), slot.data.requires_grad, y.grad_fn._saved_result.requires_grad
    y = torch.max(x, 0)
    yield "indices", y[0].grad_fn._raw_saved_indices.unpack()


@case("saved.of_freed_nodes.hooks_later")
def _(torch):
    x, seen = torch.ones(3, requires_grad=True), []
    y = x * (x + 1)
    for slot in (y.grad_fn._raw_saved_self, y.grad_fn._raw_saved_other):
        slot.register_hooks(lambda t: (seen.append((t.requires_grad, t.is_leaf)), t * 2)[1], lambda t: t)
    yield "seen", seen
    yield "unpacked", y.grad_fn._saved_self.requires_grad, y.grad_fn._saved_other.grad_fn.name()
    g, = torch.autograd.grad(y.sum(), x, create_graph=True)
    yield "gradients", g, torch.autograd.grad(g.sum(), x)
