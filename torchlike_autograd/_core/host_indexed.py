"""Reading and writing at indices on the host (layer 3): XLA's gather and scatter by NumPy's indexing.

Each dim of the operand gets an index array that broadcasts to the result (of a gather) or to the updates (of a scatter): where a window starts, from the last
dim of the indices, and the places in the window.  Windows that do not fit are moved inside (CLIP), or read as `fill_value` and not written.
"""

from __future__ import annotations

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
    places = _Places(operand, len(shape), windows, sizes, list(numbers.start_index_map), shared, not fills)

    def run(x, indices):
        where, fits = places.of(indices)
        out = np.broadcast_to(x[where], shape)
        return out if fits is True or np.all(fits) else np.where(fits, out, np.asarray(params["fill_value"]).astype(x.dtype))

    return run


def scatter(write):
    """For `write(array, index, updates)` in order."""

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
        shared = dict(zip(numbers.operand_batching_dims, numbers.scatter_indices_batching_dims))
        places = _Places(operand, len(updates), windows, sizes, list(numbers.scatter_dims_to_operand_dims), shared, mode == GatherScatterMode.CLIP)

        def run(x, indices, new):
            where, fits = places.of(indices)
            out = np.array(x)
            if fits is not True and not np.all(fits):
                chosen = np.broadcast_to(fits, new.shape)
                where, new = tuple([np.broadcast_to(w, new.shape)[chosen] for w in where]), new[chosen]
            write(out, where, new)
            return out

        return run

    return make


def put(out, where, new):
    """The last of several updates of a place stays."""
    out[where] = new


__all__ = ["Unsupported", "gather", "put", "scatter"]
