"""torch.utils._device (layer 8)."""

from __future__ import annotations

import functools

from .._core import publish as _publish
from .._core.devices import device as _device


def set_device(device):
    """A decorator: new tensors of the function are made on a device."""
    def decorate(func):
        @functools.wraps(func)
        def run(*args, **kwargs):
            with _device(device):
                return func(*args, **kwargs)

        return run

    return decorate


__getattr__ = _publish.missing("torch.utils._device")
