"""Leaves whose tensors are gone: graphs hold what they were, for hooks and for those who look at their nodes."""

from compat_matrix.case import case


def _graph(torch, seen):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda p: seen.append((p.grad.clone(), p.detach().clone(), p.requires_grad, p.is_leaf)))
    return (x.exp() * x).sum()


@case("engine.gone_leaves.hooks")
def _(torch):
    for look in (False, True):
        seen = []
        y = _graph(torch, seen)
        value = torch.tensor(y.item()) if look else None
        y.backward()
        yield f"looked {look}", seen, value


@case("engine.gone_leaves.variable")
def _(torch):
    node = _graph(torch, []).grad_fn
    while node.next_functions:
        node = node.next_functions[0][0]
    leaf = node.variable
    yield "variable", leaf, node.variable is leaf, list(node._input_metadata[0].shape), node.name()


@case("engine.gone_leaves.gradient")
def _(torch):
    x = torch.ones(2, requires_grad=True)
    y = (x * x).sum()
    node = y.grad_fn.next_functions[0][0].next_functions[0][0]
    del x
    leaf = node.variable
    y.backward()
    yield "gradient", leaf.grad, node.variable is leaf
