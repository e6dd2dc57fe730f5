"""torch.amp.autocast_mode (layer 8).

Regions of the CPU cast, and of CUDA where there is such a device (`_core/autocasting.py` says how, and what differs); of the other kinds of devices PyTorch
only keeps account, and so do we.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

import numpy as np

from .._core import autocasting as _casting
from .._core.devices import device as _device
from .._core.devices import devices_of as _devices_of
from .._core.dtypes import bfloat16, float16
from .._core.saying import warn
from .._tensor import Tensor

__all__ = ["autocast", "autocast_decorator", "custom_bwd", "custom_fwd", "is_autocast_available"]


def _kind(name, device_type):
    if not isinstance(device_type, str):
        raise TypeError(f"{name}(): argument 'device_type' (position 1) must be str, not {_type_name(device_type)}")
    return _device(device_type).type


def _type_name(x):
    kind = type(x)
    return kind.__name__ if kind.__module__ == "builtins" else f"torch.{kind.__name__}"


def is_autocast_available(device_type):
    """Whether PyTorch has autocast for a kind of device."""
    return _kind("_is_autocast_available", device_type) in _casting.DTYPES


def get_autocast_dtype(device_type):
    """The dtype that autocast computes in on a kind of device."""
    return _casting.dtype_of(_kind("get_autocast_dtype", device_type))


def set_autocast_dtype(device_type, dtype):
    """Set it, for this thread."""
    _casting.set_dtype(_kind("set_autocast_dtype", device_type), dtype)


def is_autocast_enabled(device_type="cuda"):
    """Whether autocast is in force on a kind of device, in this thread."""
    return _casting.enabled(_kind("is_autocast_enabled", device_type))


def set_autocast_enabled(*args, **kwargs):
    """set_autocast_enabled(device_type, enabled) or set_autocast_enabled(enabled): switch it, for this thread; with one argument for "cuda"."""
    if len(args) + len(kwargs) == 1:
        kwargs = {"device_type": "cuda", **dict(zip(("enabled",), args)), **kwargs}
        args = ()
    given = dict(zip(("device_type", "enabled"), args)) | kwargs
    if len(given) < len(args) + len(kwargs) or set(given) != {"device_type", "enabled"}:
        raise TypeError("set_autocast_enabled() takes (str device_type, bool enabled) or (bool enabled)")
    device_type, enabled = given["device_type"], given["enabled"]
    if not isinstance(enabled, bool):
        raise TypeError(f"set_autocast_enabled(): argument 'enabled' (position {2 if len(args) == 2 else 1}) must be bool, not {_type_name(enabled)}")
    _casting.enable(_kind("set_autocast_enabled", device_type), enabled)


def is_autocast_cache_enabled():
    """Whether casts of leaves that require grad are kept for a region."""
    return _casting.here.caches


def set_autocast_cache_enabled(enabled):
    """Switch that."""
    _casting.here.caches = bool(enabled)


def clear_autocast_cache():
    """Forget the casts that are kept."""
    _casting.here.cache.clear()


autocast_increment_nesting, autocast_decrement_nesting = _casting.deeper, _casting.shallower


def _older():
    """The names that say the device."""
    out = {}
    for line, name, new, call in (
            (883, "is_autocast_cpu_enabled()", "is_autocast_enabled('cpu')", lambda: is_autocast_enabled("cpu")),
            (874, "set_autocast_cpu_enabled(enabled)", "set_autocast_enabled('cpu', enabled)", lambda enabled: set_autocast_enabled("cpu", enabled)),
            (909, "is_autocast_ipu_enabled()", "is_autocast_enabled('ipu')", lambda: is_autocast_enabled("ipu")),
            (935, "is_autocast_xla_enabled()", "is_autocast_enabled('xla')", lambda: is_autocast_enabled("xla")),
            (1016, "get_autocast_cpu_dtype()", "get_autocast_dtype('cpu')", lambda: get_autocast_dtype("cpu")),
            (1007, "get_autocast_gpu_dtype()", "get_autocast_dtype('cuda')", lambda: get_autocast_dtype("cuda")),
            (1025, "get_autocast_ipu_dtype()", "get_autocast_dtype('ipu')", lambda: get_autocast_dtype("ipu")),
            (1034, "get_autocast_xla_dtype()", "get_autocast_dtype('xla')", lambda: get_autocast_dtype("xla")),
            (967, "set_autocast_cpu_dtype(dtype)", "set_autocast_dtype('cpu', dtype)", lambda dtype: set_autocast_dtype("cpu", dtype)),
            (952, "set_autocast_gpu_dtype(dtype)", "set_autocast_dtype('cuda', dtype)", lambda dtype: set_autocast_dtype("cuda", dtype)),
            (982, "set_autocast_ipu_dtype(dtype)", "set_autocast_dtype('ipu', dtype)", lambda dtype: set_autocast_dtype("ipu", dtype)),
            (997, "set_autocast_xla_dtype(dtype)", "set_autocast_dtype('xla', dtype)", lambda dtype: set_autocast_dtype("xla", dtype)),
            (900, "set_autocast_ipu_enabled(enabled)", "set_autocast_enabled('ipu', enabled)", lambda enabled: set_autocast_enabled("ipu", enabled)),
            (926, "set_autocast_xla_enabled(enabled)", "set_autocast_enabled('xla', enabled)", lambda enabled: set_autocast_enabled("xla", enabled))):
        out[name.partition("(")[0]] = _deprecated(name, new, line, call)
    return out


def _deprecated(name, new, line, call):
    def function(*args):
        warn(f"torch.{name} is deprecated. Please use torch.{new} instead. (Triggered internally at /__w/pytorch/pytorch/torch/csrc/autograd/init.cpp:{line}.)",
             DeprecationWarning)
        return call(*args)

    function.__name__ = function.__qualname__ = name.partition("(")[0]
    return function


OLDER = _older()


# Regions

def autocast_decorator(autocast_instance, func):
    """`func` in a region."""

    @functools.wraps(func)
    def decorate_autocast(*args, **kwargs):
        with autocast_instance:
            return func(*args, **kwargs)

    decorate_autocast.__script_unsupported = "@autocast() decorator is not supported in script mode"
    return decorate_autocast


class autocast:
    """A context manager and decorator: operators that gain by it compute in `dtype`, others that need it in float32."""

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        self.device = device_type
        self.custom_backend_name = "privateuseone"
        if not is_autocast_available(device_type):
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        self._cache_enabled = is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        self._enabled = _possible(self, enabled)

    def __enter__(self):
        self.prev_cache_enabled = is_autocast_cache_enabled()
        self.prev = is_autocast_enabled(self.device)
        self.prev_fastdtype = get_autocast_dtype(self.device)
        set_autocast_enabled(self.device, self._enabled)
        set_autocast_dtype(self.device, self.fast_dtype)
        autocast_increment_nesting()
        set_autocast_cache_enabled(self._cache_enabled)
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        if autocast_decrement_nesting() == 0:
            clear_autocast_cache()
        set_autocast_enabled(self.device, self.prev)
        set_autocast_dtype(self.device, self.prev_fastdtype)
        set_autocast_cache_enabled(self.prev_cache_enabled)
        return False

    def __call__(self, func):
        return autocast_decorator(self, func)


def _possible(cast, enabled):
    if not enabled:
        return enabled
    if cast.device == "cpu":
        if cast.fast_dtype not in (bfloat16, float16):
            warn("In CPU autocast, but the target dtype is not supported. Disabling autocast.\nCPU Autocast only supports dtypes of torch.bfloat16, "
                 "torch.float16 currently.")
            return False
    elif cast.device == "cuda":
        if _devices_of("cuda"):
            return enabled
        warn("CUDA is not available or torch_xla is imported. Disabling autocast.")
        return False
    return enabled


def _enter_autocast(*vals):
    mode = autocast(*vals)
    mode.__enter__()
    return mode


def _exit_autocast(mode):
    mode.__exit__(None, None, None)


# Custom functions

def _cast(value, device_type, dtype):
    """Tensors of a kind of device, also in containers, in `dtype`; float64 and integers as they are."""
    if isinstance(value, Tensor):
        eligible = value.is_floating_point() and value.device.type == device_type and value.dtype.name != "float64"
        return value.to(dtype) if eligible else value
    if isinstance(value, (str, np.ndarray)):
        return value
    if isinstance(value, Mapping):
        return {_cast(k, device_type, dtype): _cast(v, device_type, dtype) for k, v in value.items()}
    if isinstance(value, (list, tuple)) or hasattr(value, "__iter__"):
        parts = (_cast(v, device_type, dtype) for v in value)
        return type(value)(parts) if isinstance(value, (list, tuple)) else parts
    return value


def _check_device(device_type):
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")


def custom_fwd(fwd=None, *, device_type, cast_inputs=None):
    """For a custom Function's forward: it runs as the region around it says, or with autocast off on inputs in `cast_inputs`; backward will do the same."""
    _check_device(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorate_fwd(*args, **kwargs):
        args[0]._dtype = get_autocast_dtype(device_type)
        entered = is_autocast_enabled(device_type)
        args[0]._fwd_used_autocast = entered and cast_inputs is None
        if cast_inputs is None or not entered:
            return fwd(*args, **kwargs)
        with autocast(device_type=device_type, enabled=False):
            return fwd(*_cast(args, device_type, cast_inputs), **_cast(kwargs, device_type, cast_inputs))

    return decorate_fwd


def custom_bwd(bwd=None, *, device_type):
    """For a custom Function's backward: with autocast as it was in forward."""
    _check_device(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorate_bwd(*args, **kwargs):
        with autocast(device_type=device_type, enabled=args[0]._fwd_used_autocast, dtype=args[0]._dtype):
            return bwd(*args, **kwargs)

    return decorate_bwd
