"""torch._dynamo (layer 8): no Python is traced here; what marks code for a tracer does nothing."""

from __future__ import annotations

from .._core import publish as _publish
from ..compiler import disable, is_compiling, list_backends, reset
from . import config, exc, utils
from .eval_frame import OptimizedModule

__all__ = ["OptimizedModule", "allow_in_graph", "assume_constant_result", "config", "disable", "exc", "graph_break", "is_compiling",
           "is_dynamo_supported", "is_inductor_supported", "list_backends", "mark_dynamic", "mark_static_address", "reset", "utils"]


def _same(fn=None, *args, **kwargs):
    return fn


allow_in_graph = assume_constant_result = disallow_in_graph = forbid_in_graph = _same


def graph_break(*args, **kwargs):
    """Nothing is traced, hence nothing ends."""


def is_dynamo_supported():
    """False: there is no tracer, so that tests of what it sees are left out."""
    return False


is_inductor_supported = is_dynamo_supported
mark_dynamic = mark_static = mark_static_address = maybe_mark_dynamic = graph_break
__getattr__ = _publish.missing("torch._dynamo")
