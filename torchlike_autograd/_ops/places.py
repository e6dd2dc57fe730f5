"""What operators on index tensors share (layer 2): places, writing where places repeat, range checks.

Index values are checked where they are known when the call is recorded (`_functions/index.py`); otherwise the program checks them and the next look
raises.  A body that meets one out of range clamps it.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax.lax import GatherDimensionNumbers, ScatterDimensionNumbers

from .._core.dtypes import from_numpy_dtype
from .._core.shapes import wrap_dim
from .conventions import partials
from .registry import at
from .sizes import LARGEST
from .tracing import iota

LONGS = ("int64", "int32")


def long(*values):
    """Sample: an int64 tensor of these values."""
    return at(*values, dtype="int64", grad=False)


def truth(*values):
    """Sample: a bool tensor of these values."""
    return at(*values, dtype="bool", grad=False)


def char(x):
    """The word for an array's dtype in messages (Double, Long, ...)."""
    return from_numpy_dtype(x.dtype).char_name


def at_least_1d(x):
    """0-dim arrays as one element."""
    return x.reshape(1) if x.ndim == 0 else x


# Entries of one dim.  What x.at[...] does, by the functions of JAX that it calls: those take symbolic sizes for 64-bit indices there, and not here

def taken(x, index, d, negative=False):
    """The entries of dim `d` that an integer array names, its dims in place of that dim; negative: whether they may count from the end."""
    if negative:
        index = jnp.where(index < 0, index + x.shape[d], index)
    kept = GatherDimensionNumbers(_beside(x, index, d), collapsed_slice_dims=(d,), start_index_map=(d,))
    sizes = tuple(1 if i == d else n for i, n in enumerate(x.shape))
    return jax.lax.gather(x, _narrow(x, index)[..., None], kept, sizes, mode="clip")


def added(x, index, d, source):
    """`x` with `source` added to the entries of dim `d` that an integer array names."""
    kept = ScatterDimensionNumbers(_beside(x, index, d), inserted_window_dims=(d,), scatter_dims_to_operand_dims=(d,))
    return jax.lax.scatter_add(x, _narrow(x, index)[..., None], source, kept, mode="clip")


def _beside(x, index, d):
    """The dims of the entries that are not those of the index."""
    return (*range(d), *range(d + index.ndim, x.ndim + index.ndim - 1))


def _narrow(x, index):
    return index.astype(jnp.int64 if any(n > LARGEST for n in x.shape) else jnp.int32)


def elements(x, where):
    """The elements that an integer array for each dim names, which are broadcast."""
    dims = tuple(range(x.ndim))
    return jax.lax.gather(x, _together(x, where), GatherDimensionNumbers((), collapsed_slice_dims=dims, start_index_map=dims), (1,) * x.ndim, mode="clip")


def elements_added(x, where, source):
    """`x` with `source` added to the elements that an integer array for each dim names."""
    dims, places = tuple(range(x.ndim)), _together(x, where)
    kept = ScatterDimensionNumbers((), inserted_window_dims=dims, scatter_dims_to_operand_dims=dims)
    return jax.lax.scatter_add(x, places, jnp.broadcast_to(source, places.shape[:-1]), kept, mode="clip")


def _together(x, where):
    shape = jnp.broadcast_shapes(*[w.shape for w in where])
    return jnp.concatenate([jnp.broadcast_to(_narrow(x, w), shape)[..., None] for w in where], -1)


# Range checks: a code is 0, or says which value was wrong (and in which of several index tensors)

def of_arrays(guard):
    """A check of arrays of JAX's or of NumPy's: these need no tracing."""
    guard.of_arrays = True
    return guard


def library(x):
    """The module of functions for an array."""
    return np if isinstance(x, (np.ndarray, np.generic)) else jnp


def offence(index, size, lowest):
    """0, or the code of a value outside [lowest, size)."""
    return 0 if index.size == 0 else first_offence(index, size, lowest)[0]


def first_offence(index, size, lowest):
    """(that code, the place of the value in the index, which is not empty: any where all are right)."""
    xp, flat = library(index), index.reshape(-1)
    place = xp.argmax((flat < lowest) | (flat >= size))
    first = flat[place].astype("int64")
    return xp.where((first < lowest) | (first >= size), xp.where(first >= 0, first + 1, first), 0), place


def offender(code):
    """The value that a code stands for."""
    return code - 1 if code > 0 else code


def in_range(bounds, error):
    """Fields of an operator (self, index, ...): ``bounds(shape, **keywords) -> (size, lowest)``, ``error(value, shape, size, **keywords)``."""

    @of_arrays
    def guard(self, index, *rest, **keywords):
        return offence(index, *bounds(self.shape, **keywords))

    def make(code, shape, *shapes, **keywords):
        return error(offender(code), shape, bounds(shape, **keywords)[0], **keywords)

    guard.bounds = bounds
    return {"guard": guard, "guard_error": make}


def along_dim(shape, *, dim, **_):
    """Bounds of an index along `dim` that may not be negative."""
    return (shape[wrap_dim(dim, len(shape))] if shape else 1), 0


_ANYWHERE = 1 << 62


def where_elements_are(shape, *, dim, **_):
    """`along_dim` of what has elements; no kernel looks at an index into what has none."""
    return (_ANYWHERE, -_ANYWHERE) if 0 in shape else along_dim(shape, dim=dim)


def where_entries_are(shape, *, dim, **_):
    """`along_dim` of what has elements, or would have if the dim were longer."""
    return (_ANYWHERE, -_ANYWHERE) if 0 in shape and shape[wrap_dim(dim, len(shape))] else along_dim(shape, dim=dim)


def out_of_bounds(kind, prefix=""):
    """The error "index i is out of bounds for dimension d with size n"."""

    def error(value, shape, size, *, dim, **_):
        return kind(f"{prefix}index {value} is out of bounds for dimension {wrap_dim(dim, len(shape))} with size {size}")

    return error


def matching_entries(name, self, index, source, d):
    """torch's errors where `source` has not one entry along the dim for each index, each of the shape of those of `self`."""
    if d >= max(source.ndim, 1):
        raise RuntimeError(f"{name}(): Indexing dim {d} is out of bounds of the source tensor with dim {source.ndim}")
    if not source.ndim and index.size != 1:
        raise IndexError(f"Dimension specified as {d} but tensor has no dimensions")
    length = source.shape[d] if source.ndim else 1
    if index.size != length:
        raise RuntimeError(f"{name}(): Number of indices ({index.size}) should be equal to source.size(dim): ({length}), for dim: {d}")
    rest = [[n for k, n in enumerate(x.shape) if k != d] for x in (self, source)]
    if self.ndim != source.ndim or rest[0] != rest[1]:
        raise RuntimeError("source tensor shape must match self tensor shape, excluding the specified dimension. "
                           f"Got self.shape = {list(self.shape)} source.shape = {list(source.shape)}")


# Writing where places may repeat

def put_last(x, src, where, rest):
    """`x` with `src` at the places `where` (index arrays; `rest` is the full index with None for each of them), the last of several at one place.

    As in torch every element of `src` gets the gradient of its place, also one that was overwritten.
    """
    return _put(rest)(x, src, *where)


def put_linear(x, src, where, rest):
    """`put_last` as a function of tangents, which JAX can transpose: as in its derivative each element of `src` counts, also one that is overwritten."""
    return x.at[_whole(rest, where)].set(src, mode="clip", unique_indices=True)


def _whole(rest, where):
    it = iter(where)
    return tuple([next(it) if i is None else i for i in rest])


_puts: dict = {}


def _put(rest):
    key = tuple([None if i is None else 0 for i in rest])
    f = _puts.get(key)
    if f is None:

        @partials(lambda t, out, x, src, *where: put_linear(t, jnp.zeros_like(src), where, rest),
                  lambda t, out, x, src, *where: put_linear(jnp.zeros_like(x), t, where, rest))
        def f(x, src, *where):
            return x.at[_whole(rest, where)].set(src, mode="clip")

        _puts[key] = f
    return f


def lattice(index, d):
    """Index arrays of gather and scatter: `index` in dim `d`, its own position in the others."""
    out = [iota(n).reshape([-1 if i == k else 1 for i in range(index.ndim)]) for k, n in enumerate(index.shape)]
    out[d] = index.astype(jnp.int64)
    return tuple(out)


def along(ndim, d, index):
    """A full index that has `index` in dim `d` and takes all of the others."""
    return (slice(None),) * d + (index,) + (slice(None),) * (ndim - d - 1)


