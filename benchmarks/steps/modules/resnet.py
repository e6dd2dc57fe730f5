"""Residual blocks with batch normalisation over small pictures, the last ones with many channels; mean over space and a linear layer."""

from typing import NamedTuple

from benchmarks.steps import modules


class Size(NamedTuple):
    """Pictures, their sides, channels of the blocks (each but the first halves the sides), and classes."""

    batch: int = 4
    side: int = 16
    channels: tuple[int, ...] = (64, 128, 256, 512)
    classes: int = 10


SIZE = Size()
QUICK = Size(side=8, channels=(8, 16))


def _blocks(size):
    """(channels that come in, that go out, stride) of each block."""
    return [(a, b, 1 if a == 3 else 2) for a, b in zip((3, *size.channels), size.channels)]


def shapes(size):
    """Of each block two kernels, each with gain and shift of its norm, and the kernel of the way round; the linear layer."""
    found = []
    for a, b, _ in _blocks(size):
        found += [(b, a, 3, 3), (b,), (b,), (b, b, 3, 3), (b,), (b,), (b, a, 1, 1)]
    return [*found, (size.classes, size.channels[-1]), (size.classes,)]


def data(source, size):
    """One picture in three colours and one class each."""
    return modules.batch(source, size, 3, size.side, size.side)


def network(torch, size):
    """Blocks: conv, norm, ReLU, conv, norm, and a 1x1 conv around them; then pool, Linear."""
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self, a, b, stride):
            super().__init__()
            first, second = nn.Conv2d(a, b, 3, stride, 1, bias=False), nn.Conv2d(b, b, 3, padding=1, bias=False)
            self.body = nn.Sequential(first, nn.BatchNorm2d(b), nn.ReLU(), second, nn.BatchNorm2d(b))
            self.around = nn.Conv2d(a, b, 1, stride, bias=False)

        def forward(self, x):
            return torch.relu(self.body(x) + self.around(x))

    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(size.channels[-1], size.classes)]
    return nn.Sequential(*(Block(*block) for block in _blocks(size)), *head)


def logits(jax, parameters, x, size):
    """The same; the running statistics of the norms are not kept."""

    def conv(x, kernel, stride, padding):
        return jax.lax.conv_general_dilated(x, kernel, (stride, stride), [(padding, padding)] * 2)

    def block(x, stride, first, gain, shift, second, gain2, shift2, around):
        y = jax.nn.relu(modules.normalized(jax, conv(x, first, stride, 1), gain, shift))
        return jax.nn.relu(modules.normalized(jax, conv(y, second, 1, 1), gain2, shift2) + conv(x, around, stride, 0))

    for i, (_, _, stride) in enumerate(_blocks(size)):
        x = block(x, stride, *parameters[7 * i:7 * i + 7])
    weight, bias = parameters[-2:]
    return x.mean((2, 3)) @ weight.T + bias
