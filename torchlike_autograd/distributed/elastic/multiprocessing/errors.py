"""torch.distributed.elastic.multiprocessing.errors (layer 8): there is no parent process that would want to read of errors."""

from __future__ import annotations

__all__ = ["ChildFailedError", "record"]


class ChildFailedError(Exception):
    """A process of several failed."""


def record(fn, error_handler=None):
    """`fn` as it is: its errors reach whoever started it."""
    return fn
