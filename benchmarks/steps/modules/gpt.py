"""A small GPT: embeddings, blocks of attention and a perceptron, a head."""

from typing import NamedTuple


class Size(NamedTuple):
    """Sequences, their length, words, width, heads and blocks."""

    batch: int = 8
    length: int = 32
    classes: int = 64
    width: int = 64
    heads: int = 4
    blocks: int = 2


SIZE, QUICK = Size(), Size(batch=4, blocks=1)


def shapes(size):
    """Words, places, then each block's norms and layers, then the last norm and the head."""
    n = size.width

    def linear(a, b):
        return [(b, a), (b,)]

    norm = [(n,), (n,)]
    attention = [*linear(n, 3 * n), *linear(n, n)]
    block = [*norm, *attention, *norm, *linear(n, 4 * n), *linear(4 * n, n)]
    return [(size.classes, n), (size.length, n), *block * size.blocks, *norm, (size.classes, n)]


def data(source, size):
    """Words, and the words after them."""
    words = source.integers(0, size.classes, (size.batch, size.length + 1))
    return words[:, :-1].copy(), words[:, 1:].copy()


def network(torch, size):
    """Pre-norm blocks; attention by `scaled_dot_product_attention`."""
    nn, n = torch.nn, size.width

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1 = nn.LayerNorm(n)
            self.split, self.mix = nn.Linear(n, 3 * n), nn.Linear(n, n)
            self.norm2 = nn.LayerNorm(n)
            self.inner = nn.Sequential(nn.Linear(n, 4 * n), nn.GELU(), nn.Linear(4 * n, n))

        def forward(self, x):
            rows, length, _ = x.shape
            parts = self.split(self.norm1(x)).split(n, dim=-1)
            q, k, v = (p.view(rows, length, size.heads, -1).transpose(1, 2) for p in parts)
            mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.mix(mixed.transpose(1, 2).reshape(rows, length, n))
            return x + self.inner(self.norm2(x))

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(size.classes, n)
            self.places = nn.Embedding(size.length, n)
            self.blocks = nn.ModuleList(Block() for _ in range(size.blocks))
            self.norm = nn.LayerNorm(n)
            self.head = nn.Linear(n, size.classes, bias=False)

        def forward(self, x):
            x = self.words(x) + self.places(torch.arange(x.shape[1]))
            for block in self.blocks:
                x = block(x)
            return self.head(self.norm(x))

    return Model()


def logits(jax, parameters, x, size):
    """The same."""
    jnp = jax.numpy
    words, places, *blocks, gain, shift, head = parameters
    later = jnp.triu(jnp.ones((size.length, size.length), bool), 1)

    def norm(x, gain, shift):
        mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(var + 1e-5) * gain + shift

    def attention(x, w_split, b_split, w_mix, b_mix):
        split = (x @ w_split.T + b_split).reshape(*x.shape[:2], 3, size.heads, -1)
        q, k, v = split.transpose(2, 0, 3, 1, 4)
        scores = q @ k.swapaxes(-2, -1) * q.shape[-1] ** -0.5
        weights = jax.nn.softmax(jnp.where(later, -jnp.inf, scores))
        return (weights @ v).swapaxes(1, 2).reshape(x.shape) @ w_mix.T + b_mix

    x = words[x] + places
    for i in range(size.blocks):
        norm1, mix, norm2, inner = (blocks[12 * i + a : 12 * i + b] for a, b in ((0, 2), (2, 6), (6, 8), (8, 12)))
        x = x + attention(norm(x, *norm1), *mix)
        w_up, b_up, w_down, b_down = inner
        hidden = jax.nn.gelu(norm(x, *norm2) @ w_up.T + b_up, approximate=False)
        x = x + hidden @ w_down.T + b_down
    return norm(x, gain, shift) @ head.T
