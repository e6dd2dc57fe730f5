"""torch.mps (layer 8): Apple's GPU, which is not there."""

from __future__ import annotations

from ._core import publish as _publish

__all__ = ["current_allocated_memory", "device_count", "driver_allocated_memory", "empty_cache", "get_rng_state", "is_available", "manual_seed",
           "recommended_max_memory", "seed", "set_per_process_memory_fraction", "set_rng_state", "synchronize"]


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
recommended_max_memory = _needs("getRecommendedMaxMemory")
get_rng_state = set_rng_state = seed = _needs("getDefaultGenerator")


def manual_seed(seed: int) -> None:
    """Nothing: without the device it has no generator, and torch says nothing of it either."""


def set_per_process_memory_fraction(fraction) -> None:
    """RuntimeError, as there is no device; TypeError and ValueError as torch for a fraction that is none."""
    if not isinstance(fraction, float):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    if fraction < 0 or fraction > 2:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~2")
    _needs("setMemoryFraction")()


empty_cache, synchronize = _needs("emptyCache"), _needs("deviceSynchronize")
__getattr__ = _publish.missing("torch.mps")
