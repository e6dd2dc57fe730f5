"""Forward mode switched off (layer 6): `torch.autograd.forward_ad._set_fwd_grad_enabled(False)`.

Inside, what is recorded has no tangent in the dual levels that run; views keep theirs, as they show memory that has one, and what is written to keeps its own.
Calls are watched (watch.py); each result that has one of these levels goes on as its primal.
"""

from __future__ import annotations

from . import levels
from .record import record_op, thread
from .selective import Listener

_KEY = "tangents"  # in a thread's extra: the _Off that is in force
FORWARD = "function"  # in a thread's extra: an object for the forward of a custom Function that runs, which meets primals alone; None


class _Off(Listener):
    """levels: the dual levels that ran when it began, as types hold them."""

    def __init__(self):
        self.levels = [lv.key for lv in levels.running() if lv.kind == levels.DUAL]
        self.busy = False

    def made(self, spec, ins, outs):
        """The results that go on."""
        if self.before is not None:
            outs = self.before.made(spec, ins, outs)
        if self.busy or isinstance(spec, levels.MoveSpec) or spec.op.is_view:
            return outs
        self.busy = True
        try:
            return [self.without(v) for v in outs]
        finally:
            self.busy = False

    def without(self, v):
        """The primal of a Value in these levels."""
        for key in self.levels:
            if levels.has_key(v, key):
                v = record_op(levels.MoveSpec("still", key), [v])[0]
        return v


def enabled():
    """Whether tangents are made and seen in this thread."""
    extra = thread.state.extra
    return extra.get(_KEY) is None and not extra.get(FORWARD)


class On:
    """Switched on for a while for the level that `jvp` makes: those around it stay as they are."""

    def __enter__(self):
        self.before = thread.state.extra.pop(_KEY, None)

    def __exit__(self, *exc):
        turn(True)
        if self.before is not None:
            thread.state.extra[_KEY] = self.before


class Off:
    """Switched off for a while, as for the `jvp` of a custom Function."""

    def __enter__(self):
        self.before = thread.state.extra.get(_KEY) is None
        turn(False)

    def __exit__(self, *exc):
        turn(self.before)


def turn(on):
    """Switch them on or off."""
    extra = thread.state.extra
    found = extra.get(_KEY)
    if on and found is not None:
        if found.levels:
            found.__exit__()
        del extra[_KEY]
    elif not on and found is None:
        found = extra[_KEY] = _Off()
        if found.levels:
            found.__enter__()
