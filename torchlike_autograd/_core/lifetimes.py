"""What users attached to nodes that nobody can reach any more is let go (layer 4): contexts of custom Functions, hooks, metadata, packed values.

Structure stays on the open tape until it is flushed; what is attached to it may be large, and programs watch it die.  A tensor whose node has something
attached is watched; when it dies, the tape is swept: a node is alive while somebody holds a Value that was computed through it, the node itself, or its
context.  It is swept too before a flush, at a full collection of cycles, and for those who ask.
"""

from __future__ import annotations

import gc
import weakref
from sys import getrefcount

from . import execute
from .nodes import changes
from .record import thread

_watched: dict = {}  # id of a tensor -> its weak reference
_PER_DEATH, _MOST = 64, 4096  # values looked at for each death, on average; what can be saved up


class _Watch(weakref.ref):
    """key: id of the tensor; value: weak reference to the Value that it shows."""

    __slots__ = ("key", "value")


def watch(t):
    """Sweep when this tensor is gone."""
    key, v = id(t), t._v
    found = _watched.get(key)
    if found is None:
        found = _watched[key] = _Watch(t, _died)
        found.key = key
    elif found.value() is v:
        return
    found.value = weakref.ref(v)


def unwatch(t):
    """The tensor shows something else from now on."""
    _watched.pop(id(t), None)


def _died(found):
    """The tensor still holds its Value now; it is known which one, unless it was written since."""
    _watched.pop(found.key, None)
    state = thread.state
    tape = state.tape
    if not tape.open or not (tape.contexts or tape.extra):
        return
    credit = min(state.extra.get("sweep credit", 0) + _PER_DEATH, _MOST)
    if len(tape.values) <= credit:
        credit -= len(tape.values)
        v = found.value()
        sweep(tape, None if v is None or v.stale() or v.tape is not tape else v)
    state.extra["sweep credit"] = credit


def sweep(tape, dying=None):
    """Let go what is attached to nodes of an open tape that nobody can reach; not while a pass runs or a call is being recorded.

    dying: a Value that has one holder who is about to be gone.
    """
    while tape.open and len(tape.values) == tape.prefix.size and tape.owner.extra.get("pass") is None:
        alive = _alive(tape, dying)
        gone = []
        for step in tape.prefix.steps()[0]:
            first = step.first
            if step.out_avals and (first in tape.contexts or first in tape.extra) and not any(first + i in alive for i in range(len(step.out_avals))):
                gone += tape.contexts.pop(first, None), tape.extra.pop(first, None)
        if not gone:
            return
        changes[0] += 1
        gone.clear()  # here their last references go, with whatever that calls


def _alive(tape, dying):
    """Slots from which somebody can still walk the graph."""
    mask = bytearray(execute.live_mask(tape.values))
    if dying is not None:
        mask[dying.slot] = getrefcount(dying) > _IDLE + _HERE
    alive = {i for i, v in enumerate(tape.values) if mask[i] and v.needs and v.leaf is None}
    alive.update(key[1] for key, found in tape.extra.items() if type(key) is tuple and found() is not None)
    contexts = tape.contexts
    alive.update(first for first in contexts if getrefcount(contexts[first]) > _IDLE)
    for step in reversed(tape.prefix.steps()[0]):
        if step.kind in ("op", "function") and any(step.first + i in alive for i in range(len(step.out_avals))):
            alive.update(s for s in step.ins if type(s) is not tuple)
    return alive


_IDLE = max(map(getrefcount, [object()]))  # of what only a container holds
_HERE = 4  # further holders of a Value while `_alive` looks at it: the tensor, and a variable of each of three functions


def _collecting(phase, info):
    if phase == "start" and info["generation"] == 2:
        query()


def query():
    """Sweep this thread's tape, for somebody who asks what is alive."""
    tape = thread.state.tape
    if tape.contexts or tape.extra:
        sweep(tape)


execute.ending[0] = sweep
gc.callbacks.append(_collecting)
