"""torch.fx (layer 8): nothing is traced symbolically yet.

Programs ask `isinstance(module, torch.fx.GraphModule)`: the classes are here for that, and nothing is an instance of them.
"""

from __future__ import annotations

from ._core import publish as _publish
from .nn import Module

__all__ = ["Graph", "GraphModule", "Interpreter", "Node", "Proxy", "Tracer", "Transformer", "symbolic_trace", "wrap"]


def _refused(name):
    raise NotImplementedError(f"torch.fx.{name}: there is no symbolic tracing yet")


class GraphModule(Module):
    """A module with a traced graph; cannot be made."""

    def __init__(self, *args, **kwargs):
        _refused("GraphModule")


class _Unmade:
    """What cannot be made."""

    def __init__(self, *args, **kwargs):
        _refused(type(self).__name__)


class Graph(_Unmade):
    """A traced graph."""


class Node(_Unmade):
    """A node of a traced graph."""


class Proxy(_Unmade):
    """A value while tracing."""


class Tracer(_Unmade):
    """What traces."""


class Interpreter(_Unmade):
    """What runs a traced graph."""


class Transformer(Interpreter):
    """What rewrites a traced graph."""


def symbolic_trace(root, concrete_args=None):
    """Not there yet."""
    _refused("symbolic_trace")


def wrap(fn_or_name):
    """What it is given: only tracing looks at the mark."""
    return fn_or_name


__getattr__ = _publish.missing("torch.fx")
