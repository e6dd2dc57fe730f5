"""What stands in the way of `torch.cuda` where there is no CUDA device (layer 8)."""

from __future__ import annotations

import functools

from .._core import devices as _devices


def is_available() -> bool:
    """Whether tensors can live on a CUDA device."""
    return bool(_devices.devices_of("cuda"))


def needs_device(*args, **kwargs):
    """torch's error without a device."""
    raise AssertionError("Torch not compiled with CUDA enabled")


def with_device(f):
    """`f`, which raises torch's error where there is no device."""

    @functools.wraps(f)
    def asked(*args, **kwargs):
        return f(*args, **kwargs) if is_available() else needs_device()

    return asked


def lacks(inner):
    """torch's error for what its CPU build was made without; NotImplementedError beside a device."""
    if is_available():
        raise NotImplementedError(f"torch._C.{inner}: JAX owns the device and its memory")
    raise AttributeError(f"module 'torch._C' has no attribute '{inner}'")


def number(device=None, optional=False):
    """The number of a device argument: -1 for None with `optional`, otherwise that of the current device; ValueError for another kind of device."""
    if isinstance(device, int):
        return device
    if isinstance(device, str):
        device = _devices.device(device)
    if isinstance(device, _devices.device):
        if device.type != "cuda":
            raise ValueError(f"Expected a cuda device, but got: {device}")
        device = device.index
    if device is not None:
        return device
    return -1 if optional else _devices.current_index[0]


def jax_device(device=None):
    """The jax.Device of a device argument."""
    return _devices.jax_device(f"cuda:{number(device)}")


__all__ = ["is_available", "jax_device", "lacks", "needs_device", "number", "with_device"]
