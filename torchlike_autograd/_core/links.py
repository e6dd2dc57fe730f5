"""Edges between tapes that nobody can walk any more are cut (layer 4).

What stays of a tape may be several graphs: where a variable of a loop's last turn is still there when the first tape of the next turn ends, both turns are in
that tape, and the edges of the one hold what the other needs no more, turn after turn back to the first.  From time to time it is worked out from who refers
to tapes which slots can still be walked to; other edges, and what pullbacks kept for them, go.  Who refers to a tape without saying to which slot holds all
of it.
"""

from __future__ import annotations

import gc
from operator import attrgetter
from sys import getrefcount
from time import perf_counter

from .nodes import Node
from .program import edges_lead, walked
from .record import LOCK, Tape, Value, slot_table
from .stages import memory_of

LINKS, BYTES = 2048, 1 << 28  # tapes that are linked to others, and what they keep, before somebody looks; not for fewer than FEW tapes
FEW, SHARE = 64, 50  # at most one part in so many of the time is spent on it
_since, _limit, _not_before = [0, 0], [LINKS], [0.0]
_IDLE = max(map(getrefcount, [object()]))  # of what only a container holds


def leading(program):
    """The mask of `edges_lead` for a tape that is being linked to others."""
    lead, size = edges_lead(program)
    _since[0] += 1
    _since[1] += size
    if (_since[0] >= _limit[0] or (_since[1] >= BYTES and _since[0] >= FEW)) and perf_counter() >= _not_before[0]:
        start = perf_counter()
        _limit[0] = max(LINKS, 2 * cut())
        _since[:] = 0, 0
        _not_before[0] = perf_counter() + SHARE * (perf_counter() - start)
    return lead


def cut():
    """Take off what nobody can walk to; the number of tapes that are there."""
    with LOCK:
        tapes, values, pairs, nodes = _who_refers()
        starts, left = _starts(tapes, values, pairs, nodes)
        values.clear()
        for tape in tapes:
            if not tape.open and (tuple in map(type, tape.edges) or tape.kept):
                _cut_one(tape, starts, left)
        return len(tapes)


def _who_refers():
    """(tapes, youngest first; Values on a tape; pairs of a tape and a slot; nodes) that are there."""
    kinds = {Tape: [], Value: [], tuple: [], Node: []}
    for o in gc.get_objects():
        if type(o) in kinds:
            kinds[type(o)].append(o)
    tapes, values, pairs, nodes = kinds.values()
    there = set(tapes)  # `gc.freeze` hides what there was before it: such a tape is left alone
    values[:] = [v for v in values if v.tape in there]
    pairs[:] = [p for p in pairs if len(p) == 2 and type(p[0]) is Tape and p[0] in there]
    nodes[:] = [n for n in nodes if n._tl_tape in there]
    return sorted(tapes, key=attrgetter("serial"), reverse=True), values, pairs, nodes


def _starts(tapes, values, pairs, nodes):
    """({tape: slots that are held}, Values that only graphs keep, by id)."""
    starts, said = {t: set() for t in tapes}, dict.fromkeys(tapes, 0)
    edges = {id(e) for t in tapes for e in t.edges if type(e) is tuple}
    kept: dict = {}
    for t in tapes:
        for v in t.kept.values():
            kept[id(v)] = kept.get(id(v), 0) + 1
    left = set()
    for v, n in zip(values, _holders(values)):
        said[v.tape] += 1
        if n <= kept.get(id(v), -1):
            left.add(id(v))
        else:
            starts[v.tape].add(v.slot)
    for pair in pairs:
        said[pair[0]] += 1
        if id(pair) not in edges:
            starts[pair[0]].add(pair[1])
    for node in nodes:
        said[node._tl_tape] += 1
        starts[node._tl_tape].add(node._tl_first)
    for t in tapes:
        contexts = [*t.contexts.values()]
        for (first, ctx), n in zip(t.contexts.items(), _holders(contexts)):
            said[t] += ctx._tl_tape is t
            if n > 1:
                starts[t].add(first)
    for t, n in zip(tapes, _holders(tapes)):
        if n > said[t] + 2:  # the keys of two tables here
            starts[t] = None  # whoever holds it may go anywhere
    return starts, left


def _holders(objects):
    """How many hold each of a list's objects besides this list."""
    return [n - _IDLE for n in map(getrefcount, objects)]


def _cut_one(tape, starts, left):
    """Keep the edges and contents that lead from what is held of one tape, and tell the older ones."""
    held = starts[tape]
    slots = range(-len(tape.edges), tape.prefix.size) if held is None else held
    reached, kept = walked(tape.prefix, slots, tape.freed)
    tape.edges = [e if type(e) is not tuple or -i - 1 in reached or -i - 1 in kept else None for i, e in enumerate(tape.edges)]
    table = slot_table(tape.prefix)
    kept |= {memory_of(s, table) for s in kept if s >= 0}  # whose versions are counted
    for slot in [s for s in tape.kept if s not in kept and held is not None]:
        del tape.kept[slot]
    for e in tape.edges:
        if type(e) is tuple and starts.get(e[0]) is not None:
            starts[e[0]].add(e[1])
    for v in tape.kept.values():
        if id(v) in left and v.tape is not None and starts.get(v.tape) is not None:
            starts[v.tape].add(v.slot)


__all__ = ["cut", "leading"]
