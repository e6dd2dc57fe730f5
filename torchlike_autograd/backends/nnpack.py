"""torch.backends.nnpack: not used here; its switch keeps what is written to it."""

from __future__ import annotations

from . import _switches

__all__ = ["flags", "is_available", "set_flags"]

_enabled = [True]


def is_available():
    """Whether the library is there."""
    return False


def set_flags(_enabled_now):
    """Set whether it may be used; what was set before, as a tuple."""
    before, _enabled[0] = _enabled[0], _enabled_now
    return (before,)


def flags(enabled=False):
    """A context in which it may or may not be used."""
    return _switches.for_a_while(set_flags, enabled)
