"""What only a node of an open tape holds, and holds the node in turn (layer 4).

    tape ─► context of a Function ─► a dictionary that was an argument ─► the output ─► its Value, which is what keeps the context

On a closed tape Python's own collector finds such a circle.  An open one is held by the thread, so this looks from what is attached to its nodes: whatever is
reachable from there and has no holder elsewhere does not count as held.
"""

from __future__ import annotations

import gc
import types
from sys import getrefcount

from .record import Tape, Value

_ELSEWHERE = (type, types.ModuleType, types.FrameType, types.BuiltinFunctionType, Tape)
_MOST = 20_000  # objects looked at; more is left for when the tape closes
_IDLE = max(map(getrefcount, [object()]))


def held_by(roots):
    """(slots of the Values, ids of the other objects) that, beside their tape, only objects hold which `roots` lead to and nobody else holds.

    roots: a list of objects that the tape holds once each.  Nothing where there is too much to look at.
    """
    found = _reachable(roots)
    if not found:
        return (), frozenset()
    counts = {key: n - _IDLE for key, n in zip(found, map(getrefcount, found.values()))}  # without this table
    for x in roots:
        counts[id(x)] -= 1  # the list
    for x in found.values():
        for y in _referents(x):
            if id(y) in counts:
                counts[id(y)] -= 1
    own = {id(x) for x in roots} | {key for key, x in found.items() if type(x) is Value}
    outside = [x for key, x in found.items() if counts[key] > (key in own)]
    x = None  # held by nobody here
    kept = set()
    while outside:
        x = outside.pop()
        if id(x) not in kept:
            kept.add(id(x))
            outside += [y for y in _referents(x) if id(y) in found and id(y) not in kept]
    gone = [x for key, x in found.items() if key not in kept]
    return [(v.tape, v.slot) for v in gone if type(v) is Value], frozenset(map(id, gone))


def led_to(roots, ids):
    """(ids, slots of the Values) of those of the objects with these ids that `roots` lead to."""
    found = {key: x for key, x in (_reachable(roots) or {}).items() if key in ids}
    return found.keys(), [(v.tape, v.slot) for v in found.values() if type(v) is Value]


def _referents(x):
    return () if type(x) is Value else gc.get_referents(x)


def _reachable(roots):
    """{id: object}, without what is shared by all; None for too many."""
    found, todo = {}, list(roots)
    while todo:
        x = todo.pop()
        if id(x) in found or isinstance(x, _ELSEWHERE) or not gc.is_tracked(x):
            continue
        if isinstance(x, dict) and "__builtins__" in x:  # globals of a function
            continue
        found[id(x)] = x
        if len(found) > _MOST:
            return None
        todo += _referents(x)
    return found
