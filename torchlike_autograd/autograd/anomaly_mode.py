"""Anomaly mode (layer 7): torch.autograd.detect_anomaly and set_detect_anomaly.

The mode belongs to the thread, and threads that begin while it is on in the main one begin in it (torch: it belongs to the process).
"""

from __future__ import annotations

import threading

from .._core.anomaly import Anomaly
from .._core.record import begun, thread
from .._core.saying import warn
from .._core.watch import rewatch

__all__ = ["detect_anomaly", "set_detect_anomaly"]


_main = [False, True]  # what the main thread has set


def _set(state, enabled, check_nan):
    state.extra["check nan"] = check_nan
    state.anomaly = Anomaly(check_nan) if enabled else None
    rewatch(state)


begun.append(lambda state: _main != [False, True] and _set(state, *_main))


def is_anomaly_enabled() -> bool:
    """Whether nodes remember by which call they were made."""
    return bool(thread.state.anomaly)


def is_anomaly_check_nan_enabled() -> bool:
    """Whether gradients are looked at for NaN in anomaly mode."""
    return thread.state.extra.get("check nan", True)


def set_anomaly_enabled(enabled, check_nan=True):
    """Switch anomaly mode, and looking for NaN in it."""
    for position, (name, value) in enumerate((("enabled", enabled), ("check_nan", check_nan)), 1):
        if not isinstance(value, bool):
            raise TypeError(f"set_anomaly_enabled(): argument '{name}' (position {position}) must be bool, not {type(value).__name__}")
    if threading.current_thread() is threading.main_thread():
        _main[:] = enabled, check_nan
    _set(thread.state, enabled, check_nan)


class detect_anomaly:
    """Inside, a failing backward names the forward call, and a NaN among gradients is an error."""

    def __init__(self, check_nan=True):
        self.prev, self.check_nan, self.prev_check_nan = is_anomaly_enabled(), check_nan, is_anomaly_check_nan_enabled()
        warn("Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for debugging.")

    def __enter__(self):
        set_anomaly_enabled(True, self.check_nan)

    def __exit__(self, *args):
        set_anomaly_enabled(self.prev, self.prev_check_nan)


class set_detect_anomaly:
    """Switch the mode at once; as a context manager restore it after."""

    def __init__(self, mode, check_nan=True):
        self.prev, self.prev_check_nan = is_anomaly_enabled(), is_anomaly_check_nan_enabled()
        set_anomaly_enabled(mode, check_nan)

    def __enter__(self):
        pass

    def __exit__(self, *args):
        set_anomaly_enabled(self.prev, self.prev_check_nan)
