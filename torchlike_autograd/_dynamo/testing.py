"""torch._dynamo.testing (layer 8): what counts or keeps the graphs of a tracer can be imported, and says that there is none when it is made."""

from __future__ import annotations

from .._core import publish as _publish
from ..compiler import reset

__all__ = ["AotEagerAndRecordGraphs", "CompileCounter", "CompileCounterWithBackend", "EagerAndRecordGraphs", "InductorAndRecordGraphs", "reset"]


class CompileCounter:
    """Not there: raises NotImplementedError."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError(f"torchlike_autograd: torch._dynamo.testing.{type(self).__name__}: no graphs are handed to a backend")


class CompileCounterWithBackend(CompileCounter):
    """Not there: raises NotImplementedError."""


class EagerAndRecordGraphs(CompileCounter):
    """Not there: raises NotImplementedError."""


class AotEagerAndRecordGraphs(CompileCounter):
    """Not there: raises NotImplementedError."""


class InductorAndRecordGraphs(CompileCounter):
    """Not there: raises NotImplementedError."""


__getattr__ = _publish.missing("torch._dynamo.testing")
