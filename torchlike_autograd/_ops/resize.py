"""Resampling to another size (layer 2): each output element is a sum of few input elements, with places and weights that are known beforehand.

All modes work dim by dim.  A dim is described by `taps`: a list of (places, weights), one pair for each summand; weights None stand for 1.
"""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np

from .._core.shapes import check_room
from .conventions import only
from .memory import channels_last
from .registry import SMOOTH, call, op, real
from .windows import along

_AXES = "DHW"


# Where and how much

def _scale(size, count, align_corners, factor, kind):
    """The distance of neighbouring outputs in the input."""
    if align_corners:
        return kind((size - 1) / (count - 1)) if count > 1 else kind(0)
    if factor is not None and factor > 0:
        return kind(1.0 / factor)
    return kind(size) / kind(count)


def _nearest(size, count, factor, exact):
    kind = np.float32
    scale = _scale(size, count, False, factor, kind)
    at = np.arange(count).astype(kind) + kind(0.5 if exact else 0)
    return [(np.minimum(np.floor(at * scale).astype(np.int64), size - 1), None)]


def _sources(size, count, align_corners, factor, kind):
    scale = _scale(size, count, align_corners, factor, kind)
    at = np.arange(count).astype(kind)
    return scale * at if align_corners else scale * (at + kind(0.5)) - kind(0.5)


def _linear(size, count, align_corners, factor, kind):
    if size == count:
        return [(np.arange(size), None)]
    at = np.maximum(_sources(size, count, align_corners, factor, kind), kind(0))
    low = np.minimum(at.astype(np.int64), size - 1)
    part = np.clip(at - low.astype(kind), kind(0), kind(1))
    return [(low, 1 - part), (np.minimum(low + 1, size - 1), part)]


def cubic_weights(t, a=-0.75):
    """Weights of the four neighbours of a point that lies at t in [0, 1) after the second."""
    def near(x):
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x):
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return far(t + 1), near(t), near(1 - t), far(2 - t)


def _cubic(size, count, align_corners, factor, kind):
    if size == count:
        return [(np.arange(size), None)]
    at = _sources(size, count, align_corners, factor, kind)
    low = np.minimum(np.floor(at).astype(np.int64), size - 1)
    part = np.clip(at - low.astype(kind), kind(0), kind(1))
    return [(np.clip(low + k - 1, 0, size - 1), w.astype(kind)) for k, w in enumerate(cubic_weights(part))]


def _triangle(x):
    return np.maximum(1 - np.abs(x), 0)


def _keys(x):
    x = np.abs(x)
    a = -0.5
    return np.where(x < 1, ((a + 2) * x - (a + 3)) * x * x + 1, np.where(x < 2, (((x - 5) * x + 8) * x - 4) * a, 0))


def _lanczos(x):
    return np.where((x >= -3) & (x < 3), np.sinc(x) * np.sinc(x / 3), 0)


_FILTERS = {"bilinear": (_triangle, 2), "bicubic": (_keys, 4), "lanczos": (_lanczos, 6)}


def _smooth(mode, size, count, align_corners, factor, kind):
    """Taps of a filter that is widened where the output is smaller, against aliasing."""
    f, width = _FILTERS[mode]
    scale = float(_scale(size, count, align_corners, factor, kind))
    support, inverse = (width * 0.5 * scale, 1 / scale) if scale >= 1 else (width * 0.5, 1.0)
    centers = scale * (np.arange(count) + 0.5)
    first = np.maximum((centers - support + 0.5).astype(np.int64), 0)
    lengths = np.minimum((centers + support + 0.5).astype(np.int64), size) - first
    lengths = np.clip(lengths, 0, math.ceil(support) * 2 + 1)
    k = np.arange(max(int(lengths.max(initial=0)), 1))[:, None]
    weights = np.where(k < lengths, f((k + first - centers + 0.5) * inverse), 0)
    sums = weights.sum(0)
    weights = (weights / np.where(sums == 0, 1, sums)).astype(kind)
    return [(np.clip(first + i, 0, size - 1), w) for i, w in enumerate(weights)]


# The operators

def _resample(x, axis, taps):
    out = None
    for places, weights in taps:
        part = x if len(places) == x.shape[axis] and (places == np.arange(len(places))).all() else jnp.take(x, jnp.asarray(places), axis=axis, mode="clip")
        if weights is not None:
            part = part * along(weights, x.ndim, axis).astype(x.dtype)
        out = part if out is None else out + part
    return out


def _gathered(taps):
    """Taps without places that come twice for one output: the first has the weights of all."""
    places, weights = np.stack([p for p, _ in taps]), np.stack([w for _, w in taps])
    for i in range(1, len(taps)):
        for j in range(i):
            same = places[i] == places[j]
            weights[j] += np.where(same, weights[i], 0)
            weights[i] = np.where(same, 0, weights[i])
    return list(zip(places, weights))


def _in_fixed_point(x, axis, taps):
    """The sums of uint8 by weights of 16 bits, rounded to uint8 after each dim."""
    if len(taps) == 1 and taps[0][1] is None:
        return x
    taps = _gathered(taps)
    largest, precision = max(w.max(initial=0) for _, w in taps), 0
    while precision < 22 and int(0.5 + largest * (1 << (precision + 1))) < 1 << 15:
        precision += 1
    out = jnp.int32(1 << (precision - 1))
    for places, weights in taps:
        whole = np.trunc(weights * (1 << precision) + np.copysign(0.5, weights)).astype(np.int32)
        out = out + jnp.take(x, jnp.asarray(places), axis=axis, mode="clip").astype(np.int32) * along(whole, x.ndim, axis)
    return jnp.clip(out >> precision, 0, 255).astype(np.uint8)


def _sizes(values, names):
    return "(" + ", ".join(f"{a}: {v}" for a, v in zip(names, values)) + ")"


def _check(x, n, output_size, kernel, kinds):
    names, joined = _AXES[-n:], " and output" if n == 1 else " output"
    if len(output_size) != n:
        raise RuntimeError(f"It is expected output_size equals to {n}, but got size {len(output_size)}")
    if x.ndim != n + 2:
        raise RuntimeError(f"It is expected input_size equals to {n + 2}, but got size {x.ndim}")
    if any(s <= 0 for s in (*x.shape[2:], *output_size)):
        raise RuntimeError(f"Input and output sizes should be greater than 0, but got input {_sizes(x.shape[2:], names)}{joined} {_sizes(output_size, names)}")
    if any(s == 0 for s in x.shape[1:]):
        raise RuntimeError(f"Non-empty {n + 2}D data tensor expected but got a tensor with sizes {list(x.shape)}")
    check_room((*x.shape[:2], *output_size), x.dtype.itemsize)
    if str(x.dtype) != "uint8" or (kinds == "f" and n != 2):
        only(kernel, x, "f")


def _kind(x):
    return np.float64 if x.dtype == np.float64 else np.float32


_SHAPES = {1: (1, 2, 3), 2: (1, 2, 3, 2), 3: (1, 1, 2, 3, 2)}
_FIELDS = {"names": (), "out": False, "opmath": True, "kinks": SMOOTH}


def _declare_nearest(n, exact):
    name, node = (f"_upsample_nearest_exact{n}d", f"UpsampleNearestExact{n}DBackward0") if exact else (f"upsample_nearest{n}d", f"UpsampleNearest{n}DBackward0")
    kernel = "upsample_nearest2d_channels_last" if n == 2 else "compute_indices_weights_nearest"

    @op(f"{name}(Tensor self, int[{n}] output_size, float[]? scales) -> Tensor", node=node, lies=channels_last, samples=[call(real(*_SHAPES[n]), (4,) * n, None)], **_FIELDS)
    def nearest(self, *, output_size, scales):
        """For each output the nearest input."""
        _check(self, n, output_size, kernel, "uf")
        for i in range(n):
            taps = _nearest(self.shape[2 + i], output_size[i], None if scales is None else scales[i], exact)
            self = _resample(self, 2 + i, taps)
        return self


def _check_half(types, result, statics):
    d = types["self"].dtype
    if d.name in ("float16", "bfloat16"):
        raise NotImplementedError(f"\"compute_index_ranges_weights\" not implemented for '{d.char_name}'")


def _declare_weighted(mode, n, node, aa):
    name = f"_upsample_{mode}{n}d_aa" if aa else f"upsample_{mode}{n}d"
    kernel = "compute_index_ranges_weights" if aa else "upsample_bilinear2d_channels_last" if mode == "bilinear" else \
        "compute_indices_weights_cubic" if mode == "bicubic" else "compute_indices_weights_linear"

    @op(f"{name}(Tensor self, int[{n}] output_size, bool align_corners, float[]? scales) -> Tensor", node=node, lies=channels_last,
        samples=[call(real(*_SHAPES[n]), (4,) * n, False, None)], check=_check_half if aa else None, **_FIELDS)
    def weighted(self, *, output_size, align_corners, scales):
        """For each output the weighted mean of inputs around it."""
        _check(self, n, output_size, kernel, "f")
        whole = self.dtype == np.uint8
        kind = np.float64 if whole else _kind(self)
        for i in reversed(range(n)):
            given = self.shape[2 + i], output_size[i], align_corners, None if scales is None else scales[i], kind
            taps = _smooth(mode, *given) if aa else _cubic(*given) if mode == "bicubic" else _linear(*given)
            self = (_in_fixed_point if whole else _resample)(self, 2 + i, taps)
        return self


for _n in (1, 2, 3):
    _declare_nearest(_n, False)
    _declare_nearest(_n, True)
for _mode, _n in (("linear", 1), ("bilinear", 2), ("trilinear", 3), ("bicubic", 2)):
    _declare_weighted(_mode, _n, f"Upsample{_mode.capitalize()}{_n}DBackward0", False)
for _mode in _FILTERS:
    _declare_weighted(_mode, 2, f"Upsample{_mode.capitalize()}2DAaBackward0", True)

__all__ = ["cubic_weights"]
