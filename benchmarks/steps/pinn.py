"""A differential equation: two derivatives with `create_graph`, then the gradient of those."""

from typing import NamedTuple

from benchmarks import arrays

RATE = 1e-4


class Size(NamedTuple):
    """Points in time, and the widths of the network of time."""

    points: int = 64
    widths: tuple[int, ...] = (1, 32, 32, 1)


SIZE = QUICK = Size()


def start(size):
    """Return the times, a column, and the parameters."""
    source = arrays.generator()
    return arrays.normal(source, size.points, 1), arrays.layers(source, size.widths)


def torch_step(torch, size):
    """Minimise the residual of u'' = -u, with u = t + t^2 net(t)."""
    t, parameters = start(size)
    t = torch.tensor(t, requires_grad=True)
    parameters = [torch.tensor(p, requires_grad=True) for p in parameters]
    w1, b1, w2, b2, w3, b3 = parameters

    def solution():
        hidden = torch.tanh(torch.tanh(t @ w1 + b1) @ w2 + b2)
        return t + t**2 * (hidden @ w3 + b3)

    def step():
        u = solution()
        (du,) = torch.autograd.grad(u.sum(), t, create_graph=True)
        (ddu,) = torch.autograd.grad(du.sum(), t, create_graph=True)
        loss = ((ddu + u) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            for p in parameters:
                p -= RATE * p.grad
                p.grad = None
            t.grad = None
        return loss

    return step


def jax_step(size):
    """Both derivatives forward, since there is one input; then reverse, in one program."""
    import jax
    import jax.numpy as jnp

    t, parameters = jax.tree.map(jnp.asarray, start(size))

    def solution(parameters, t):
        w1, b1, w2, b2, w3, b3 = parameters
        hidden = jnp.tanh(jnp.tanh(t @ w1 + b1) @ w2 + b2)
        return t + t**2 * (hidden @ w3 + b3)

    def loss_of(parameters, t):
        ones = jnp.ones_like(t)

        def speed(t):
            return jax.jvp(lambda t: solution(parameters, t), (t,), (ones,))

        (u, _), (_, ddu) = jax.jvp(speed, (t,), (ones,))
        return ((ddu + u) ** 2).mean()

    @jax.jit
    def train(parameters, t):
        loss, grads = jax.value_and_grad(loss_of)(parameters, t)
        return loss, [p - RATE * g for p, g in zip(parameters, grads, strict=True)]

    def step():
        nonlocal parameters
        loss, parameters = train(parameters, t)
        return loss

    return step
