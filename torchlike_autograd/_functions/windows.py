"""Window functions and strided factories (layer 7)."""

from __future__ import annotations

import math

import numpy as np

from .._core import config, dtypes, layouts, levels
from .._core.composite import composite, named
from .._core.shapes import LARGEST, reach
from .create import _dtype, arange, filled, placed, sizes, unset

_cat = named("cat")


def _options(dtype, default="", layout="Strided (default)"):
    from .._ops.conventions import cxx_of

    return (f"TensorOptions(dtype={cxx_of(dtype)}{default}, device=cpu, layout={layout}, requires_grad=false (default), pinned_memory=false, "
            "memory_format=(nullopt))")


def _window(name, compute):
    """Publish a window: compute(positions, length) -> values; a periodic window is one longer without its end."""

    def window(window_length, periodic=True, *args, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False, **shape):
        default = " (default)" if dtype is None and name == "hann_window" else ""
        dtype = config.default_dtype() if dtype is None else _dtype(dtype)
        if layout is layouts.sparse_coo:
            raise RuntimeError(f"{name} is not implemented for sparse types, got: {_options(dtype, default, 'Sparse')}")
        if dtype.category < dtypes.FLOAT:
            raise RuntimeError(f"{name} expects floating point dtypes, got: {_options(dtype)}")
        if window_length < 0:
            raise RuntimeError(f"{name} requires non-negative window_length, got window_length={window_length}")
        if window_length <= 1:
            return placed(filled((window_length,), 1, dtype), device, requires_grad)
        n = window_length + bool(periodic)
        out = compute(arange(n, dtype=dtype), n, *args, **shape)
        return placed(out[:window_length].detach() if periodic else out, device, requires_grad)

    window.__name__ = name
    window.__doc__ = f"torch.{name}."
    return composite(f"torch.{name}")(window)


def _times(t, number):
    """The product with a number in the tensor's dtype: PyTorch's in-place products take it so, others round only what they give."""
    return t * float(np.asarray(number, t.dtype.np))


def _cosine(t, n, alpha=0.54, beta=0.46):
    return _times(_times(t, 2.0 * math.pi / (n - 1)).cos(), -beta) + alpha


def _blackman(t, n):
    t = _times(t, math.pi / (n - 1))
    return _times((t * 4).cos(), 0.08) - _times((t * 2).cos(), 0.5) + 0.42


def _bartlett(t, n):
    t = _times(t, 2.0 / (n - 1))
    first = ((n - 1) >> 1) + 1
    return _cat([t[:first], t[first:] * -1 + 2])


def _kaiser(t, n, beta=12.0):
    half, wide = (n - 1) / 2.0, t.float() if t.dtype.itemsize == 2 else t
    return ((1 - ((wide - half) / half) ** 2).abs().sqrt().mul(beta).i0() / filled((), beta, wide.dtype).i0()).to(t.dtype)


_window("hann_window", lambda t, n: _cosine(t, n, 0.5, 0.5))
_window("hamming_window", _cosine)
_window("blackman_window", _blackman)
_window("bartlett_window", _bartlett)
_window("kaiser_window", _kaiser)


def _strided(size, stride, dtype):
    if len(size) != len(stride):
        raise RuntimeError(f"dimensionality of sizes ({len(size)}) must match dimensionality of strides ({len(stride)})")
    if any(n < 0 for n in size):
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(size)}: {list(size)}")
    if any(s < 0 for s in stride) or reach(size, stride) * _dtype(dtype).itemsize > LARGEST:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}")
    t = filled(size, unset(dtype), dtype)
    t._tl_laid = (tuple(stride), 0)
    return t


@composite("torch.empty_strided")
def empty_strided(size, stride, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """Zeros with chosen strides (metadata: arrays are row-major)."""
    dtype = config.default_dtype() if dtype is None else _dtype(dtype)
    return placed(_strided(sizes("empty_strided", (size,)), tuple(stride), dtype), device, requires_grad)


@composite("Tensor.new_empty_strided")
def new_empty_strided(self, size, stride, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """`empty_strided` with this tensor's dtype."""
    size = sizes("new_empty_strided", (size,))
    out = _strided(size, tuple(stride), dtype or self.dtype)
    if levels.running() and levels.mapped(self._tl_v) is not None:  # memory of its own for each example
        out = self.new_empty(size, dtype=dtype)
        out._tl_laid = tuple(stride), 0
    return placed(out, device, requires_grad)


__all__ = ["empty_strided", "new_empty_strided"]
