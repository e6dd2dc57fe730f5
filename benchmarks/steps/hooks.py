"""A tensor hook that bounds a gradient midway, and a gradient kept midway."""

from typing import NamedTuple

from benchmarks import arrays

RATE, BOUND = 0.05, 1e-3


class Size(NamedTuple):
    """Rows of the batch, and the widths of the layers."""

    batch: int = 64
    widths: tuple[int, ...] = (32, 64, 64, 1)


SIZE = QUICK = Size()


def start(size):
    """Return inputs, targets and the parameters."""
    source = arrays.generator()
    x = arrays.normal(source, size.batch, size.widths[0])
    y = arrays.normal(source, size.batch, size.widths[-1])
    return x, y, arrays.layers(source, size.widths)


def torch_step(torch, size):
    """The first hidden layer has a hook, the second keeps its gradient, which steers the rate."""
    x, y, parameters = start(size)
    x, y = torch.tensor(x), torch.tensor(y)
    parameters = [torch.tensor(p, requires_grad=True) for p in parameters]
    w1, b1, w2, b2, w3, b3 = parameters

    def step():
        first = torch.tanh(x @ w1 + b1)
        first.register_hook(lambda grad: grad.clamp(-BOUND, BOUND))
        second = torch.tanh(first @ w2 + b2)
        second.retain_grad()
        loss = ((second @ w3 + b3 - y) ** 2).mean()
        loss.backward()
        rate = RATE / (1 + second.grad.abs().sum())
        with torch.no_grad():
            for p in parameters:
                p -= rate * p.grad
                p.grad = None
        return loss

    return step


def jax_step(size):
    """The bound is a rule of its own; adding zeros gives a place to differentiate midway."""
    import jax
    import jax.numpy as jnp

    x, y, parameters = jax.tree.map(jnp.asarray, start(size))

    @jax.custom_vjp
    def bounded(value):
        return value

    bounded.defvjp(lambda value: (value, None), lambda _, g: (jnp.clip(g, -BOUND, BOUND),))

    def loss_of(parameters, nothing, x, y):
        w1, b1, w2, b2, w3, b3 = parameters
        first = bounded(jnp.tanh(x @ w1 + b1))
        second = jnp.tanh(first @ w2 + b2) + nothing
        return ((second @ w3 + b3 - y) ** 2).mean()

    @jax.jit
    def train(parameters, x, y):
        nothing = jnp.zeros((size.batch, size.widths[2]))
        value_and_grads = jax.value_and_grad(loss_of, argnums=(0, 1))
        loss, (grads, kept) = value_and_grads(parameters, nothing, x, y)
        rate = RATE / (1 + jnp.abs(kept).sum())
        return loss, [p - rate * g for p, g in zip(parameters, grads, strict=True)]

    def step():
        nonlocal parameters
        loss, parameters = train(parameters, x, y)
        return loss

    return step
