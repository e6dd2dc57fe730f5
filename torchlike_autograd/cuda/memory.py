"""torch.cuda.memory (layer 8): what JAX says about a device's memory, which it owns; nothing here allocates or frees."""

from __future__ import annotations

import contextlib
from collections import OrderedDict

from .._core import publish as _publish
from .._core.saying import warn as _warn
from ._need import is_available, jax_device, lacks, needs_device, with_device

__all__ = ["CUDAPluggableAllocator", "MemPool", "caching_allocator_alloc", "caching_allocator_delete", "caching_allocator_disabled", "caching_allocator_enable",
           "change_current_allocator", "empty_cache", "get_allocator_backend", "get_per_process_memory_fraction", "host_memory_stats",
           "host_memory_stats_as_nested_dict", "list_gpu_processes", "max_memory_allocated", "max_memory_cached", "max_memory_reserved", "mem_get_info",
           "memory_allocated", "memory_cached", "memory_reserved", "memory_snapshot", "memory_stats", "memory_stats_as_nested_dict", "memory_summary",
           "reset_accumulated_host_memory_stats", "reset_accumulated_memory_stats", "reset_max_memory_allocated", "reset_max_memory_cached",
           "reset_peak_host_memory_stats", "reset_peak_memory_stats", "set_per_process_memory_fraction", "use_mem_pool"]

_KEYS = {"allocated_bytes.all.current": "bytes_in_use", "allocated_bytes.all.peak": "peak_bytes_in_use",
         "reserved_bytes.all.current": "pool_bytes", "reserved_bytes.all.peak": "peak_pool_bytes"}  # torch's word: JAX's


_said: list = []


def _known(device):
    return (jax_device(device).memory_stats() or {}) if is_available() else {}


def memory_stats(device=None):
    """What JAX counts, under torch's keys; empty without devices."""
    found = _known(device)
    return OrderedDict(sorted((name, int(found[own])) for name, own in _KEYS.items() if own in found))


def memory_stats_as_nested_dict(device=None):
    """`memory_stats` as a dictionary of dictionaries."""
    out = {}
    for name, value in memory_stats(device).items():
        *path, last = name.split(".")
        inner = out
        for part in path:
            inner = inner.setdefault(part, {})
        inner[last] = value
    return out


def _count(device, name):
    return int(_known(device).get(_KEYS[name], 0))


def memory_allocated(device=None):
    """Bytes in use."""
    return _count(device, "allocated_bytes.all.current")


def max_memory_allocated(device=None):
    """The most bytes that were in use."""
    return _count(device, "allocated_bytes.all.peak")


def memory_reserved(device=None):
    """Bytes that JAX has taken."""
    return _count(device, "reserved_bytes.all.current")


def max_memory_reserved(device=None):
    """The most bytes that JAX had taken."""
    return _count(device, "reserved_bytes.all.peak")


def memory_cached(device=None):
    """The older name of `memory_reserved`."""
    _warn("`torch.cuda.memory_cached` has been renamed to `torch.cuda.memory_reserved`", FutureWarning)
    return memory_reserved(device)


def max_memory_cached(device=None):
    """The older name of `max_memory_reserved`."""
    _warn("`torch.cuda.max_memory_cached` has been renamed to `torch.cuda.max_memory_reserved`", FutureWarning)
    return max_memory_reserved(device)


@with_device
def mem_get_info(device=None):
    """(free, total) bytes, of what JAX may use."""
    found = _known(device)
    total = int(found.get("bytes_limit", 0))
    return total - int(found.get("bytes_in_use", 0)), total


def memory_summary(device=None, abbreviated=False):
    """`memory_stats` as text; KeyError without devices, as in torch."""
    found = memory_stats(device)
    found["allocated_bytes.all.current"]
    return "\n".join(f"{name:<36}{value:>16}" for name, value in found.items())


def empty_cache() -> None:
    """Nothing to give back."""


def list_gpu_processes(device=None) -> str:
    """torch's words where it lacks the package that it asks."""
    return "pynvml module not found, please install nvidia-ml-py"


def host_memory_stats():
    """Nothing is counted: empty."""
    return OrderedDict()


def host_memory_stats_as_nested_dict():
    """Nothing is counted: empty."""
    return {}


def reset_accumulated_memory_stats(device=None) -> None:
    """JAX's counters cannot be set back: refused."""
    lacks("_cuda_resetAccumulatedMemoryStats")


def reset_peak_memory_stats(device=None) -> None:
    """JAX's counters cannot be set back: beside a device that is said once, and the peak stays that of the process."""
    if not is_available():
        lacks("_cuda_resetPeakMemoryStats")
    if not _said:
        _said.append(_warn("torch.cuda.reset_peak_memory_stats: JAX's counters cannot be set back, the peak stays that of the whole process"))


def reset_max_memory_allocated(device=None) -> None:
    """The older name of `reset_peak_memory_stats`."""
    _warn("torch.cuda.reset_max_memory_allocated now calls torch.cuda.reset_peak_memory_stats, which resets /all/ peak memory stats.", FutureWarning)
    reset_peak_memory_stats(device)


def reset_max_memory_cached(device=None) -> None:
    """An older name of `reset_peak_memory_stats`."""
    _warn("torch.cuda.reset_max_memory_cached now calls torch.cuda.reset_peak_memory_stats, which resets /all/ peak memory stats.", FutureWarning)
    reset_peak_memory_stats(device)


def reset_accumulated_host_memory_stats() -> None:
    """Nothing is counted: refused."""
    lacks("_cuda_resetAccumulatedHostMemoryStats")


def reset_peak_host_memory_stats() -> None:
    """Nothing is counted: refused."""
    lacks("_cuda_resetPeakHostMemoryStats")


def memory_snapshot(mempool_id=None, include_traces=True):
    """Blocks of memory are not known: refused."""
    lacks("_cuda_memorySnapshot")


def get_allocator_backend() -> str:
    """There is no such allocator: refused."""
    lacks("_cuda_getAllocatorBackend")


@with_device
def get_per_process_memory_fraction(device=None) -> float:
    """Set by XLA_PYTHON_CLIENT_MEM_FRACTION: refused."""
    lacks("_cuda_getMemoryFraction")


@with_device
def set_per_process_memory_fraction(fraction, device=None) -> None:
    """Set by XLA_PYTHON_CLIENT_MEM_FRACTION before the start: refused."""
    lacks("_cuda_setMemoryFraction")


@with_device
def caching_allocator_alloc(size, device=None, stream=None):
    """Memory is JAX's: refused."""
    lacks("_cuda_cudaCachingAllocator_raw_alloc")


def caching_allocator_delete(mem_ptr):
    """Memory is JAX's: refused."""
    lacks("_cuda_cudaCachingAllocator_raw_delete")


def caching_allocator_enable(value=True) -> None:
    """Nothing to switch; refused beside a device."""
    if is_available():
        lacks("_cuda_cudaCachingAllocator_enable")


@contextlib.contextmanager
def caching_allocator_disabled():
    """Nothing to switch: refused when it is entered."""
    lacks("_cuda_cudaCachingAllocator_is_enabled")
    yield


def change_current_allocator(allocator) -> None:
    """Memory is JAX's: refused."""
    lacks("_cuda_changeCurrentAllocator")


class CUDAPluggableAllocator:
    """An allocator out of a library: the library is opened, and refused."""

    def __init__(self, path_to_so_file, alloc_fn_name, free_fn_name):
        import ctypes

        ctypes.CDLL(path_to_so_file)
        raise NotImplementedError("torch.cuda.CUDAPluggableAllocator: JAX owns the device's memory")

    def allocator(self):
        """None is ever made."""


class MemPool:
    """Memory kept apart: refused."""

    def __init__(self, allocator=None, use_on_oom=False, no_split=False):
        if is_available():
            raise NotImplementedError("torch.cuda.MemPool: JAX owns the device's memory")
        raise RuntimeError("Tried to instantiate dummy base class MemPool")

    @property
    def id(self):
        """None is ever made."""

    def snapshot(self, include_traces=True):
        """None is ever made."""

    def use_count(self):
        """None is ever made."""


@contextlib.contextmanager
def use_mem_pool(pool, device=None):
    """Refused when it is entered."""
    if not is_available():
        needs_device()
    raise NotImplementedError("torch.cuda.use_mem_pool: JAX owns the device's memory")
    yield


__getattr__ = _publish.missing("torch.cuda.memory")
