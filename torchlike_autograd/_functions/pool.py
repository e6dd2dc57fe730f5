"""torch.nn.functional's pooling (layer 7): the operators by rank, with or without indices."""

from __future__ import annotations

import math

from .._core.composite import composite, named
from .._core.record import thread
from .._core.spread import beside
from .._core.words import type_name
from .._ops import pool as _pool_ops
from .._ops.memory import channels_order, dense
from .._tensor import Tensor
from .arguments import handed
from .random import rand

_ops = _pool_ops
_unsqueeze, _squeeze = named("unsqueeze"), named("squeeze")
_mul, _pow, _abs, _sign, _relu = (named(n) for n in ("mul", "pow", "abs", "sign", "relu"))
_largest = {n: named(f"max_pool{n}d_with_indices") for n in (2, 3)}
_average = {n: named(f"avg_pool{n}d") for n in (2, 3)}
_parts_average = {n: named(f"_adaptive_avg_pool{n}d") for n in (2, 3)}
_parts_largest = {n: named(f"adaptive_max_pool{n}d") for n in (2, 3)}


def _ints(name, word, place, x):
    """One int or several, as a list."""
    return [] if x is None else _some_ints(name, word, place, x)


def _some_ints(name, word, place, x):
    """The same for an argument that must be there."""
    what = f"{name}(): argument '{word}' (position {place}) must be tuple of ints,"
    if isinstance(x, (tuple, list)):
        for i, e in enumerate(x):
            if not hasattr(e, "__index__"):
                raise TypeError(f"{what} but found element of type {type_name(e)} at pos {i}")
        return [e.__index__() for e in x]
    try:
        return [x.__index__()]
    except (AttributeError, TypeError):
        raise TypeError(f"{what} not {type_name(x)}") from None


def _check_tensor(name, x):
    if not isinstance(x, Tensor):
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type_name(x)}")


def _check_with_indices(x, lists):
    """torch's own checks of max_pool1d_with_indices; the rest is said by the operator of planes."""
    if x.ndim not in (2, 3):
        raise RuntimeError(f"Expected 2 to 3 dimensions, but got {x.ndim}-dimensional tensor for argument #1 'self' (while checking arguments for max_pool1d)")
    for word, values in lists.items():
        if len(values) > 1:
            raise RuntimeError(f"max_pool1d() argument '{word}' should contain one int (got {len(values)})")


def _check_one(x, lists, ceil_mode):
    """torch's own checks of max_pool1d."""
    if x.ndim not in (2, 3) or any(s == 0 for s in x.shape[-2:]):
        raise RuntimeError(f"max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:{list(x.shape)}")
    for word, values in lists.items():
        if len(values) > 1 or (not values and word != "stride"):
            kinds = {"stride": "None, an int, list of ints, or tuple of ints", "padding": "an int, list of ints, or tuple of ints"}.get(
                word, "an int, list of ints or tuple of ints")
            raise RuntimeError(f"max_pool1d() {word} must be {kinds} of size 1 but got size {len(values)}")
    kernel, stride, padding, dilation = lists.values()
    (k,), (p,), (d,) = kernel, padding, dilation
    s = stride[0] if stride else k
    for word, value in (("kernel_size", k), ("stride", s)):
        if value <= 0:
            raise RuntimeError(f"max_pool1d() {word} must be greater than zero, but got {value}")
    if p < 0:
        raise RuntimeError(f"max_pool1d() padding must be non-negative, but got {p}")
    if p > k // 2:
        raise RuntimeError(f"max_pool1d() padding should be at most half of kernel size, but got padding={p} and kernel_size={k}")
    if d <= 0:
        raise RuntimeError(f"max_pool1d() dilation must be greater than zero, but got {d}")
    count = _pool_ops._extent(x.shape[-1], k, s, p, d, ceil_mode)
    if count <= 0:
        raise RuntimeError(f"max_pool1d() Invalid computed output size: {count}")


def _max_one(input, kernel, stride, padding, dilation, ceil_mode, plain):
    lists = {"kernel_size": kernel, "stride": stride, "padding": padding, "dilation": dilation}
    if plain:
        _check_one(input, lists, ceil_mode)
    else:
        _check_with_indices(input, lists)
    alone = plain and not (thread.state.grad and input._tl_needs)  # torch has a kernel for this, the others go by way of planes
    if alone and not input.dtype.is_floating_point:
        raise NotImplementedError(f"\"max_pool1d_impl\" not implemented for '{input.dtype.char_name}'")
    out, indices = _largest[2](_unsqueeze(input, -2), [1, *kernel], [1, *(stride or kernel)], [0, *padding], [1, *dilation], ceil_mode)
    if alone:
        return named("_unsafe_view")(out, (*out.shape[:-2], out.shape[-1])), None
    return _squeeze(out, -2), _squeeze(indices, -2)


def _max_all(n, input, kernel_size, stride, padding, dilation, ceil_mode, plain):
    name = f"max_pool{n}d" if plain else f"max_pool{n}d_with_indices"
    if plain:
        handed(f"torch.{name}", input, kernel_size, () if stride is None else stride, padding, dilation, ceil_mode)
    _check_tensor(name, input)
    lists = [_ints(name, w, i, v) for i, (w, v) in enumerate(
        (("kernel_size", kernel_size), ("stride", stride), ("padding", padding), ("dilation", dilation)), 2)]
    if n == 1:
        return _max_one(input, *lists, ceil_mode, plain)
    lists = [x * n if isinstance(v, int) else x for x, v in zip(lists, (kernel_size, stride, padding, dilation))]  # a number stands for all dims
    return _largest[n](input, *lists, ceil_mode)


def _max_pool(n):
    def with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        return _max_all(n, input, kernel_size, stride, padding, dilation, ceil_mode, False)

    def torch_with_indices(input, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
        return _max_all(n, input, kernel_size, stride, padding, dilation, ceil_mode, False)

    def plain(input, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
        return _max_all(n, input, kernel_size, stride, padding, dilation, ceil_mode, True)[0]

    def function(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        out = _max_all(n, input, kernel_size, stride, padding, dilation, ceil_mode, not return_indices)
        return out if return_indices else out[0]

    _published(plain, f"max_pool{n}d", f"torch.max_pool{n}d", doc="The maximum of each window.")
    _published(function, f"_max_pool{n}d", f"torch.nn.functional.max_pool{n}d", f"torch.nn.functional._max_pool{n}d",
               doc="The maximum of each window, with its index if asked for.")
    _published(with_indices, f"max_pool{n}d_with_indices", f"torch.nn.functional.max_pool{n}d_with_indices", doc="The maximum of each window and its index.")
    if n == 1:
        _published(torch_with_indices, "max_pool1d_with_indices", "torch.max_pool1d_with_indices", doc="The maximum of each window and its index.")


def _published(function, name, *paths, doc):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    composite(*paths)(function)


for _n in (1, 2, 3):
    _max_pool(_n)


def _expected(x, name):
    if x.ndim not in (2, 3):
        raise RuntimeError(f"Expected 2 to 3 dimensions, but got {x.ndim}-dimensional tensor for argument #1 'self' (while checking arguments for {name})")


def _one_each(name, **fields):
    for word, values in fields.items():
        if len(values) != 1:
            raise RuntimeError(f"{name}() argument '{word}' should contain one int (got {len(values)})")


@composite("torch.avg_pool1d", "torch.nn.functional.avg_pool1d")
def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    """The mean of each window."""
    _check_tensor("avg_pool1d", input)
    kernel, step, pad = (_ints("avg_pool1d", w, i, v) for i, (w, v) in enumerate((("kernel_size", kernel_size), ("stride", stride), ("padding", padding)), 2))
    step = step or kernel
    _expected(input, "avg_pool1d")
    _one_each("avg_pool1d", kernel_size=kernel, stride=step, padding=pad)
    return _squeeze(_average[2](_unsqueeze(input, -2), [1, *kernel], [1, *step], [0, *pad], ceil_mode, count_include_pad), -2)


# Over parts

@composite("torch.adaptive_avg_pool1d", "torch.nn.functional.adaptive_avg_pool1d")
def adaptive_avg_pool1d(input, output_size):
    """The mean of each of `output_size` parts."""
    _check_tensor("adaptive_avg_pool1d", input)
    size = _ints("adaptive_avg_pool1d", "output_size", 2, output_size)
    _expected(input, "adaptive_avg_pool1d")
    _one_each("adaptive_avg_pool1d", output_size=size)
    return _squeeze(_parts(2, _unsqueeze(input, -2), [1, *size]), -2)


def _parts(n, input, size):
    if len(size) == n and all(s == 1 for s in size):
        out = named("mean")(input, tuple(range(-1, -n - 1, -1)), True)
        order = channels_order(tuple(input.shape), input.stride())
        return out if order is None else out.as_strided_(out.shape, dense(out.shape, order))
    return _parts_average[n](input, size)


def _sizes(name, input, output_size, n):
    """A size for each dim: the input's own where None stands."""
    if isinstance(output_size, bool):
        raise TypeError(f"{name}(): argument 'output_size' (position 2) must be tuple of ints, not bool")
    if isinstance(output_size, int):
        return [output_size] * n
    if input.ndim <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
    return [_size(name, i, own if s is None else s) for i, (s, own) in enumerate(zip(output_size, input.shape[-len(output_size):]))]


def _size(name, i, s):
    """One of several sizes; torch tells the list of what by its first."""
    try:
        if i or not isinstance(s, bool):
            return s.__index__()
    except (AttributeError, TypeError):
        pass
    raise TypeError(f"{name}(): argument 'output_size' " + (
        f"failed to unpack the object at pos {i + 1} with error \"type must be tuple of ints,but got {type_name(s)}\"" if i else
        f"(position 2) must be tuple of ints, but found element of type {type_name(s)} at pos 0"))


@composite("torch.nn.functional.adaptive_avg_pool2d")
def adaptive_avg_pool2d(input, output_size):
    """The mean of each part of (*, H, W)."""
    return _parts(2, input, _sizes("adaptive_avg_pool2d", input, output_size, 2))


@composite("torch.nn.functional.adaptive_avg_pool3d")
def adaptive_avg_pool3d(input, output_size):
    """The mean of each part of (*, D, H, W)."""
    return _parts(3, input, _sizes("adaptive_avg_pool3d", input, output_size, 3))


def _nothing_but_batches(name, x):
    for i, n in enumerate(x.shape):
        if i and not n:
            raise RuntimeError(f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes {list(x.shape)} with "
                               f"dimension {i} being empty")


@composite("torch.adaptive_max_pool1d")
def adaptive_max_pool1d(input, output_size):
    """The maximum of each of `output_size` parts and its index."""
    _check_tensor("adaptive_max_pool1d", input)
    size = _some_ints("adaptive_max_pool1d", "output_size", 2, output_size)
    _expected(input, "adaptive_max_pool1d")
    _one_each("adaptive_max_pool1d", output_size=size)
    _nothing_but_batches("adaptive_max_pool1d", input)
    if input.ndim == 2 and not input.shape[0]:  # no channels count as no batches
        return tuple(_squeeze(part, 1) for part in adaptive_max_pool1d(_unsqueeze(input, 1), size))
    out, indices = _parts_largest[2](_unsqueeze(input, -2), [1, *size])
    return _squeeze(out, -2), _squeeze(indices, -2)


def _adaptive_max(n):
    def with_indices(input, output_size, return_indices=False):
        return adaptive_max_pool1d(input, output_size) if n == 1 else _parts_largest[n](input, _sizes(f"adaptive_max_pool{n}d", input, output_size, n))

    def function(input, output_size, return_indices=False):
        out = with_indices(input, output_size)
        return out if return_indices else out[0]

    _published(function, f"_adaptive_max_pool{n}d", f"torch.nn.functional.adaptive_max_pool{n}d", f"torch.nn.functional._adaptive_max_pool{n}d",
               doc="The maximum of each part.")
    _published(with_indices, f"adaptive_max_pool{n}d_with_indices", f"torch.nn.functional.adaptive_max_pool{n}d_with_indices",
               doc="The maximum of each part and its index.")


for _n in (1, 2, 3):
    _adaptive_max(_n)


# Powers

def _lp(n, input, norm_type, kernel_size, stride, ceil_mode):
    if norm_type == math.inf:
        maximum = _max_all(n, _abs(input), kernel_size, stride, 0, 1, ceil_mode, True)
        return maximum[0]
    elements, step = _elements(n, kernel_size), [] if stride is None else stride
    powers = _pow(input, norm_type)
    mean = avg_pool1d(powers, kernel_size, step, 0, ceil_mode) if n == 1 else _average[n](powers, kernel_size, step, 0, ceil_mode)
    return _pow(_mul(_sign(mean), _relu(_abs(mean))).mul(elements), 1.0 / norm_type)


def _elements(n, kernel_size):
    """The elements of a window; torch multiplies by the size of one of one dim as it is given."""
    if n == 1:
        return kernel_size
    sizes = tuple(kernel_size) if isinstance(kernel_size, (tuple, list)) else (kernel_size,) * n
    if len(sizes) != n:
        raise ValueError(f"not enough values to unpack (expected {n}, got {len(sizes)})" if len(sizes) < n else f"too many values to unpack (expected {n})")
    return math.prod(sizes)


def _lp_pool(n):
    def function(input, norm_type, kernel_size, stride=None, ceil_mode=False):
        return _lp(n, input, norm_type, kernel_size, stride, ceil_mode)

    _published(function, f"lp_pool{n}d", f"torch.nn.functional.lp_pool{n}d", doc="The root of the sum of powers of each window.")


for _n in (1, 2, 3):
    _lp_pool(_n)


# Back from maxima

def _unpool_output_size(input, kernel_size, stride, padding, output_size):
    """The sizes asked for, or those that the windows give; ValueError for others than a stride away."""
    n = len(kernel_size)
    own = [(input.shape[-n + d] - 1) * stride[d] + kernel_size[d] - 2 * padding[d] for d in range(n)]
    if output_size is None:
        return own
    if len(output_size) == n + 2:
        output_size = output_size[2:]
    if len(output_size) != n:
        raise ValueError(f"output_size should be a sequence containing {n} or {n + 2} elements, but it has a length of '{len(output_size)}'")
    for d in range(n):
        low, high = own[d] - stride[d], own[d] + stride[d]
        if not low < output_size[d] < high:
            raise ValueError(f'invalid output_size "{output_size}" (dim {d} must be between {low} and {high})')
    return output_size


def _unpool(n):
    def each(x):
        return (x,) * n if isinstance(x, int) else tuple(x)

    def function(input, indices, kernel_size, stride=None, padding=0, output_size=None):
        kernel, pads = each(kernel_size), each(padding)
        step = each(stride) if stride is not None else kernel
        size = [int(s) for s in _unpool_output_size(input, kernel, step, pads, output_size)]
        if n == 1:
            return _squeeze(named("max_unpool2d")(_unsqueeze(input, -1), _unsqueeze(indices, -1), [*size, 1]), -1)
        return named("max_unpool2d")(input, indices, size) if n == 2 else named("max_unpool3d")(input, indices, size, step, pads)

    _published(function, f"max_unpool{n}d", f"torch.nn.functional.max_unpool{n}d", doc="Maxima at the places that they came from, zeros elsewhere.")


for _n in (1, 2, 3):
    _unpool(_n)


# At random places

def _samples(input, n):
    planes = (1, input.shape[0]) if input.ndim == n + 1 else tuple(input.shape[:2])
    return rand(*planes, n, dtype=input.dtype, device=input.device)


def _fractional(n):
    name = f"fractional_max_pool{n}d"

    def with_indices(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
        if output_size is None:
            if n == 3 and not isinstance(output_ratio, (tuple, list)):
                output_ratio = (output_ratio,) * 3  # torch takes a number here, in three dims only, where it does not count them
            if n == 2 and len(output_ratio) != n:
                raise ValueError(f"{name} requires output_ratio to either be a single Int or tuple of Ints.")
            output_size = [int(input.shape[-n + i] * output_ratio[i]) for i in range(n)]
        if _random_samples is None:
            if input.ndim < n + 1:
                raise IndexError(f"Dimension out of range (expected to be in range of [{-input.ndim}, {input.ndim - 1}], but got {-n - 1})")
            _random_samples = beside(_samples(input, n), input)
        sizes = [list(v) if isinstance(v, (tuple, list)) else [v] * n for v in (kernel_size, output_size)]
        for word, values in zip(("kernel_size", "output_size"), sizes):
            if len(values) != n:
                raise RuntimeError(f"{name}: {word} must either be a single Int or tuple of Ints")
        return named(name)(input, *sizes, _random_samples)

    def function(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        out = with_indices(input, kernel_size, output_size, output_ratio, return_indices, _random_samples)
        return out if return_indices else out[0]

    _published(with_indices, f"{name}_with_indices", f"torch.nn.functional.{name}_with_indices", doc="The maximum of windows at random places and its index.")
    _published(function, f"_{name}", f"torch.nn.functional.{name}", f"torch.nn.functional._{name}", doc="The maximum of windows at random places.")


for _n in (2, 3):
    _fractional(_n)

