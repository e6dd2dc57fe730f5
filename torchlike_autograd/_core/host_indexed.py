"""Reading and writing at indices on the host (layer 3): XLA's gather and scatter by NumPy's indexing.

Each dim of the operand gets an index array that broadcasts to the result (of a gather) or to the updates (of a scatter): where a window starts, from the last
dim of the indices, and the places in the window.  Windows that do not fit are moved inside (CLIP), or read as `fill_value` and not written.
"""

from __future__ import annotations

import functools
import math
import sys

import numpy as np
from jax.lax import GatherScatterMode


class Unsupported(Exception):
    """A primitive without a NumPy counterpart here."""


class _Places:
    """Index arrays for an operand of `shape`.

    rank: of the result or the updates; windows: {dim of the operand: dim of those that goes through its window}; sizes: of the windows; starts: the dims of
    the operand that the last dim of the indices names; shared: {dim of the operand: dim of the indices that goes along with it}; clip: see above.
    """

    def __init__(self, shape, rank, windows, sizes, starts, shared, clip):
        self.shape, self.sizes, self.starts, self.shared, self.clip = shape, sizes, starts, shared, clip
        self.batch = [i for i in range(rank) if i not in windows.values()]
        self.rank = rank
        self.along = {d: np.arange(sizes[d]).reshape([-1 if i == at else 1 for i in range(rank)]) for d, at in windows.items()}

    def of(self, indices):
        """(one index array for each dim, where all of them fit: True or an array of rank `rank`)."""
        indices, where, fits = indices.astype(np.int64), [], True
        own = [1] * self.rank
        for i, at in enumerate(self.batch):
            own[at] = indices.shape[i]
        for d, n in enumerate(self.shape):
            start = 0
            if d in self.shared:
                at = self.batch[self.shared[d]]
                start = np.arange(n).reshape([-1 if i == at else 1 for i in range(self.rank)])
            elif d in self.starts:
                start, last = indices[..., self.starts.index(d)].reshape(own), n - self.sizes[d]
                inside = np.clip(start, 0, last)
                fits = fits if self.clip else fits & (inside == start)
                start = inside
            where.append(start + self.along[d] if d in self.along else start)
        return tuple(where), fits


def gather(params, eqn):
    """f(operand, indices)."""
    numbers, sizes, mode = params["dimension_numbers"], params["slice_sizes"], params["mode"]
    operand, shape = eqn.invars[0].aval.shape, eqn.outvars[0].aval.shape
    gone = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    windows = dict(zip([d for d in range(len(operand)) if d not in gone], numbers.offset_dims))
    shared = dict(zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims))
    fills = mode == GatherScatterMode.FILL_OR_DROP
    if any(size > n for size, n in zip(sizes, operand)) or (fills and params["fill_value"] is None):
        raise Unsupported
    if (d := _of_whole_rows(operand, sizes, numbers, len(shape))) is not None:
        return _rows(operand[d], d, params["fill_value"] if fills else None)
    places = _Places(operand, len(shape), windows, sizes, list(numbers.start_index_map), shared, not fills)

    def run(x, indices):
        where, fits = places.of(indices)
        out = np.broadcast_to(x[where], shape)
        return out if fits is True or np.all(fits) else np.where(fits, out, np.asarray(params["fill_value"]).astype(x.dtype))

    return run


def _of_whole_rows(operand, sizes, numbers, rank):
    """The dim whose whole rows (columns, ...) are read, as `numpy.take` reads them; None for other gathers."""
    if len(numbers.start_index_map) != 1 or numbers.operand_batching_dims or tuple(numbers.collapsed_slice_dims) != tuple(numbers.start_index_map):
        return None
    (d,) = numbers.start_index_map
    behind = rank - len(operand) + 1
    whole = all(size == n for i, (size, n) in enumerate(zip(sizes, operand)) if i != d)
    return d if whole and tuple(numbers.offset_dims) == (*range(d), *range(d + behind, rank)) else None


def _rows(n, d, fill):
    """f(operand, indices) that reads along dim `d` of `n` elements; fill: what stands for those that are not there, None where the nearest does."""

    def run(x, indices):
        indices = indices[..., 0]
        out = np.take(x, indices.astype(np.int64, copy=False), d, mode="clip")
        if fill is None:
            return out
        there = (indices >= 0) & (indices < n)
        return out if there.all() else np.where(there.reshape([1] * d + [*there.shape] + [1] * (x.ndim - d - 1)), out, np.asarray(fill).astype(x.dtype))

    return run


def scatter(write, write_rows=None):
    """For `write(array, index, updates)` in order; write_rows(rows, numbers, updates): that of whole rows, where there is a faster way."""
    write_rows = write_rows or (lambda rows, numbers, new: write(rows, (numbers[:, None], np.arange(rows.shape[1])), new))

    def make(params, eqn):
        numbers, mode = params["dimension_numbers"], params["mode"]
        (operand, updates), dtype = (eqn.invars[i].aval.shape for i in (0, 2)), np.dtype(eqn.invars[0].aval.dtype)
        if not operand or dtype.kind == "V" or dtype.itemsize == 2 or mode == GatherScatterMode.ONE_HOT:
            raise Unsupported
        gone = {*numbers.inserted_window_dims, *numbers.operand_batching_dims}
        windows = dict(zip([d for d in range(len(operand)) if d not in gone], numbers.update_window_dims))
        sizes = [updates[windows[d]] if d in windows else 1 for d in range(len(operand))]
        if any(size > n for size, n in zip(sizes, operand)):
            raise Unsupported
        if _writes_whole_rows(operand, sizes, numbers, len(updates)):
            return _into_rows(write_rows, operand[0], math.prod(operand[1:]), mode == GatherScatterMode.CLIP)
        shared = dict(zip(numbers.operand_batching_dims, numbers.scatter_indices_batching_dims))
        places = _Places(operand, len(updates), windows, sizes, list(numbers.scatter_dims_to_operand_dims), shared, mode == GatherScatterMode.CLIP)

        def run(x, indices, new):
            where, fits = places.of(indices)
            out = np.array(x, order="C")
            if fits is not True and not np.all(fits):
                chosen = np.broadcast_to(fits, new.shape)
                where, new = tuple([np.broadcast_to(w, new.shape)[chosen] for w in where]), new[chosen]
            write(out, where, new)
            return out

        return run

    return make


def _writes_whole_rows(operand, sizes, numbers, rank):
    rows = tuple(numbers.inserted_window_dims) == tuple(numbers.scatter_dims_to_operand_dims) == (0,) and not numbers.operand_batching_dims
    return rows and sizes[1:] == list(operand[1:]) and tuple(numbers.update_window_dims) == tuple(range(rank - len(operand) + 1, rank))


def _into_rows(write, n, width, clip):
    """f(operand, indices, updates) that writes rows of `width` elements, of which the operand has `n`."""

    def run(x, indices, new):
        rows = indices.reshape(-1).astype(np.int64, copy=False)
        new = new.reshape(rows.size, width)
        inside = np.clip(rows, 0, n - 1)
        if not clip and not (there := inside == rows).all():
            inside, new = inside[there], new[there]
        out = np.array(x, order="C")
        write(out.reshape(n, width), inside, new)
        return out

    return run


def add_rows(rows, numbers, new):
    """Add `new` to the rows of these numbers one after another: as SciPy multiplies by a matrix with a single 1 in each column, ten times as fast."""
    times = _products(new.size) if rows.dtype.kind in "fiu" else None
    if times is None:
        each(np.add)(rows, (numbers[:, None], np.arange(rows.shape[1])), new)
    else:
        count, width = new.shape
        ones = np.ones(count, rows.dtype)
        times(len(rows), count, width, np.arange(count + 1), np.ascontiguousarray(numbers), ones, new.reshape(-1), rows.reshape(-1))


_WORTH = 1 << 25  # elements added before SciPy's sparse matrices, which take a tenth of a second to import, have been worth that
_added = [0]


def _products(elements):
    """SciPy's `rows += matrix @ new` of a matrix by columns, where it pays; None where there is none."""
    _added[0] += elements
    if _added[0] < _WORTH and "scipy.sparse" not in sys.modules:
        return None
    return _imported()


@functools.cache
def _imported():
    """It is not public: asked whether it does what is taken for granted here."""
    try:
        from scipy.sparse._sparsetools import csc_matvecs

        rows = np.ones((3, 2), np.float32)
        csc_matvecs(3, 2, 2, np.arange(3), np.array([2, 2]), np.ones(2, np.float32), np.arange(4, dtype=np.float32), rows.reshape(-1))
    except Exception:
        return None
    return csc_matvecs if rows.tolist() == [[1, 1], [1, 1], [3, 5]] else None


def each(ufunc):
    """A write of all updates of a place, one after another: through flat indices, at which NumPy is three times as fast."""

    def write(out, where, new):
        at = 0
        for i, n in zip(where, out.shape):
            at = at * n + i
        ufunc.at(out.reshape(-1), np.broadcast_to(at, new.shape).reshape(-1), new.reshape(-1))

    return write


def put(out, where, new):
    """The last of several updates of a place stays."""
    out[where] = new


__all__ = ["Unsupported", "add_rows", "each", "gather", "put", "scatter"]
