"""A graph network over a fresh random graph in every step: hardly any two have the same sizes."""

from typing import NamedTuple

import numpy as np

from benchmarks import arrays

RATE = 0.02
TORCH_GOAL = 2.0


class Size(NamedTuple):
    """Fewest and most nodes, and edges; widths of a node's features, within, and of the result."""

    nodes: tuple = (5, 30)
    edges: tuple = (10, 90)
    features: int = 8
    hidden: int = 32
    classes: int = 3


SIZE = QUICK = Size()


def start(size):
    """Return the parameters of the two layers."""
    return arrays.layers(arrays.generator(), (size.features, size.hidden, size.classes))


def random_graph(source, size):
    """Draw the features of the nodes, where the edges start and end, and a class."""
    nodes, edges = (source.randint(low, high + 1) for low, high in (size.nodes, size.edges))
    x = source.standard_normal((nodes, size.features)).astype(np.float32)
    ends = source.randint(0, nodes, (2, edges))
    return x, ends[0], ends[1], source.randint(size.classes)


def torch_step(torch, size):
    """Send what each node knows along the edges, and guess the class of the graph from the mean."""
    source = np.random.RandomState(0)
    parameters = [torch.tensor(p, requires_grad=True) for p in start(size)]
    w1, b1, w2, b2 = parameters

    def step():
        x, begin, end, label = random_graph(source, size)
        begin, end = torch.from_numpy(begin), torch.from_numpy(end)
        h = torch.relu(torch.from_numpy(x) @ w1 + b1)
        h = h + torch.zeros_like(h).index_add(0, end, h[begin])
        loss = -torch.log_softmax((h @ w2 + b2).mean(0), 0)[label]
        loss.backward()
        with torch.no_grad():
            for p in parameters:
                p -= RATE * p.grad
                p.grad = None
        return loss

    return step


def jax_step(size):
    """Compiled for each pair of sizes."""
    import jax
    import jax.numpy as jnp

    source = np.random.RandomState(0)
    parameters = [jnp.asarray(p) for p in start(size)]

    def loss_of(parameters, x, begin, end, label):
        w1, b1, w2, b2 = parameters
        h = jax.nn.relu(x @ w1 + b1)
        h = h + jnp.zeros_like(h).at[end].add(h[begin])
        return -jax.nn.log_softmax((h @ w2 + b2).mean(0))[label]

    @jax.jit
    def train(parameters, x, begin, end, label):
        loss, grads = jax.value_and_grad(loss_of)(parameters, x, begin, end, label)
        return loss, [p - RATE * g for p, g in zip(parameters, grads, strict=True)]

    def step():
        nonlocal parameters
        loss, parameters = train(parameters, *random_graph(source, size))
        return loss

    return step
