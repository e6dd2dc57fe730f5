"""Distributions of which a value takes an unknown number of draws, and ``multinomial``.

Torch makes these values one after the other, in double, without fused multiply-adds. So do we,
reading uniforms ahead in blocks and leaving the generator exactly behind the last one used.
"""

from __future__ import annotations

import math

import numpy as np

from .rng_draws import (
    BF2,
    DIGITS,
    F2,
    F4,
    F8,
    NAMES,
    exponential,
    narrow,
    require,
    require_kernel,
    uniform01,
)
from .rng_math import u8
from .rng_stream import Generator

_BLOCK = 512


class _Reader:
    """Single float64 uniforms and normals from a generator whose lock is held; use as a context."""

    def __init__(self, gen: Generator) -> None:
        self.gen, self.used, self.block = gen, 0, []

    def __enter__(self) -> _Reader:
        self.gen.lock.acquire()
        return self

    def __exit__(self, *exc: object) -> None:
        self.gen.long_words(self.used)
        self.gen.lock.release()

    def uniform(self) -> float:
        """The next uniform in [0, 1)."""
        if self.used == len(self.block):
            self.gen.long_words(self.used)
            words = self.gen.look_ahead(_BLOCK) & u8(2**53 - 1)
            self.block, self.used = (words.view(np.int64) * 2.0**-53).tolist(), 0
        self.used += 1
        return self.block[self.used - 1]

    def normal(self) -> float:
        """The next standard normal: the generator's waiting one, or the first of a new pair."""
        value, self.gen.pending_normal = self.gen.pending_normal, None
        if value is None:
            turn, inside = self.uniform(), self.uniform()
            radius, angle = math.sqrt(-2.0 * math.log1p(-inside)), 2.0 * math.pi * turn
            value, self.gen.pending_normal = radius * math.cos(angle), radius * math.sin(angle)
        return value


# ---- poisson ---------------------------------------------------------------------------


def poisson(gen: Generator, rates: np.ndarray) -> np.ndarray:
    """``poisson``: counts of the rates' dtype. Values equal torch's.

    Below a rate of 10 by multiplying uniforms, above by Hoermann's transformed rejection (PTRS,
    1993).
    """
    rates = np.asarray(rates)
    require_kernel("poisson_cpu", rates.dtype, DIGITS)
    with _Reader(gen) as reader:
        counts = [_poisson(rate, reader) for rate in rates.reshape(-1).astype(F8).tolist()]
    return narrow(np.array(counts, F8), rates.dtype).reshape(rates.shape)


def _poisson(rate: float, reader: _Reader) -> int:
    require(rate >= 0, "invalid Poisson rate, expected rate to be non-negative")
    if rate >= 10:
        return _poisson_large(rate, reader)
    if rate == 0:
        return 0
    count, product, limit = 0, reader.uniform(), math.exp(-rate)
    while product > limit:
        count, product = count + 1, product * reader.uniform()
    return count


def _poisson_large(rate: float, reader: _Reader) -> int:
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    log_rate, log_inverse_alpha = math.log(rate), math.log(1.1239 + 1.1328 / (b - 3.4))
    certain = 0.9277 - 3.6224 / (b - 2)
    while True:
        u, v = reader.uniform() - 0.5, reader.uniform()
        near = 0.5 - abs(u)
        if near == 0:
            continue  # torch's count is then minus infinity, which it rejects
        count = math.floor((2 * a / near + b) * u + rate + 0.43)
        if near >= 0.07 and v <= certain:
            return count
        if count < 0 or (near < 0.013 and v > near):
            continue
        accept = -rate + count * log_rate - math.lgamma(count + 1.0)
        if v == 0 or math.log(v) + log_inverse_alpha - math.log(a / (near * near) + b) <= accept:
            return count


# ---- binomial --------------------------------------------------------------------------


def binomial(gen: Generator, count: np.ndarray, prob: np.ndarray) -> np.ndarray:
    """``binomial``: successes in ``count`` trials, of its dtype. Equal to torch's.

    Where ``count * prob`` is below 10 by adding geometric gaps, above by Hoermann's BTRS;
    probabilities above one half count the failures.
    """
    count, prob = np.broadcast_arrays(count, prob)
    require_kernel("binomial_cpu", count.dtype, (F4, F8))
    with _Reader(gen) as reader:
        values = [_binomial(n, p, reader) for n, p in zip(count.flat, prob.flat, strict=True)]
    return np.array(values, count.dtype).reshape(count.shape)


def _binomial(n: np.floating, p: np.floating, reader: _Reader) -> float:
    """``n`` and ``p`` are NumPy scalars, so that their precision is used where torch uses it."""
    if n <= 0 or p <= 0:
        return 0.0
    if p >= 1:
        return float(n)
    if p > 0.5:
        return float(n) - _successes(n, type(p)(1.0 - float(p)), reader)
    return _successes(n, p, reader) if p <= 0.5 else math.nan


def _successes(n: np.floating, p: np.floating, reader: _Reader) -> float:
    return _binomial_btrs(n, p, reader) if n * p >= 10 else _binomial_gaps(n, p, reader)


def _binomial_gaps(n: np.floating, p: np.floating, reader: _Reader) -> float:
    log_failure, reached, successes = float(np.log1p(-p)), 0.0, 0
    while True:
        u = reader.uniform()
        reached += math.ceil(math.log(u) / log_failure) if u else math.inf
        if reached > n:
            return float(successes)
        successes += 1


def _binomial_btrs(n: np.floating, p: np.floating, reader: _Reader) -> float:
    deviation, ratio = float(np.sqrt(n * p * (1 - p))), float(p / (1 - p))
    center, mode = float(n * p) + 0.5, float(np.floor((n + 1) * p))
    n, p = float(n), float(p)
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    certain, alpha = 0.92 - 4.2 / b, (2.83 + 5.1 / b) * deviation
    while True:
        u, v = reader.uniform() - 0.5, reader.uniform()
        near = 0.5 - abs(u)
        if near == 0:
            continue
        k = math.floor((2 * a / near + b) * u + center)
        if not 0 <= k <= n:
            continue
        if near >= 0.07 and v <= certain:
            return k
        bound = (
            (mode + 0.5) * math.log((mode + 1) / (ratio * (n - mode + 1)))
            + (n + 1) * math.log((n - mode + 1) / (n - k + 1))
            + (k + 0.5) * math.log(ratio * (n - k + 1) / (k + 1))
            + _stirling_rest(mode)
            + _stirling_rest(n - mode)
            - _stirling_rest(k)
            - _stirling_rest(n - k)
        )
        if v == 0 or math.log(v * alpha / (a / (near * near) + b)) <= bound:
            return k


def _stirling_rest(k: float) -> float:
    """What Stirling's formula lacks of ``log(k!)``: exact below 10, a series from there."""
    if k <= 9:
        return math.lgamma(k + 1) - ((k + 0.5) * math.log(k + 1) - (k + 1) + 0.5 * math.log(2 * math.pi))
    square = (k + 1) * (k + 1)
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)


# ---- gamma -----------------------------------------------------------------------------


def standard_gamma(gen: Generator, alpha: np.ndarray) -> np.ndarray:
    """``_standard_gamma``: gamma variates of rate one (Marsaglia and Tsang, 2000). Bit-equal."""
    alpha = np.asarray(alpha)
    require_kernel("gamma_cpu", alpha.dtype, (F4, F8))
    with _Reader(gen) as reader:
        values = [_gamma(a, reader) for a in alpha.flat]
    smallest = np.finfo(alpha.dtype).tiny
    return np.fmax(np.array(values, F8).astype(alpha.dtype), smallest).reshape(alpha.shape)


_THIRD, _SQUEEZE = (
    float(F4.type(1) / F4.type(3)),
    float(F4.type(0.0331)),
)  # float32 constants in torch


def _gamma(alpha: np.floating, reader: _Reader) -> float:
    """``alpha`` is a NumPy scalar; shapes below one borrow the next shape and shrink the result."""
    if alpha == 0:
        return 0.0
    one, scale = type(alpha)(1), 1.0
    if alpha < 1:
        scale = (1 - reader.uniform()) ** float(one / alpha)
        alpha = alpha + one
    d = float(alpha - type(alpha)(_THIRD))
    c = 1.0 / math.sqrt(9.0 * d) if d > 0 else math.nan
    while True:
        x = reader.normal()
        y = 1.0 + c * x
        if y <= 0:
            continue
        v = y * y * y
        u, square = 1 - reader.uniform(), x * x
        if u < 1.0 - _SQUEEZE * square * square or math.log(u) < 0.5 * square + d * (1.0 - v + math.log(v)):
            return scale * d * v


def dirichlet(gen: Generator, alpha: np.ndarray) -> np.ndarray:
    """``_sample_dirichlet``: gamma variates made in double, divided by their sum along the last dim."""
    alpha = np.asarray(alpha)
    require_kernel("dirichlet", alpha.dtype, (F4, F8))
    with _Reader(gen) as reader:
        values = np.array([_gamma(a, reader) for a in alpha.astype(F8).flat], F8).reshape(alpha.shape)
    smallest, largest = np.finfo(alpha.dtype).tiny, np.nextafter(alpha.dtype.type(1), alpha.dtype.type(0))
    values = np.fmax(values, np.finfo(F8).tiny)
    shares = values / np.add.accumulate(values, -1)[..., -1:] if values.ndim and values.size else np.ones_like(values)
    return np.clip(shares.astype(alpha.dtype), smallest, largest)


# ---- multinomial -----------------------------------------------------------------------


def multinomial(gen: Generator, probs: np.ndarray, num_samples: int, replacement: bool = False, laid=lambda draw, shape: draw(shape)) -> np.ndarray:
    """``multinomial``: indices of one or of several rows of weights, as int64. Equal to torch's.

    laid: ``laid(draw, shape)`` draws numbers for weights that do not lie row by row in their order.

    With replacement, one float64 uniform each looks up the running sum of a row. Without, or for a
    single sample, every weight is divided by an exponential and the largest quotients win. Of equal
    quotients the first comes first; torch leaves their order to its sorting routine. Equal ones are
    rare in float32 and float64, not so in the 16-bit types and among weights of zero.
    """
    probs = np.asarray(probs)
    _check_weights(probs, num_samples, replacement)
    rows = probs if probs.ndim == 2 else probs[None]
    if not rows.shape[0]:
        return np.empty((0, num_samples), np.int64)
    if replacement and num_samples > 1:
        found = _with_replacement(gen, rows, num_samples)
    else:
        found = _without_replacement(gen, rows, num_samples, laid if probs.ndim == 2 else lambda draw, shape: draw(shape))
    return found.reshape(*probs.shape[:-1], num_samples)


def _check_weights(probs: np.ndarray, num_samples: int, replacement: bool) -> None:
    require(0 < probs.ndim <= 2, "prob_dist must be 1 or 2 dim")
    name = NAMES[probs.dtype.name][0]
    require(
        probs.dtype in DIGITS,
        f"multinomial only supports floating-point dtypes for input, got: {name}",
    )
    require(num_samples > 0, "cannot sample n_sample <= 0 samples")
    require(
        replacement or num_samples <= probs.shape[-1],
        "cannot sample n_sample > prob_dist.size(-1) samples without replacement",
    )
    require(probs.shape[-1] <= 2**24, "number of categories cannot exceed 2^24")


def _without_replacement(gen: Generator, rows: np.ndarray, num_samples: int, laid) -> np.ndarray:
    wide = rows.astype(F8)
    require(
        bool(((wide >= 0) & (wide < np.inf)).all()),
        "probability tensor contains either `inf`, `nan` or element < 0",
    )
    require(
        bool((wide.sum(1) > 0).all()),
        "invalid multinomial distribution (sum of probabilities <= 0)",
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        keys = (rows / laid(lambda shape: exponential(gen, shape, rows.dtype), rows.shape)).astype(F8)
    if num_samples == 1:
        return keys.argmax(1)
    return np.ascontiguousarray((-keys).argsort(1, kind="stable")[:, :num_samples])


def _with_replacement(gen: Generator, rows: np.ndarray, num_samples: int) -> np.ndarray:
    rows = rows.astype(F4) if rows.dtype in (F2, BF2) else rows
    invalid = "invalid multinomial distribution"
    out = np.empty((rows.shape[0], num_samples), np.int64)
    with gen.lock:
        for row, samples in zip(rows, out, strict=True):
            require(bool((row >= 0).all()), f"{invalid} (encountering probability entry < 0)")  # NaN counts as one
            require(
                bool(np.isfinite(row).all()),
                f"{invalid} (encountering probability entry = infinity or NaN)",
            )
            running = np.add.accumulate(row)  # one after the other, in the weights' own precision
            require(bool(row.size and running[-1] > 0), f"{invalid} (sum of probabilities <= 0)")
            running = (running / running[-1]).astype(F8)
            running[-1] = 1.0
            samples[:] = running.searchsorted(uniform01(gen, num_samples, F8), side="left")
    return out
