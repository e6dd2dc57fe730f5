"""torch.accelerator (layer 8): the kind of device that computes beside the host; none is offered to programs yet."""

from __future__ import annotations

from ._core import publish as _publish

__all__ = ["current_accelerator", "current_device_idx", "current_device_index", "current_stream", "device_count", "device_index", "empty_cache", "is_available",
           "memory_allocated", "set_device_idx", "set_device_index", "set_stream", "synchronize"]


def is_available() -> bool:
    """Whether there is one: not yet."""
    return False


def device_count() -> int:
    """How many devices of the kind there are."""
    return 0


def current_accelerator(check_available=False):
    """The kind of device: none."""
    return None


def _needs_device(*args, **kwargs):
    raise RuntimeError("Cannot access accelerator device when none is available.")


current_device_index = current_device_idx = set_device_index = set_device_idx = current_stream = set_stream = synchronize = device_index = _needs_device
empty_cache = memory_allocated = _needs_device
__getattr__ = _publish.missing("torch.accelerator")
