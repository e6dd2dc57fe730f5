"""torch.mtia (layer 8): accelerators that are not there."""

from __future__ import annotations

from ._core import publish as _publish

__all__ = ["current_device", "device_count", "empty_cache", "is_available", "is_initialized", "synchronize"]


def is_available() -> bool:
    """Not here."""
    return False


is_initialized = is_available


def device_count() -> int:
    """None."""
    return 0


def current_device() -> int:
    """torch's error without a device."""
    raise RuntimeError("Cannot execute getCurrentDevice() without MTIA backend.")


def synchronize(device=None) -> None:
    """torch's error without a device."""
    current_device()


def empty_cache() -> None:
    """torch's error without a device."""
    raise RuntimeError("Cannot execute emptyCache() without MTIA backend.")


__getattr__ = _publish.missing("torch.mtia")
