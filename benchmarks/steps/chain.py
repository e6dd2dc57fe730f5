"""Five hundred elementwise operations in a row on one array."""

from typing import NamedTuple

from benchmarks import arrays

RATE = 1.0
GROWTH = 1.01


class Size(NamedTuple):
    """Elements of the array, and how often the five operations are repeated."""

    elements: int = 20_000
    repeats: int = 100


SIZE, QUICK = Size(), Size(repeats=20)


def start(size):
    """Return input, target, and the two parameters."""
    source = arrays.generator()
    x, y = (arrays.normal(source, size.elements, scale=0.2) for _ in range(2))
    scale = 1 + arrays.normal(source, size.elements, scale=0.01)
    return x, y, scale, arrays.normal(source, size.elements, scale=0.01)


def torch_step(torch, size):
    """Add, multiply, sine, subtract, multiply, over and over; two parameters move in place."""
    x, y, scale, shift = (torch.tensor(a) for a in start(size))
    parameters = [scale.requires_grad_(), shift.requires_grad_()]

    def step():
        value = x
        for _ in range(size.repeats):
            value = value + shift
            value = value * scale
            value = torch.sin(value)
            value = value - shift
            value = value * GROWTH
        loss = ((value - y) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            for p in parameters:
                p -= RATE * p.grad
                p.grad = None
        return loss

    return step


def jax_step(size):
    """The repetitions as a scan, whose program is short; all else in the same program."""
    import jax
    import jax.numpy as jnp

    x, y, *parameters = (jnp.asarray(a) for a in start(size))

    def loss_of(parameters, x, y):
        scale, shift = parameters

        def once(value, _):
            return (jnp.sin((value + shift) * scale) - shift) * GROWTH, None

        value, _ = jax.lax.scan(once, x, length=size.repeats)
        return ((value - y) ** 2).mean()

    @jax.jit
    def train(parameters, x, y):
        loss, grads = jax.value_and_grad(loss_of)(parameters, x, y)
        return loss, [p - RATE * g for p, g in zip(parameters, grads, strict=True)]

    def step():
        nonlocal parameters
        loss, parameters = train(parameters, x, y)
        return loss

    return step
