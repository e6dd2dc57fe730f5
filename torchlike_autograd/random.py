"""torch.random (layer 7): the default generator."""

import contextlib as _contextlib

from ._core import publish as _publish
from ._core.devices import device as _device
from ._functions.random import default_generator

__all__ = ["default_generator", "fork_rng", *_publish.install(globals(), "torch.random")]
__getattr__ = _publish.missing("torch.random")


@_contextlib.contextmanager
def fork_rng(devices=None, enabled=True, _caller="fork_rng", _devices_kw="devices", device_type=None):
    """Give the default generator its state back at the end (there are no generators of other devices)."""
    if device_type is not None:
        _device(device_type)
    if devices:
        raise AssertionError("Torch not compiled with CUDA enabled")
    state = default_generator.get_state()
    try:
        yield
    finally:
        if enabled:
            default_generator.set_state(state)
