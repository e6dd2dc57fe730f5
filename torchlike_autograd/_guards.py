"""torch._guards (layer 8): what a tracer knows while it traces; nothing here does, so that whoever asks is told so."""

from __future__ import annotations

from ._core import publish as _publish

__all__ = ["TracingContext", "active_fake_mode", "detect_fake_mode"]


class TracingContext:
    """What is known of a trace: there is none, and none can be made."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError("torchlike_autograd: torch._guards.TracingContext: nothing is traced")

    @staticmethod
    def try_get():
        """None."""
        return None


def detect_fake_mode(inputs=None):
    """None: there are no fake tensors."""
    return None


def active_fake_mode():
    """None: there are no fake tensors."""
    return None


__getattr__ = _publish.missing("torch._guards")
