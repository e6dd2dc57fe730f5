"""A transformer block of plain operations: attention, normalisation, gelu, residuals."""

import math
from typing import NamedTuple

from benchmarks import arrays

RATE = 0.05


class Size(NamedTuple):
    """Sequences, their length, and the widths of the block."""

    batch: int = 4
    length: int = 64
    width: int = 128
    heads: int = 4


SIZE, QUICK = Size(), Size(batch=2, length=32, width=64)


def start(size):
    """Return inputs, targets and the parameters."""
    source = arrays.generator()
    width = size.width
    x = arrays.normal(source, size.batch, size.length, width)
    y = arrays.normal(source, size.batch, size.length, width)
    norms = [array for _ in range(2) for array in (1 + 0 * x[0, 0], 0 * x[0, 0])]
    attention = arrays.layers(source, (width, 3 * width)) + arrays.layers(source, (width, width))
    return x, y, norms + attention + arrays.layers(source, (width, 4 * width, width))


def torch_step(torch, size):
    """Forward, backward, and an in-place update of each parameter."""
    x, y, parameters = start(size)
    x, y = torch.tensor(x), torch.tensor(y)
    parameters = [torch.tensor(p, requires_grad=True) for p in parameters]
    g1, s1, g2, s2, w_qkv, b_qkv, w_mix, b_mix, w_up, b_up, w_down, b_down = parameters
    depth = size.width // size.heads
    later = torch.ones(size.length, size.length).triu(1).bool()

    def normalised(x, gain, shift):
        x = x - x.mean(dim=-1, keepdim=True)
        return x * torch.rsqrt((x**2).mean(dim=-1, keepdim=True) + 1e-5) * gain + shift

    def gelu(x):
        return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))

    def attention(x):
        split = (x @ w_qkv + b_qkv).view(size.batch, size.length, 3, size.heads, depth)
        q, k, v = split.permute(2, 0, 3, 1, 4).unbind()
        scores = (q @ k.transpose(-2, -1)) / math.sqrt(depth)
        weights = torch.softmax(scores.masked_fill(later, -math.inf), dim=-1)
        return (weights @ v).transpose(1, 2).reshape(x.shape) @ w_mix + b_mix

    def step():
        hidden = x + attention(normalised(x, g1, s1))
        inner = gelu(normalised(hidden, g2, s2) @ w_up + b_up)
        loss = ((hidden + inner @ w_down + b_down - y) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            for p in parameters:
                p -= RATE * p.grad
                p.grad = None
        return loss

    return step


def jax_step(size):
    """Loss, gradient and update in one program."""
    import functools

    import jax
    import jax.numpy as jnp

    x, y, parameters = jax.tree.map(jnp.asarray, start(size))
    depth = size.width // size.heads
    later = jnp.triu(jnp.ones((size.length, size.length), bool), 1)

    def normalised(x, gain, shift):
        x = x - x.mean(-1, keepdims=True)
        return x * jax.lax.rsqrt((x**2).mean(-1, keepdims=True) + 1e-5) * gain + shift

    def attention(x, w_qkv, b_qkv, w_mix, b_mix):
        split = (x @ w_qkv + b_qkv).reshape(size.batch, size.length, 3, size.heads, depth)
        q, k, v = split.transpose(2, 0, 3, 1, 4)
        scores = (q @ k.swapaxes(-2, -1)) / math.sqrt(depth)
        weights = jax.nn.softmax(jnp.where(later, -jnp.inf, scores))
        return (weights @ v).swapaxes(1, 2).reshape(x.shape) @ w_mix + b_mix

    def loss_of(parameters, x, y):
        g1, s1, g2, s2, w_qkv, b_qkv, w_mix, b_mix, w_up, b_up, w_down, b_down = parameters
        hidden = x + attention(normalised(x, g1, s1), w_qkv, b_qkv, w_mix, b_mix)
        inner = jax.nn.gelu(normalised(hidden, g2, s2) @ w_up + b_up)
        return ((hidden + inner @ w_down + b_down - y) ** 2).mean()

    @functools.partial(jax.jit, donate_argnums=0)
    def train(parameters, x, y):
        loss, grads = jax.value_and_grad(loss_of)(parameters, x, y)
        return loss, [p - RATE * g for p, g in zip(parameters, grads, strict=True)]

    def step():
        nonlocal parameters
        loss, parameters = train(parameters, x, y)
        return loss

    return step
