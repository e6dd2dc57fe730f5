"""A classifier of one hidden layer, cross entropy, momentum."""

from typing import NamedTuple

from benchmarks import arrays

RATE, MOMENTUM = 0.05, 0.9


class Size(NamedTuple):
    """Rows of the batch, and inputs, width and classes."""

    batch: int = 64
    widths: tuple[int, ...] = (64, 128, 10)


SIZE = QUICK = Size()


def start(size):
    """Return inputs, labels and the parameters."""
    source = arrays.generator()
    x = arrays.normal(source, size.batch, size.widths[0])
    labels = source.integers(0, size.widths[-1], size.batch)
    return x, labels, arrays.layers(source, size.widths)


def torch_step(torch, size):
    """Log-softmax and a gather make the loss; speeds and parameters move in place."""
    x, labels, parameters = start(size)
    x, labels = torch.tensor(x), torch.tensor(labels)
    parameters = [torch.tensor(p, requires_grad=True) for p in parameters]
    speeds = [torch.zeros_like(p) for p in parameters]
    w1, b1, w2, b2 = parameters

    def step():
        scores = torch.relu(x @ w1 + b1) @ w2 + b2
        log_p = torch.log_softmax(scores, dim=1)
        loss = -log_p.gather(1, labels[:, None]).mean()
        loss.backward()
        with torch.no_grad():
            for p, speed in zip(parameters, speeds, strict=True):
                speed.mul_(MOMENTUM).add_(p.grad)
                p.sub_(speed, alpha=RATE)
                p.grad.zero_()
        return loss

    return step


def jax_step(size):
    """Loss, gradient and update in one program."""
    import jax
    import jax.numpy as jnp

    x, labels, parameters = start(size)
    x, labels = jnp.asarray(x), jnp.asarray(labels, jnp.int32)
    parameters = [jnp.asarray(p) for p in parameters]
    speeds = [jnp.zeros_like(p) for p in parameters]

    def loss_of(parameters, x, labels):
        w1, b1, w2, b2 = parameters
        log_p = jax.nn.log_softmax(jax.nn.relu(x @ w1 + b1) @ w2 + b2)
        return -jnp.take_along_axis(log_p, labels[:, None], axis=1).mean()

    @jax.jit
    def train(parameters, speeds, x, labels):
        loss, grads = jax.value_and_grad(loss_of)(parameters, x, labels)
        speeds = [MOMENTUM * s + g for s, g in zip(speeds, grads, strict=True)]
        return loss, [p - RATE * s for p, s in zip(parameters, speeds, strict=True)], speeds

    def step():
        nonlocal parameters, speeds
        loss, parameters, speeds = train(parameters, speeds, x, labels)
        return loss

    return step
