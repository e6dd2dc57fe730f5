"""torch.signal.windows (layer 7): tapering windows, symmetric or periodic."""

from __future__ import annotations

import functools
import inspect
import math

from .._core import config, dtypes, layouts
from .._core.composite import composite, named
from .create import empty, full, linspace, ones, placed

_i0 = named("i0")


def _checked(name, M, dtype, layout):
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout is not layouts.strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if dtype not in (dtypes.float32, dtypes.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")


def _window(compute):
    """Publish a window: ``compute(M, period, dtype, **its own) -> values``; `period` is the number of steps of a full turn."""
    name, known = compute.__name__, frozenset(inspect.signature(compute).parameters) - {"M", "period", "dtype"}

    @functools.wraps(compute)
    def window(M, *, sym=True, dtype=None, layout=layouts.strided, device=None, requires_grad=False, **own):
        for k in own:
            if k not in known:
                raise TypeError(f"{name}() got an unexpected keyword argument '{k}'")
        dtype = config.default_dtype() if dtype is None else dtype
        _checked(name, M, dtype, layout)
        check = CHECKS.get(name)
        if check is not None:
            check(M, sym, **own)
        if M == 0:
            out = empty((0,), dtype=dtype)
        elif M == 1:
            out = ones((1,), dtype=dtype)
        else:
            out = compute(M, M - 1 if sym else M, dtype, **own)
        return placed(out, device, requires_grad)

    del window.__wrapped__
    return composite(f"torch.signal.windows.{name}")(window)


def _positive(word):
    def check(M, sym, **own):
        value = own.get({"Tau": "tau", "Standard deviation": "std"}[word], 1.0)
        if value <= 0:
            raise ValueError(f"{word} must be positive, got: {value} instead.")

    return check


def _check_exponential(M, sym, center=None, tau=1.0):
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")


def _check_kaiser(M, sym, beta=12.0):
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")


def _check_coefficients(M, sym, a):
    if not isinstance(a, (list, tuple)):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")


CHECKS = {"exponential": _check_exponential, "gaussian": _positive("Standard deviation"), "kaiser": _check_kaiser, "general_cosine": _check_coefficients}


def _from(start, step, M, dtype):
    return linspace(start, start + (M - 1) * step, M, dtype=dtype)


@_window
def exponential(M, period, dtype, center=None, tau=1.0):
    """exp(-|n - center| / tau)."""
    center = period / 2 if center is None else center
    return (-_from(-center / tau, 1 / tau, M, dtype).abs()).exp()


@_window
def cosine(M, period, dtype):
    """Half a sine, its ends left out."""
    step = math.pi / (period + 1)
    return _from(0.5 * step, step, M, dtype).sin()


@_window
def gaussian(M, period, dtype, std=1.0):
    """exp(-(n - center)^2 / (2 std^2))."""
    step = 1 / (std * math.sqrt(2))
    return (-_from(-period / 2 * step, step, M, dtype) ** 2).exp()


@_window
def kaiser(M, period, dtype, beta=12.0):
    """i0(beta sqrt(1 - x^2)) / i0(beta) with x from -1 to 1."""
    step = 2.0 * beta / period
    k = linspace(-beta, min(beta, -beta + (M - 1) * step), M, dtype=dtype)
    return _i0((beta * beta - k ** 2).clamp(min=0).sqrt()) / _i0(full((), beta, dtype=dtype))


@_window
def bartlett(M, period, dtype):
    """The triangle between zeros."""
    return 1 - _from(-1, 2 / period, M, dtype).abs()


@_window
def blackman(M, period, dtype):
    """Three cosines: 0.42, 0.5, 0.08."""
    return _cosines(M, period, dtype, (0.42, 0.5, 0.08))


def _cosines(M, period, dtype, a):
    step = 2 * math.pi / period
    k = linspace(0, (M - 1) * step, M, dtype=dtype)
    total = None
    for i, weight in enumerate(a):
        term = (k * i).cos() * (-weight if i % 2 else weight)
        total = term if total is None else total + term
    return total


@_window
def general_cosine(M, period, dtype, a=()):
    """The sum of (-1)^i a[i] cos(2 pi i n / period)."""
    return _cosines(M, period, dtype, a)


def _special_case(name, coefficients):
    def window(M, *, sym=True, dtype=None, layout=layouts.strided, device=None, requires_grad=False, **own):
        return general_cosine(M, a=coefficients(**own), sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)

    window.__name__ = name
    window.__doc__ = f"The {name} window, a case of general_cosine."
    composite(f"torch.signal.windows.{name}")(window)


_special_case("general_hamming", lambda alpha=0.54: [alpha, 1.0 - alpha])
_special_case("hamming", lambda: [0.54, 1.0 - 0.54])
_special_case("hann", lambda: [0.5, 0.5])
_special_case("nuttall", lambda: [0.3635819, 0.4891775, 0.1365995, 0.0106411])


__all__ = ["bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "kaiser"]
