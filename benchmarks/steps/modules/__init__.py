"""Steps of programs that are written with `torch.nn` and `torch.optim`: a network and an optimizer.

A module of this package is a network: ``SIZE`` and ``QUICK``; ``shapes(size)`` of its parameters,
in the order of ``Module.parameters()``; ``data(source, size)``: inputs and targets;
``network(torch, size)``: the module; ``logits(jax, parameters, x, size)``: the same by hand.
All of them classify, by cross entropy.  `Step` joins one with Adam or AdamW.
"""

import importlib
import math

import numpy as np

from benchmarks import arrays

RATE, BETAS, EPSILON = 1e-3, (0.9, 0.999), 1e-8
DECAY = {"adam": 0.0, "adamw": 0.01}


class Step:
    """A network trained by an optimizer, in the form of a step's module."""

    LONG_FROM, LONG_JIT_GOAL = 5e-3, 1.25

    def __init__(self, network: str, optimizer: str) -> None:
        self.net = importlib.import_module(f"{__name__}.{network}")
        self.decay, self.optimizer = DECAY[optimizer], {"adam": "Adam", "adamw": "AdamW"}[optimizer]
        self.SIZE, self.QUICK = self.net.SIZE, self.net.QUICK

    def start(self, size):
        """Return inputs, targets and the parameters."""
        source = arrays.generator()
        x, y = self.net.data(source, size)
        return x, y, [drawn(source, shape) for shape in self.net.shapes(size)]

    def torch_step(self, torch, size):
        """What a training loop says: zero, forward, backward, step."""
        x, y, parameters = self.start(size)
        x, y = torch.tensor(x), torch.tensor(y)
        module = self.net.network(torch, size)
        with torch.no_grad():
            for p, array in zip(module.parameters(), parameters, strict=True):
                p.copy_(torch.tensor(array))
        criterion = torch.nn.CrossEntropyLoss()
        optimizer = getattr(torch.optim, self.optimizer)(module.parameters(), lr=RATE, betas=BETAS)

        def step():
            optimizer.zero_grad()
            logits = module(x)
            loss = criterion(logits.reshape(-1, logits.shape[-1]), y.reshape(-1))
            loss.backward()
            optimizer.step()
            return loss

        return step

    def jax_step(self, size):
        """Loss, gradient and update in one program that gives its arrays' memory back."""
        import functools

        import jax
        import jax.numpy as jnp

        x, y, parameters = jax.tree.map(jnp.asarray, self.start(size))
        state = [(jnp.zeros_like(p), jnp.zeros_like(p)) for p in parameters]
        count = 0

        def loss_of(parameters, x, y):
            scores = jax.nn.log_softmax(self.net.logits(jax, parameters, x, size))
            return -jnp.take_along_axis(scores, y[..., None], -1).mean()

        def moved(p, g, mean, square, first, second):
            mean = BETAS[0] * mean + (1 - BETAS[0]) * g
            square = BETAS[1] * square + (1 - BETAS[1]) * g * g
            spread = jnp.sqrt(square / second) + EPSILON
            return p * (1 - RATE * self.decay) - RATE / first * mean / spread, (mean, square)

        @functools.partial(jax.jit, donate_argnums=(0, 1))
        def train(parameters, state, count, x, y):
            loss, grads = jax.value_and_grad(loss_of)(parameters, x, y)
            first, second = 1 - BETAS[0] ** count, 1 - BETAS[1] ** count
            new = [
                moved(p, g, *s, first, second)
                for p, g, s in zip(parameters, grads, state, strict=True)
            ]
            return loss, [p for p, _ in new], [s for _, s in new]

        def step():
            nonlocal parameters, state, count
            count += 1
            loss, parameters, state = train(parameters, state, float(count), x, y)
            return loss

        return step


def drawn(source, shape):
    """A parameter: small normal numbers for a matrix or a kernel, a half for a vector."""
    fan = math.prod(shape[1:])
    if len(shape) == 1:
        return arrays.normal(source, *shape, scale=0.0) + np.float32(0.5)
    return arrays.normal(source, *shape, scale=fan**-0.5)


def batch(source, size, *shape):
    """Random inputs, and one class of `size.classes` for each."""
    x = arrays.normal(source, size.batch, *shape)
    return x, source.integers(0, size.classes, size.batch)


def normalized(jax, x, gain, shift):
    """Pictures as a batch normalisation gives them in training, by hand."""
    mean, var = x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True)
    return (x - mean) * jax.lax.rsqrt(var + 1e-5) * gain[:, None, None] + shift[:, None, None]
