"""Histograms over one dim and several (layer 7): counted on the host.  There is no way back through them."""

from __future__ import annotations

import math

import numpy as np

from .._core import dtypes, levels
from .._core.composite import composite, named
from .._core.errors import mapped_without_rule
from .._ops.conventions import wide
from .._tensor import Tensor, from_array
from .by_example import by_example
from .create import linspace
from .linalg import Several, several_into

_DD = "torch.histogramdd: "


def _range(values, given):
    """The bounds of each column: as given, or those of the data, half a unit apart from a single value."""
    n = values.shape[1]
    if given is not None and len(given) != 2 * n:
        raise RuntimeError(f"{_DD}for a {n}-dimensional histogram range should have {2 * n} elements, but got {len(given)}")
    bounds = []
    for d in range(n):
        if given is not None:
            low, high = float(given[2 * d]), float(given[2 * d + 1])
        elif values.size:
            low, high = float(values[:, d].min()), float(values[:, d].max())
        else:
            low, high = 0.0, 1.0
        if not (math.isfinite(low) and math.isfinite(high)):
            raise RuntimeError(f"{_DD}dimension {d}'s range [{low:g}, {high:g}] is not finite")
        if low > high:
            raise RuntimeError(f"{_DD}min should not exceed max, but got min {low:g} max {high:g} for dimension {d}")
        bounds.append((low - 0.5, high + 0.5) if low == high else (low, high))
    return bounds


def _edges(input, values, bins, given):
    """The edges of the bins of each column, as tensors."""
    if any(isinstance(b, Tensor) for b in bins):
        for d, b in enumerate(bins):
            if b.dtype is not input.dtype:
                raise RuntimeError(f"{_DD}input tensor and bins tensors should have the same dtype, but got input with dtype {_word(input.dtype)} and bins for "
                                   f"dimension {d} with dtype {_word(b.dtype)}")
            if b.ndim != 1:
                raise RuntimeError(f"{_DD}bins tensor should have one dimension, but got {b.ndim} dimensions in the bins tensor for dimension {d}")
        counts = [b.numel() - 1 for b in bins]
    else:
        counts = list(bins)
    for d, n in enumerate(counts):
        if n < 1:
            raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {n} for dimension {d}")
    if bins and isinstance(bins[0], Tensor):
        return [b.detach() for b in bins]
    return [linspace(low, high, n + 1, dtype=input.dtype) for (low, high), n in zip(_range(values, given), counts)]


def _word(dtype):
    return {"float32": "float", "float64": "double", "int64": "long int", "int32": "int", "bool": "bool"}.get(dtype.name, dtype.name)


def _counted(values, edges, weight):
    """How many rows fall into each cell; the last bin of each dim holds its upper edge."""
    inside, places = np.ones(len(values), bool), []
    for d, e in enumerate(edges):
        x = values[:, d]
        inside &= (x >= e[0]) & (x <= e[-1])
        places.append(np.minimum(np.searchsorted(e, x, side="right") - 1, len(e) - 2))
    hist = np.zeros([len(e) - 1 for e in edges], values.dtype)
    if edges:
        np.add.at(hist, tuple(p[inside] for p in places), 1 if weight is None else weight[inside])
    return hist


def _histogram(input, bins, given, weight, density):
    if input.ndim < 2:
        raise RuntimeError(f"{_DD}input tensor should have at least 2 dimensions")
    if len(bins) != input.shape[-1]:
        raise RuntimeError("histogramdd: The size of bins must be equal to the innermost dimension of the input.")
    if weight is not None:
        if weight.dtype is not input.dtype:
            raise RuntimeError(f"{_DD}if weight tensor is provided, input tensor and weight tensor should have the same dtype, but got "
                               f"input({_word(input.dtype)}), and weight({_word(weight.dtype)})")
        if tuple(weight.shape) != tuple(input.shape[:-1]):
            raise RuntimeError(f"{_DD}if weight tensor is provided it should have the same shape as the input tensor excluding its innermost dimension, but "
                               f"got input with shape {list(input.shape)} and weight with shape {list(weight.shape)}")
    inferred = given is None and not (bins and isinstance(bins[0], Tensor))  # bounds are looked for by another kernel
    if input.dtype.category != dtypes.FLOAT or (inferred and input.dtype.itemsize == 2):
        raise NotImplementedError(f"\"{'histogramdd' if inferred else 'histogram_cpu'}\" not implemented for '{input.dtype.char_name}'")
    values = wide(input.detach()._tl_numpy()).reshape(math.prod(input.shape[:-1]), input.shape[-1])
    edges = _edges(input, values, bins, given)
    arrays = [wide(e._tl_numpy()) for e in edges]
    hist = _counted(values, arrays, None if weight is None else weight.detach()._tl_numpy().reshape(-1))
    if density:
        with np.errstate(divide="ignore", invalid="ignore"):
            hist = hist / hist.sum()
            for d, e in enumerate(arrays):
                hist = hist / np.diff(e).reshape([-1 if i == d else 1 for i in range(hist.ndim)])
    return from_array(hist.astype(input.dtype.np), input.dtype), edges


def _told_by(sources, name, *found):
    """What was found, with a history where one of its sources has one: backward through it raises."""
    needing = [t for t in sources if isinstance(t, Tensor) and t._tl_needs]
    if not needing:
        return found
    out = named(name)(needing, *found)
    return out if isinstance(out, tuple) else (out,)


_ONE, _SEVERAL = Several("histogram", "hist", "bin_edges"), Several("histogramdd", "hist", "bin_edges")


@composite("torch.histogram", "Tensor.histogram")
@by_example
def histogram(input, bins=100, *, range=None, weight=None, density=False, out=None):
    """(counts or weights or densities, edges of the bins); bins: how many, or their edges."""
    if range is not None and len(range) != 2:
        raise RuntimeError(f"{_DD}for a 1-dimensional histogram range should have 2 elements, but got {len(range)}")
    if weight is not None and tuple(weight.shape) != tuple(input.shape):
        raise RuntimeError(f"{_DD}if weight tensor is provided it should have the same shape as the input tensor excluding its innermost dimension, but got "
                           f"input with shape {[input.numel(), 1]} and weight with shape {list(weight.shape)}")
    flat = None if weight is None else weight.reshape(-1)
    hist, edges = _histogram(input.reshape(-1, 1), [bins], range, flat, density)
    if out is None:
        return _ONE(*_told_by((input, weight, bins), "_histogram", hist, edges[0]))
    return several_into("histogram", _ONE, out, (hist, edges[0]), input)


@composite("torch.histogramdd")
def histogramdd(input, bins, range=None, weight=None, density=False):
    """(counts in as many dims as the last dim of the input is long, the edges along each)."""
    if levels.hidden_among((input,)):
        raise mapped_without_rule("histogramdd.int_bins", ". We could not generate a fallback.")
    bins = [bins] * input.shape[-1] if isinstance(bins, int) and input.ndim else bins
    hist, edges = _histogram(input, list(bins), range, weight, density)
    if any(isinstance(b, Tensor) for b in bins):
        return _SEVERAL(*_told_by((input, weight, *bins), "_histogramdd_from_bin_tensors", hist), tuple(bins))  # the given tensors themselves
    found = tuple(e for edge in edges for e in _told_by((input, weight), "_histogramdd_bin_edges", edge))
    return _SEVERAL(*_told_by((input, weight), "_histogramdd_from_bin_cts", hist), found)


__all__ = ["histogram", "histogramdd"]
