"""Where a backward pass is cut, because somebody looks there, and which part of a graph it has to visit (layer 6)."""

from __future__ import annotations

from operator import attrgetter

from . import walls
from .nodes import Leaf, Nowhere, numbers_of, step_of
from .plan import WALL, useful_slots
from .program import walked
from .record import slot_table, thread

_NOTHING = frozenset()


def cuts_of(tape, p):
    """The slots of a tape whose gradients somebody looks at, and ("node", first slot) for steps that are looked at themselves.

    ("order", numbers): what runs before what, where somebody said so.
    (WALL, slot): where the pass ends (with targets that is said among these).
    ("filled", first slot): a target whose `.grad` is filled, so that its node runs although nobody wants what it gives.
    """
    leaves = _leaf_cuts(tape)
    if p.targets is not None and p.accumulate:
        leaves |= _filled(p, tape)
    ends = walls.on(tape, p.mark)
    if ends:
        leaves |= {(WALL, slot) for slot in ends}
    if thread.state.anomaly is not None:
        return leaves | thread.state.anomaly.cuts(tape)
    return frozenset(_watched(tape)) | leaves if tape.extra else leaves


def _filled(p, tape):
    out = []
    for w in p.targets:
        if type(w) is tuple and w[0] is tape and w[1] >= 0:
            out += w[1], ("filled", slot_table(tape.prefix)[w[1]][0].first)
    return frozenset(out)


def _watched(tape):
    """Slots with hooks or retained gradients; every output of a step with node hooks, and ("node", its first slot)."""
    out = []
    for first, seen in tape.extra.items():
        if type(first) is not int:
            continue
        if seen.number is not None:
            out.append(("order", _order(tape)))
        if seen.prehooks or seen.posthooks or seen.saved:
            out.append(("node", first))
            out += range(first, first + len(slot_table(tape.prefix)[first][0].out_avals))
        else:
            out += seen.retain
            out += [s for s, hooks in seen.hooks.items() if hooks]
    return out


def _order(tape):
    """((first slot, number) of every step), where somebody set the number of a node."""
    numbers = numbers_of(tape)
    numbers.update((first, seen.number) for first, seen in tape.extra.items() if type(first) is int and seen.number is not None)
    return tuple(numbers.items())


def _leaf_cuts(tape):
    """Slots of leaves whose arrival somebody watches."""
    if not Leaf.watched[0]:
        return _NOTHING
    out = [s for s, leaf in tape.leaves.items() if leaf.observed()]
    if tape.open:
        out += [-i - 1 for i, v in enumerate(tape.inputs) if v.leaf is not None and v.leaf.observed()]
    else:
        out += [-i - 1 for i, e in enumerate(tape.edges) if isinstance(e, Leaf) and e.observed()]
    return frozenset(out)


def mark_useful(p):
    """With targets given: for each tape, the slots from which a target can be reached; of several roots, those from which none can are no part of
    the pass, while torch comes to a single one in any case and calls its hooks."""
    if p.targets is None:
        return
    p.useful = {}
    for tape in reversed(_tapes_below(p)):
        own = frozenset(_own_targets(p, tape))
        p.useful[tape] = (own, useful_slots(tape.prefix, own))
    for tape, slots in list(p.frontier.items()) if len(p.begun) > 1 else ():
        own, useful = p.useful[tape]
        for slot in [s for s in slots if s not in useful and s not in own and (WALL, s) not in own]:
            del slots[slot]
        if not slots and tape not in p.undefined:
            del p.frontier[tape]


def _own_targets(p, tape):
    wanted = {w for w in p.targets if type(w) is not Nowhere}  # to which no gradient comes: nothing runs for it
    for slot, leaf in tape.leaves.items():
        if leaf in wanted:
            yield slot
    edges = [(v.leaf or (v.tape, v.slot)) if v.needs else None for v in tape.inputs] if tape.open else tape.edges
    for i, e in enumerate(edges):
        if e is None:
            continue
        if isinstance(e, Leaf):
            if e in wanted:
                yield -i - 1
        elif e in wanted or (e[0] in p.useful and e[1] in p.useful[e[0]][1]):
            yield -i - 1
    for w in wanted:
        if type(w) is tuple and w[0] is tape:
            yield w[1]
    for slot in walls.on(tape, p.mark):
        yield WALL, slot


def _tapes_below(p):
    """The tapes between the roots of a pass and its targets, youngest first."""
    oldest = min((w[0].serial if type(w) is tuple else 0 for w in p.targets), default=0)
    return list(_downwards({tape: set(slots) for tape, slots in p.frontier.items()}, oldest))


def _downwards(left, oldest):
    """The tapes of {tape: slots} and those below these slots, youngest first, none of a serial before `oldest`."""
    while left:
        tape = max(left, key=age)
        yield tape
        for i in outside_below(tape.prefix, frozenset(left.pop(tape))):
            e = _edge(tape, i)
            if e is not None and e[0].serial >= oldest:
                left.setdefault(e[0], set()).add(e[1])


age = attrgetter("serial")  # of a tape: the youngest runs first


def next_tape(p):
    """The tape that a pass runs next where numbers of nodes were set: of those to which no other one leads, that with the highest number."""
    ready = [t for t in p.frontier if not any(u is not t and _leads_to(p, u, t) for u in p.frontier)]
    return max(ready, key=lambda t: max((_number(t, s) for s in p.frontier[t]), default=0))


def _number(tape, slot):
    first = step_of(tape, slot).first if slot >= 0 else 0
    seen = tape.extra.get(first)
    return numbers_of(tape).get(first, 0) if seen is None or seen.number is None else seen.number


def _leads_to(p, young, old):
    """Whether gradients may go from what arrived at one tape to another one."""
    start = {young: {*p.frontier[young], *p.undefined.get(young, ())}}
    return any(tape is old for tape in _downwards(start, old.serial))


def outside_below(prefix, slots):
    """Numbers of the outside slots below some slots: structure."""
    key = ("below", slots)
    out = prefix.memo.get(key)
    if out is None:
        out = prefix.memo[key] = tuple(-s - 1 for s in walked(prefix, slots)[0] if s < 0)
    return out


def _edge(tape, i):
    """(older tape, slot) behind an outside slot, None for leaves and what needs no gradient."""
    if not tape.open:
        return tape.edges[i] if type(tape.edges[i]) is tuple else None
    v = tape.inputs[i]
    return (v.tape, v.slot) if v.needs and v.leaf is None and v.tape is not None else None


def targets_on(p, tape):
    """The slots of a tape that are asked for, or lead there; None where everything is."""
    if p.targets is None:
        return None
    if tape not in p.useful:
        return frozenset()
    return p.useful[tape][0]


__all__ = ["age", "cuts_of", "mark_useful", "next_tape", "outside_below", "targets_on"]
