"""Hooks on what is saved for backward (layer 7): torch.autograd.graph's context managers, over `_core/saved.py`."""

from __future__ import annotations

import contextlib

from .._core.record import thread
from .._core.watch import rewatch

__all__ = ["disable_saved_tensors_hooks", "save_on_cpu", "saved_tensors_hooks"]


def push_hooks(*hooks):
    """Make (pack, unpack) the innermost pair of this thread."""
    if len(hooks) != 2 or not all(map(callable, hooks)):
        raise TypeError("_push_saved_tensors_default_hooks(): incompatible function arguments. The following argument types are supported:\n"
                        "    1. (arg0: collections.abc.Callable, arg1: collections.abc.Callable) -> None\n\nInvoked with: " + ", ".join(map(repr, hooks)))
    state = thread.state
    message = state.extra.get("hooks disabled")
    if message is not None:
        raise RuntimeError(message)
    state.saved_hooks += (hooks,)
    rewatch(state)


def pop_hooks():
    """Take the innermost pair off."""
    state = thread.state
    if not state.saved_hooks:
        raise RuntimeError("there are no saved tensor hooks to take off")
    state.saved_hooks = state.saved_hooks[:-1]
    rewatch(state)


class saved_tensors_hooks:
    """Give every tensor that is saved inside to `pack_hook`, and to whoever needs it what `unpack_hook` makes of the answer; the innermost pair counts."""

    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self):
        push_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *args):
        pop_hooks()


class save_on_cpu(saved_tensors_hooks):
    """Move what is saved to the CPU, and back to where it was when it is needed; `pin_memory` asks for nothing here."""

    def __init__(self, pin_memory=False, device_type="cuda"):
        super().__init__(lambda t: (t.device, t if t.device.type == "cpu" else t.cpu()), lambda kept: kept[1].to(kept[0], non_blocking=pin_memory))


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message):
    """Hooks are refused inside, with this message."""
    before = disabled_message()
    set_disabled(error_message)
    try:
        yield
    finally:
        restore_disabled(before)


def set_disabled(error_message, fail_if_non_empty=True):
    """Refuse hooks with this message; fails with it where some are active, unless that is asked for."""
    if not isinstance(error_message, str):
        raise TypeError("_saved_tensors_hooks_disable(): incompatible function arguments. The following argument types are supported:\n"
                        f"    1. (error_message: str, fail_if_non_empty: bool = True) -> None\n\nInvoked with: {error_message!r}")
    state = thread.state
    if state.saved_hooks and fail_if_non_empty:
        raise RuntimeError(error_message)
    state.extra["hooks disabled"] = error_message


def restore_disabled(message):
    """Refuse hooks as before `set_disabled`, with `message`, or allow them again (None)."""
    thread.state.extra["hooks disabled"] = message


def disabled_message():
    """The message with which hooks are refused, or None."""
    return thread.state.extra.get("hooks disabled")


def enable():
    """Allow hooks again."""
    thread.state.extra["hooks disabled"] = None


def top_hooks(ignore_is_tracing=False):
    """The innermost pair of hooks, or None."""
    return thread.state.saved_hooks[-1] if thread.state.saved_hooks else None
