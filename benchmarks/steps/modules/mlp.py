"""A perceptron of Linear and ReLU."""

import itertools
from typing import NamedTuple

from benchmarks.steps import modules


class Size(NamedTuple):
    """Rows of the batch, widths of the layers; the last one counts the classes."""

    batch: int = 64
    widths: tuple[int, ...] = (64, 128, 128, 10)

    @property
    def classes(self):
        return self.widths[-1]


SIZE = QUICK = Size()


def shapes(size):
    """Weight and bias of each layer."""
    return [s for a, b in itertools.pairwise(size.widths) for s in ((b, a), (b,))]


def data(source, size):
    """One vector and one class a row."""
    return modules.batch(source, size, size.widths[0])


def network(torch, size):
    """Linear layers with ReLU between them."""
    layers = []
    for a, b in itertools.pairwise(size.widths):
        layers += [torch.nn.Linear(a, b), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


def logits(jax, parameters, x, size):
    """The same."""
    *hidden, (weight, bias) = zip(parameters[::2], parameters[1::2], strict=True)
    for w, b in hidden:
        x = jax.nn.relu(x @ w.T + b)
    return x @ weight.T + bias

