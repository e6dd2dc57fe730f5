"""torch.ao.quantization.utils (layer 9): ranges of quantized numbers and their checks."""

from __future__ import annotations

import warnings

import torchlike_autograd as torch

__all__ = ["calculate_qmin_qmax", "check_min_max_valid", "is_per_channel", "is_per_tensor", "validate_qmin_qmax"]

_RANGES = {"qint8": (-128, 127), "int8": (-128, 127), "quint8": (0, 255), "uint8": (0, 255), "qint32": (-2**31, 2**31 - 1), "int32": (-2**31, 2**31 - 1),
           "uint16": (0, 2**16 - 1), "int16": (-2**15, 2**15 - 1)}


def is_per_tensor(qscheme):
    """Whether a tensor has one scale."""
    return qscheme in (torch.per_tensor_affine, torch.per_tensor_symmetric)


def is_per_channel(qscheme):
    """Whether each channel has its own."""
    return qscheme in (torch.per_channel_affine, torch.per_channel_affine_float_qparams, torch.per_channel_symmetric)


def check_min_max_valid(min_val, max_val):
    """Whether something has been observed, which is warned of; AssertionError for a minimum above its maximum."""
    whole = min_val.dim() == 0 or max_val.dim() == 0
    unseen = min_val.numel() == 0 or max_val.numel() == 0 or (whole and bool(min_val == float("inf")) and bool(max_val == float("-inf")))
    if unseen:
        warnings.warn("must run observer before calling calculate_qparams. Returning default values.", stacklevel=2)
        return False
    if torch.any(min_val > max_val):
        raise AssertionError(f"min {min_val} should be less than max {max_val}")
    return True


def validate_qmin_qmax(quant_min, quant_max):
    """AssertionError for a range without 0, or the wrong way round."""
    if not quant_min <= 0 <= quant_max:
        raise AssertionError("Used-specified quantization range must include 0.")
    if quant_min >= quant_max:
        raise AssertionError("qmin must be strictly less than qmax for user-specified quantization range.")


def calculate_qmin_qmax(quant_min, quant_max, has_customized_qrange, dtype, reduce_range):
    """The range of quantized numbers: the given one, or that of the dtype; halved by reduce_range."""
    name = repr(dtype).removeprefix("torch.")
    if not has_customized_qrange:
        low, high = _RANGES.get(name, (0, 15))
        return (low // 2, high // 2) if reduce_range and name in ("qint8", "int8", "quint8", "uint8") else (low, high)
    length = quant_max - quant_min + 1
    if name in ("qint8", "int8") and not 0 < length <= 256:
        raise AssertionError("quantization range should be positive and not exceed the maximum bit range (=256).")
    if name in ("qint32", "int32") and not 0 < length <= 2**32:
        raise AssertionError("quantization range should be positive and not exceed the maximum bit range (=4294967296).")
    return (quant_min // 2, quant_max // 2) if reduce_range else (quant_min, quant_max)
