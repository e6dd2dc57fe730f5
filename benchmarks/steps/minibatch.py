"""Minibatches cut by a moving slice, the loss read before `backward`, a decaying rate."""

from typing import NamedTuple

from benchmarks import arrays

RATE, DECAY = 0.05, 1e-3


class Size(NamedTuple):
    """Rows in all, rows of a batch, and the widths of the layers."""

    rows: int = 4096
    batch: int = 64
    widths: tuple[int, ...] = (32, 64, 1)


SIZE = QUICK = Size()


def start(size):
    """Return all inputs, all targets and the parameters."""
    source = arrays.generator()
    x = arrays.normal(source, size.rows, size.widths[0])
    y = arrays.normal(source, size.rows, size.widths[-1])
    return x, y, arrays.layers(source, size.widths)


def torch_step(torch, size):
    """The next rows; the loss is added up as a Python number before the gradients are asked for."""
    x, y, parameters = start(size)
    x, y = torch.tensor(x), torch.tensor(y)
    parameters = [torch.tensor(p, requires_grad=True) for p in parameters]
    w1, b1, w2, b2 = parameters
    count, total = 0, 0.0

    def step():
        nonlocal count, total
        i = count * size.batch % size.rows
        x_rows, y_rows = x[i : i + size.batch], y[i : i + size.batch]
        loss = ((torch.relu(x_rows @ w1 + b1) @ w2 + b2 - y_rows) ** 2).mean()
        total += loss.item()
        loss.backward()
        rate = RATE / (1 + DECAY * count)
        with torch.no_grad():
            for p in parameters:
                p -= rate * p.grad
                p.grad.zero_()
        count += 1
        return loss

    return step


def jax_step(size):
    """Place of the slice and rate are arguments of the one program."""
    import jax
    import jax.numpy as jnp

    x, y, parameters = jax.tree.map(jnp.asarray, start(size))
    count, total = 0, 0.0

    def loss_of(parameters, x_rows, y_rows):
        w1, b1, w2, b2 = parameters
        return ((jax.nn.relu(x_rows @ w1 + b1) @ w2 + b2 - y_rows) ** 2).mean()

    @jax.jit
    def train(parameters, x, y, i, rate):
        rows = [jax.lax.dynamic_slice_in_dim(a, i, size.batch) for a in (x, y)]
        loss, grads = jax.value_and_grad(loss_of)(parameters, *rows)
        return loss, [p - rate * g for p, g in zip(parameters, grads, strict=True)]

    def step():
        nonlocal parameters, count, total
        i, rate = count * size.batch % size.rows, RATE / (1 + DECAY * count)
        loss, parameters = train(parameters, x, y, i, rate)
        total += loss.item()
        count += 1
        return loss

    return step
