"""Tensors of a reverse-mode transformation that somebody holds past its end (layer 4): from then on they are plain ones, as in torch.

    kept = []
    grad(lambda x: (kept.append(x.sin()), x.sin())[1])(x)      kept[0] has no history now: nothing differentiates what is made of it

What leads to a tensor that something outside of the transformation differentiates keeps its history.
"""

from __future__ import annotations

import weakref
from sys import getrefcount

from . import belonging
from .record import Value, thread
from .storage import as_detached

DEAD = weakref.WeakSet()  # Values that were held past the end of their transformation

_IDLE = max(map(getrefcount, [object()])) + 2  # of a Value that is on its tape, in a list and named


class Held:
    """What a reverse-mode level may leave behind: begun with it, told of its own inputs, asked at its end."""

    __slots__ = ("inputs", "level", "start", "tape")

    def __init__(self, level):
        self.level, self.tape = level, thread.state.tape
        self.start, self.inputs = len(self.tape.values), []

    def release(self, outer, leaves, but):
        """Let who holds a Value of the level that leads to `leaves` alone hold its contents; `but`: Values to be left as they are.

        outer: whether anything outside may differentiate it.
        """
        tape = thread.state.tape
        on_tape = tape.values[self.start if tape is self.tape else 0:]
        but = {id(v) for v in but}
        found = [v for v in on_tape if v.needs and getrefcount(v) > _IDLE]
        found += [v for v in (r() for r in (*self.inputs, *self.level.escaped)) if v is not None]
        for v in found:
            if v.needs and id(v) not in but and not (outer and belonging.reaches([v], leaves)):
                _let_go(v)


def _let_go(v):
    """Let a Value be its contents alone; the tape and its leaves go on with another one in its place."""
    tape = thread.state.tape
    u = Value(v.aval, v.needs, v.tape, v.slot)
    u.array, u.leaf, u.seen = v.array, v.leaf, v.seen
    if v.tape is tape:
        tape.values[v.slot] = u
    elif v in tape.slots:
        tape.inputs[:] = [u if x is v else x for x in tape.inputs]
        tape.slots[u] = tape.slots.pop(v)
    p = as_detached(u)
    v.needs, v.tape, v.slot, v.array, v.leaf = p.needs, p.tape, p.slot, p.array, None
    if p.array is None:
        p.tape.values[p.slot] = v
    DEAD.add(v)


__all__ = ["DEAD", "Held"]
