"""What lies behind places of a graph (layer 3): other places, and the levels of their types."""

from __future__ import annotations

from .._ops.lift import levels_of
from .record import slot_table


def top(places):
    """The largest id of a level in the graph behind these places (tape, slot), or -1."""
    return max((lv[0] for lv, _ in levels_behind(places)), default=-1)


def levels_behind(places):
    """(level, where) of all levels in the types of a graph."""
    for tape, slot in places_behind(places):
        for lv in levels_of(type_at(tape, slot)):
            yield lv, (tape.serial, slot)


def differentiated(step):
    """The inputs of a step through which gradient flows."""
    return [step.ins[i] for i in step.wanted] if step.kind == "op" else step.ins[: len(step.ins) - len(step.out_avals)]


def places_behind(places, ins=differentiated):
    """All places of a graph."""
    seen, stack = set(places), list(places)
    while stack:
        tape, slot = stack.pop()
        yield tape, slot
        for place in before(tape, slot, ins):
            if place not in seen:
                seen.add(place)
                stack.append(place)


def before(tape, slot, ins=differentiated):
    """The places that one place was computed from, as far as gradient flows."""
    if slot < 0:
        if tape.open:
            v = tape.inputs[-slot - 1]
            return [(v.tape, v.slot)] if v.needs and v.leaf is None and v.tape is not None else []
        edge = tape.edges[-slot - 1]
        return [edge] if type(edge) is tuple else []
    step, needs, _ = slot_table(tape.prefix)[slot]
    if not needs or step.kind not in ("op", "function") or slot in tape.leaves:
        return []
    return [(tape, s) for s in ins(step)]


def type_at(tape, slot):
    """The type of what a place holds."""
    return slot_table(tape.prefix)[slot][2] if slot >= 0 else tape.prefix.steps()[1][-slot - 1].aval
