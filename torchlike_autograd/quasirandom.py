"""torch.quasirandom (layer 8): points of a Sobol sequence, plain or scrambled with torch's numbers for a seed.

The direction numbers of Joe and Kuo are read from SciPy, which JAX needs anyway.
"""

from __future__ import annotations

import functools
import importlib.resources

import numpy as np

from ._core import config
from ._functions.data import tensor
from ._functions.random import Generator, randint

__all__ = ["SobolEngine"]

_BITS, _DIMS = 30, 21201
_TABLE = "_sobol_direction_numbers.npz"


@functools.cache
def _table():
    file = importlib.resources.files("scipy.stats") / _TABLE
    if not file.is_file():
        raise NotImplementedError(f"torch.quasirandom.SobolEngine: this SciPy has no {_TABLE}")
    with file.open("rb") as opened:
        read = np.load(opened)
        return read["poly"], read["vinit"]


def _directions(dims):
    """int64 (dims, _BITS): the direction numbers, scaled to _BITS bits."""
    polynomials, begun = _table()
    made = np.empty((dims, _BITS), np.int64)
    made[0] = 1  # the first dimension is van der Corput's sequence
    for d in range(1, dims):
        polynomial = int(polynomials[d])
        degree = polynomial.bit_length() - 1
        row = [int(v) for v in begun[d, :degree]]
        for j in range(degree, _BITS):
            v = row[j - degree]
            for k in range(1, degree + 1):
                if polynomial >> (degree - k) & 1:
                    v ^= row[j - k] << k
            row.append(v)
        made[d] = row[:_BITS]
    return made << np.arange(_BITS - 1, -1, -1)


def _scrambled(directions, lower):
    """The direction numbers times a lower triangular matrix of bits each (dims, _BITS, _BITS), whose diagonal counts as ones; the highest bit is first."""
    places = np.arange(_BITS - 1, -1, -1)
    bits = directions[:, :, None] >> places & 1
    matrices = np.tril(lower, -1) | np.eye(_BITS, dtype=np.int64)
    mixed = np.einsum("dpq,djq->djp", matrices, bits) & 1
    return (mixed << places).sum(-1)


def _trailing_ones(first, n):
    """For the numbers first, ..., first + n - 1, the place of the lowest zero bit."""
    inverted = ~np.arange(first, first + n, dtype=np.int64)
    return np.log2(inverted & -inverted).astype(np.int64)


class SobolEngine:
    """Points of a Sobol sequence in [0, 1)^dimension; `scramble` shifts and mixes them by numbers drawn from `seed`, or from the default generator.

    `draw(n)` goes on where the last one ended.  ValueError for a dimension outside [1, 21201].
    """

    MAXBIT, MAXDIM = _BITS, _DIMS

    def __init__(self, dimension, scramble=False, seed=None):
        if dimension > self.MAXDIM or dimension < 1:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        self.seed, self.scramble, self.dimension = seed, scramble, dimension
        directions, shift = _directions(dimension), np.zeros(dimension, np.int64)
        if scramble:
            directions, shift = self._scramble(directions)
        self.sobolstate, self.shift = tensor(directions), tensor(shift)
        self.reset()
        self._first_point = (self.quasi / 2**_BITS).reshape(1, -1)

    def _scramble(self, directions):
        generator = None
        if self.seed is not None:
            generator = Generator()
            generator.manual_seed(self.seed)
        shift = randint(2, (self.dimension, _BITS), generator=generator).numpy(force=True) << np.arange(_BITS)
        lower = randint(2, (self.dimension, _BITS, _BITS), generator=generator).numpy(force=True)
        return _scrambled(directions, lower), shift.sum(1)

    def draw(self, n=1, out=None, dtype=None):
        """The next `n` points, (n, dimension), of `dtype` or the default dtype."""
        wanted = config.default_dtype() if dtype is None else dtype
        if self.num_generated == 0 and n == 1:
            points = self._first_point.to(wanted)
        else:
            points = _points(self, n, wanted)
        self.num_generated += n
        return points if out is None else out.resize_(points.shape).copy_(points)

    def draw_base2(self, m, out=None, dtype=None):
        """The next 2**m points; ValueError where the number of points would then be no power of two."""
        n = 2**m
        total = self.num_generated + n
        if not total & total - 1 == 0:
            raise ValueError(f"The balance properties of Sobol' points require n to be a power of 2. {self.num_generated} points have been previously "
                             f"generated, then: n={self.num_generated}+2**{m}={total}. If you still want to do this, please use 'SobolEngine.draw()' instead.")
        return self.draw(n=n, out=out, dtype=dtype)

    def reset(self):
        """Begin anew; returns self."""
        self.quasi = self.shift.clone()
        self.num_generated = 0
        return self

    def fast_forward(self, n):
        """Leave out `n` points; returns self."""
        _advance(self, max(self.num_generated - 1, 0), n - (self.num_generated == 0))
        self.num_generated += n
        return self

    def __repr__(self):
        said = [f"dimension={self.dimension}"]
        if self.scramble:
            said.append("scramble=True")
        if self.seed is not None:
            said.append(f"seed={self.seed}")
        return f"{type(self).__name__}({', '.join(said)})"


def _advance(engine, first, n):
    """Take n steps from the point with number `first`: the points behind them, int64 (n, dimension)."""
    columns = engine.sobolstate.numpy(force=True)[:, _trailing_ones(first, n)].T
    rows = np.bitwise_xor.accumulate(np.concatenate([engine.quasi.numpy(force=True)[None], columns]), 0)
    engine.quasi.copy_(tensor(rows[-1]))
    return rows[1:]


def _points(engine, n, wanted):
    if wanted.name not in ("float32", "float64"):
        raise NotImplementedError(f'"_sobol_engine_draw" not implemented for \'{wanted.char_name}\'')
    begun = engine.num_generated == 0
    fresh = n - 1 if begun else n
    if fresh < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {fresh}: [{fresh}, {engine.dimension}]")
    rows = _advance(engine, 0 if begun else engine.num_generated - 1, fresh)
    values = (rows / 2**_BITS).reshape(fresh, engine.dimension).astype(wanted.name)
    return tensor(np.concatenate([engine._first_point.numpy(force=True).astype(wanted.name), values]) if begun else values)
