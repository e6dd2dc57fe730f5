"""Sampling at places given as tensors (layer 2): grids of coordinates, and grids made by affine maps."""

from __future__ import annotations

import itertools
import math

import jax.numpy as jnp
import numpy as np
from jax import lax

from .._core.shapes import wrap_dim
from .conventions import char_name, fused, only
from .places import taken
from .registry import SMOOTH, call, op, real
from .resize import cubic_weights
from .tracing import iota

_ZEROS, _BORDER, _REFLECTION = 0, 1, 2
_BILINEAR, _NEAREST, _BICUBIC = 0, 1, 2


def _in_pixels(c, size, align_corners):
    """A coordinate in [-1, 1] counted in pixels.  The middles of pixels round as they do in PyTorch: which two pixels a place lies between depends on it."""
    if align_corners:
        return (c + 1) * ((size - 1) / 2)
    plain = (c + 1) * (size / 2) - 0.5
    lost = lax.stop_gradient(fused(c.dtype.type(-0.5), c + 1, size / 2) - plain)
    return plain + jnp.where(jnp.isfinite(lost), lost, 0)


def _clipped(c, size, lost):
    """c within [0, size - 1]; its derivative is 0 at the bounds and outside.  What is no number becomes `lost`."""
    return jnp.where(c <= 0, 0, jnp.where(c >= size - 1, size - 1, jnp.where(jnp.isnan(c), lost, c))).astype(c.dtype)


def _reflected(c, low, high):
    """c reflected until it lies between half of `low` and half of `high`."""
    if low == high:
        return jnp.zeros_like(c)
    start, span = low / 2, (high - low) / 2
    c = c - start
    c = jnp.where(c < 0, -c, c)
    beyond = lax.stop_gradient(c - jnp.fmod(c, span))   # a multiple of span: XLA multiplies by the reciprocal, which may fall short of a whole number
    inside = c - beyond
    even = jnp.round(beyond / span) % 2 == 0
    return jnp.where(even, inside + start, span - inside + start)


def _settled(c, size, padding_mode, align_corners, n=2):
    """A coordinate in pixels after the rule for places outside.  What is no number is the first pixel in planes, and the last, or outside, in volumes."""
    if padding_mode == _REFLECTION:
        c = _reflected(c, 0, 2 * (size - 1)) if align_corners else _reflected(c, -1, 2 * size - 1)
    if padding_mode == _ZEROS:
        return c if n == 2 else jnp.where(jnp.isfinite(c), c, -2)
    return _clipped(c, size, 0 if n == 2 else size - 1)


def _pick(x, places):
    """x (N, C, *sizes) at integer places (N, *out), one array for each dim; 0 outside.  All channels of a place are a row: so is its gradient added."""
    (n, c), sizes, out = x.shape[:2], x.shape[2:], places[0].shape[1:]
    inside = jnp.ones(places[0].shape, bool)
    flat = jnp.zeros(places[0].shape, np.int64)
    for p, s in zip(places, sizes):
        inside = inside & (p >= 0) & (p < s)
        flat = flat * s + jnp.clip(p, 0, s - 1).astype(np.int64)
    size, count = math.prod(sizes), math.prod(out)
    rows = jnp.swapaxes(x.reshape(n, c, size), 1, 2).reshape(n * size, c)
    found = taken(rows, (flat.reshape(n, count) + iota(n)[:, None] * size).reshape(n * count), 0)
    return jnp.where(inside[:, None], jnp.swapaxes(found.reshape(n, count, c), 1, 2).reshape(n, c, *out), 0)


def _linear(x, coordinates):
    low = [jnp.floor(lax.stop_gradient(c)) for c in coordinates]
    out = 0
    for corner in itertools.product((0, 1), repeat=len(low)):
        weight = 1
        for c, l, k in zip(coordinates, low, corner):
            weight = weight * (c - l if k else l + 1 - c)
        out = out + _pick(x, [l + k for l, k in zip(low, corner)]) * weight[:, None]
    return out


def _cubic(x, coordinates, padding_mode, align_corners):
    low = [jnp.floor(lax.stop_gradient(c)) for c in coordinates]
    weights = [cubic_weights(c - l) for c, l in zip(coordinates, low)]
    out = 0
    for i in range(4):
        row = 0
        for j in range(4):
            places = [lax.stop_gradient(_settled(l + k - 1, s, padding_mode, align_corners)) for l, k, s in zip(low, (i, j), x.shape[2:])]
            row = row + _pick(x, [jnp.trunc(p) for p in places]) * weights[1][j][:, None]
        out = out + row * weights[0][i][:, None]
    return out


def _check(x, grid, n):
    for a in (x, grid):
        wrap_dim(0, a.ndim, scalar_ok=False)
    if x.shape[0] != grid.shape[0]:
        raise RuntimeError("grid_sampler(): expected grid and input to have same batch size, but got input with sizes "
                           f"{list(x.shape)} and grid with sizes {list(grid.shape)}")
    if grid.shape[-1] != x.ndim - 2:
        raise RuntimeError(f"grid_sampler(): expected grid to have size {x.ndim - 2} in last dimension, but got grid with sizes {list(grid.shape)}")
    for i, s in enumerate(x.shape[2:], 2):
        if s <= 0:
            raise RuntimeError(f"grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes {list(x.shape)} with dimension {i} "
                               "being empty")
    if x.ndim != n + 2 or grid.ndim != n + 2:
        raise RuntimeError(f"grid_sampler(): expected {n + 2}D input and grid with same number of dimensions, but got input with sizes "
                           f"{list(x.shape)} and grid with sizes {list(grid.shape)}")
    if grid.dtype != x.dtype:
        raise RuntimeError(f"expected scalar type {char_name(x)} but found {char_name(grid)}")


def _declare(n):
    shape, grid = ((1, 2, 3, 2), (1, 2, 2, 2)) if n == 2 else ((1, 1, 2, 3, 2), (1, 2, 1, 2, 3))
    samples = [call(real(*shape), real(*grid, low=-0.9, high=0.9), i, p, a) for i, p, a in ((0, 0, False), (1, 1, True), (0, 2, True))]

    @op(f"grid_sampler_{n}d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor",
        forward=False, node=f"GridSampler{n}DBackward0", method=False, out=False, zero_second=True, saves=dict.fromkeys(("input", "grid"), ("input", "grid")),
        samples=samples + ([call(real(*shape), real(*grid), 2, p, a) for p, a in ((2, False),)] if n == 2 else []), kinks=SMOOTH)
    def sampler(input, grid, *, interpolation_mode, padding_mode, align_corners):
        """The input at the places of a grid, whose last dim holds coordinates in [-1, 1], the last dim's first."""
        _check(input, grid, n)
        only("grid_sampler_2d_cpu_kernel_impl" if n == 2 else "grid_sampler3d_cpu", input, "f")
        sizes = input.shape[2:]
        raw = [_in_pixels(grid[..., n - 1 - i], sizes[i], align_corners) for i in range(n)]
        if interpolation_mode == _BICUBIC:
            if n == 3:
                raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
            return _cubic(input, raw, padding_mode, align_corners)
        places = [_settled(c, s, padding_mode, align_corners, n) for c, s in zip(raw, sizes)]
        if interpolation_mode == _NEAREST:
            return _pick(input, [jnp.round(lax.stop_gradient(c)) for c in places])
        return _linear(input, places)


for _n in (2, 3):
    _declare(_n)


def _base(count, align_corners, dtype):
    """Coordinates of `count` places in [-1, 1]: from end to end, or those of the middles of pixels.  Made while tracing: XLA would join the last two steps."""
    if count <= 1:
        return np.zeros(count, dtype)
    k, near = np.arange(count), np.arange(count) < count // 2
    if dtype.kind in "iu":
        return _base_of_integers(k, near, count, align_corners, dtype)
    step = dtype.type(2) / dtype.type(count - 1)
    ends = fused(np.where(near, -1, 1).astype(dtype), np.where(near, step, -step), np.where(near, k, count - 1 - k).astype(dtype))
    return ends if align_corners else ends * dtype.type(count - 1) / dtype.type(count)


def _base_of_integers(k, near, count, align_corners, dtype):
    """As `_base`, for integers, among which -1 may be 255: steps are float64, each place is cut, products wrap around."""
    first, last = np.array([-1, 1]).astype(dtype).tolist()
    step = (last - first) / (count - 1)
    ends = np.where(near, first + step * k, last - step * (count - 1 - k)).astype(dtype)
    return ends if align_corners else ((ends * dtype.type(count - 1)).astype(np.float32) / np.float32(count)).astype(dtype)


@op("affine_grid_generator(Tensor theta, int[] size, bool align_corners) -> Tensor", node="AffineGridGeneratorBackward0", method=False, out=False, opmath=True,
    samples=[call(real(2, 2, 3), (2, 1, 3, 2), False), call(real(1, 3, 4), (1, 1, 3, 2, 2), True)], kinks=SMOOTH)
def affine_grid_generator(theta, *, size, align_corners):
    """The grid that an affine map makes of the regular one: (N, *, n) for theta (N, n, n + 1)."""
    n = len(size) - 2
    if n not in (2, 3):
        raise RuntimeError("AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs.")
    if theta.shape[0] != size[0]:
        raise RuntimeError(f"Expected size for first two dimensions of batch2 tensor to be: [{size[0]}, {n + 1}] but got: "
                           f"[{theta.shape[0]}, {theta.shape[2]}].")
    only("linspace_cpu", theta, "ifc")
    axes = [_base(s, align_corners, np.dtype(theta.dtype)) for s in size[2:]]
    mesh = np.meshgrid(*axes, indexing="ij")
    base = np.stack([*reversed(mesh), np.ones(size[2:], theta.dtype)], -1).reshape(-1, n + 1)
    out = jnp.einsum("pk,nik->npi", jnp.asarray(base), theta, precision=lax.Precision.HIGHEST)
    return out.reshape(size[0], *size[2:], n)
