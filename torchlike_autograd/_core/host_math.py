"""Elementwise primitives on the host (layer 3): what NumPy's function is for each, and where XLA's differs."""

from __future__ import annotations

import numpy as np


def _div(a, b):
    if a.dtype.kind not in "iu":
        return np.divide(a, b)
    safe = np.where(b == 0, 1, b)
    q = a // safe  # rounded down, so one more where the signs differ and something is left
    if a.dtype.kind == "i":
        q = q + ((q * safe != a) & ((a < 0) != (safe < 0)))
    return np.where(b == 0, np.asarray(-1).astype(a.dtype), q).astype(a.dtype)  # all of its bits, as XLA says


def _rem(a, b):
    if a.dtype.kind not in "iu":
        return np.fmod(a, b)
    return np.where(b == 0, a, np.fmod(a, np.where(b == 0, 1, b))).astype(a.dtype)


def _select_n(which, *cases):
    if not which.shape:
        return cases[int(which)]
    if len(cases) == 2 and which.dtype == bool:
        return _chosen(which, *cases)
    return np.choose(which, cases)


_MANY = 4096
_INTEGERS = {2: np.int16, 4: np.int32, 8: np.int64}


def _chosen(which, a, b):
    """b where `which`, else a: of many numbers by their bits, which takes half as long as asking for each."""
    integer = _INTEGERS.get(b.dtype.itemsize)
    if which.size < _MANY or integer is None or b.dtype.kind not in "fiu":
        return np.where(which, b, a)
    mask = np.negative(which.view(np.int8)).astype(integer)
    a, b, dtype = a.view(integer), b.view(integer), b.dtype
    if not a.shape and not a:
        return (b & mask).view(dtype)
    return ((a ^ b) & mask ^ a).view(dtype)


def _one_minus_square(x):
    """JAX's factor of the derivative of tanh since 0.12."""
    one = x.dtype.type(1)
    return (one + x) * (one - x)


def _sign(x):
    if x.dtype.kind == "c":
        size = np.abs(x)
        return np.where(size == 0, 0, x / np.where(size == 0, 1, size)).astype(x.dtype)
    return np.sign(x)


def _special(name):
    """SciPy's function of this name, in the precision of its input; imported where it is needed first."""

    def f(*xs):
        from scipy import special

        dtype = np.result_type(*xs)
        wide = [np.asarray(x).astype(np.float32) for x in xs] if dtype.itemsize == 2 else xs
        return np.asarray(getattr(special, name)(*wide)).astype(dtype, copy=False)

    return f


def _lgamma(x):
    """SciPy's is -inf at -inf."""
    return np.where(np.isneginf(x), x.dtype.type(np.inf), _gammaln(x))


_gammaln = _special("gammaln")


def _complex(a, b):
    """By parts: a sum with 1j * b would make NaN of infinities and lose signs of zeros."""
    out = np.empty(np.broadcast_shapes(np.shape(a), np.shape(b)), np.complex64 if a.dtype == np.float32 else np.complex128)
    out.real, out.imag = a, b
    return out


def _clamp(low, x, high):
    return np.minimum(np.maximum(x, low), high)


def _ordered(x):
    """Numbers in the order in which XLA sorts: a NaN is last, first where it has a sign, and -0 comes before 0."""
    if x.dtype.kind != "f":
        return x
    bits = np.ascontiguousarray(x).view(f"i{x.dtype.itemsize}").reshape(np.shape(x))
    return np.where(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits)


def _logistic(x):
    return (1 / (1 + np.exp(-x))).astype(x.dtype)


BITWISE = {np.logical_and: np.bitwise_and, np.logical_or: np.bitwise_or, np.logical_xor: np.bitwise_xor, np.logical_not: np.bitwise_not}

ELEMENTWISE = {
    "add": np.add, "add_any": np.add, "sub": np.subtract, "mul": np.multiply, "div": _div, "rem": _rem, "max": np.maximum, "min": np.minimum,
    "neg": np.negative, "sign": _sign, "floor": np.floor, "ceil": np.ceil, "exp": np.exp, "exp2": np.exp2, "log": np.log, "log1p": np.log1p,
    "expm1": np.expm1, "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "sqrt": np.sqrt,
    "rsqrt": lambda x: (1 / np.sqrt(x)).astype(x.dtype), "cbrt": np.cbrt, "pow": lambda a, b: np.power(a, b.astype(a.dtype) if a.dtype.kind in "fc" else b),
    "one_minus_square": _one_minus_square,
    "abs": np.abs, "square": np.square, "erf": _special("erf"), "erfc": _special("erfc"), "erf_inv": _special("erfinv"), "lgamma": _lgamma,
    "bessel_i0e": _special("i0e"), "bessel_i1e": _special("i1e"), "logistic": _logistic, "is_finite": np.isfinite, "eq": np.equal, "ne": np.not_equal,
    "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor,
    "not": np.logical_not, "select_n": _select_n, "clamp": _clamp, "real": np.real, "imag": np.imag, "conj": np.conj, "nextafter": np.nextafter,
    "shift_left": np.left_shift, "complex": _complex, "lt_to": lambda a, b: _ordered(a) < _ordered(b), "le_to": lambda a, b: _ordered(a) <= _ordered(b),
}

__all__ = ["BITWISE", "ELEMENTWISE"]
