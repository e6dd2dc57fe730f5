"""torch._dynamo (layer 8): what programs say to PyTorch's compiler of bytecode, which is not here; what they decorate is used as it is."""

from __future__ import annotations

from ._core import publish as _publish
from .compiler import disable, is_compiling, reset

__all__ = ["allow_in_graph", "assume_constant_result", "disable", "disallow_in_graph", "graph_break", "is_compiling", "mark_dynamic", "mark_static",
           "maybe_mark_dynamic", "reset"]


def allow_in_graph(fn):
    """`fn` as it is."""
    return fn


disallow_in_graph = assume_constant_result = allow_in_graph


def graph_break(msg=""):
    """Nothing is interrupted: calls are recorded one by one."""


def mark_dynamic(t, index, **kwargs):
    """Accepted; sizes are part of a structure here."""


maybe_mark_dynamic = mark_static = mark_dynamic

__getattr__ = _publish.missing("torch._dynamo")
