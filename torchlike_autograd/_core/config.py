"""Every setting and its scope (layer 0): read through functions, restorable, never hidden.

`execution`: "deferred" (default) or "immediate" (environment TLA_EXECUTION=immediate) runs every
call at once, for debugging.  `record_limit`: calls recorded before a flush is forced (8 times as many where they are turns of a loop that is differentiated).
`random`: who draws the random numbers of tensors on accelerators, "host" (default: the numbers of PyTorch's CPU generator) or "device"
(`jax.random`, in the program that uses them; environment TLA_RANDOM=device).
"""

from __future__ import annotations

import os

_state = {
    "execution": os.environ.get("TLA_EXECUTION", "deferred"),
    "record_limit": int(os.environ.get("TLA_RECORD_LIMIT", "1200")),
    "cache_size": int(os.environ.get("TLA_CACHE_SIZE", "512")),
    "check": os.environ.get("TLA_CHECK", "0") == "1",
    "random": os.environ.get("TLA_RANDOM", "host"),
    "default_dtype": None,
    "default_device": None,
    "printed_warnings": True,
    "warn_always": False,
}
_listeners = []


def get(name):
    """The current value of a setting."""
    return _state[name]


def set(name, value):  # the field's word
    """Change a setting; returns the old value."""
    if name not in _state:
        raise KeyError(f"no setting named {name!r}; there are {sorted(_state)}")
    if name == "execution" and value not in ("deferred", "immediate"):
        raise ValueError(f"execution is 'deferred' or 'immediate', not {value!r}")
    if name == "random" and value not in ("host", "device"):
        raise ValueError(f"random is 'host' or 'device', not {value!r}")
    old, _state[name] = _state[name], value
    for listener in _listeners:
        listener(name, value)
    return old


deterministic = [False, False]  # what `use_deterministic_algorithms` was told: (asked for, only warn)
fills = [True]  # torch.utils.deterministic.fill_uninitialized_memory


def set_fills(mode):
    """Change it; torch's error for what is no bool."""
    if not isinstance(mode, bool):
        raise RuntimeError(f"expected a bool, but got {type(mode).__name__}")
    fills[0] = mode


def on_change(listener):
    """Call `listener(name, value)` after every change (for copies kept on hot paths)."""
    _listeners.append(listener)


def default_dtype():
    """torch.get_default_dtype()."""
    d = _state["default_dtype"]
    if d is None:
        from .dtypes import float32

        d = _state["default_dtype"] = float32
    return d
