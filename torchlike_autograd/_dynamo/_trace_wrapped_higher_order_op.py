"""torch._dynamo._trace_wrapped_higher_order_op (layer 8)."""

import contextlib

__all__ = ["TransformGetItemToIndex"]


class TransformGetItemToIndex(contextlib.nullcontext):
    """A context in which ``x[i]`` with a tensor `i` needs no look at its value; it never does here."""
