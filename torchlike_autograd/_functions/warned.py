"""Whether warnings that torch gives once in a process come every time (layer 7)."""

from __future__ import annotations

from .._core import config
from .._core.composite import composite


@composite("torch.set_warn_always")
def set_warn_always(b, /):
    """Give such warnings every time."""
    if not isinstance(b, bool):
        raise RuntimeError(f"setWarnOnlyOnce expects a bool, but got {type(b).__name__}")
    config.set("warn_always", b)


@composite("torch.is_warn_always_enabled")
def is_warn_always_enabled():
    """Whether they come every time."""
    return config.get("warn_always")
