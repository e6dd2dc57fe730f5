"""torch.nn._reduction (layer 8): how losses are reduced, and the old two flags for it."""

from __future__ import annotations

from .._core.saying import warn

_CODES = {"none": 0, "mean": 1, "elementwise_mean": 1, "sum": 2}


def get_enum(reduction):
    """The number of a reduction."""
    if reduction not in _CODES:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if reduction == "elementwise_mean":
        warn("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.")
    return _CODES[reduction]


def legacy_get_string(size_average, reduce, emit_warning=True):
    """The reduction that two old flags mean."""
    size_average = True if size_average is None else size_average
    reduce = True if reduce is None else reduce
    found = "none" if not reduce else "mean" if size_average else "sum"
    if emit_warning:
        warn(f"size_average and reduce args will be deprecated, please use reduction='{found}' instead.")
    return found


def legacy_get_enum(size_average, reduce, emit_warning=True):
    """The number of what two old flags mean."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
