"""torch._dispatch.python (layer 8): contexts in which Python finds the kernels of operators; it always does here."""

from __future__ import annotations

import contextlib

from .._core import publish as _publish

__all__ = ["enable_python_dispatcher", "no_python_dispatcher"]


def enable_python_dispatcher():
    """A context in which formulas in Python stand for kernels: what an operator is here."""
    return contextlib.nullcontext()


def no_python_dispatcher():
    """A context in which they do not; results are the same."""
    return contextlib.nullcontext()


globals().update(_publish.refused("torch._dispatch.python", "enable_pre_dispatch", "enable_crossref_functionalize", "suspend_functionalization",
                                  "all_py_loaded_overloads", "make_crossref_functionalize", why="operators have no kernels by key here"))
__getattr__ = _publish.missing("torch._dispatch.python")
