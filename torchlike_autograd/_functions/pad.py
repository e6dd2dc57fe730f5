"""`torch.nn.functional.pad` and functions of neighbours: differences, integrals, covariance (layer 7)."""

from __future__ import annotations

import math

import numpy as np

from .._core import dtypes, words
from .._core.bind import number
from .._core.composite import composite, named
from .._core.numeric import check_number
from .._core.saying import warn
from .._core.shapes import wrap_dim
from .._core.spread import beside
from .._ops.unsigned import WIDE
from .._tensor import Tensor, from_array
from .arguments import handed
from .by_example import by_example
from .create import zeros_like
from .norm import check_out, into
from .typed import published

_cat, _constant = named("cat"), named("constant_pad_nd")
_mul_number, _add_number, _true_div_number = named("_mul_number"), named("_add_number"), named("_true_div_number")


@composite("torch.nn.functional.pad")
def pad(input, pad, mode="constant", value=None):
    """Padding at the ends of the last dims, counted from the last one; modes constant, reflect, replicate, circular."""
    input, pad, mode, value = handed("torch._C._nn.pad", input, pad, mode, value)
    pad = tuple(int(p) for p in pad)
    if mode not in ("constant", "reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > 2 * input.ndim:
        raise RuntimeError("Padding length should be less than or equal to two times the input dimension but got padding length "
                           f"{len(pad)} and input of dimension {input.ndim}")
    if mode == "constant":
        if value is not None:
            check_number(float(value), input._tl_v.aval.dtype)
        return _constant(input, pad, 0 if value is None else value)
    if value is not None and value != 0:
        raise RuntimeError(f"Padding mode \"{mode}\" doesn't take in value argument")
    n = len(pad) // 2
    if n in (1, 2, 3) and input.ndim in (n + 1, n + 2):
        if mode == "circular":
            return _circular(input, pad)
        return named(f"{'reflection' if mode == 'reflect' else 'replication'}_pad{n}d")(input, pad)
    raise NotImplementedError(f"Padding size {len(pad)} is not supported for {input.ndim}D input tensor.\n{_SUPPORTED}")


_SUPPORTED = "Supported combinations for non-constant padding:\n" + "\n".join(
    f"  - {n + 1}D or {n + 2}D input: padding size = {2 * n} (pads last {'dimension' if n == 1 else f'{n} dimensions'})" for n in (1, 2, 3))


def _circular(x, pad):
    shape = list(x._tl_v.aval.shape)
    ends = [(x.ndim - 1 - k, pad[2 * k], pad[2 * k + 1]) for k in range(len(pad) // 2)]
    for dim, before, after in ends:
        n = shape[dim]
        if before > n or after > n:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        if n + before + after < 0:
            raise RuntimeError("Negative padding value is resulting in an empty dimension")
        shape[dim] = n + before + after
        x = x.narrow(dim, max(-before, 0), n - max(-before, 0) - max(-after, 0))
    out = x.new_empty(shape)
    middle = out
    for dim, before, _ in ends:
        middle = middle.narrow(dim, max(before, 0), x._tl_v.aval.shape[dim])
    middle.copy_(x)
    for dim, before, after in ends:
        first, n = max(before, 0), x._tl_v.aval.shape[dim]
        if before > 0:
            out.narrow(dim, 0, before).copy_(out.narrow(dim, n, before))
        if after > 0:
            out.narrow(dim, first + n, after).copy_(out.narrow(dim, first, after))
    return out


# Neighbours

@published("diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None)")
def diff(input, n=1, dim=-1, prepend=None, append=None, *, out=None):
    """Differences of neighbours along a dim, n times."""
    if out is not None:
        result = diff(input, n, dim, prepend, append)
        check_out("diff" if n else "diff of nothing", out, result)
        return into("diff", out, result, input)
    if input.ndim == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    dim = wrap_dim(dim, input.ndim)
    for t in (prepend, append):
        if t is not None:
            _check_beside(input, t, dim)
    if n and (prepend is not None or append is not None):
        input = _cat([t for t in (prepend, input, append) if t is not None], dim)
    size = input._tl_v.aval.shape[dim]
    if n == 0:
        return zeros_like(input).copy_(input)
    for _ in range(min(n, size)):
        size = input._tl_v.aval.shape[dim] - 1
        high, low = input.narrow(dim, 1, size), input.narrow(dim, 0, size)
        input = high.logical_xor(low) if input.dtype is dtypes.bool_ else high - low
    return input


def _check_beside(input, t, dim):
    """Refuse what `diff` cannot put before or after input."""
    if t.ndim != input.ndim:
        raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    for d, (have, want) in enumerate(zip(t.shape, input.shape)):
        if d != dim and have != want:
            raise RuntimeError("diff expects the shape of tensor to prepend or append to match that of input except along the differencing dimension; "
                               f"input.size({d}) = {want}, but got tensor.size({d}) = {have}")


def _widths(name, y, x, dim):
    """Differences of the places x, shaped like those of y."""
    if x.ndim == 1:
        if x.shape[0] != y.shape[dim]:
            raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
        return diff(x).reshape([-1 if k == dim else 1 for k in range(y.ndim)])
    return diff(x.reshape((1,) * (y.ndim - x.ndim) + tuple(x.shape)) if x.ndim < y.ndim else x, dim=dim)


def _bool_refused(name, *tensors):
    if any(isinstance(t, Tensor) and t.dtype is dtypes.bool_ for t in tensors):
        raise RuntimeError(f"{name}: received a bool input for {'`x` or `y`' if len(tensors) > 1 else '`y`'}, but bool is not supported")


def _real_distance(name, dx):
    if isinstance(dx, complex):
        raise RuntimeError(f"{name}: Currently, we only support dx as a real number.")


def _widths_of(name, args, kwargs):
    """(y, x or None, dx, dim) of a call by either signature, the one with places or the one with a distance."""
    try:
        if len(args) > 1 or "x" in kwargs:
            y, x, dim = _with_places(*args, **kwargs)
            return y, x, 1, dim
        y, dx, dim = _with_distance(*args, **kwargs)
    except TypeError:
        dx = None
    if not isinstance(dx, (int, float, complex)):
        raise words.complaint(*words.known(f"torch.{name}"), args, kwargs) or TypeError(f"{name}() received an invalid combination of arguments")
    return y, None, dx, dim


def _with_places(y, x, *, dim=-1):
    if not isinstance(x, Tensor):
        raise TypeError
    return y, x, dim


def _with_distance(y, *, dx=1, dim=-1):
    return y, dx, dim


@composite("torch.trapezoid")
def trapezoid(*args, **kwargs):
    """The integral by the trapezoidal rule: (y, x, *, dim=-1) or (y, *, dx=1, dim=-1)."""
    return _integral(*_widths_of("trapezoid", args, kwargs))


@composite("torch.trapz")
def trapz(*args, **kwargs):
    """The integral by the trapezoidal rule: (y, x, *, dim=-1) or (y, *, dx=1, dim=-1)."""
    return _integral(*_widths_of("trapz", args, kwargs))


def _integral(y, x, dx, dim):
    if y.ndim and y._tl_v.aval.shape[wrap_dim(dim, y.ndim)] == 0:
        return y.new_zeros([n for i, n in enumerate(y._tl_v.aval.shape) if i != wrap_dim(dim, y.ndim)])
    if not y.ndim:
        raise IndexError(f"Dimension specified as {dim if x is None else wrap_dim(dim, 0)} but tensor has no dimensions")
    _bool_refused("trapezoid", *((y,) if x is None else (y, x)))
    _real_distance("trapezoid", dx)
    dim = wrap_dim(dim, y.ndim)
    n = y._tl_v.aval.shape[dim]
    left, right = y.narrow(dim, 0, n - 1), y.narrow(dim, 1, n - 1)
    if x is not None:
        return _true_div_number(((left + right) * _widths("trapezoid", y, x, dim)).sum(dim), 2.0)
    return _mul_number(y.sum(dim) - _mul_number(y.select(dim, 0) + y.select(dim, -1), 0.5), float(dx))


@composite("torch.cumulative_trapezoid")
def cumulative_trapezoid(*args, **kwargs):
    """The running integral by the trapezoidal rule: (y, x, *, dim=-1) or (y, *, dx=1, dim=-1)."""
    y, x, dx, dim = _widths_of("cumulative_trapezoid", args, kwargs)
    _bool_refused("cumulative_trapezoid", *((y,) if x is None else (y, x)))
    if not y.ndim:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    _real_distance("cumulative_trapezoid", dx)
    dim = wrap_dim(dim, y.ndim)
    n = y._tl_v.aval.shape[dim]
    left, right = y.narrow(dim, 0, max(n - 1, 0)), y.narrow(dim, min(n, 1), max(n - 1, 0))
    if x is not None:
        return _true_div_number(((left + right) * _widths("cumulative_trapezoid", y, x, dim)).cumsum(dim), 2.0)
    return _mul_number(left + right, dx / 2).cumsum(dim)


@composite("torch.cov", "Tensor.cov")
def cov(input, *, correction=1, fweights=None, aweights=None):
    """The covariance matrix of the rows."""
    if input.ndim > 2:
        raise RuntimeError(f"cov(): expected input to have two or fewer dimensions but got an input with {input.ndim} dimensions")
    if input.dtype is dtypes.bool_:
        raise RuntimeError("cov(): bool dtype is not supported for input")
    rows = input if input.ndim == 2 else input.view(1, -1)
    _check_weights("fweights", fweights, rows.shape[1], dtypes.INT, "integral")
    _check_weights("aweights", aweights, rows.shape[1], dtypes.FLOAT, "floating point")
    weights = None
    for w in (fweights, aweights):
        if w is not None:
            weights = w if weights is None else weights * w
    n = rows.shape[1]
    norm = n if weights is None else weights.sum()
    if weights is not None and n and norm.item() == 0:
        raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    mean = rows.sum(1) / n if weights is None else (rows * weights).sum(1) / norm
    if correction and weights is not None:
        norm = norm - correction if aweights is None else norm - correction * (weights * aweights).sum() / norm
    elif weights is None:
        norm = n - correction
    if (norm if weights is None else norm.item()) <= 0:
        warn("cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations. (Triggered internally at "
             "/pytorch/aten/src/ATen/native/Correlation.cpp:129.)")
        norm = 0 if weights is None else norm.new_zeros(())
    centred = rows - mean.unsqueeze(1)
    right = centred if weights is None else centred * weights
    return (centred @ right.t().conj() / norm).squeeze()


def _check_weights(name, weights, n, category, word):
    if weights is None:
        return
    if weights.ndim > 1:
        raise RuntimeError(f"cov(): expected {name} to have one or fewer dimensions but got {name} with {weights.ndim} dimensions")
    if weights.dtype.category != category:
        raise RuntimeError(f"cov(): expected {name} to have {word} dtype but got {name} with {weights.dtype.char_name} dtype")
    if weights.numel() != n:
        raise RuntimeError(f"cov(): expected {name} to have the same numel as there are observations in the input but got {weights.numel()} != {n}")
    if weights.numel() and weights.min().item() < 0:
        raise RuntimeError(f"cov(): {name} cannot be negative")


@composite("torch.corrcoef", "Tensor.corrcoef")
def corrcoef(input):
    """The correlation coefficients of the rows."""
    if input.ndim > 2:
        raise RuntimeError(f"corrcoef(): expected input to have two or fewer dimensions but got an input with {input.ndim} dimensions")
    c = cov(input)
    if c.ndim == 0:
        return c / c
    d = c.diag().sqrt()
    c = c / d.view(-1, 1) / d.view(1, -1)
    return named("complex")(c.real.clip(-1, 1), c.imag.clip(-1, 1)) if c.is_complex() else c.clip(-1, 1)


@composite("torch.nn.functional.normalize")
def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """input divided by its norm along a dim, which is at least eps."""
    size = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / size if out is None else named("div")(input, size, out=out)


def _histc_range(a, low, high):
    """The outermost edges: of the data where both are the same, a bit further apart where these are the same too."""
    if low == high and a.size:
        low, high = float(a.min()), float(a.max())
        if low != low and a.size > 1:
            low = high = -low  # the sign of a NaN that comes from vector instructions
    if low == high:
        x = np.float64(low) if a.dtype == np.float64 else np.float32(low)
        with np.errstate(over="ignore"):
            edges = min(x - 1, np.nextafter(x, -x.dtype.type(np.inf))), max(x + 1, np.nextafter(x, x.dtype.type(np.inf)))
        low, high = (float(e if np.isfinite(e) else x) for e in edges)
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{_signed(low)}, {_signed(high)}] is not finite")
    if low > high:
        raise RuntimeError("torch.histc: max must be larger than min")
    return low, high


def _signed(x):
    return f"{'-' * (math.copysign(1, x) < 0)}nan" if x != x else f"{x:g}"


@published("histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0)")
@by_example
def histc(input, bins=100, min=0, max=0, *, out=None):
    """Counts in bins of equal width between min and max (of the data where both are the same)."""
    kind = input.dtype
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    if input.is_meta:
        return into("histc", out, input.new_zeros(bins), input)
    a, low, high = input._tl_numpy().reshape(-1), float(number(min)), float(number(max))
    if low == high and a.size and (kind.is_complex or kind in WIDE):
        raise NotImplementedError(f"\"aminmax_cpu\" not implemented for '{kind.char_name}'")
    low, high = _histc_range(a, low, high)
    if not kind.is_floating_point:
        kernel = "linspace_cpu" if kind.name == "bool" or kind in WIDE else "histogram_cpu"
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{kind.char_name}'")
    a = a[(a >= low) & (a <= high)]
    with np.errstate(over="ignore"):
        width = a.dtype.type(high - low)
    if not np.isfinite(width):  # no edge between is finite, nothing lies between two
        a = a[:0]
    places = np.minimum(((a - a.dtype.type(low)) * a.dtype.type(bins) / width).astype(np.int64), bins - 1)
    t = from_array(np.bincount(places, minlength=bins).astype(kind.np), kind, like=input)
    return into("histc", out, beside(t, input), input)


@composite("torch.special.ndtr")
def ndtr(input, *, out=None):
    """The normal distribution function."""
    t = _mul_number(_add_number(_mul_number(input, math.sqrt(0.5)).erf(), 1.0), 0.5)
    return into("special_ndtr", out, t, input)


__all__ = ["corrcoef", "cov", "cumulative_trapezoid", "diff", "histc", "normalize", "pad", "trapezoid"]
