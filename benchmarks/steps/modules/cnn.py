"""Two convolutions with batch normalisation and pooling, and a linear layer."""

from typing import NamedTuple

from benchmarks.steps import modules


class Size(NamedTuple):
    """Pictures, their sides, channels of the two convolutions, and classes."""

    batch: int = 16
    side: int = 16
    channels: tuple[int, int] = (8, 16)
    classes: int = 10


SIZE = QUICK = Size()


def shapes(size):
    """Kernels without bias, gain and shift of the norms, the linear layer."""
    first, second = size.channels
    norms = [(first,), (first,)], [(second,), (second,)]
    flat = second * (size.side // 4) ** 2
    kernels = (first, 1, 3, 3), (second, first, 3, 3)
    return [kernels[0], *norms[0], kernels[1], *norms[1], (size.classes, flat), (size.classes,)]


def data(source, size):
    """One picture and one class each."""
    return modules.batch(source, size, 1, size.side, size.side)


def network(torch, size):
    """Conv, norm, ReLU, pool, twice; then Linear."""
    nn, (first, second) = torch.nn, size.channels

    def block(a, b):
        conv = nn.Conv2d(a, b, 3, padding=1, bias=False)
        return [conv, nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2)]

    flat = second * (size.side // 4) ** 2
    head = [nn.Flatten(), nn.Linear(flat, size.classes)]
    return nn.Sequential(*block(1, first), *block(first, second), *head)


def logits(jax, parameters, x, size):
    """The same; the running statistics of the norms are not kept."""
    lax, jnp = jax.lax, jax.numpy

    def block(x, kernel, gain, shift):
        x = lax.conv_general_dilated(x, kernel, (1, 1), "SAME")
        x = modules.normalized(jax, x, gain, shift)
        window = (1, 1, 2, 2)
        return lax.reduce_window(jax.nn.relu(x), -jnp.inf, lax.max, window, window, "VALID")

    x = block(x, *parameters[:3])
    x = block(x, *parameters[3:6])
    weight, bias = parameters[6:]
    return x.reshape(len(x), -1) @ weight.T + bias
