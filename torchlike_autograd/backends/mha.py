"""torch.backends.mha: whether modules of attention do in evaluation what torch's kernel does (`_functions/multihead_native.py`)."""

from __future__ import annotations

_enabled = [True]


def get_fastpath_enabled() -> bool:
    """What `set_fastpath_enabled` was told, True at first."""
    return _enabled[0]


def set_fastpath_enabled(value: bool) -> None:
    """Switch that."""
    _enabled[0] = value
