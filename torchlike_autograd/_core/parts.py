"""Which maps the parts of Values with levels are under (layer 3): of a dual number, the tangent alone may be mapped over.

The type of a dual number says which maps it is under, not by which part: in `jacfwd` the tangent alone is mapped, and a look at the primal is a look at no
example.  The record tells what each part was computed from; when a flush ends it, what it told of the Values that it leaves is noted.
"""

from __future__ import annotations

import weakref

from .._ops.lift import DUAL, MAP, MoveSpec, levels_of
from .record import slot_table

_NOTED = weakref.WeakKeyDictionary()  # Value that a flush left -> its parts
_ARRAYS: dict = {}  # id of its array -> (weak reference to that, parts): Values that are made of it later (leaves, aliases) have the same ones
_LIKE = weakref.WeakKeyDictionary()  # Value made like another one, and mapped as its type is -> the slot of that one on the same tape, or its parts
_NOTHING = (frozenset(), {})


def primal_maps(v, but=None):
    """The maps, as types hold them, that the primal of a Value is under; but: a dual level, the tangents of all others are counted too."""
    open_there = v.tape is not None and v.tape.open and v.slot >= 0
    primal, tangents = _walked(v.tape, [v.slot])[v.slot] if open_there else _known(v)
    return primal if but is None else primal.union(*[maps for lv, maps in tangents.items() if lv != but])


def of_tape(tape):
    """{slot: (weak reference, parts)} for the Values of an open tape of which more is known than their types say."""
    slots = [i for i, v in enumerate(tape.values) if any(lv[2] == MAP for lv in levels_of(v.aval))]
    if not slots or not (any(_noted(v) for v in tape.inputs) or any(lv[2] == DUAL for _, _, a in slot_table(tape.prefix) for lv in levels_of(a))):
        return {}
    found = _walked(tape, slots)
    return {i: (weakref.ref(tape.values[i]), found[i]) for i in slots if found[i] != _of_type(tape.values[i].aval)}


def note(tape, found):
    """Remember parts of the Values that a flush left, also of those that it keeps for backward passes."""
    for slot, (ref, parts) in found.items():
        for v in (ref(), tape.kept.get(slot)):
            if v is not None and v.array is not None:
                _remember(v, parts)


def _remember(v, parts):
    key = id(v.array)
    _ARRAYS[key] = weakref.ref(v.array, lambda _: _ARRAYS.pop(key, None)), parts
    _NOTED[v] = parts


def _noted(v):
    found = _NOTED.get(v)
    if found is None:
        ref, found = _ARRAYS.get(id(v.array), (None, None))
        found = found if ref is not None and ref() is v.array else None
    return found


def made_like(v, other):
    """Remember what decides whether a fresh Value counts as mapped: its examples are all the same."""
    if v.tape is not None and v.tape.open:
        _LIKE[v] = other.slot if other.tape is v.tape and other.slot >= 0 else _known(other)
    elif v.array is not None:
        _remember(v, (primal_maps(other), {}))


def _of_type(a):
    """(maps of the primal, {dual level: maps of its tangent}) as far as a type tells: all maps."""
    maps = _maps(a)
    return maps, {lv: maps for lv in levels_of(a) if lv[2] == DUAL}


def _maps(a):
    return frozenset(lv for lv in levels_of(a) if lv[2] == MAP)


def _known(v):
    """The parts of a Value that no open tape tells of."""
    return _noted(v) or _of_type(v.aval)


def _walked(tape, slots):
    """{slot: parts} for these slots of an open tape and for what they were computed from."""
    table, reached, stack = slot_table(tape.prefix), set(), [*slots]
    while stack:
        s = stack.pop()
        if s not in reached:
            reached.add(s)
            like = _LIKE.get(tape.values[s]) if s >= 0 else None
            if like is None and s >= 0 and levels_of(table[s][2]):
                stack += _ins(table[s][0])
            elif type(like) is int:
                stack.append(like)
    found = {}
    for s in sorted(reached):
        like = _LIKE.get(tape.values[s]) if s >= 0 else None
        if like is None:
            found[s] = _known(tape.inputs[-s - 1]) if s < 0 else _made(table[s][0], s, table[s][2], found)
        else:
            found[s] = (found[like] if type(like) is int else like)[0], {}
    return found


def _ins(step):
    return [s for s in step.ins if type(s) is int]


def _made(step, slot, a, found):
    """The parts of a result of a step, of type `a`."""
    if not levels_of(a):
        return _NOTHING
    if step.kind == "function":
        return found[step.ins[slot - step.first - len(step.out_avals)]]     # of what `forward` gave, which stands behind the arguments
    if step.kind == "backward":
        return _of_type(a)
    maps, duals, given = _maps(a), [lv for lv in levels_of(a) if lv[2] == DUAL], [found[s] for s in _ins(step)]
    spec = step.form.spec if step.kind == "op" else None
    if type(spec) is MoveSpec:
        primal, tangents = _moved(spec, given, duals, maps)
    else:
        primal = frozenset().union(*[p for p, _ in given])
        tangents = {d: primal.union(*[t.get(d, ()) for _, t in given]) for d in duals}
    return primal & maps, {d: tangents.get(d, maps) & maps for d in duals}


def _moved(spec, given, duals, maps):
    primal, tangents = given[0]
    if spec.how == "join":
        return primal, {**tangents, spec.level: given[1][0]}
    if spec.how == "tangent":  # of tangents of tangents nothing is known
        return tangents.get(spec.level, maps), {}
    if spec.how == "enter":
        own = {spec.level}
        return primal | own, {d: t | own for d, t in tangents.items()}
    return primal, tangents
