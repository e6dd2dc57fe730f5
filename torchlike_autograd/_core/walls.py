"""Walls in a graph that several reverse-mode transformations share (layer 3): places that not every pass goes through.

In torch each level has a graph of its own.  Here there is one for all of them, and where the graphs of two levels differ a place says whose passes go on:

    b = t.data, inside of `grad`        the passes of that level end at b; those of the levels around it, and of plain autograd, go on
    a custom Function in `grad`, whose  merged(own, around): passes of levels inside of `jvp` go on to `own`, the Function's node, and all others to
    forward `jvp` runs around it        `around`, what the levels around it recorded
"""

from __future__ import annotations

import weakref

from .._ops import graft, shape  # noqa: F401 - entries of theirs are specs here
from .._ops.registry import OPS
from .._ops.spec import spec_of
from .record import GRAD, record_op

_MERGED, _SAME = spec_of(OPS["_merged"], (), ("T", "T")), spec_of(OPS["alias"], (), ("T",))

_WALLS: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # tape -> {slot: (marks of levels, whether only their passes go on)}


built = [False]  # whether there ever was one


def build(v, levels, only):
    """A wall at a fresh Value: only passes of these levels go on, or all but those."""
    built[0] = True
    _WALLS.setdefault(v.tape, {})[v.slot] = frozenset([lv.mark for lv in levels]), only


def ended(levels, v):
    """A Value of equal contents where passes of these levels end, and all others go on."""
    v = record_op(_SAME, [v], GRAD)[0]
    build(v, levels, False)
    return v


def merged(levels, own, around):
    """One Value of two with equal contents: passes of these levels go on to `own`, all others to `around`."""
    own, around = (record_op(_SAME, [v], GRAD)[0] for v in (own, around))
    build(own, levels, True)
    build(around, levels, False)
    return record_op(_MERGED, [around, own], GRAD)[0]


def on(tape, mark):
    """The slots of a tape where a pass of the level with this mark ends; mark None: of plain autograd."""
    found = _WALLS.get(tape) if built[0] else None
    return [slot for slot, (own, only) in found.items() if (mark in own) is not only] if found else ()
