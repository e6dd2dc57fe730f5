"""torch._dynamo.utils (layer 8)."""

from __future__ import annotations

import collections as _collections
import contextlib as _contextlib
import sys as _sys
import warnings as _warnings

from .._core import publish as _publish
from .._core.devices import device as _device
from .._core.devices import devices_of as _devices_of
from . import config as _config

__all__ = ["counters", "disable_cache_limit", "is_compile_supported", "warn_once"]

counters = _collections.defaultdict(_collections.Counter)  # what a tracer counts: nothing is traced
warn_once_cache = set()  # what has been said


@_contextlib.contextmanager
def disable_cache_limit():
    """The limits of compilations anew are as good as none while this lasts."""
    before = _config.recompile_limit, _config.accumulated_recompile_limit
    _config.recompile_limit = _config.accumulated_recompile_limit = _sys.maxsize
    try:
        yield
    finally:
        _config.recompile_limit, _config.accumulated_recompile_limit = before


def is_compile_supported(device_type) -> bool:
    """Whether `torch.compile` may be called for a kind of device: True for a CPU, and for a GPU that is there."""
    kind = _device(device_type).type
    return kind == "cpu" or (kind == "cuda" and bool(_devices_of("cuda")))


def warn_once(msg: str, stacklevel: int = 1) -> None:
    """Warn of something the first time it is said, whatever the filters of warnings have seen."""
    if msg not in warn_once_cache:
        warn_once_cache.add(msg)
        _warnings.warn(msg, stacklevel=stacklevel + 1)


__getattr__ = _publish.missing("torch._dynamo.utils")
