"""Results written through views (layer 4): of those that their nodes save, which tensor shows them.

The result of `v.tanh_()`, where `v` is a view, stands in the graph of gradients at the node of `v`, which leads to that of its base: there the gradient
of `tanh` reads it.  The record holds the result itself, of which the base was made anew.

And leaves that were asked for gradients, or asked no longer, after nodes had saved them: torch's nodes save the tensor, so the graph of a gradient leads to
what it is now.  The record holds what it was.
"""

from __future__ import annotations

import weakref
from sys import getrefcount

from .record import Step
from .storage import history

_NOTED = weakref.WeakKeyDictionary()  # tape -> {slot: (weak reference to the view or the leaf, its version, its type where that may change)}

noted = [False]  # whether there ever was one: whoever reads values of tapes asks


def note(t, v):
    """Note that `v` has just been written through the view `t`."""
    noted[0] = True
    _NOTED.setdefault(v.tape, {})[v.slot] = weakref.ref(t), t._tl_counter.n, None


def on(tape):
    """Whether there is one on a tape, or a leaf that changed."""
    return noted[0] and (tape in _NOTED or bool(_CHANGED))


_UNCHANGED = None, (lambda: None), 0
_CHANGED: dict = {}  # id of the Value that a leaf showed -> (weak references to it and to the leaf, the leaf's version)


def changed(t, old):
    """Note that the leaf `t`, which showed `old`, requires grad from now on, or no longer; nobody else holds `old` where nothing was computed from it."""
    if getrefcount(old) <= _ALONE or _unread(old):
        return
    noted[0] = True
    key = id(old)
    if old.tape is not None:  # once that has ended, its record knows the place alone
        _NOTED.setdefault(old.tape, {})[old.slot] = weakref.ref(t), _version(t), old.aval
    _CHANGED[key] = weakref.ref(old, lambda _: _CHANGED.pop(key, None)), weakref.ref(t), _version(t)


def _unread(v):
    """Whether no call after the one that made a Value reads it, as far as a short look tells."""
    if v.tape is None or not v.tape.open or v.slot < 0:
        return False
    prefix = v.tape.prefix
    for _ in range(_SHORT):
        step = prefix.step
        if type(step) is Step:
            if v.slot in step.ins:
                return False
            if step.first <= v.slot:
                return True
        prefix = prefix.parent
        if prefix is None:
            return False
    return False


_SHORT = 50


def _version(t):
    counter = t._tl_counter
    return 0 if counter is None else counter.n


def now(v):
    """What a leaf shows that showed `v`, or `v` itself."""
    if v is None or not _CHANGED:
        return v
    _, t, version = _CHANGED.get(id(v), _UNCHANGED)
    t = t()
    if t is None or _version(t) != version:
        return v
    shown = history(t)
    return now(shown) if shown.aval is v.aval and shown is not v else v


def shown_at(tape, slot):
    """The Value, with its place in the graph, of the view through which the result in a slot was written, or of the leaf that it was; None where there is none,
    or none any more."""
    t, version, aval = _NOTED.get(tape, {}).get(slot, _NOTHING)
    t = t()
    if t is None or _version(t) != version:
        return None
    v = history(t)
    return v if aval is None or v.aval is aval else None


_NOTHING = (lambda: None), 0, None
_ALONE = 4  # the tensor, the caller's name, the argument, and what counts

__all__ = ["changed", "note", "noted", "now", "on", "shown_at"]
