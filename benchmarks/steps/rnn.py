"""A recurrent network unrolled in time, trained by Adam written by hand."""

from typing import NamedTuple

from benchmarks import arrays

RATE, BETA1, BETA2, EPSILON = 1e-3, 0.9, 0.999, 1e-8


class Size(NamedTuple):
    """Length and number of the sequences, their inputs, and the width of the state."""

    length: int = 32
    batch: int = 16
    inputs: int = 8
    width: int = 32


SIZE, QUICK = Size(), Size(length=16)


def start(size):
    """Return sequences, targets, and the parameters."""
    source = arrays.generator()
    x = arrays.normal(source, size.length, size.batch, size.inputs)
    y = arrays.normal(source, size.batch, 1)
    w_in, bias = arrays.layers(source, (size.inputs, size.width))
    w_state, _ = arrays.layers(source, (size.width, size.width))
    w_out, b_out = arrays.layers(source, (size.width, 1))
    return x, y, [w_in, w_state, bias, w_out, b_out]


def torch_step(torch, size):
    """Read the sequence step by step, look at the last state; Adam in place."""
    x, y, parameters = start(size)
    x, y = torch.tensor(x), torch.tensor(y)
    parameters = [torch.tensor(p, requires_grad=True) for p in parameters]
    means, squares = ([torch.zeros_like(p) for p in parameters] for _ in range(2))
    count = 0

    def loss_now():
        w_in, w_state, bias, w_out, b_out = parameters
        state = torch.zeros(size.batch, size.width)
        for t in range(size.length):
            state = torch.tanh(x[t] @ w_in + state @ w_state + bias)
        return ((state @ w_out + b_out - y) ** 2).mean()

    @torch.no_grad()
    def adam():
        for p, mean, square in zip(parameters, means, squares, strict=True):
            mean.mul_(BETA1).add_(p.grad, alpha=1 - BETA1)
            square.mul_(BETA2).addcmul_(p.grad, p.grad, value=1 - BETA2)
            spread = (square / (1 - BETA2**count)).sqrt().add_(EPSILON)
            p.addcdiv_(mean, spread, value=-RATE / (1 - BETA1**count))
            p.grad = None

    def step():
        nonlocal count
        count += 1
        loss = loss_now()
        loss.backward()
        adam()
        return loss

    return step


def jax_step(size):
    """A scan over time; loss, gradient and Adam in one program."""
    import jax
    import jax.numpy as jnp

    x, y, parameters = jax.tree.map(jnp.asarray, start(size))
    means, squares = ([jnp.zeros_like(p) for p in parameters] for _ in range(2))
    count = 0

    def loss_of(parameters, x, y):
        w_in, w_state, bias, w_out, b_out = parameters

        def tick(state, x_t):
            return jnp.tanh(x_t + state @ w_state), None

        state, _ = jax.lax.scan(tick, jnp.zeros((size.batch, size.width)), x @ w_in + bias)
        return ((state @ w_out + b_out - y) ** 2).mean()

    @jax.jit
    def train(parameters, means, squares, count, x, y):
        loss, grads = jax.value_and_grad(loss_of)(parameters, x, y)
        means = jax.tree.map(lambda m, g: BETA1 * m + (1 - BETA1) * g, means, grads)
        squares = jax.tree.map(lambda s, g: BETA2 * s + (1 - BETA2) * g * g, squares, grads)

        def moved(p, mean, square):
            spread = jnp.sqrt(square / (1 - BETA2**count)) + EPSILON
            return p - RATE / (1 - BETA1**count) * mean / spread

        return loss, jax.tree.map(moved, parameters, means, squares), means, squares

    def step():
        nonlocal parameters, means, squares, count
        count += 1
        loss, parameters, means, squares = train(parameters, means, squares, float(count), x, y)
        return loss

    return step
