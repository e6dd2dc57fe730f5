"""Convolutions that XLA's CPU backend leaves to its general loop, written as sums over windows (layer 2).

On the CPU XLA has fast code for convolutions of one group over one and two dimensions.  Everything else goes, element by element, through a loop: grouped and
depthwise ones, over three dimensions, and the gradients of their weights and of those of transposed convolutions, which are convolutions with a very large
kernel (float32, 8x64x32x32, kernel 3x3, 32 groups: 14 ms, the gradient of the weight 3 s).  `suited` takes a traced program and writes these anew, whatever
made them: the operators here, their pullbacks to any order, `vmap` over weights.  Derivatives stay JAX's own, since they were taken before.

    y[n, g o, p] = sum over c and k of x[n, g c, s p + e k - lo] w[g o, c, k]

- few taps k: for each a window of x of the size of the result, times w[..., k]: products and sums of elements where c is small, which XLA makes one kernel
  of, otherwise a product of matrices;
- few results p: for each a window of x of the size of the kernel, and a product of matrices over c and k;
- one group, x with holes (dilated) and a large kernel: x and w change places, which XLA knows as the gradient of a strided convolution, or one of the ways that
  follow (float32, 16x256x8x8 transposed, kernel 4x4, stride 2, the gradient of the weight: 534 ms, 11 ms then);
- one group, few windows in all: the windows side by side, and one product of matrices.  XLA's fast code arranges the weights anew in each call, which for many
  channels and small images takes longer than the product (float32, 8x512x2x2, kernel 3x3: 204 ms, side by side 1.6 ms; an image smaller than the kernel goes
  through the loop); a kernel of one element is nothing but a product.  Or, where less is written so, the product of each element of x and all weights, added up where
  it belongs: nothing is multiplied with the zeros in holes, and the weights of a gradient stay as they lie in memory (the gradient of the image by patches of
  16x16 of 2x3x224x224: 1.8 s, 1.5 ms then);
- groups of the batch, unless each has one row and one result: groups of channels; groups of one channel in double precision: of two, one of zeros.  Of these
  XLA convolves every group with every other and multiplies by zeros what it does not want, so that a NaN of one group reaches the others.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .rewriting import rewritten

MOST = 128  # windows
SLICES, GATHERED = 16, 1 << 16  # of one dim that are compiled one by one; more are gathered, and so many elements: slower, but compiled in a third of the time
TERMS, NARROW = 256, 4  # of a sum of products of elements: how many, and of how many channels
SMALLER = 4  # times that an image has fewer elements than the kernel, where they change places
TOGETHER = 1 << 24  # bytes of windows that are laid side by side for one product, which leaves the cache where they are more
# Multiplications from which windows pay: XLA's loop takes some 100 ns each for a large kernel or groups of the batch, 2 for a small one; products of matrices
# take longer to compile.
FEW_LARGE, FEW_TAPS, FEW_PRODUCTS = 1 << 14, 1 << 17, 1 << 20
# Bytes of windows side by side that pay however few weights there are: XLA's fast code is fastest in float32, and not there for float64.
SIDE_BY_SIDE = {"float32": 1 << 20, "float64": 1 << 24, "complex64": 0, "complex128": 0}


class _Shape(NamedTuple):
    """A convolution in plain order: x (n, g c, *S), w (g o, c, *K), result (n, g o, *P)."""

    groups: int
    batch_groups: int
    turned: bool  # whether w is transposed from (c, o, *K)
    strides: tuple
    padding: tuple
    holes: tuple  # dilation of x
    steps: tuple  # dilation of w
    x: tuple
    w: tuple
    out: tuple

    @property
    def taps(self):
        return math.prod(self.w[2:])

    @property
    def results(self):
        return math.prod(self.out[2:])

    @property
    def work(self):
        return self.out[0] * math.prod(self.w) * self.results

    @property
    def windows(self):
        """How many elements are written for windows side by side: theirs, with those of holes that they are cut from."""
        return self.x[0] * self.x[1] * self.taps * self.results * math.prod(self.holes)

    @property
    def spread(self):
        """How many products of an element of x and a weight are written before they are added up at the places of the result."""
        return self.x[0] * self.w[0] * self.taps * math.prod(self.x[2:])

    @property
    def spreads(self):
        """Whether less is written so; other orders of the weights than that of memory are written too."""
        anew = math.prod(self.w)
        if sum(-(-k // h) if e == 1 else k for k, e, h in zip(self.w[2:], self.steps, self.holes)) > SLICES:
            return False
        return max(self.strides) == 1 and self.spread + (not self.turned) * anew < self.windows + self.turned * anew


def _permuted(shape, spec):
    return tuple(shape[d] for d in spec)


def _shape_of(eqn):
    p, (lhs, rhs), out = eqn.params, [v.aval.shape for v in eqn.invars], eqn.outvars[0].aval.shape
    n = p["dimension_numbers"]
    return _Shape(p["feature_group_count"], p["batch_group_count"], n.rhs_spec[1] < n.rhs_spec[0],
                  tuple(p["window_strides"]), tuple(map(tuple, p["padding"])), tuple(p["lhs_dilation"]), tuple(p["rhs_dilation"]),
                  _permuted(lhs, n.lhs_spec), _permuted(rhs, n.rhs_spec), _permuted(out, n.out_spec))


def _way(eqn):
    """(the function that writes an equation anew, its convolution), or None where XLA is fast, or nothing is gained."""
    if eqn.primitive.name != "conv_general_dilated":
        return None
    x, w = (v.aval for v in eqn.invars)
    if x.dtype != w.dtype or x.dtype.name not in SIDE_BY_SIDE or eqn.outvars[0].aval.dtype != x.dtype:
        return None
    shape = _shape_of(eqn)
    function = None if 0 in (*shape.x, *shape.w, *shape.out) else _function(shape, x.dtype)
    return None if function is None else (function, shape)


def _function(shape, dtype):
    large = shape.taps > shape.results
    if shape.groups * shape.batch_groups == 1:
        if large and max(shape.holes) > 1 and {*shape.strides, *shape.steps} == {1} and (len(shape.w) < 5 or _function(_exchanged(shape), dtype)):
            return _swapped
        if shape.taps >= SMALLER * math.prod(shape.x[2:]) and {*shape.strides, *shape.steps, *shape.holes} == {1} and len(shape.w) < 5:
            return _swapped  # a gradient of a gradient: the weights, padded, and an image as the kernel
        if (way := _together(shape, large, dtype)) or len(shape.w) < 5:
            return way
    few = FEW_LARGE if large else FEW_TAPS if _of_elements(shape) or shape.batch_groups > 1 else FEW_PRODUCTS
    if min(shape.taps, shape.results) > MOST or shape.work < few:
        return _over_channels if _mixes(shape, dtype) else None
    if large and shape.results > 32 and _of_one_row(shape):
        return None  # a depthwise convolution with many taps: XLA's loop reads both inputs once
    return _over_results if large else _over_taps


def _together(shape, large, dtype):
    """The way of one product for a convolution of one group; None where it does not pay."""
    spreads = shape.spreads
    if (min(shape.taps, shape.results) > MOST and not spreads) or shape.work < FEW_PRODUCTS:
        return None
    if not _pays(shape, large, shape.spread if spreads else shape.windows, dtype):
        return None
    if spreads:
        return _taps_spread
    return _results_side_by_side if large else None if len(shape.w) == 5 and _of_elements(shape) else _taps_side_by_side


def _pays(shape, large, written, dtype):
    """Whether one product is faster than XLA's fast code, which there is for images that are no smaller than the kernel, or than one for each window."""
    if len(shape.w) == 5:
        return written * dtype.itemsize <= TOGETHER
    if min(shape.taps, shape.results) == 1 or any(s < k for s, k in zip(shape.x[2:], shape.w[2:])):
        return True
    return written <= max(SIDE_BY_SIDE[dtype.name] // dtype.itemsize, math.prod(shape.out if large else shape.w))


def _of_one_row(shape):
    return shape.x[0] == shape.w[0] == shape.batch_groups


def _mixes(shape, dtype):
    """Whether XLA computes the groups together."""
    if shape.batch_groups > 1:
        return not _of_one_row(shape)
    return shape.groups > 1 == shape.w[1] and dtype == jnp.float64


def _of_elements(shape):
    """Whether the windows of a few channels are multiplied element by element."""
    c = shape.w[1]
    return c <= NARROW and c * shape.taps <= TERMS


def _rewritten(n, way, lhs, rhs):
    function, shape = way
    out = function(shape, lax.transpose(lhs, n.lhs_spec), lax.transpose(rhs, n.rhs_spec))
    return lax.transpose(out, tuple(np.argsort(n.out_spec)))


def _grouped(shape, x):
    """x as (n, g, c, *S): groups of the batch become groups of channels, and holes are filled with zeros."""
    b, g = shape.batch_groups, shape.groups
    if b > 1:
        x = jnp.swapaxes(x.reshape(b, x.shape[0] // b, *x.shape[1:]), 0, 1)
    else:
        x = x.reshape(x.shape[0], g, x.shape[1] // g, *x.shape[2:])
    return _filled(x, shape.holes), b * g


def _filled(x, holes):
    """x with zeros in its holes."""
    return lax.pad(x, jnp.zeros((), x.dtype), [(0, 0, 0)] * (x.ndim - len(holes)) + [(0, 0, h - 1) for h in holes]) if max(holes) > 1 else x


def _padded(x, axis, zeros):
    return lax.pad(x, jnp.zeros((), x.dtype), [(0, 0, 0)] * axis + [zeros] + [(0, 0, 0)] * (x.ndim - axis - 1))


def _windows(x, starts, sizes, steps):
    """Slices of the last dims of x, which may begin before it and end after it."""
    n, lead = len(sizes), x.ndim - len(sizes)
    low = [max(0, -min(s[i] for s in starts)) for i in range(n)]
    high = [max(0, max(s[i] for s in starts) + (sizes[i] - 1) * steps[i] + 1 - x.shape[lead + i]) for i in range(n)]
    x = lax.pad(x, jnp.zeros((), x.dtype), [(0, 0, 0)] * lead + [(a, b, 0) for a, b in zip(low, high)])
    for s in starts:
        first = [0] * lead + [a + b for a, b in zip(s, low)]
        last = [*x.shape[:lead], *(a + (size - 1) * k + 1 for a, size, k in zip(first[lead:], sizes, steps))]
        yield lax.slice(x, first, last, [1] * lead + list(steps))


def _starts(counts, steps, padding):
    return [tuple(i * e - lo for i, e, (lo, _) in zip(at, steps, padding)) for at in itertools.product(*map(range, counts))]


def _over_taps(shape, x, w):
    x, g = _grouped(shape, x)
    n, _, c = x.shape[:3]
    size, spatial = shape.out[2:], len(shape.out) - 2
    starts = _starts(shape.w[2:], shape.steps, shape.padding)
    w = w.reshape(g, w.shape[0] // g, c, -1)
    if _of_elements(shape):
        out = 0
        for k, part in enumerate(_windows(x, starts, size, shape.strides)):
            for i in range(c):
                out = out + part[:, :, None, i] * w[:, :, i, k].reshape(1, g, -1, *[1] * spatial)
        return out.reshape(shape.out)
    x = jnp.moveaxis(x, 0, 2)  # (g, c, n, *S): each window is a matrix
    out = _in_turn(x, starts, size, shape.strides, jnp.moveaxis(w, 3, 0), lambda out, part, w: out + _product(w, part.reshape(g, c, -1)))
    return jnp.moveaxis(out.reshape(g, -1, n, *size), 2, 0).reshape(shape.out)


def _taps_side_by_side(shape, x, w):
    """A product of w (o, c k) and the windows (c k, n p)."""
    x = jnp.swapaxes(_filled(x, shape.holes), 0, 1)
    windows = _laid_out(x, shape.w[2:], shape.steps, shape.padding, shape.out[2:], shape.strides)
    out = _product(w.reshape(w.shape[0], -1), windows.reshape(w.shape[1] * shape.taps, -1))
    return jnp.swapaxes(out.reshape(-1, shape.x[0], *shape.out[2:]), 0, 1)


def _taps_spread(shape, x, w):
    """A product of x and w (c, o k), whose columns k are added up where each belongs.

    What a gradient turns w for is undone here, so that XLA does neither; nor is it to make the product the other way round, for which it transposes w.
    """
    w = lax.rev(jnp.swapaxes(w, 0, 1), range(2, x.ndim))
    out = lax.optimization_barrier(lax.dot_general(x, w.reshape(w.shape[0], -1), (((1,), (0,)), ((), ())), precision=lax.Precision.HIGHEST))
    out = jnp.moveaxis(out, -1, 0).reshape(*w.shape[1:], x.shape[0], *x.shape[2:])  # (o, *K, n, *S)
    axis = x.ndim  # of the next dim of S, as each turn takes one K away in front of it
    for taps, size, step, (lo, _), hole in zip(w.shape[2:], shape.out[2:], shape.steps, shape.padding, shape.holes):
        start = lo - step * (taps - 1)
        if step == 1 < hole:
            out, step, hole = _holes_taken(out, axis, hole), hole, 1
        span = (out.shape[axis] - 1) * hole + 1
        out = sum(_padded(out[:, i], axis - 1, (start + step * i, size - start - step * i - span, hole - 1)) for i in range(out.shape[1]))
    return jnp.swapaxes(out, 0, 1)


def _holes_taken(out, axis, hole):
    """Products (o, k, ..., s, ...) as (o, k / hole, ..., s hole, ...): as many taps as there are from one element to the next take the places between them."""
    turns = -(-out.shape[1] // hole)
    out = _padded(out, 1, (0, turns * hole - out.shape[1], 0)).reshape(out.shape[0], turns, hole, *out.shape[2:])
    out = jnp.moveaxis(out, 2, axis + 1)
    return out.reshape(*out.shape[:axis], out.shape[axis] * hole, *out.shape[axis + 2:])


def _results_side_by_side(shape, x, w):
    """A product of w (o, c k) and the windows (n p, c k)."""
    x = _filled(x, shape.holes)
    windows = _laid_out(x, shape.out[2:], shape.strides, shape.padding, shape.w[2:], shape.steps)
    out = lax.dot_general(w.reshape(w.shape[0], -1), windows.reshape(-1, w.shape[1] * shape.taps), (((1,), (1,)), ((), ())), precision=lax.Precision.HIGHEST)
    return jnp.swapaxes(out.reshape(-1, shape.x[0], *shape.out[2:]), 0, 1)


def _laid_out(x, counts, apart, padding, sizes, steps):
    """The windows of x (a, b, *S) as (a, *counts, b, *sizes): one dim after the other, which XLA compiles faster than each window by itself."""
    for d, (count, e, (lo, _), size, step) in enumerate(zip(counts, apart, padding, sizes, steps)):
        axis, span = 2 + 2 * d, (size - 1) * step + 1
        x = _padded(x, axis, (lo, (count - 1) * e + span - lo - x.shape[axis], 0))  # less than none where padding crops
        if count > SLICES or x.size * count <= GATHERED:
            x = jnp.moveaxis(jnp.take(x, e * np.arange(count)[:, None] + step * np.arange(size), axis, mode="clip"), axis, 1 + d)
        else:
            x = jnp.stack([lax.slice_in_dim(x, i * e, i * e + span, step, axis) for i in range(count)], 1 + d)
    return x


def _moving(x, starts, sizes, steps):
    """(where each window begins in a padded x, what takes the one that begins there)."""
    lead, low = x.ndim - len(sizes), np.min(starts, 0)
    span = [(size - 1) * k + 1 for size, k in zip(sizes, steps)]
    (x,) = _windows(x, [tuple(low)], [high - a + s for high, a, s in zip(np.max(starts, 0), low, span)], [1] * len(sizes))

    def part(first):
        whole = lax.dynamic_slice(x, [*[np.int32(0)] * lead, *first], [*x.shape[:lead], *span])
        return lax.slice(whole, [0] * x.ndim, whole.shape, [1] * lead + list(steps))

    return jnp.asarray(np.array(starts) - low, np.int32), part


def _in_turn(x, starts, sizes, steps, weights, add):
    """Add up what `add` makes of each window and its weights, one after the other in a loop: one product to compile, and memory for one window."""
    firsts, part = _moving(x, starts, sizes, steps)
    start = jnp.zeros(jax.eval_shape(add, 0, jax.eval_shape(part, firsts[0]), weights[0]).shape, x.dtype)
    return lax.scan(lambda out, turn: (add(out, part(turn[0]), turn[1]), None), start, (firsts, weights))[0]


def _product(a, b):
    return jnp.matmul(a, b, precision=lax.Precision.HIGHEST)


def _sum_of_products(a, b):
    """The products of matrices a (g, c, n, s) and b (g, c, s, o), added up over c; of one row and one column element by element."""
    if a.shape[2] * b.shape[3] == 1:
        return jnp.sum(a[:, :, 0] * b[..., 0], (1, 2))[:, None, None]
    return _product(a, b).sum(1)


def _over_results(shape, x, w):
    x, g = _grouped(shape, x)
    n, _, c = x.shape[:3]
    o, size = w.shape[0] // g, shape.w[2:]
    starts = _starts(shape.out[2:], shape.strides, shape.padding)
    w = w.reshape(g, o, c, -1)
    if n * o <= 64 and g > 1:  # sums of c apart: matrices of a few rows are slow
        x, w = jnp.transpose(x, (1, 2, 0, *range(3, x.ndim))), jnp.transpose(w, (0, 2, 3, 1))
        firsts, part = _moving(x, starts, size, shape.steps)
        out = lax.map(lambda first: _sum_of_products(part(first).reshape(g, c, n, -1), w), firsts)
        return jnp.transpose(out, (2, 1, 3, 0)).reshape(shape.out)
    x, w = jnp.swapaxes(x, 0, 1), jnp.swapaxes(w.reshape(g, o, -1), 1, 2)
    parts = [part.reshape(g, n, -1) for part in _windows(x, starts, size, shape.steps)]
    if sum(p.size * p.dtype.itemsize for p in parts) <= TOGETHER:
        out = _product(jnp.concatenate(parts, 1), w).reshape(g, len(parts), n, o)
        return jnp.transpose(out, (2, 0, 3, 1)).reshape(shape.out)
    parts = [_product(part, w) for part in parts]
    out = jnp.stack(parts, -1)  # (g, n, o, results)
    return jnp.swapaxes(out, 0, 1).reshape(shape.out)


def _over_channels(shape, x, w):
    b, rows = shape.batch_groups, x.shape[0] // shape.batch_groups
    x = jnp.swapaxes(x.reshape(b, rows, *x.shape[1:]), 0, 1).reshape(rows, -1, *x.shape[2:])
    groups = b * shape.groups
    if x.dtype == jnp.float64 and w.shape[1] == 1:
        x, w = (jnp.stack([a, jnp.zeros_like(a)], 2).reshape(a.shape[0], -1, *a.shape[2:]) for a in (x, w))
    return lax.conv_general_dilated(x, w, shape.strides, shape.padding, lhs_dilation=shape.holes, rhs_dilation=shape.steps, feature_group_count=groups,
                                    precision=lax.Precision.HIGHEST)


def _swapped(shape, x, w):
    """With q counting x and lo the zeros before it, k = d q - p + lo: so is p from the end, with w as the input and x as the kernel."""
    other = _exchanged(shape)
    if way := _function(other, x.dtype):
        out = way(other, w, x)
    else:
        out = lax.conv_general_dilated(w, x, other.strides, other.padding, rhs_dilation=other.steps, precision=lax.Precision.HIGHEST)
    return lax.rev(jnp.swapaxes(out, 0, 1), range(2, x.ndim))


def _exchanged(shape):
    """A convolution with holes, but neither strides nor steps, whose x and w change places."""
    padding = [(p - 1 - lo, (s - 1) * d + lo - (k - 1)) for p, (lo, _), s, d, k in zip(shape.out[2:], shape.padding, shape.x[2:], shape.holes, shape.w[2:])]
    return shape._replace(turned=False, padding=tuple(padding), holes=shape.steps, steps=shape.holes, x=shape.w, w=shape.x,
                          out=(shape.w[0], shape.x[0], *shape.out[2:]))


# The program

def _rule(eqn):
    way = _way(eqn)
    return None if way is None else functools.partial(_rewritten, eqn.params["dimension_numbers"], way)


def suited(closed):
    """A traced program with such convolutions, at any depth, written anew; itself where it has none."""
    return rewritten(closed, _rule)


__all__ = ["suited"]
