"""Nodes and contexts that are held without their tensors: the graph below them stays, with what its pullbacks read."""

from compat_matrix.case import case


def _chain(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    inner = x * 3
    inner.tolist()
    return x, (inner * 2).exp().grad_fn


def _twice(torch):
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * x * g

    return Twice.apply


@case("engine.held_nodes.walked")
def _(torch):
    x, node = _chain(torch)
    (x.detach() + 1).tolist()
    names = []
    while node is not None:
        names.append(node.name())
        node = node.next_functions[0][0] if node.next_functions else None
    yield "names", names


@case("engine.held_nodes.as_an_edge")
def _(torch):
    x, node = _chain(torch)
    (x.detach() + 1).tolist()
    edge = torch.autograd.graph.GradientEdge(node, 0)
    yield "gradient", torch.autograd.grad(edge, x, torch.ones(2))[0]


@case("engine.held_nodes.an_inner_one")
def _(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    node = (x.sin() * 2).exp().grad_fn.next_functions[0][0]
    (x.detach() + 1).tolist()
    yield "gradient", torch.autograd.grad(torch.autograd.graph.GradientEdge(node, 0), x, torch.ones(2))[0]


@case("engine.held_nodes.of_several_outputs")
def _(torch):
    x = torch.tensor([[1.0, 2.0], [5.0, 3.0]], requires_grad=True)
    node = (x * x).max(0).values.grad_fn
    (x.detach() + 1).tolist()
    yield "gradient", torch.autograd.grad(torch.autograd.graph.GradientEdge(node, 0), x, torch.ones(2))[0]


@case("engine.held_nodes.context_of_a_function")
def _(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    node = _twice(torch)(x.exp()).grad_fn
    (x.detach() + 1).tolist()
    yield "name", node.next_functions[0][0].name()
    yield "gradient", torch.autograd.grad(torch.autograd.graph.GradientEdge(node, 0), x, torch.ones(2))[0]


@case("engine.held_nodes.metadata_stays")
def _(torch):
    x, node = _chain(torch)
    node.metadata["said"] = 1
    below = node.next_functions[0][0]
    below.metadata["said"] = 2
    del below
    (x.detach() + 1).tolist()
    yield "metadata", (node.metadata, node.next_functions[0][0].metadata)
