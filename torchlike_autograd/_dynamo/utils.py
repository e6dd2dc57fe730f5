"""torch._dynamo.utils (layer 8)."""

from __future__ import annotations

import contextlib as _contextlib
import sys as _sys

from .._core import publish as _publish
from . import config as _config

__all__ = ["disable_cache_limit", "is_compile_supported"]


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
    """False."""
    return False


__getattr__ = _publish.missing("torch._dynamo.utils")
