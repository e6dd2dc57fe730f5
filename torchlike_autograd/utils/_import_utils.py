"""torch.utils._import_utils (layer 7): packages that may be there."""

from __future__ import annotations

import functools
import importlib
import importlib.util

from .._core import publish as _publish


def _check_module_exists(name):
    """Whether a module of this name can be imported."""
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:
        return False


@functools.cache
def dill_available():
    """Whether dill is installed."""
    return _check_module_exists("dill")


@functools.cache
def import_dill():
    """The module dill; None where it is not installed."""
    if not dill_available():
        return None
    dill = importlib.import_module("dill")
    dill.extend(use_dill=False)  # it would register its own ways of pickling everywhere
    return dill


__getattr__ = _publish.missing("torch.utils._import_utils")
