"""Whole numbers: ``randint``, ``random_`` and ``randperm``, bit-equal to PyTorch's CPU kernels.

All take a word of the stream modulo a range, 64 bits wide where 32 would favour small numbers.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np

from .rng_draws import (
    ALL_TYPES,
    BF2,
    DIGITS,
    F2,
    F4,
    F8,
    LARGEST,
    NAMES,
    Shape,
    narrow,
    require,
    require_kernel,
    shaped,
)
from .rng_math import u8
from .rng_stream import Generator
from .saying import warn
from .shapes import as_long

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

_INT64 = np.iinfo(np.int64)


def randint(gen: Generator, low: int, high: int | None, shape: Shape, dtype: DTypeLike = np.int64) -> np.ndarray:
    """``randint`` and ``random_(low, high)``: ``word % (high - low) + low``. Bit-equal to torch.

    Ranges of 2**28 and more take 64-bit words. ``high=None`` goes up to the dtype's largest value
    (for floats: the largest up to which all integers are exact), and with ``low=-2**63`` returns
    64-bit words as they are.
    """
    dtype, (shape, size) = np.dtype(dtype), shaped(shape)
    low, high = as_long(operator.index(low)), high if high is None else as_long(operator.index(high))
    if high is None and low == _INT64.min:
        return _random_int64(gen, size, dtype).reshape(shape)
    low, last = integer_bounds(low, high, dtype)
    span = last - low + 1
    with gen.lock:
        words = gen.long_words(size) if span >= 2**28 else gen.words(size)
    values = words % u8(span) + u8(low % 2**64)
    return narrow(values.view(np.int64), dtype).reshape(shape)


def _random_int64(gen: Generator, size: int, dtype: np.dtype) -> np.ndarray:
    """All of the int64 range: the only draw for which torch needs a range of 2**64."""
    kernel = "random_full_64_bits_range_kernel_cpu"
    if size:
        require_kernel(kernel, dtype, ALL_TYPES - {np.dtype(bool), F2})
        allowed = (np.dtype(np.int64), F8, F4, BF2)
        require(dtype in allowed, f"{kernel} handles only int64, double, float and bfloat16")
    with gen.lock:
        return narrow(gen.long_words(size).view(np.int64), dtype)


def integer_bounds(low: int, high: int | None, dtype: np.dtype) -> tuple[int, int]:
    """The first and the last value, after torch's checks; for floats moved to values they hold."""
    if high is not None:
        require(
            low < high,
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}",
        )
    if dtype in DIGITS:
        low = _float_low(low, dtype)
        last = 2 ** DIGITS[dtype] if high is None else _float_high(high, dtype) - 1
        complaint = "less than 'to'" if high is not None else "less than or equal to 'to_inc'"
        require(
            low <= last if high is not None else low < last,
            f"random_ expects 'from' casted to dtype to be {complaint} casted to dtype, "
            f"but got from={low} " + (f">= to={last + 1}" if high is not None else f"> to_inc={last}"),
        )
        bounds = -LARGEST[dtype], LARGEST[dtype]
    elif dtype.kind in "iub":
        largest = 1 if dtype.kind == "b" else int(np.iinfo(dtype).max)
        # torch holds the largest uint64 in an int64, where it is -1
        last = high - 1 if high is not None else largest if largest <= _INT64.max else -1
        bounds = 0 if dtype.kind in "ub" else int(np.iinfo(dtype).min), min(largest, _INT64.max)
    else:
        checker = "random_from_to_impl" if high is None else "check_random_bounds"
        raise RuntimeError(f"{checker} handles only integral, floating-point and boolean types")
    for name, value in (("from", low), ("to - 1", last)):
        require(bounds[0] <= value <= bounds[1], f"{name} is out of bounds for {NAMES[dtype.name][1]}")
        _warn_imprecise(name, value, dtype)
    return low, last


def _as_int64(value: int, dtype: np.dtype) -> int:
    """An integer rounded to a float dtype and back; what does not fit becomes the least int64."""
    with np.errstate(over="ignore"):
        rounded = float(narrow(np.array(value, np.int64), dtype))
    return int(rounded) if -(2.0**63) <= rounded < 2.0**63 else _INT64.min


def _float_low(low: int, dtype: np.dtype) -> int:
    """``low``, or where ``low + 1`` rounds below it, the next value upwards that is held."""
    rounded = _as_int64(low + 1, dtype)
    if rounded >= low:
        return low
    return rounded + (1 << (abs(low + 1).bit_length() - DIGITS[dtype]))


def _float_high(high: int, dtype: np.dtype) -> int:
    """``high``, or where ``high - 1`` rounds up to it or above, the next value downwards."""
    rounded = _as_int64(high - 1, dtype)
    if rounded < high:
        return high
    return rounded - (1 << (abs(high - 1).bit_length() - DIGITS[dtype]))


def _warn_imprecise(name: str, value: int, dtype: np.dtype) -> None:
    digits = DIGITS.get(dtype)
    if digits is not None and abs(value) > 2**digits:
        warn(
            f"{name} is out of bounds [-(2^{digits}), 2^{digits}]. Due to precision limitations "
            f"{NAMES[dtype.name][1]} can support discrete uniform distribution only within this "
            "range. This warning will become an error in version 1.7 release, please fix the code "
            "in advance")


def random_full(gen: Generator, shape: Shape, dtype: DTypeLike) -> np.ndarray:
    """``random_()`` without bounds: integers from 0 up, for floats to 2**digits. Bit-equal."""
    dtype, (shape, size) = np.dtype(dtype), shaped(shape)
    if size:
        require_kernel("random_kernel_cpu", dtype, ALL_TYPES)
    with gen.lock:
        words = gen.long_words(size) if dtype in (np.dtype(np.int64), F8) else gen.words(size)
    if dtype.kind == "b":
        span = 2
    elif dtype in DIGITS:
        span = 2 ** DIGITS[dtype] + 1
    else:
        span = int(np.iinfo(dtype).max) + 1
    return narrow((words % u8(span)).view(np.int64), dtype).reshape(shape)


_LONG_SHUFFLE = (2**32 - 1) // 20  # from here 32 bits would favour some places noticeably
_SHORT_SHUFFLE = 2048  # up to here swapping in a list is the quicker way


def randperm(gen: Generator, n: int, dtype: DTypeLike = np.int64) -> np.ndarray:
    """``randperm``: a Fisher-Yates shuffle, ``word % (n - i)`` places onwards. Bit-equal to torch.

    From 214,748,364 elements on, the inside-out shuffle with 64-bit words, ``word % (i + 1)``.
    """
    dtype = np.dtype(dtype)
    _check_permutation(n, dtype)
    with gen.lock:
        if n >= _LONG_SHUFFLE:
            places = (gen.long_words(n) % np.arange(1, n + 1, dtype=u8)).view(np.int64)
            return narrow(_inside_out(places), dtype)
        offsets = gen.words(max(n - 1, 0)) % np.arange(n, min(n, 1), -1, u8)
    places = offsets.view(np.int64) + np.arange(max(n - 1, 0))
    return narrow((_swapped if n <= _SHORT_SHUFFLE else _permuted)(n, places), dtype)


def _swapped(n: int, places: np.ndarray) -> np.ndarray:
    """The shuffle as it is told: for each ``i`` in turn, exchange it with ``places[i] >= i``."""
    values = list(range(n))
    for i, place in enumerate(places.tolist()):
        values[i], values[place] = values[place], values[i]
    return np.array(values, np.int64)


def _permuted(n: int, places: np.ndarray) -> np.ndarray:
    """The same shuffle without a loop.

    Step ``i`` puts the content of place ``i`` at ``places[i]``, where it stays until a later step
    names that place; and what step ``i`` takes is final. So let ``root(t)`` be the content of
    place ``t`` before step ``t``: that of the last earlier step that named ``t``, or ``t``
    itself. The value taken by ``i`` is ``root`` of the previous step that named the same place,
    or if there is none the place.
    """
    steps = np.arange(n - 1)
    root = np.arange(n)
    root[places] = steps  # of several steps the last counts
    while not np.array_equal(root, further := root[root]):
        root = further
    order = _stable_order(places)
    named = places[order]
    again = np.flatnonzero(named[1:] == named[:-1])
    out = np.append(places, n - 1)
    out[order[again + 1]] = order[again]
    taken = np.zeros(n, bool)
    taken[order[again + 1]] = taken[-1] = True
    out[taken] = root[out[taken]]
    return out


def _stable_order(places: np.ndarray) -> np.ndarray:
    """A stable ``argsort`` of numbers below 2**32: two passes over 16 bits, which NumPy counts."""
    low = np.argsort((places & 0xFFFF).astype(np.uint16), kind="stable")
    return low[np.argsort((places >> 16).astype(np.uint16)[low], kind="stable")]


def _inside_out(places: np.ndarray) -> np.ndarray:
    """Value ``i`` goes to ``places[i] <= i``, and what stood there goes to ``i``."""
    values = np.empty(places.size, np.int64)
    store = memoryview(values)
    for i, place in enumerate(memoryview(places)):
        store[i] = store[place] if place != i else i
        store[place] = i
    return values


def _check_permutation(n: int, dtype: np.dtype) -> None:
    require(n >= 0, f"Trying to create tensor with negative dimension {n}: [{n}]")
    require_kernel("randperm", dtype, ALL_TYPES - {np.dtype(bool)})
    if dtype.kind in "iu":
        cpp = f"{dtype.name}_t"
        require(
            n - 1 <= np.iinfo(dtype).max,
            f"value cannot be converted to type {cpp} without overflow",
        )
    elif dtype != BF2:
        digits = DIGITS[dtype]
        limit = "2049" if dtype == F2 else f"2^{digits}+1"
        require(n <= 2**digits + 1, f"n cannot be greater than {limit} for {NAMES[dtype.name][0]} type.")
