"""torch.xpu (layer 8): Intel's GPUs, which JAX has none of: everything is as in a PyTorch without them."""

from __future__ import annotations

from collections import OrderedDict

from ._core import publish as _publish
from .cuda.random import manual_seed, manual_seed_all, seed, seed_all

__all__ = ["current_device", "device_count", "empty_cache", "get_arch_list", "get_rng_state", "init", "initial_seed", "is_available", "is_bf16_supported",
           "is_initialized", "manual_seed", "manual_seed_all", "max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved",
           "memory_stats", "seed", "seed_all", "set_device", "synchronize"]


def is_available() -> bool:
    """Not here."""
    return False


is_initialized = is_available


def is_bf16_supported(including_emulation=True) -> bool:
    """Not here."""
    return False


def device_count() -> int:
    """None."""
    return 0


def get_arch_list() -> list:
    """None."""
    return []


def _needs_device(*args, **kwargs):
    """torch's error without a device."""
    raise AssertionError("Torch not compiled with XPU enabled")


init = current_device = synchronize = get_rng_state = initial_seed = _needs_device


def set_device(device) -> None:
    """torch's error without a device."""
    _needs_device()


def empty_cache() -> None:
    """Nothing to give back."""


def memory_stats(device=None):
    """Statistics of a device: none."""
    return OrderedDict()


def memory_allocated(device=None) -> int:
    """Bytes in use: none."""
    return 0


memory_reserved = max_memory_allocated = max_memory_reserved = memory_allocated
__getattr__ = _publish.missing("torch.xpu")
