"""torch.amp.autocast_mode (layer 8).

What differs: with device "cpu" and enabled, entering raises NotImplementedError, because operators do not choose their dtype by themselves here.
"""

from __future__ import annotations

import functools

from .._core.devices import device as _device
from .._core.dtypes import bfloat16, float16
from .._core.saying import warn

__all__ = ["autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]

_DTYPES = {"cpu": bfloat16, "cuda": float16, "xpu": float16, "mps": float16, "hpu": bfloat16}


def is_autocast_available(device_type):
    """Whether PyTorch has autocast for a kind of device."""
    return _device(device_type).type in _DTYPES


def get_autocast_dtype(device_type):
    """The dtype that autocast computes in on a kind of device."""
    return _DTYPES[_device(device_type).type]


def is_autocast_enabled(device_type="cuda"):
    """Whether autocast is in force on a kind of device: it never is."""
    _device(device_type)
    return False


class autocast:
    """A context manager and decorator."""

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.device = _device(device_type).type
        self.fast_dtype = dtype if dtype is not None else _DTYPES.get(self.device, float16)
        self._enabled = self._possible(enabled)
        self._cache_enabled = True if cache_enabled is None else cache_enabled

    def _possible(self, enabled):
        if not enabled:
            return False
        if self.device == "cpu":
            if self.fast_dtype in (bfloat16, float16):
                return True
            warn("In CPU autocast, but the target dtype is not supported. Disabling autocast.\nCPU Autocast only supports dtypes of torch.bfloat16, "
                 "torch.float16 currently.")
        elif self.device == "cuda":
            warn("CUDA is not available or torch_xla is imported. Disabling autocast.")
        return False

    def __enter__(self):
        if self._enabled:
            raise NotImplementedError("torch.autocast('cpu'): operators do not choose a half precision dtype here; convert with .to(torch.bfloat16)")
        return self

    def __exit__(self, *exc):
        return False

    def __call__(self, f):
        @functools.wraps(f)
        def within(*args, **kwargs):
            with self:
                return f(*args, **kwargs)

        return within


def _named(device_type):
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")


def custom_fwd(fwd=None, *, device_type, cast_inputs=None):
    """For a custom Function's forward: as it is, for autocast is never in force."""
    _named(device_type)
    return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs) if fwd is None else fwd


def custom_bwd(bwd=None, *, device_type):
    """For a custom Function's backward: as it is, for autocast is never in force."""
    _named(device_type)
    return functools.partial(custom_bwd, device_type=device_type) if bwd is None else bwd
