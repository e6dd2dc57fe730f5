"""Samples of operators that work element by element (layer 8): shapes, layouts and values at which they go wrong."""

from __future__ import annotations

import itertools
import math
from functools import partial

from ...._core import dtypes as _d
from ...._core import publish as _publish
from ..._creation import make_tensor
from .core import SampleInput

__all__ = ["generate_elementwise_binary_arbitrarily_strided_tensors", "generate_elementwise_binary_broadcasting_tensors",
           "generate_elementwise_binary_extremal_value_tensors", "generate_elementwise_binary_large_value_tensors",
           "generate_elementwise_binary_noncontiguous_tensors", "generate_elementwise_binary_small_value_tensors", "generate_elementwise_binary_tensors",
           "generate_elementwise_binary_with_scalar_and_type_promotion_samples", "generate_elementwise_binary_with_scalar_samples",
           "generate_elementwise_unary_extremal_value_tensors", "generate_elementwise_unary_large_value_tensors",
           "generate_elementwise_unary_small_value_tensors", "generate_elementwise_unary_tensors"]

_PI = (math.pi - 1e-5, math.pi, math.pi + 1e-5)
_SMALL = (0.0, -0.001, 0.001, -0.25, 0.25, -1.0, 1.0, -math.pi / 2, math.pi / 2, *(-x for x in _PI), *_PI)
_LARGE = (-501.0, 501.0, -1001.2, 1001.2, -13437.7, 13437.7, -4988429.2, 4988429.2, -1e20, 1e20)
_EXTREMAL = (float("inf"), float("-inf"), float("nan"))
_SMALL_INTS, _SMALL_BYTES, _LARGE_INTS = (0, -1, 1, -55, 55, -127, 127, -128), (0, 1, 55, 127, 128, 190, 210, 220, 254), (-1113, 1113, -10701, 10701)


def _maker(op, side, device, dtype, requires_grad, exclude_zero=None):
    more = dict(getattr(op, f"{side}_make_tensor_kwargs", None) or {})
    if exclude_zero is not None:
        more.setdefault("exclude_zero", exclude_zero)
    return partial(make_tensor, device=device, dtype=dtype, requires_grad=requires_grad, **more)


def _pair(op, device, dtype, requires_grad, exclude_zero=None):
    return [_maker(op, side, device, dtype, requires_grad, exclude_zero) for side in ("lhs", "rhs")]


def _keywords(op, device, dtype, x=None):
    made = getattr(op, "sample_kwargs", None)
    return dict(made(device, dtype, x)[0]) if made else {}


def _values(which, dtype):
    if (which == "extremal" and not (dtype.is_floating_point or dtype.is_complex)) or dtype is _d.bool_:
        raise ValueError("Unsupported dtype!")
    if dtype.is_floating_point or dtype.is_complex:
        reals = {"small": _SMALL, "large": _LARGE if dtype is not _d.float16 else _LARGE[:6], "extremal": _EXTREMAL}[which]
        return [complex(a, b) for a, b in itertools.product(reals, reals)] if dtype.is_complex else list(reals)
    if which == "large":
        if dtype.itemsize == 1:
            raise ValueError("Unsupported dtype!")
        return list(_LARGE_INTS)
    return list(_SMALL_BYTES if dtype is _d.uint8 else _SMALL_INTS)


def _valued(which, op, device, dtype, requires_grad, exclude_zero=False):
    make = _publish.load_all()["torch.tensor"]
    left = _values(which, dtype)
    right = [1 if exclude_zero and not x else x for x in left]
    pairs = list(itertools.product(left, right))
    both = [make([p[i] for p in pairs], device=device, dtype=dtype, requires_grad=requires_grad) for i in (0, 1)]
    yield SampleInput(both[0], args=(both[1],), kwargs=_keywords(op, device, dtype))


def generate_elementwise_binary_tensors(op, *, device, dtype, requires_grad=False, exclude_zero=False):
    """Two operands of one shape: without elements, 0-dim, short, long."""
    lhs, rhs = _pair(op, device, dtype, requires_grad, exclude_zero)
    for shape in ((0,), (1, 0, 3), (), (20,), (812,), (1029, 917)):
        yield SampleInput(lhs(shape), args=(rhs(shape),), kwargs=_keywords(op, device, dtype))


def generate_elementwise_binary_small_value_tensors(op, *, device, dtype, requires_grad=False, exclude_zero=None):
    """Every pair of some small values."""
    if exclude_zero is None:
        exclude_zero = (getattr(op, "rhs_make_tensor_kwargs", None) or {}).get("exclude_zero", False)
    yield from _valued("small", op, device, dtype, requires_grad, exclude_zero)


def generate_elementwise_binary_large_value_tensors(op, *, device, dtype, requires_grad=False):
    """Every pair of some large values; ValueError for types of one byte."""
    yield from _valued("large", op, device, dtype, requires_grad)


def generate_elementwise_binary_extremal_value_tensors(op, *, device, dtype, requires_grad=False):
    """Every pair of infinities and nan, and nan among other values; ValueError for types that have none."""
    yield from _valued("extremal", op, device, dtype, requires_grad)
    lhs, rhs = (m((128, 128)).detach() for m in _pair(op, device, dtype, False))
    for t in (lhs, rhs):
        t.view(-1)[::5] = float("nan")
    yield SampleInput(lhs.requires_grad_(requires_grad), args=(rhs.requires_grad_(requires_grad),), kwargs=_keywords(op, device, dtype))


_SPREAD = (((1,), ()), ((2,), ()), ((1,), (2,)), ((2, 1), (2,)), ((1, 2), (2,)), ((3, 2), (2,)), ((1, 3, 2), (2,)), ((1, 3, 2), (3, 2)), ((3, 1, 2), (3, 2)),
           ((2, 3, 2), ()), ((3, 1, 2), (1, 3, 2)))


def generate_elementwise_binary_broadcasting_tensors(op, *, device, dtype, requires_grad=False, exclude_zero=False):
    """Two shapes that are spread over each other, in order in memory and not."""
    lhs, rhs = _pair(op, device, dtype, requires_grad, exclude_zero)
    for (a, b), apart in itertools.product(_SPREAD, (True, False)):
        yield SampleInput(lhs(a, noncontiguous=apart), args=(rhs(b),), kwargs=_keywords(op, device, dtype), broadcasts_input=a != b and len(a) <= len(b))


def generate_elementwise_binary_with_scalar_samples(op, *, device, dtype, requires_grad=False):
    """A tensor and a number, a number and a tensor, two numbers, as far as the operator takes them."""
    lhs, rhs = _pair(op, device, dtype, requires_grad)
    number = lambda make: make(()).detach().item()  # noqa: E731
    if op.supports_rhs_python_scalar:
        for shape in ((), (3,), (5, 3), (0, 1, 3), (1, 5)):
            yield SampleInput(lhs(shape), args=(number(rhs),), kwargs=_keywords(op, device, dtype))
        if op.supports_one_python_scalar:
            yield SampleInput(number(lhs), args=(rhs((1, 5)),), kwargs=_keywords(op, device, dtype))
    if op.supports_two_python_scalars:
        yield SampleInput(number(lhs), args=(number(rhs),), kwargs=_keywords(op, device, dtype))


def generate_elementwise_binary_with_scalar_and_type_promotion_samples(op, *, device, dtype, requires_grad=False):
    """A tensor of a comparison and a number of a higher kind; nothing for other operators."""
    if op.name in ("eq", "ne", "gt", "ge", "lt", "le"):
        lhs = _maker(op, "lhs", device, dtype, requires_grad)
        for shape, number in itertools.product(((23, 34), ()), (1.5, float("nan"), float("inf"), float("-inf"))):
            yield SampleInput(lhs(shape), args=(number,), kwargs=_keywords(op, device, dtype))


def generate_elementwise_binary_noncontiguous_tensors(op, *, device, dtype, requires_grad=False, exclude_zero=False):
    """Operands that do not lie in order in memory: every second one, transposed, spread."""
    lhs, rhs = _pair(op, device, dtype, requires_grad, exclude_zero)
    left = [lhs((1026,), noncontiguous=True), lhs((789, 357)).T, lhs((5, 7), noncontiguous=True), lhs((2, 2, 1, 2))[:, 1], lhs((1, 3)).expand(3, -1, -1),
            lhs((3, 5, 7))[:, 1::2]]
    right = [rhs((1026,)), rhs((789, 357)).T, rhs((5, 7)), rhs((2, 2, 1, 2))[:, 1], rhs((1, 3)).expand(3, -1, -1), rhs((3, 5, 7))[:, 1::2]]
    for a, b in zip(left, right, strict=True):
        yield SampleInput(a, args=(b,), kwargs=_keywords(op, device, dtype))


def generate_elementwise_binary_arbitrarily_strided_tensors(op, *, device, dtype, requires_grad=False, exclude_zero=False):
    """A first operand of strides that share elements, a second one in order."""
    lhs, rhs = _pair(op, device, dtype, requires_grad, exclude_zero)
    for shape, strides, offset in (((5, 6, 2), (1, 1, 7), 2), ((5, 5, 4), (1, 1, 7), 2), ((5, 5, 2), (4, 5, 7), 3), ((5, 5, 2), (5, 5, 5), 3),
                                   ((9, 5, 2), (0, 1, 7), 3)):
        yield SampleInput(lhs((500,)).as_strided(shape, strides, offset), args=(rhs(shape),), kwargs=_keywords(op, device, dtype))


def _within(op, x):
    """A tensor, its values moved into the domain and away from where a reference says nothing."""
    if x.dtype is _d.bool_:
        return x
    away = getattr(op, "reference_numerics_filter", None)
    if away is not None:
        x.masked_fill_(away.condition(x), away.safe_val)
    real = x.dtype.is_floating_point or x.dtype.is_complex
    low, high = _inside(op) if real else (b if b is None else round_(b) for b, round_ in zip(op.domain, (math.ceil, math.floor), strict=True))
    if x.dtype is _d.uint8 and low is not None:
        low = max(low, 0)
    if low is not None or high is not None:
        for part in (x.real, x.imag) if x.dtype.is_complex else (x,):
            part.clamp_(low, high)
    return x


def _inside(op):
    """The bounds of the domain, a little within."""
    low, high = op.domain
    return None if low is None else low + 1e-5, None if high is None else high - 1e-5


def _one_valued(which, op, device, dtype, requires_grad):
    for sample in _valued(which, op, device, dtype, requires_grad):
        x = sample.input if which == "extremal" else _within(op, sample.input.detach()).requires_grad_(requires_grad)
        yield SampleInput(x, kwargs=_keywords(op, device, dtype, x))


def generate_elementwise_unary_tensors(op, *, device, dtype, requires_grad, **kwargs):
    """Long, short, without elements."""
    low, high = _inside(op) if dtype.is_floating_point or dtype.is_complex else op.domain
    shapes = ((1024,), (20,)) if dtype is _d.bool_ else ((1029, 917), (812,), (0,), (0, 3, 3), (1, 0, 5), (6, 0, 0, 0), (3, 0, 1, 0))
    for shape in shapes:
        x = make_tensor(shape, device=device, dtype=dtype, low=low, high=high, **kwargs)
        x = _within(op, x).requires_grad_(requires_grad)
        yield SampleInput(x, kwargs=_keywords(op, device, dtype, x))


def generate_elementwise_unary_small_value_tensors(op, *, device, dtype, requires_grad=False):
    """Some small values."""
    yield from _one_valued("small", op, device, dtype, requires_grad)


def generate_elementwise_unary_large_value_tensors(op, *, device, dtype, requires_grad=False):
    """Some large values; ValueError for types of one byte."""
    yield from _one_valued("large", op, device, dtype, requires_grad)


def generate_elementwise_unary_extremal_value_tensors(op, *, device, dtype, requires_grad=False):
    """Infinities and nan, and nan among other values."""
    for sample in generate_elementwise_binary_extremal_value_tensors(op, device=device, dtype=dtype, requires_grad=requires_grad):
        yield SampleInput(sample.input, kwargs=_keywords(op, device, dtype, sample.input))
