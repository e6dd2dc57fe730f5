"""torch.profiler.itt (layer 8): ranges for Intel's tracer, which is not there."""

from __future__ import annotations

import contextlib

__all__ = ["is_available", "mark", "range", "range_pop", "range_push"]


def is_available():
    """False."""
    return False


def _fail(*args):
    raise RuntimeError("ITT functions not installed. Are you sure you have a ITT build?")


mark = range_pop = range_push = _fail


@contextlib.contextmanager
def range(msg, *args, **kwargs):
    """RuntimeError: there are no such ranges."""
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
