"""torch.backends.mha: attention is one program here; the switch keeps what is written to it."""

from __future__ import annotations

_enabled = [True]


def get_fastpath_enabled() -> bool:
    """What `set_fastpath_enabled` was told, True at first."""
    return _enabled[0]


def set_fastpath_enabled(value: bool) -> None:
    """Remembered."""
    _enabled[0] = value
