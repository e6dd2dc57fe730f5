"""torch.cuda (layer 8): the GPUs that JAX has; where it has none, everything is as in PyTorch's CPU build.

What asks, answers; what only tidies up or seeds does nothing; what needs a device raises PyTorch's error where there is none.  There are no streams or events.
"""

from __future__ import annotations

from collections import OrderedDict

import jax

from .._core import devices as _devices
from .._core import publish as _publish
from . import amp
from . import nvtx as nvtx

__all__ = ["CUDAGraph", "Event", "ExternalStream", "Stream", "StreamContext",
           "amp", "current_device", "current_stream", "default_stream", "device", "device_count", "empty_cache", "get_arch_list", "get_device_capability",
           "get_device_name", "get_device_properties", "get_rng_state", "get_rng_state_all", "init", "initial_seed", "ipc_collect", "is_available",
           "is_bf16_supported", "is_initialized", "manual_seed", "manual_seed_all", "max_memory_allocated", "max_memory_cached", "max_memory_reserved",
           "mem_get_info", "memory_allocated", "memory_cached", "memory_reserved", "memory_stats", "seed", "seed_all", "set_device", "set_rng_state",
           "set_rng_state_all", "synchronize"]


_initialized = False  # programs ask this whether streams and random states of devices are to be kept: there are none apart from the generators


def is_available() -> bool:
    """Whether tensors can live on a CUDA device."""
    return bool(_devices.devices_of("cuda"))


def device_count() -> int:
    """The number of devices on offer."""
    return len(_devices.devices_of("cuda"))


def is_initialized() -> bool:
    """Whether there are devices."""
    return is_available()


def is_bf16_supported(including_emulation=True) -> bool:
    """Whether a device computes in bfloat16."""
    return is_available()


def _number(name, key):
    def f(device=None):
        found = _devices.devices_of("cuda")
        return int((found[_index(device)].memory_stats() or {}).get(key, 0)) if found else 0

    f.__name__, f.__doc__ = name, "Bytes in use on a device."
    return f


def _index(device):
    """The number of a device argument."""
    if device is None:
        return _devices.current_index[0]
    if isinstance(device, int):
        return device
    return _devices.device(device).index or 0


memory_allocated = _number("memory_allocated", "bytes_in_use")
max_memory_allocated = _number("max_memory_allocated", "peak_bytes_in_use")
memory_reserved = memory_cached = _number("memory_reserved", "pool_bytes")
max_memory_reserved = max_memory_cached = _number("max_memory_reserved", "peak_pool_bytes")


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
        self.idx = _index(device)

    def __enter__(self):
        self._before = _devices.current_index[0]
        if is_available():
            _devices.current_index[0] = self.idx

    def __exit__(self, *exc):
        _devices.current_index[0] = self._before
        return False


def _needs_device(*args, **kwargs):
    raise AssertionError("Torch not compiled with CUDA enabled")


def _with_device(f):
    def asked(*args, **kwargs):
        return f(*args, **kwargs) if is_available() else _needs_device()

    asked.__name__, asked.__doc__ = f.__name__, f.__doc__
    return asked


@_with_device
def current_device() -> int:
    """The number of the current device."""
    return _devices.current_index[0]


@_with_device
def set_device(device) -> None:
    """Make a device the one that "cuda" means."""
    _devices.jax_device(f"cuda:{_index(device)}")
    _devices.current_index[0] = _index(device)


@_with_device
def get_device_name(device=None) -> str:
    """What the device calls itself."""
    return _devices.devices_of("cuda")[_index(device)].device_kind


@_with_device
def get_device_capability(device=None) -> tuple:
    """(major, minor) of its architecture."""
    major, _, minor = str(getattr(_devices.devices_of("cuda")[_index(device)], "compute_capability", "0.0")).partition(".")
    return int(major), int(minor or 0)


@_with_device
def mem_get_info(device=None) -> tuple:
    """(free, total) bytes, of what JAX may use."""
    stats = _devices.devices_of("cuda")[_index(device)].memory_stats() or {}
    total = int(stats.get("bytes_limit", 0))
    return total - int(stats.get("bytes_in_use", 0)), total


@_with_device
def synchronize(device=None) -> None:
    """Run what is pending and wait until the device has done it."""
    from .._core import execute

    execute.flush()
    d = _devices.devices_of("cuda")[_index(device)]
    jax.device_put(0, d).block_until_ready()


@_with_device
def init() -> None:
    """Nothing to prepare."""


@_with_device
def ipc_collect() -> None:
    """Nothing to collect."""


def _not_there(name):
    def f(*args, **kwargs):
        if not is_available():
            _needs_device()
        raise NotImplementedError(f"torch.cuda.{name}")

    f.__name__ = name
    return f


current_stream, default_stream, get_device_properties = map(_not_there, ("current_stream", "default_stream", "get_device_properties"))
get_rng_state, set_rng_state, initial_seed = map(_not_there, ("get_rng_state", "set_rng_state", "initial_seed"))


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
__getattr__ = _publish.missing("torch.cuda")
