"""Results written through views (layer 4): of those that their nodes save, which tensor shows them.

The result of `v.tanh_()`, where `v` is a view, stands in the graph of gradients at the node of `v`, which leads to that of its base: there the gradient
of `tanh` reads it.  The record holds the result itself, of which the base was made anew.
"""

from __future__ import annotations

import weakref

from .storage import history

_NOTED = weakref.WeakKeyDictionary()  # tape -> {slot: (weak reference to the view, its version)}

noted = [False]  # whether there ever was one: whoever reads values of tapes asks


def note(t, v):
    """Note that `v` has just been written through the view `t`."""
    noted[0] = True
    _NOTED.setdefault(v.tape, {})[v.slot] = weakref.ref(t), t._tl_counter.n


def on(tape):
    """Whether there is one on a tape."""
    return noted[0] and tape in _NOTED


def shown_at(tape, slot):
    """The Value, with its place in the graph, of the view through which the result in a slot was written; None where there is none, or none any more."""
    t, version = _NOTED.get(tape, {}).get(slot, _NOTHING)
    t = t()
    return None if t is None or t._tl_counter.n != version else history(t)


_NOTHING = (lambda: None), 0

__all__ = ["note", "noted", "on", "shown_at"]
