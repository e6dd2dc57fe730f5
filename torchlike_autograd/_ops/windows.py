"""Sliding windows (layer 2): the elements of every window along a dim, one offset at a time; maxima and sums over them.

Windows over several dims are taken dim by dim, the last first, which keeps torch's order: the first maximum by rows, the last NaN.
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from .ranks import pick
from .tracing import scan

WIDE = 8  # elements of a window from which they are not taken one after the other
FEW = 64  # windows that are summed one after the other


class Windows(NamedTuple):
    """Windows along a dim: the first position of each (perhaps before 0), the distance of elements, and how many each holds."""

    starts: tuple
    dilation: int
    lengths: tuple

    @property
    def width(self):
        return max(self.lengths, default=0)

    def positions(self, k):
        """(the position of element k of each window, whether the window has so many), whatever the size of the dim."""
        return np.array(self.starts, np.int64) + k * self.dilation, np.array(self.lengths, np.int64) > k


def regular(count, kernel, stride, padding, dilation=1):
    """`count` windows at a fixed distance."""
    return Windows(tuple(i * stride - padding for i in range(count)), dilation, (kernel,) * count)


def adaptive(size, count):
    """Windows that divide a dim into `count` parts, which may overlap."""
    starts = [i * size // count for i in range(count)]
    return Windows(tuple(starts), 1, tuple(-(-(i + 1) * size // count) - s for i, s in enumerate(starts)))


def along(values, ndim, axis):
    """A static vector laid along an axis."""
    return jnp.asarray(values).reshape([-1 if i == axis else 1 for i in range(ndim)])


def at_places(x, axis, places, fill):
    """x at static places along an axis, `fill` where there is nothing; a strided slice where the places have a fixed distance."""
    size, steps = x.shape[axis], np.diff(places)
    if len(places) and (steps == steps[:1]).all() and (steps > 0).all():
        first, last, step = int(places[0]), int(places[-1]), int(steps[0]) if len(steps) else 1
        low, high = max(0, -first), max(0, last + 1 - size)
        if low or high:
            x = lax.pad(x, fill, [(low, high, 0) if i == axis else (0, 0, 0) for i in range(x.ndim)])
        return lax.slice_in_dim(x, first + low, last + low + 1, step, axis)
    inside = (places >= 0) & (places < size)
    out = jnp.take(x, jnp.asarray(np.clip(places, 0, max(size - 1, 0))), axis=axis, mode="clip")
    return out if inside.all() else jnp.where(along(inside, x.ndim, axis), out, fill)


def lowest(dtype):
    """Minus infinity, or the least integer."""
    return jnp.asarray(-np.inf if jnp.issubdtype(dtype, jnp.inexact) else jnp.iinfo(dtype).min, dtype)


def _replaces(new, best, first, exists):
    """Where an element takes the place of the largest so far: the first one there is, a greater one, a NaN."""
    better = (new > best) | first
    if jnp.issubdtype(new.dtype, jnp.inexact):
        better = better | jnp.isnan(new)
    return better & exists


def _largest(x, carried, axis, windows, volume):
    """(the maximum of each window, its flat index); `carried` holds the indices over later dims, `volume` the product of their sizes."""
    fill, seen = lowest(x.dtype), np.zeros(len(windows.starts), bool)
    best = jnp.full([len(seen) if i == axis else s for i, s in enumerate(x.shape)], fill, x.dtype)
    index = jnp.zeros(best.shape, np.int64)
    for k in range(windows.width):
        places, exists = windows.positions(k)
        value = at_places(x, axis, places, fill)
        here = along(places * volume, x.ndim, axis)
        if carried is not None:
            here = here + at_places(carried, axis, places, jnp.zeros((), np.int64))
        exists = exists & (places >= 0) & (places < x.shape[axis])
        if not seen.any() and exists.all():
            best, index = value, jnp.broadcast_to(here, value.shape)
        else:
            better = _replaces(value, best, along(~seen, x.ndim, axis), along(exists, x.ndim, axis))
            best, index = jnp.where(better, value, best), jnp.where(better, here, index)
        seen = seen | exists
    return best, index


def _largest_wide(x, carried, axis, windows, volume):
    """`_largest` of wide windows: the place of each maximum by reductions, then the elements at these places, not one choice after the other."""
    offsets, count = np.arange(windows.width), len(windows.starts)
    places = np.array(windows.starts, np.int64)[:, None] + offsets * windows.dilation
    exists = (offsets < np.array(windows.lengths)[:, None]) & (places >= 0) & (places < x.shape[axis])
    seen = at_places(lax.stop_gradient(x), axis, places.reshape(-1), lowest(x.dtype))
    seen = seen.reshape(*x.shape[:axis], count, windows.width, *x.shape[axis + 1:])
    shape = [1] * axis + [count, windows.width] + [1] * (x.ndim - axis - 1)
    exists, offset = jnp.asarray(exists.reshape(shape)), along(offsets, x.ndim + 1, axis + 1)
    seen = jnp.where(exists, seen, lowest(x.dtype))
    first = jnp.min(jnp.where((seen == jnp.max(seen, axis + 1, keepdims=True)) & exists, offset, windows.width), axis + 1)
    if jnp.issubdtype(x.dtype, jnp.inexact):
        last_nan = jnp.max(jnp.where(jnp.isnan(seen), offset, -1), axis + 1)
        first = jnp.where(last_nan >= 0, last_nan, first)
    place = along(np.array(windows.starts, np.int64), x.ndim, axis) + first * windows.dilation
    index = place * volume
    return pick(x, place, axis), index if carried is None else index + pick(carried, place, axis)


def _overlap(windows):
    """Whether neighbours at a fixed distance share elements, so that one element is read for several windows."""
    steps = set(np.diff(windows.starts).tolist())
    return len(steps) == 1 and len(set(windows.lengths)) == 1 and 0 < min(steps) <= (windows.width - 1) * windows.dilation


def _largest_looped(x, axis, windows):
    """`_largest` along the last axis, for windows that overlap, as a loop over the offsets.

    XLA's CPU backend computes an element anew for every window that holds it where it fuses what made the element with its readers: a chain of pools
    then takes exponential time to compile. It does not fuse into a loop.
    """
    starts, dilation, size = np.array(windows.starts, np.int64), windows.dilation, x.shape[axis]
    step, first, last = int(starts[1] - starts[0]), int(starts[0]), int(starts[-1])
    low, high = max(0, -first), max(0, last + (windows.width - 1) * dilation + 1 - size)
    padded = lax.pad(x, lowest(x.dtype), [(low, high, 0) if i == axis else (0, 0, 0) for i in range(x.ndim)])
    begins = along(np.maximum(-(starts // dilation), 0), x.ndim, axis)      # the offset of the first element that is there

    def at_offset(best, k):
        value, index = best
        new = lax.dynamic_slice_in_dim(padded, low + first + k * dilation, last - first + 1, axis)
        new = lax.slice_in_dim(new, 0, None, step, axis)
        here = along(starts, x.ndim, axis) + k * dilation
        better = _replaces(new, value, k == begins, (here >= 0) & (here < size))
        return (jnp.where(better, new, value), jnp.where(better, here, index)), None

    shape = [len(starts) if i == axis else s for i, s in enumerate(x.shape)]
    nothing = jnp.full(shape, lowest(x.dtype), x.dtype), jnp.zeros(shape, np.int64)
    return scan(at_offset, nothing, np.arange(windows.width))[0]


def max_over(x, windows):
    """(maxima, flat indices) over the last dims, for one `Windows` a dim."""
    first, sizes, index = x.ndim - len(windows), x.shape, None
    for axis in reversed(range(first, len(sizes))):
        along_axis = windows[axis - first]
        if index is None and _overlap(along_axis):
            x, index = _largest_looped(x, axis, along_axis)
        else:
            x, index = (_largest_wide if along_axis.width > WIDE else _largest)(x, index, axis, along_axis, math.prod(sizes[axis + 1:]))
    return x, index


def _parts_of(windows, size):
    """Whether windows are parts of a dim at changing distances, which slices of every window's element k do not reach, or wide ones."""
    inside = windows.dilation == 1 and windows.starts[0] >= 0 and all(0 < n <= size - s for s, n in zip(windows.starts, windows.lengths))
    return inside and (windows.width > WIDE or len(set(np.diff(windows.starts).tolist())) > 1)


def _sums(x, axis, windows):
    count, width = len(windows.starts), windows.width
    if count and windows.starts == tuple(range(0, x.shape[axis], max(width, 1))) and set(windows.lengths) == {width} and count * width == x.shape[axis]:
        return jnp.sum(x.reshape(*x.shape[:axis], count, width, *x.shape[axis + 1:]), axis + 1, dtype=x.dtype)
    if 0 < count <= FEW and _parts_of(windows, x.shape[axis]):
        return jnp.stack([jnp.sum(lax.slice_in_dim(x, s, s + n, axis=axis), axis, dtype=x.dtype) for s, n in zip(windows.starts, windows.lengths)], axis)
    parts, zero = [], jnp.zeros((), x.dtype)
    for k in range(width):
        places, exists = windows.positions(k)
        part = at_places(x, axis, places, zero)
        parts.append(part if exists.all() else jnp.where(along(exists, x.ndim, axis), part, zero))
    return functools.reduce(jnp.add, parts) if parts else jnp.zeros([count if i == axis else s for i, s in enumerate(x.shape)], x.dtype)


def sum_over(x, windows):
    """Sums over the last dims, for one `Windows` a dim."""
    first = x.ndim - len(windows)
    for axis in reversed(range(first, x.ndim)):
        x = _sums(x, axis, windows[axis - first])
    return x


def counts(windows, ndim):
    """How many elements each window of several dims has, laid over the last dims."""
    first = ndim - len(windows)
    return functools.reduce(jnp.multiply, [along(np.array(w.lengths, np.int64), ndim, first + i) for i, w in enumerate(windows)])


__all__ = ["Windows", "adaptive", "along", "at_places", "counts", "lowest", "max_over", "regular", "sum_over"]
