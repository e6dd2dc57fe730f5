"""torch.cuda (layer 8): the GPUs that JAX has; where it has none, everything is as in PyTorch's CPU build.

What asks, answers; what only tidies up or seeds does nothing; what needs a device raises PyTorch's error where there is none.
"""

from __future__ import annotations

from types import SimpleNamespace

from .._core import devices as _devices
from .._core import publish as _publish
from .._functions.legacy import CUDA_TYPES as _types
from .._functions.storages import CUDA_STORAGES as _storages
from .._settings import AcceleratorError, OutOfMemoryError
from . import amp, graphs, memory, nccl, profiler, random, streams
from . import nvtx as nvtx
from ._need import is_available, jax_device, with_device
from ._need import number as _number
from .graphs import CUDAGraph, graph, graph_pool_handle, is_current_stream_capturing, make_graphed_callables
from .memory import *  # noqa: F403
from .memory import __all__ as _of_memory
from .random import *  # noqa: F403
from .random import __all__ as _of_random
from .streams import Event, ExternalStream, Stream, StreamContext, current_stream, default_stream, get_stream_from_external, set_stream, stream
from .streams import wait as _wait

__all__ = ["AcceleratorError", "CUDAGraph", "CudaError", "DeferredCudaCallError", "Event", "ExternalStream", "OutOfMemoryError", "Stream", "StreamContext",
           "amp", "can_device_access_peer", "check_error", "clock_rate", "cudaStatus", "cudart", "current_blas_handle", "current_device",
           "current_solver_handle", "current_stream", "default_stream", "device", "device_count", "device_memory_used", "device_of",
           "get_arch_list", "get_device_capability", "get_device_name", "get_device_properties", "get_gencode_flags", "get_stream_from_external",
           "get_sync_debug_mode", "graph", "graph_pool_handle", "graphs", "has_half", "has_magma", "init", "ipc_collect", "is_available",
           "is_bf16_supported", "is_current_stream_capturing", "is_initialized", "is_tf32_supported", "make_graphed_callables", "memory", "memory_usage",
           "nccl", "nvtx", "power_draw", "profiler", "random", "set_device", "set_stream", "set_sync_debug_mode", "stream", "streams", "synchronize",
           "temperature", "utilization", *_of_memory, *_of_random, *_storages, *_types]
__all__ += ["default_generators"]  # noqa: F405 (looked up by __getattr__)

globals().update(_types)
globals().update(_storages)
_initialized = False  # programs ask this whether streams and random states of devices are to be kept: there are none apart from the generators
has_half, has_magma = True, False


class DeferredCudaCallError(Exception):
    """For programs that name it: nothing is put off here."""


class CudaError(RuntimeError):
    """For programs that name it; there is no CUDA runtime to word it."""

    def __init__(self, code):
        raise AttributeError("'NoneType' object has no attribute 'cudaGetErrorString'")


class cudaStatus:
    """Codes of the CUDA runtime."""

    SUCCESS, ERROR_NOT_READY = 0, 34


def device_count() -> int:
    """The number of devices on offer."""
    return len(_devices.devices_of("cuda"))


def is_initialized() -> bool:
    """Whether there are devices."""
    return is_available()


def _is_in_bad_fork() -> bool:
    """False: no process is kept from devices because another one was forked from it."""
    return False


def is_bf16_supported(including_emulation=True) -> bool:
    """Whether a device computes in bfloat16."""
    return is_available()


def is_tf32_supported() -> bool:
    """Whether a device computes in TF32."""
    return is_available() and get_device_capability()[0] >= 8


def get_arch_list() -> list:
    """The architectures that were compiled for: none."""
    return []


def get_gencode_flags() -> str:
    """The flags that were compiled with: none."""
    return ""


class device:
    """A context in which a device is current."""

    def __init__(self, device):
        self.idx = _number(device, optional=True) if device is not None else None
        self.prev_idx = -1

    def __enter__(self):
        if self.idx is None:
            raise TypeError("'<' not supported between instances of 'NoneType' and 'int'")
        if self.idx < 0:
            return
        if not is_available():
            raise RuntimeError("PyTorch was compiled without CUDA support")
        self.prev_idx = _devices.current_index[0]
        _devices.current_index[0] = self.idx

    def __exit__(self, type, value, traceback):
        if self.idx is not None and self.idx >= 0 and is_available():
            _devices.current_index[0] = self.prev_idx
        return False


class device_of(device):
    """A context in which the device of a tensor is current; for tensors of the host it changes nothing."""

    def __init__(self, obj):
        super().__init__(obj.get_device() if obj.is_cuda else -1)


@with_device
def current_device() -> int:
    """The number of the current device."""
    return _devices.current_index[0]


def set_device(device) -> None:
    """Make a device the one that "cuda" means."""
    i = _number(device)
    if i < 0:
        return
    if not is_available():
        raise AttributeError("module 'torch._C' has no attribute '_cuda_setDevice'")
    _devices.jax_device(f"cuda:{i}")
    _devices.current_index[0] = i


@with_device
def get_device_name(device=None) -> str:
    """What the device calls itself."""
    return jax_device(device).device_kind


@with_device
def get_device_capability(device=None) -> tuple:
    """(major, minor) of its architecture."""
    major, _, minor = str(getattr(jax_device(device), "compute_capability", "0.0")).partition(".")
    return int(major), int(minor or 0)


@with_device
def get_device_properties(device=None):
    """What JAX knows of a device: name, major, minor, total_memory, multi_processor_count; other attributes are not there."""
    found, (major, minor) = jax_device(device), get_device_capability(device)
    return SimpleNamespace(name=found.device_kind, major=major, minor=minor, total_memory=mem_get_info(device)[1],  # noqa: F405
                           multi_processor_count=getattr(found, "core_count", None))


@with_device
def can_device_access_peer(device, peer_device) -> bool:
    """XLA moves the data: refused."""
    raise NotImplementedError("torch.cuda.can_device_access_peer")


@with_device
def synchronize(device=None) -> None:
    """Run what is pending and wait until the device has done it."""
    _wait(device)


@with_device
def init() -> None:
    """Nothing to prepare."""


_lazy_init = init


def _lazy_call(callable, **kwargs) -> None:
    """Call at once where there are devices; what waits for the first one where there is none is never called."""
    if is_initialized():
        callable()


@with_device
def ipc_collect() -> None:
    """Nothing to collect."""


def check_error(res):
    """There is no CUDA runtime to ask: refused."""
    raise AttributeError("'NoneType' object has no attribute 'cudaError'")


@with_device
def cudart():
    """There is no CUDA runtime to hand out: refused."""
    raise NotImplementedError("torch.cuda.cudart")


@with_device
def current_blas_handle():
    """Handles are XLA's: refused."""
    raise NotImplementedError("torch.cuda.current_blas_handle")


@with_device
def current_solver_handle():
    """Handles are XLA's: refused."""
    raise NotImplementedError("torch.cuda.current_solver_handle")


@with_device
def get_sync_debug_mode() -> int:
    """0: nothing is reported."""
    return 0


@with_device
def set_sync_debug_mode(debug_mode) -> None:
    """Only "default" (0): what waits for a device is not reported."""
    if debug_mode not in (0, "default"):
        raise NotImplementedError("torch.cuda.set_sync_debug_mode: see torchlike_autograd.stats()")


def _asks_nvidia(name):
    def f(device=None):
        raise ModuleNotFoundError("nvidia-ml-py does not seem to be installed or it can't be imported.")

    f.__name__ = f.__qualname__ = name
    f.__doc__ = "Asks a package of NVIDIA's in torch: refused."
    return f


clock_rate, device_memory_used, memory_usage, power_draw, temperature, utilization = map(
    _asks_nvidia, ("clock_rate", "device_memory_used", "memory_usage", "power_draw", "temperature", "utilization"))
_missing = _publish.missing("torch.cuda")


def __getattr__(name):
    return tuple(random._all()) if name == "default_generators" else _missing(name)
