"""torch.accelerator (layer 8): the GPUs or TPUs that JAX has."""

from __future__ import annotations

import jax

from ._core import devices as _devices
from ._core import publish as _publish

__all__ = ["current_accelerator", "current_device_idx", "current_device_index", "current_stream", "device_count", "device_index", "empty_cache", "is_available",
           "memory_allocated", "set_device_idx", "set_device_index", "set_stream", "synchronize"]


def current_accelerator(check_available=False):
    """Its device, or None."""
    kind = _devices.accelerator()
    return None if kind is None else _devices.device(kind)


def is_available() -> bool:
    """Whether there is one."""
    return _devices.accelerator() is not None


def device_count() -> int:
    """How many there are."""
    kind = _devices.accelerator()
    return 0 if kind is None else len(_devices.devices_of(kind))


def current_device_index() -> int:
    """The number of the current one."""
    _devices.needed_accelerator()
    return _devices.current_index[0]


def synchronize(device=None) -> None:
    """Run what is pending and wait until it is done."""
    from ._core import execute

    kind = _devices.needed_accelerator()
    execute.flush()
    jax.device_put(0, _devices.devices_of(kind)[_devices.current_index[0]]).block_until_ready()


def _not_there(name):
    def f(*args, **kwargs):
        _devices.needed_accelerator()
        raise NotImplementedError(f"torch.accelerator.{name}")

    f.__name__ = name
    return f


current_device_idx = current_device_index
set_device_index = set_device_idx = _not_there("set_device_index")
current_stream, set_stream, device_index, empty_cache, memory_allocated = map(
    _not_there, ("current_stream", "set_stream", "device_index", "empty_cache", "memory_allocated"))
__getattr__ = _publish.missing("torch.accelerator")
