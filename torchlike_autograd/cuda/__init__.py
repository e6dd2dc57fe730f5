"""torch.cuda (layer 8) as PyTorch's CPU build has it: no device is offered, because tensors cannot be moved between devices yet.

What asks, answers; what only tidies up or seeds does nothing; what needs a device raises PyTorch's error.
"""

from __future__ import annotations

from collections import OrderedDict

from .._core import publish as _publish

from . import amp

__all__ = ["CUDAGraph", "Event", "ExternalStream", "Stream", "StreamContext",
           "amp", "current_device", "current_stream", "default_stream", "device", "device_count", "empty_cache", "get_arch_list", "get_device_capability",
           "get_device_name", "get_device_properties", "get_rng_state", "get_rng_state_all", "init", "initial_seed", "ipc_collect", "is_available",
           "is_bf16_supported", "is_initialized", "manual_seed", "manual_seed_all", "max_memory_allocated", "max_memory_cached", "max_memory_reserved",
           "mem_get_info", "memory_allocated", "memory_cached", "memory_reserved", "memory_stats", "seed", "seed_all", "set_device", "set_rng_state",
           "set_rng_state_all", "synchronize"]


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


max_memory_allocated = memory_reserved = max_memory_reserved = memory_cached = max_memory_cached = memory_allocated


def empty_cache() -> None:
    """Nothing to give back."""


def manual_seed(seed) -> None:
    """Seeds are kept for a device; there is none."""
    int(seed)


manual_seed_all = manual_seed


def seed() -> None:
    """As `manual_seed`."""


seed_all = seed


def get_arch_list() -> list:
    """The architectures that were compiled for: none."""
    return []


def get_rng_state_all() -> list:
    """The states of all devices: none."""
    return []


def set_rng_state_all(new_states) -> None:
    """The states of all devices: none."""
    if list(new_states):
        _needs_device()


def memory_stats(device=None):
    """Statistics of a device: none."""
    return OrderedDict()


class device:
    """A context in which a device is current; without devices it changes nothing."""

    def __init__(self, device):
        self.idx = device

    def __enter__(self):
        return None

    def __exit__(self, *exc):
        return False


def _needs_device(*args, **kwargs):
    raise AssertionError("Torch not compiled with CUDA enabled")


class Stream:
    """A queue of a device: there is none."""

    def __init__(self, *args, **kwargs):
        _needs_device()


class Event(Stream):
    """A point in such a queue."""


class ExternalStream(Stream):
    """Such a queue made elsewhere."""


class StreamContext(Stream):
    """A context in which such a queue is current."""


class CUDAGraph(Stream):
    """A recorded sequence of a device's work."""


class graph(Stream):
    """A context that records such a sequence."""


current_device = get_device_name = synchronize = current_stream = default_stream = get_device_capability = get_device_properties = _needs_device
get_rng_state = set_rng_state = ipc_collect = init = initial_seed = mem_get_info = set_device = _needs_device
__getattr__ = _publish.missing("torch.cuda")
