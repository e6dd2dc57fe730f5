"""torch.random (layer 7): the default generator."""

import contextlib as _contextlib

from ._core import publish as _publish
from ._core.devices import device as _device
from ._core.devices import devices_of as _devices_of
from ._functions.random import default_generator

__all__ = ["default_generator", "fork_rng", "thread_safe_generator", *_publish.install(globals(), "torch.random")]


def thread_safe_generator():
    """The generator of a worker thread of a loader, None outside: there are no such threads."""


__getattr__ = _publish.missing("torch.random")


@_contextlib.contextmanager
def fork_rng(devices=None, enabled=True, _caller="fork_rng", _devices_kw="devices", device_type=None):
    """Give the default generator its state back at the end (there are no generators of other devices)."""
    if device_type is not None:
        _device(device_type)
    if devices and not _devices_of("cuda"):
        raise AssertionError("Torch not compiled with CUDA enabled")
    state = default_generator.get_state()
    try:
        yield
    finally:
        if enabled:
            default_generator.set_state(state)
