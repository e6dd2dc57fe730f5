"""torch._compile (layer 8): what libraries mark functions with that a tracer should leave alone."""

from .compiler import disable


def _disable_dynamo(fn=None, recursive=True):
    """`fn` as it is: nothing is traced."""
    return disable(fn, recursive)
