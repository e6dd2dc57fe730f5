"""A language model: Embedding, LSTM, Linear."""

from typing import NamedTuple


class Size(NamedTuple):
    """Sequences, their length, the number of words, and the width of the state."""

    batch: int = 16
    length: int = 32
    classes: int = 64
    width: int = 64


SIZE, QUICK = Size(), Size(length=16)


def shapes(size):
    """The words' vectors, the four gates, the linear layer."""
    n, gates = size.width, 4 * size.width
    lstm = [(gates, n), (gates, n), (gates,), (gates,)]
    return [(size.classes, n), *lstm, (size.classes, n), (size.classes,)]


def data(source, size):
    """Words, and the words after them."""
    words = source.integers(0, size.classes, (size.batch, size.length + 1))
    return words[:, :-1].copy(), words[:, 1:].copy()


def network(torch, size):
    """A module with a forward of its own."""
    nn = torch.nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(size.classes, size.width)
            self.lstm = nn.LSTM(size.width, size.width, batch_first=True)
            self.head = nn.Linear(size.width, size.classes)

        def forward(self, x):
            return self.head(self.lstm(self.words(x))[0])

    return Model()


def logits(jax, parameters, x, size):
    """The same as a scan over time."""
    jnp = jax.numpy
    words, w_in, w_state, b_in, b_state, w_out, b_out = parameters
    seen = (words[x] @ w_in.T + b_in + b_state).swapaxes(0, 1)

    def tick(state, gates):
        hidden, cell = state
        i, f, g, o = jnp.split(gates + hidden @ w_state.T, 4, -1)
        cell = jax.nn.sigmoid(f) * cell + jax.nn.sigmoid(i) * jnp.tanh(g)
        hidden = jax.nn.sigmoid(o) * jnp.tanh(cell)
        return (hidden, cell), hidden

    nothing = jnp.zeros((size.batch, size.width))
    _, out = jax.lax.scan(tick, (nothing, nothing), seen)
    return out.swapaxes(0, 1) @ w_out.T + b_out
