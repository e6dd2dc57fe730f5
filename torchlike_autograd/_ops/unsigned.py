"""Operators of which torch 2.13 has no kernel for unsigned integers wider than 8 bits (layer 2), by the name that it says."""

from __future__ import annotations

import math

from .._core import dtypes

WIDE = (dtypes.uint16, dtypes.uint32, dtypes.uint64)
_GATHER, _SCALAR = "scatter_gather_tensor_cpu", "scatter_gather_scalar_cpu"


def _full(kernel):
    """The kernel is asked for where the first input has elements."""
    return lambda avals, statics: kernel if math.prod(avals[0].shape) else None


def _indexed(kernel):
    """The kernel is asked for where there are indices."""
    return lambda avals, statics: kernel if math.prod(avals[1].shape) else None


def _index_add(avals, statics):
    ndim, some = len(avals[0].shape), math.prod(avals[0].shape) and math.prod(avals[1].shape)
    return None if not some else "index_add_" if ndim < 2 else _GATHER if statics["dim"] in (0, -ndim) else "add_stub"


def _scatter_reduce(avals, statics):
    if not statics.get("include_self", True):
        return "scatter_reduce_exclude_input_init"
    how = statics["reduce"]
    return _GATHER if how in ("sum", "prod") else f"{_GATHER}_reduce_{how}"


def _few_tests(avals, statics):
    """Many elements are sorted, a number is compared."""
    a, b = avals
    few = math.prod(b.shape) < 10 * math.prod(a.shape) ** 0.145
    return "isin_default_cpu" if few and b.device != "number" else None


def _subtracted(avals, statics):
    """Beside floats they are floats."""
    return "add_stub" if all(a.dtype.category < dtypes.FLOAT for a in avals[:2]) else None


_TURNED = (lambda a, b: (), lambda a, b: (b,), lambda a, b: (a, b), lambda a, b: (a,))  # the dims that are flipped for k quarter turns


def _flip(shape, dims):
    """Rows are moved as bytes: only to turn them over a kernel is needed."""
    return "flip_cpu" if math.prod(shape) and {-1, len(shape) - 1} & set(dims) and shape else None


_KERNELS = {  # a text, or f(input types, statics) -> text, None where none is asked for
    "amax": "max_values_cpu", "amin": "min_values_cpu", "argmax": "argmax_cpu", "argmin": "argmin_cpu",
    "count_nonzero": lambda avals, statics: "nonzero_count_cpu" if statics.get("dim") is None else None,
    "gather": _GATHER, "heaviside": "heaviside_cpu", "isin.Tensor_Tensor": _few_tests, "max": "max_all", "max.dim": "max_cpu", "min": "min_all",
    "min.dim": "min_cpu", "scatter.src": _indexed(_GATHER), "scatter_add": _GATHER, "topk": "topk_cpu",
    "trace": "trace", "tril": _full("tril"), "triu": _full("triu"), "scatter.reduce": _GATHER, "scatter.value": _indexed(_SCALAR), "scatter.value_reduce": _SCALAR,
    "scatter_reduce.two": _scatter_reduce, "index_add": _index_add, "index_copy": "index_copy_cpu", "index_fill.int_Scalar": "index_fill_cpu",
    "index_fill.int_Tensor": "index_fill_cpu", "_index_put": "index_put", "_masked_select": "masked_select", "take": _indexed("take_cpu"), "put": _indexed("take_put_cpu"), "pixel_shuffle": "pixel_shuffle",
    "pixel_unshuffle": "pixel_unshuffle", "channel_shuffle": "channel_shuffle", "native_channel_shuffle": "channel_shuffle",
    "flip": lambda avals, statics: _flip(avals[0].shape, statics["dims"]),
    "rot90": lambda avals, statics: _flip(avals[0].shape, _TURNED[statics.get("k", 1) % 4](*statics.get("dims", (0, 1)))),
    "dist": _subtracted, "pairwise_distance": _subtracted}


def refuse_unsigned(op, avals, statics):
    """torch's error for an operator that it has not for the type of its first tensor; on "meta" there are no kernels to miss."""
    kernel = _KERNELS.get(op.key)
    first = kernel and next((a for a in avals if a.device != "number"), None)
    if first is not None and first.dtype in WIDE and first.device != "meta":
        kernel = kernel if isinstance(kernel, str) else kernel(avals, statics)
        if kernel is not None:
            raise no_kernel(kernel, first.dtype)


def no_kernel(kernel, dtype):
    """torch's error where a kernel was not made for a dtype."""
    return NotImplementedError(f"\"{kernel}\" not implemented for '{dtype.char_name}'")


__all__ = ["WIDE", "no_kernel", "refuse_unsigned"]
