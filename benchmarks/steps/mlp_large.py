"""Four wide layers: the step where arithmetic is everything."""

from typing import NamedTuple

from benchmarks import arrays

RATE = 0.1
READ_EVERY = 1
MEMORY_GOAL = 1.2


class Size(NamedTuple):
    """Rows of the batch, and the widths before and after each layer."""

    batch: int = 256
    widths: tuple[int, ...] = (1024,) * 5


SIZE, QUICK = Size(), Size(batch=64)


def start(size):
    """Return inputs, targets and the parameters."""
    source = arrays.generator()
    x = arrays.normal(source, size.batch, size.widths[0])
    y = arrays.normal(source, size.batch, size.widths[-1])
    return x, y, arrays.layers(source, size.widths, gain=2**0.5)


def torch_step(torch, size):
    """Forward, backward, and an in-place update of each parameter."""
    x, y, parameters = start(size)
    x, y = torch.tensor(x), torch.tensor(y)
    parameters = [torch.tensor(p, requires_grad=True) for p in parameters]
    pairs = list(zip(parameters[::2], parameters[1::2], strict=True))

    def step():
        hidden = x
        for weight, bias in pairs[:-1]:
            hidden = torch.relu(hidden @ weight + bias)
        weight, bias = pairs[-1]
        loss = ((hidden @ weight + bias - y) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            for p in parameters:
                p.sub_(p.grad, alpha=RATE)
                p.grad = None
        return loss

    return step


def jax_step(size):
    """Loss, gradient and update in one program that reuses the memory of the parameters."""
    import functools

    import jax
    import jax.numpy as jnp

    x, y, parameters = jax.tree.map(jnp.asarray, start(size))

    def loss_of(parameters, x, y):
        pairs = list(zip(parameters[::2], parameters[1::2], strict=True))
        hidden = x
        for weight, bias in pairs[:-1]:
            hidden = jax.nn.relu(hidden @ weight + bias)
        weight, bias = pairs[-1]
        return ((hidden @ weight + bias - y) ** 2).mean()

    @functools.partial(jax.jit, donate_argnums=0)
    def train(parameters, x, y):
        loss, grads = jax.value_and_grad(loss_of)(parameters, x, y)
        return loss, [p - RATE * g for p, g in zip(parameters, grads, strict=True)]

    def step():
        nonlocal parameters
        loss, parameters = train(parameters, x, y)
        return loss

    return step
