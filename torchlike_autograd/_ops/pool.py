"""Pooling (layer 2): maxima with their indices and averages, over sliding windows or over parts; the way back of maxima."""

from __future__ import annotations

import functools
import math

import jax.numpy as jnp
import numpy as np

from .._core import dtypes
from .._core.shapes import check_room
from . import windows as _windows
from .conventions import always, char_name, only
from .memory import channels_last, channels_last_3d
from .registry import SMOOTH, at, call, fails, op, real, rule

_WORDS = {1: "one", 2: "two", 3: "three"}
_AXES = "THW"


def _always(*_, **__):
    """torch's gradient of an average is an operator that keeps the input."""
    return True


def _spread(name, field, values, n, optional=False):
    if len(values) not in (1, n):
        either = "" if name == "avg_pool3d" else "either "
        omitted = f"{either}be omitted, a single int, or" if optional else "be either a single int, or" if field == "dilation" else f"{either}be a single int, or"
        raise RuntimeError(f"{name}: {field} must {omitted} a tuple of {_WORDS[n]} ints")
    if any(not -2**31 <= x < 2**31 for x in values):
        raise RuntimeError("value cannot be converted to type int without overflow")
    return values * n if len(values) == 1 else values


def _extent(size, kernel, stride, padding, dilation, ceil_mode):
    """How many windows there are; with ceil_mode also one that goes beyond the end, if it starts within the input or its first padding."""
    span = size + 2 * padding - dilation * (kernel - 1) - 1 + (stride - 1 if ceil_mode else 0)
    count = span // stride + 1
    return count - 1 if ceil_mode and (count - 1) * stride >= size + padding else count


def _check_rank(x, n, empty_batch):
    if n == 3 and x.ndim not in (4, 5):
        raise RuntimeError("non-empty 4D or 5D (batch mode) tensor expected for input")
    if n == 2 and x.ndim not in (3, 4):
        if empty_batch and x.ndim < 3:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-x.ndim}, {x.ndim - 1}], but got -3)")
        raise RuntimeError(f"Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:{list(x.shape)}" if empty_batch else
                           "non-empty 3D or 4D (batch mode) tensor expected for input")


def _check_sizes(x, n, name):
    if n == 3 and 0 in x.shape[-4:]:
        raise RuntimeError(f"{name}(): Expected input's non-batch dimensions to have positive length, but input has a shape of {list(x.shape)} and non-batch "
                           "dimension 0 has length zero!")
    if any(s == 0 for s in x.shape[-n - 1:]):
        raise RuntimeError(f"Expected {n + 1}D or {n + 2}D (batch mode) tensor with optional 0 dim batch size for input, but got:{list(x.shape)}")


def _check_kernel(kernel):
    if any(k <= 0 for k in kernel):
        shown = " ".join(f"k{a}: {k}" for a, k in zip(_AXES[-len(kernel):], kernel))
        raise RuntimeError(f"kernel size should be greater than zero, but got {shown}")


def _check_pads(kernel, padding, dilation):
    for p, k, d in zip(padding, kernel, dilation):
        if p < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
        if p > ((k - 1) * d + 1) // 2:
            raise RuntimeError(f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and dilation={d}")


def _check_halves(kernel, padding):
    """torch's second look at the padding, which leaves the dilation out."""
    if any(p > k // 2 for p, k in zip(padding, kernel)):
        k, p = (dict(zip("WHT", reversed(v))) for v in (kernel, padding))
        shown = (" ".join(f"{name}{a}: {v[a]}" for name, v in (("k", k), ("pad", p)) for a in "TWH") if len(kernel) == 3
                 else ", ".join(f"{name}{a} = {v[a]}" for name, v in (("pad", p), ("k", k)) for a in "WH"))
        raise RuntimeError(f"pad should be smaller than or equal to half of kernel size, but got {shown}")


def _spatial(x, n, kernel, stride, padding, dilation, ceil_mode, name=None):
    """The windows of each of the last n dims, after torch's checks."""
    if any(s == 0 for s in stride):
        raise RuntimeError("stride should not be zero")
    _check_kernel(kernel)
    _check_pads(kernel, padding, dilation)
    if any(s <= 0 for s in stride):
        shown = " ".join(f"d{a}: {s}" for a, s in zip(_AXES[-n:], stride))
        raise RuntimeError(f"stride should be greater than zero, but got {shown}")
    if any(d <= 0 for d in dilation):
        shown = " ".join(f"dilation{a}: {d}" for a, d in zip(_AXES[-n:], dilation))
        raise RuntimeError(f"dilation should be greater than zero, but got {shown}")
    sizes = x.shape[-n:]
    counts = [_extent(*args, ceil_mode) for args in zip(sizes, kernel, stride, padding, dilation)]
    _check_sizes(x, n, name)
    if n > 1:
        _check_halves(kernel, padding)
    if any(c < 1 for c in counts):
        planes = x.shape[-n - 1]
        before, after = ("x".join(map(str, (planes, *v))) for v in (sizes, counts))
        raise RuntimeError(f"Given input size: ({before}). Calculated output size: ({after}). Output size is too small")
    return [_windows.regular(*args) for args in zip(counts, kernel, stride, padding, dilation)]


def _max_pool(n):
    name = f"max_pool{n}d_with_indices"
    shape = (2, 2, 5, 4) if n == 2 else (1, 1, 3, 4, 3)
    kind = f"int[{n}]"

    @op(f"{name}(Tensor self, {kind} kernel_size, {kind} stride=[], {kind} padding=0, {kind} dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
        node=f"MaxPool{n}DWithIndicesBackward0", lies=channels_last if n == 2 else channels_last_3d, names=(), nondiff_out=(1,), zero_second=_always,
        saves={"self": ("self", "result1")}, samples=[call(real(*shape), 2)], kinks=SMOOTH)
    def pool(self, *, kernel_size, stride=(), padding=(0,), dilation=(1,), ceil_mode=False):
        """The maximum of each window and its index in the plane."""
        own = f"max_pool{n}d"
        kernel = _spread(own, "kernel_size", kernel_size, n)
        step = _spread(own, "stride", stride, n, True) if stride else kernel
        padding, dilation = _spread(own, "padding", padding, n), _spread(own, "dilation", dilation, n)
        _check_rank(self, n, False)
        spatial = _spatial(self, n, kernel, step, padding, dilation, ceil_mode, "max_pool3d_with_indices_out_cpu_template")
        return _windows.max_over(only(own, self, "if"), spatial)


def _no_halves(types, compute, _):
    if compute in (dtypes.float16, dtypes.bfloat16):
        raise NotImplementedError(f"\"avg_pool3d_out_frame\" not implemented for '{compute.char_name}'")


def _average(n):
    name = f"avg_pool{n}d"
    shape = (2, 2, 5, 4) if n == 2 else (1, 1, 3, 4, 3)
    kind = f"int[{n}]"

    @op(f"{name}(Tensor self, {kind} kernel_size, {kind}? stride=None, {kind} padding=0, bool ceil_mode=False, bool count_include_pad=True, "
        "int? divisor_override=None) -> Tensor", node=f"AvgPool{n}DBackward0", lies=channels_last if n == 2 else None, names=(f"torch.nn.functional.{name}",), opmath=True,
        check=_no_halves if n == 3 else None, zero_second=_always, saves={"self": ("self",)},
        samples=[call(real(*shape), 2), call(real(*shape), 3, 2, 1, True, False), call(real(*shape), 3, 2, 1, True, True),
                 call(real(*shape), 2, 1, 0, False, True, 3)],
        errors=[fails(call(real(*shape), 2, 2, 0, False, True, 0), RuntimeError, "divisor must be not zero"),
                fails(call(real(*shape), 9), RuntimeError, "Output size is too small")],
        kinks=SMOOTH)
    def pool(self, *, kernel_size, stride=None, padding=(0,), ceil_mode=False, count_include_pad=True, divisor_override=None):
        """The mean of each window, of its elements or of as many as it might have; or its sum divided by a number."""
        kernel = _spread(name, "kernel_size", kernel_size, n)
        step = _spread(name, "stride", stride, n, True) if stride else kernel
        padding = _spread(name, "padding", padding, n)
        if any(s == 0 for s in step):
            raise RuntimeError("stride should not be zero")
        if divisor_override == 0:
            raise RuntimeError("divisor must be not zero")
        _check_rank(self, n, True)
        _check_kernel(kernel)
        _check_pads(kernel, padding, (1,) * n) if n == 3 else None
        if n == 3 and any(k > s > 0 for k, s in zip(kernel, self.shape[-3:])):
            sizes, kernels = (" ".join(f"{p}{a}: {v}" for a, v in zip(_AXES, values)) for p, values in (("", self.shape[-3:]), ("k", kernel)))
            raise RuntimeError(f"input image ({sizes}) smaller than kernel size ({kernels})")
        spatial = _spatial(self, n, kernel, step, padding, (1,) * n, ceil_mode, name)
        if self.dtype != jnp.int64:
            only(name if n == 2 else "avg_pool3d_out_frame", self, "f")
        return _divide(_windows.sum_over(self, spatial), self, spatial, padding, count_include_pad, divisor_override)


def _divide(sums, x, spatial, padding, count_include_pad, divisor):
    if divisor is None:
        clipped = []
        for w, size, pad in zip(spatial, x.shape[-len(spatial):], padding):
            low, high = (-pad, size + pad) if count_include_pad else (0, size)
            clipped.append(w._replace(lengths=tuple(min(s + n, high) - max(s, low) for s, n in zip(w.starts, w.lengths))))
        divisor = _windows.counts(clipped, x.ndim)
    divisor = jnp.asarray(divisor).astype(x.dtype)
    if not jnp.issubdtype(x.dtype, jnp.inexact):
        return jnp.sign(sums) * jnp.sign(divisor) * (jnp.abs(sums) // jnp.abs(divisor))
    return sums / divisor


for _n in (2, 3):
    _max_pool(_n)
    _average(_n)


# Over parts

def _check_adaptive(name, x, n, output_size, wrong, nothing):
    """Refuse other ranks, and the sizes of 0 among the dims `nothing`."""
    if len(output_size) != n:
        raise RuntimeError(wrong)
    if x.ndim not in (n + 1, n + 2):
        raise RuntimeError(f"{name}(): Expected {n + 1}D or {n + 2}D tensor, but got{':' * name.startswith('adaptive_max')} {list(x.shape)}")
    for i, s in enumerate(x.shape):
        if s == 0 and i in nothing:
            raise RuntimeError(f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes {list(x.shape)} with dimension "
                               f"{i} being empty")


def _pooled_words(sizes):
    """Sizes as torch writes them here."""
    return f"{sizes[0]}, {','.join(map(str, sizes[1:]))}"


def _refuse_empty(name, types, result, wanted, **_):
    for i, s in enumerate(result.shape[1:], 1):
        if s == 0:
            raise RuntimeError(f"{name}_backward(): Expected grad_output to have non-zero size for non-batch dimensions, but grad_output has sizes "
                               f"{list(result.shape)} with dimension {i} being empty")


def _parts(x, output_size):
    check_room((*x.shape[:-len(output_size)], *output_size), x.dtype.itemsize)
    return [_windows.adaptive(s, c) for s, c in zip(x.shape[-len(output_size):], output_size)]


def _adaptive(n):
    shape = (2, 2, 5, 4) if n == 2 else (1, 1, 3, 4, 3)
    size = (3, 2) if n == 2 else (2, 3, 1)

    @op(f"_adaptive_avg_pool{n}d(Tensor self, int[{n}] output_size) -> Tensor", node=f"AdaptiveAvgPool{n}DBackward0", lies=channels_last if n == 2 else None, method=False, out=False, opmath=True,
        zero_second=_always, saves={"self": ("self",)}, refuses=functools.partial(_refuse_empty, f"adaptive_avg_pool{n}d"),
        samples=[call(real(*shape), size), call(real(*shape[1:]), (4,) * n)], kinks=SMOOTH)
    def average(self, *, output_size):
        """The mean of each part."""
        name = f"adaptive_avg_pool{n}d"
        if len(output_size) == n and any(s < 0 for s in output_size):
            raise RuntimeError(f"{name}: elements of output_size must be greater than or equal to 0 but received {{{_pooled_words(output_size)}}}")
        _check_adaptive(name, self, n, output_size, f"{name}: output_size must be {n}", range(self.ndim - 2 if n == 2 else 1, self.ndim))
        if self.size or n == 3:
            only(name if n == 2 else f"{name}_cpu", self, "f")
        spatial = _parts(self, output_size)
        return _windows.sum_over(self, spatial) / _windows.counts(spatial, self.ndim).astype(self.dtype)

    @op(f"adaptive_max_pool{n}d(Tensor self, int[{n}] output_size) -> (Tensor, Tensor)", node=f"AdaptiveMaxPool{n}DBackward0", lies=channels_last if n == 2 else None, names=(), nondiff_out=(1,),
        zero_second=always, saves={"self": ("self", "result1")}, refuses=functools.partial(_refuse_empty, f"adaptive_max_pool{n}d"),
        samples=[call(real(*shape), size)], kinks=SMOOTH)
    def largest(self, *, output_size):
        """The maximum of each part and its index in the plane."""
        name = f"adaptive_max_pool{n}d"
        _check_adaptive(name, self, n, output_size, f"{name}(): internal error: output_size.size() must be {n}", range(1, self.ndim))
        if any(s < 0 for s in output_size):
            shape = [*self.shape[:-n], *output_size]
            raise RuntimeError(f"Trying to create tensor with negative dimension {min(output_size)}: {shape}")
        return _windows.max_over(only(name if n == 2 else f"{name}_cpu", self, "f"), _parts(self, output_size))


for _n in (2, 3):
    _adaptive(_n)


# Back from maxima

def _check_unpool(x, indices, n, output_size):
    if str(indices.dtype) != "int64":
        raise RuntimeError(f"elements in indices should be type int64 but got: {char_name(indices)}")
    if n == 2 and x.ndim not in (3, 4):
        raise RuntimeError(f"Input to max_unpooling2d should be a 3d or 4d Tensor, but got a tensor with {x.ndim} dimensions.")
    if n == 3 and x.ndim not in (4, 5):
        raise RuntimeError(f"Input to max_unpooling3d should be a 4d or 5d Tensor, but got a tensor with {x.ndim} dimensions.")
    if len(output_size) != n:
        raise RuntimeError(f"There should be exactly {_WORDS[n]} elements ({'height, width' if n == 2 else 'depth, height, width'}) in output_size, but got "
                           f"{len(output_size)} elements.")
    if x.shape != indices.shape:
        raise RuntimeError(f"Expected shape of indices to be same as that of the input tensor ({list(x.shape)}) but got indices tensor with shape: "
                           f"{list(indices.shape)}")
    for i, size in enumerate(x.shape):
        if i and not size:
            raise RuntimeError(f"max_unpooling{n}d_forward_out_cpu(): Expected input to have non-zero size for non-batch dimensions, but got {list(x.shape)} "
                               f"with dimension {i} being empty.")


def _planes(x, n):
    return x.reshape(-1, int(np.prod(x.shape[-n:])))


def _put(x, indices, output_size, add, unique=False):
    n = len(output_size)
    values, places = _planes(x, n), _planes(indices, n)
    out = jnp.zeros((values.shape[0], int(np.prod(output_size))), x.dtype)
    target = out.at[jnp.arange(values.shape[0])[:, None], places]
    out = target.add(values, mode="drop") if add else target.set(values, mode="drop", unique_indices=unique)
    return out.reshape(*x.shape[:-n], *output_size)


def _last_outside(self, indices, *, output_size, **_):
    limit = int(np.prod(output_size))
    flat = indices.reshape(-1)
    bad = (flat < 0) | (flat >= limit)
    if not flat.size:
        return 0
    last = flat[flat.size - 1 - jnp.argmax(jnp.flip(bad))]  # torch keeps the last one that it met
    return jnp.where(jnp.any(bad), jnp.where(last < 0, last, last + 1), 0)


def _outside(code, *_, output_size, **__):
    index = code - 1 if code > 0 else code
    return RuntimeError(f"Found an invalid max index: {index} (output volumes are of size {'x'.join(map(str, output_size))})")


def _unpool(n):
    more = "" if n == 2 else ", int[3] stride, int[3] padding"

    def body(self, indices, *, output_size, stride=(1,), padding=(0,)):
        """Every element at its place, zeros elsewhere."""
        if any(s <= 0 for s in stride):
            raise RuntimeError(f"strides should be greater than zero, but got stride: {list(stride)}")
        _check_unpool(self, indices, n, output_size)
        return _put(only(f"max_unpool{n}d", self, "f"), indices, output_size, False)

    def plain(self, indices, *, output_size):
        """Every element at its place, zeros elsewhere."""
        return body(self, indices, output_size=output_size)

    def tangent(out, primals, tangents, *, output_size, **_):
        """The last of several elements at one place, as in the value; JAX transposes what it is told to be unique, to the gradient that torch has."""
        return _put(tangents[0], primals[1], output_size, False, True)

    derivative = rule(lambda out, primals, tangents, *, output_size, **_: _put(tangents[0], primals[1], output_size, True))
    op(f"max_unpool{n}d(Tensor self, Tensor indices, int[{n}] output_size{more}) -> Tensor", node=f"MaxUnpool{n}DBackward0", lies=channels_last if n == 2 else None, names=(), nondiff=("indices",),
       guard=_last_outside, guard_error=_outside, derivative=derivative, tangent=tangent, saves={"self": ("self", "indices")},
       samples=[call(real(1, 1, 2), at(0, 3, dtype="int64", grad=False), (2, 2))], kinks=SMOOTH)(plain if n == 2 else body)


for _n in (2, 3):
    _unpool(_n)


# Windows at random places

def _starts(samples, size, count, pool):
    """The first positions of `count` windows, from one number in [0, 1) for each plane: (N, C, count)."""
    last = jnp.full((*samples.shape, 1), size - pool, np.int64)
    if count <= 1:
        return last[..., :count]
    step = jnp.asarray((size - pool) / (count - 1), samples.dtype)
    i = jnp.arange(count - 1).astype(samples.dtype).reshape(1, 1, -1)
    s = samples[..., None]
    return jnp.concatenate([((i + s) * step).astype(np.int64) - (s * step).astype(np.int64), last], -1)


def _fractional(n):
    axes = ("time", "height", "width")[-n:]
    name, said = f"fractional_max_pool{n}d", "" if n == 2 else "_out"

    @op(f"{name}(Tensor self, int[{n}] kernel_size, int[{n}] output_size, Tensor random_samples) -> (Tensor, Tensor)",
        node=f"FractionalMaxPool{n}DBackward0", names=(), nondiff=("random_samples",), nondiff_out=(1,), zero_second=always, saves={"self": ("self", "result1")},
        samples=[call(real(1, 1, 2), 1, 1, real(1, 1, n))], kinks=SMOOTH)
    def pool(self, random_samples, *, kernel_size, output_size):
        """The maximum of each window and its index in the plane; windows lie at places that random numbers decide."""
        if self.ndim not in (n + 1, n + 2):
            raise RuntimeError(f"{name}{said}(): Expected {n + 1}D or {n + 2}D tensor, but got: {list(self.shape)}")
        first = self.ndim - n - 1
        if 0 in self.shape[first:]:
            raise RuntimeError(f"{name}{said}(): Expected input to have non-zero size for non-batch dimensions, but got{list(self.shape)} with dimension "
                               f"{self.shape.index(0, first)} being empty.")
        x = self[None] if self.ndim == n + 1 else self
        for word, size, out, k in zip(axes, x.shape[-n:], output_size, kernel_size):
            if out + k - 1 > size - (n == 3):
                raise RuntimeError(f"{name}{said}(): pool {word} {k} too large relative to input {word} {size}")
        if random_samples.dtype != self.dtype:
            raise RuntimeError("Expect _random_samples to have the same dtype as input")
        if random_samples.shape[0] < x.shape[0]:
            raise RuntimeError("Expect _random_samples.size(0) no less then input batch size.")
        if random_samples.shape[1] != x.shape[1]:
            raise RuntimeError("Expect _random_samples.size(1) equals to input channel size.")
        if random_samples.shape[2] != n:
            raise RuntimeError(f"Expect _random_samples.size(2) equals to {n}; got {random_samples.shape[2]}.")
        samples = random_samples[: x.shape[0]]
        starts = [_starts(samples[..., (n - 1 - i) if n == 2 else i], x.shape[2 + i], output_size[i], kernel_size[i]) for i in range(n)]
        best, index = _random_largest(only(f"{name}_out_frame", x, "f"), starts, kernel_size)
        return (best[0], index[0]) if self.ndim == n + 1 else (best, index)


def _random_largest(x, starts, kernel):
    """The first maximum (the last NaN) over windows that start at given places, other ones for each plane."""
    n, best, index = len(kernel), None, None
    planes = x.reshape(*x.shape[:2], math.prod(x.shape[2:]))
    for offset in np.ndindex(*kernel):
        place = 0
        for i in range(n):
            own = (starts[i] + offset[i]).reshape(*x.shape[:2], *[starts[i].shape[-1] if j == i else 1 for j in range(n)])
            place = place * x.shape[2 + i] + own
        value = jnp.take_along_axis(planes, place.reshape(*x.shape[:2], math.prod(place.shape[2:])), 2, mode="clip").reshape(place.shape)
        if best is None:
            best, index = value, place
        else:
            better = (value > best) | jnp.isnan(value)
            best, index = jnp.where(better, value, best), jnp.where(better, place, index)
    return best, index


for _n in (2, 3):
    _fractional(_n)
