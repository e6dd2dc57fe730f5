"""torch.fx (layer 8): programs are recorded as they run, not traced; what only marks code for a tracer does nothing, what traces says that it is not there."""

from __future__ import annotations

from .._core import publish as _publish
from ..nn.modules.module import Module

__all__ = ["Graph", "GraphModule", "Interpreter", "Node", "Proxy", "Tracer", "Transformer", "has_side_effect", "symbolic_trace", "wrap"]


def _refuse(name):
    raise NotImplementedError(f"torch.fx.{name}: programs are not traced here; they run compiled as they are recorded")


def wrap(fn_or_name):
    """`fn_or_name`: a mark for a tracer."""
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    return fn_or_name


def has_side_effect(fn):
    """`fn`: a mark for a tracer."""
    return fn


def symbolic_trace(root, concrete_args=None):
    """NotImplementedError."""
    _refuse("symbolic_trace")


class Tracer:
    """Cannot be made here."""

    def __init__(self, *args, **kwargs):
        _refuse(type(self).__name__)


class Graph(Tracer):
    """Cannot be made here."""


class Node(Tracer):
    """Cannot be made here."""


class Proxy(Tracer):
    """Cannot be made here."""


class Interpreter(Tracer):
    """Cannot be made here."""


class Transformer(Tracer):
    """Cannot be made here."""


class GraphModule(Module):
    """Cannot be made here."""

    def __init__(self, *args, **kwargs):
        _refuse("GraphModule")


__getattr__ = _publish.missing("torch.fx")
