"""torch.cpu (layer 8)."""

from .._core import publish as _publish
from . import amp

__all__ = ["amp", "current_device", "device_count", "is_available", "is_initialized", "synchronize"]


def is_available() -> bool:
    """Always."""
    return True


is_initialized = is_available


def device_count() -> int:
    """One."""
    return 1


def current_device() -> str:
    """Its name."""
    return "cpu"


def synchronize(device=None) -> None:
    """Nothing to wait for that a look would not wait for."""


__getattr__ = _publish.missing("torch.cpu")
