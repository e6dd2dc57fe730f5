"""torch._VF (layer 9): the functions that torch.functional calls; here torch's own, and what only this name has."""

from __future__ import annotations

from ._functions.search import unique_dim  # noqa: F401


def __getattr__(name):
    from . import _api  # cycle: torch has this module

    found = None if name.startswith("__") else getattr(_api, name, None)
    if not callable(found) or isinstance(found, type):
        raise AttributeError(f"module 'torch._VF' has no attribute '{name}'")
    return found
