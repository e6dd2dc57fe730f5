"""Python numbers against dtypes (layer 1): what does not fit, in torch's words; and what torch says once in a process."""

from __future__ import annotations

import numpy as np

from . import config, dtypes
from .saying import warn

_CXX = {"float64": "double", "float32": "float", "float16": "c10::Half", "bfloat16": "c10::BFloat16", "int64": "int64_t", "int32": "int",
        "int16": "int16_t", "int8": "int8_t", "uint8": "uint8_t", "uint16": "uint16_t", "uint32": "uint32_t", "uint64": "uint64_t"}


def _limits(d):
    if d.category == dtypes.BOOL:
        return -float("inf"), float("inf")
    if d.category == dtypes.INT:
        info = np.iinfo(d.np)
        return (int(info.min), int(info.max)) if d.is_signed else (-int(info.max), int(info.max))  # negative integers wrap
    info = dtypes.finfo(d)
    return info.min, info.max


LIMITS: dict = {}  # dtype -> (least, greatest) number that is taken


def limits(dtype):
    """The least and the greatest Python int that a dtype takes (an unsigned one wraps negative numbers)."""
    out = LIMITS.get(dtype)
    if out is None:
        out = LIMITS[dtype] = _limits(dtype)
    return out


def overflows(x, dtype):
    """Whether torch refuses to convert this Python number."""
    if type(x) is complex:
        if dtype.is_complex:
            return overflows(x.real, dtype) or overflows(x.imag, dtype)
        if dtype.category == dtypes.BOOL:
            return False
        return x.imag != 0 or overflows(x.real, dtype)
    if dtype.is_complex:
        return overflows(x, dtype.to_real())
    low, high = limits(dtype)
    if type(x) is float:
        if x != x or x in (float("inf"), -float("inf")):
            return dtype.category == dtypes.INT
        if dtype.category == dtypes.INT and not dtype.is_signed:
            low = 0
    return not low <= x <= high


def check_number(x, dtype, opmath=False):
    """Refuse a Python number that a dtype cannot hold."""
    known = LIMITS.get(dtype)
    kind = type(x)
    if known is not None and (kind is int or (kind is float and dtype.is_floating_point)) and known[0] <= x <= known[1]:
        return
    if overflows(x, dtype):
        raise cannot_hold(dtype, opmath)


def check_stored(x, dtype):
    """`check_number` where torch makes a scalar tensor of the number on the way: in half precision that one holds an infinity."""
    if dtype is not dtypes.float16 and dtype is not dtypes.bfloat16:
        check_number(x, dtype)
    elif type(x) is complex and x.imag != 0:
        raise cannot_hold(dtypes.float64)


def cannot_hold(dtype, opmath=False):
    """The error for a number that a dtype cannot hold; `opmath` where half precision is computed in float32."""
    name = dtype.to_real().name
    if dtype.is_complex:
        return RuntimeError(f"value cannot be converted to type c10::complex<{_CXX[name]}> without overflow")
    return RuntimeError(f"value cannot be converted to type {'float' if opmath and name in ('float16', 'bfloat16') else _CXX.get(name, name)} without overflow")


_said: set = set()


def say_once(text, key=None):
    """A warning that torch gives once in a process (once for all texts of a key), unless `set_warn_always` asked for more."""
    key = key or text
    if key not in _said or config.get("warn_always"):
        _said.add(key)
        warn(text)


def warn_imaginary():
    """What torch says where a complex tensor becomes a real one."""
    say_once("Casting complex values to real discards the imaginary part (Triggered internally at /pytorch/aten/src/ATen/native/Copy.cpp:307.)")


__all__ = ["LIMITS", "cannot_hold", "check_number", "check_stored", "limits", "overflows", "say_once", "warn_imaginary"]
