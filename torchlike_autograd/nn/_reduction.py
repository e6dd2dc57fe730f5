"""torch.nn._reduction (layer 8): how losses are reduced, and the old two flags for it."""

from __future__ import annotations

from .._functions.loss import code_of
from .._functions.loss import legacy_reduction as legacy_get_string

__all__ = ["get_enum", "legacy_get_enum", "legacy_get_string"]


def get_enum(reduction):
    """The number of a reduction."""
    return code_of(reduction)


def legacy_get_enum(size_average, reduce, emit_warning=True):
    """The number of what two old flags mean."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
