"""torch.random (layer 7): the default generator."""

import contextlib as _contextlib

from ._core import publish as _publish
from ._core import rng as _rng
from ._core.devices import device as _device
from ._core.devices import devices_of as _devices_of
from ._functions.random import default_generator

__all__ = ["default_generator", "fork_rng", "thread_safe_generator", *_publish.install(globals(), "torch.random")]


def thread_safe_generator():
    """The generator of a worker thread of a loader, None outside: there are no such threads."""


__getattr__ = _publish.missing("torch.random")


@_contextlib.contextmanager
def fork_rng(devices=None, enabled=True, _caller="fork_rng", _devices_kw="devices", device_type=None):
    """Give the default generators of the host and of these devices (all) their states back at the end."""
    kind = "cuda" if device_type is None else _device(device_type).type
    if not enabled:
        yield
        return
    if devices and not _devices_of("cuda"):
        raise AssertionError("Torch not compiled with CUDA enabled")
    kept = _rng.states()
    if devices is not None:
        wanted = {"cpu", *(f"{kind}:{d}" if isinstance(d, int) else str(_device(d)) for d in devices)}
        kept = {key: state for key, state in kept.items() if key in wanted}
    try:
        yield
    finally:
        _rng.put_back(kept)
