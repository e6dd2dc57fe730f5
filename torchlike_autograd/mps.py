"""torch.mps (layer 8): Apple's GPU, which is not there."""

from __future__ import annotations

from ._core import publish as _publish

__all__ = ["current_allocated_memory", "device_count", "driver_allocated_memory", "empty_cache", "is_available", "synchronize"]


def is_available() -> bool:
    """Not here."""
    return False


def device_count() -> int:
    """None."""
    return 0


def _needs(what):
    def f(*args, **kwargs):
        raise RuntimeError(f"Cannot execute {what}() without MPS backend.")

    return f


current_allocated_memory, driver_allocated_memory = _needs("getCurrentAllocatedMemory"), _needs("getDriverAllocatedMemory")
empty_cache, synchronize = _needs("emptyCache"), _needs("deviceSynchronize")
__getattr__ = _publish.missing("torch.mps")
