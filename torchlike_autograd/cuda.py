"""torch.cuda (layer 8) as PyTorch's CPU build has it: no device is offered, because tensors cannot be moved between devices yet.

What asks, answers; what only tidies up or seeds does nothing; what needs a device raises PyTorch's error.
"""

from __future__ import annotations

from ._core import publish as _publish

__all__ = ["current_device", "device_count", "empty_cache", "get_device_name", "is_available", "is_bf16_supported", "is_initialized", "manual_seed",
           "manual_seed_all", "max_memory_allocated", "memory_allocated", "synchronize"]


def is_available() -> bool:
    """Whether tensors can live on a CUDA device: not yet."""
    return False


def device_count() -> int:
    """The number of devices on offer."""
    return 0


def is_initialized() -> bool:
    """Whether a device was used."""
    return False


def is_bf16_supported(including_emulation=True) -> bool:
    """Whether a device computes in bfloat16."""
    return False


def memory_allocated(device=None) -> int:
    """Bytes in use on a device."""
    return 0


max_memory_allocated = memory_allocated


def empty_cache() -> None:
    """Nothing to give back."""


def manual_seed(seed) -> None:
    """Seeds are kept for a device; there is none."""
    int(seed)


manual_seed_all = manual_seed


def _needs_device(*args, **kwargs):
    raise AssertionError("Torch not compiled with CUDA enabled")


current_device = get_device_name = synchronize = _needs_device
__getattr__ = _publish.missing("torch.cuda")
