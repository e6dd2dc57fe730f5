"""A recursive network over a fresh random tree in every step: no two programs are alike."""

import random
from typing import NamedTuple

from benchmarks import arrays

RATE = 0.02
COMPILED = False
TORCH_GOAL = 2.0


class Size(NamedTuple):
    """Words to choose leaves from, fewest and most leaves of a tree, and width of a vector."""

    words: int = 20
    fewest: int = 6
    most: int = 14
    width: int = 48


SIZE = QUICK = Size()


def start(size):
    """Return the vectors of the words, and the parameters of the network."""
    source = arrays.generator()
    words = arrays.normal(source, size.words, size.width)
    return [words, *arrays.layers(source, (2 * size.width, size.width))]


def random_tree(source, size):
    """Draw a tree: a word, or a pair of trees. Neighbours are joined in random order."""
    parts = [source.randrange(size.words) for _ in range(source.randint(size.fewest, size.most))]
    while len(parts) > 1:
        i = source.randrange(len(parts) - 1)
        parts[i : i + 2] = [(parts[i], parts[i + 1])]
    return parts[0]


def torch_step(torch, size):
    """Encode the tree by recursion and pull its vector towards zero or one."""
    source = random.Random(0)
    parameters = [torch.tensor(p, requires_grad=True) for p in start(size)]
    words, weight, bias = parameters

    def encoded(tree):
        if isinstance(tree, int):
            return words[tree]
        left, right = tree
        return torch.tanh(torch.cat([encoded(left), encoded(right)]) @ weight + bias)

    def step():
        tree, target = random_tree(source, size), source.randrange(2)
        loss = ((encoded(tree) - target) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            for p in parameters:
                p -= RATE * p.grad
                p.grad = None
        return loss

    return step


def jax_step(size):
    """Not compiled: a program per tree would take far longer to compile than to run."""
    import jax
    import jax.numpy as jnp

    source = random.Random(0)
    parameters = [jnp.asarray(p) for p in start(size)]

    def encoded(parameters, tree):
        words, weight, bias = parameters
        if isinstance(tree, int):
            return words[tree]
        left, right = (encoded(parameters, part) for part in tree)
        return jnp.tanh(jnp.concatenate([left, right]) @ weight + bias)

    def loss_of(parameters, tree, target):
        return ((encoded(parameters, tree) - target) ** 2).mean()

    def step():
        nonlocal parameters
        tree, target = random_tree(source, size), source.randrange(2)
        loss, grads = jax.value_and_grad(loss_of)(parameters, tree, target)
        parameters = [p - RATE * g for p, g in zip(parameters, grads, strict=True)]
        return loss

    return step
