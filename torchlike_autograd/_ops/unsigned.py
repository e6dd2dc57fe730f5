"""Operators of which torch 2.13 has no kernel for unsigned integers wider than 8 bits (layer 2), by the name that it says."""

from __future__ import annotations

from .._core import dtypes

_WIDE = (dtypes.uint16, dtypes.uint32, dtypes.uint64)
_GATHER = "scatter_gather_tensor_cpu"
_KERNELS = {
    "amax": "max_values_cpu", "amin": "min_values_cpu", "argmax": "argmax_cpu", "argmin": "argmin_cpu", "count_nonzero": "nonzero_count_cpu",
    "gather": _GATHER, "heaviside": "heaviside_cpu", "isin.Tensor_Tensor": "isin_default_cpu", "max": "max_all", "max.dim": "max_cpu", "min": "min_all",
    "min.dim": "min_cpu", "scatter.src": _GATHER, "scatter_add": _GATHER, "topk": "topk_cpu", "trace": "trace", "tril": "tril", "triu": "triu"}


def refuse_unsigned(op, avals):
    """torch's error for an operator that it has not for the type of its first input; on "meta" there are no kernels to miss."""
    first = avals[0] if avals else None
    if first is not None and first.dtype in _WIDE and op.key in _KERNELS and first.device != "meta":
        raise NotImplementedError(f"\"{_KERNELS[op.key]}\" not implemented for '{first.dtype.char_name}'")


__all__ = ["refuse_unsigned"]
