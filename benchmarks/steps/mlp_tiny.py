"""Three small layers, gradient descent: the step where bookkeeping is everything."""

from typing import NamedTuple

from benchmarks import arrays

RATE = 0.02


class Size(NamedTuple):
    """Rows of the batch, and inputs, width and outputs of the layers."""

    batch: int = 16
    widths: tuple[int, ...] = (4, 32, 32, 1)


SIZE = QUICK = Size()


def start(size):
    """Return inputs, targets and the parameters."""
    source = arrays.generator()
    x = arrays.normal(source, size.batch, size.widths[0])
    y = arrays.normal(source, size.batch, size.widths[-1])
    return x, y, arrays.layers(source, size.widths)


def torch_step(torch, size):
    """Forward, backward, and an in-place update of each parameter."""
    x, y, parameters = start(size)
    x, y = torch.tensor(x), torch.tensor(y)
    parameters = [torch.tensor(p, requires_grad=True) for p in parameters]
    w1, b1, w2, b2, w3, b3 = parameters

    def step():
        hidden = torch.tanh(x @ w1 + b1)
        hidden = torch.tanh(hidden @ w2 + b2)
        loss = ((hidden @ w3 + b3 - y) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            for p in parameters:
                p -= RATE * p.grad
                p.grad = None
        return loss

    return step


def jax_step(size):
    """Loss, gradient and update in one program."""
    import jax
    import jax.numpy as jnp

    x, y, parameters = jax.tree.map(jnp.asarray, start(size))

    def loss_of(parameters, x, y):
        w1, b1, w2, b2, w3, b3 = parameters
        hidden = jnp.tanh(x @ w1 + b1)
        hidden = jnp.tanh(hidden @ w2 + b2)
        return ((hidden @ w3 + b3 - y) ** 2).mean()

    @jax.jit
    def train(parameters, x, y):
        loss, grads = jax.value_and_grad(loss_of)(parameters, x, y)
        return loss, [p - RATE * g for p, g in zip(parameters, grads, strict=True)]

    def step():
        nonlocal parameters
        loss, parameters = train(parameters, x, y)
        return loss

    return step
