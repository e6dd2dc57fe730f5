"""Dividing a record (layer 3): what it holds up to a prefix runs, what came after is recorded anew.

Two kinds of record are divided when they end.  One that went on past the end of a program that is compiled, as the last training step does into what follows
it: that program runs, and nothing is compiled for the whole, which hardly comes again.  And the one in which a loop was seen: each program has as many of its
turns as the others will have (ends.py).  Only what is not differentiated is recorded anew: no node, hook or context leads there.
"""

from __future__ import annotations

import numpy as np

from .._ops.held import check as check_held
from .._ops.spec import HeldSpec, SayingSpec, Spec
from . import record
from .ends import TURNS, calls_of, is_full, live_mask
from .program import Program, stand_in
from .record import LEAF, Step, alias_edge, extend, follow, label_of

LEAST = 8  # operators of a program that is worth ending at
OFTEN = 3  # a record that was divided so often becomes a program


def divided(tape):
    """Whether a record that is no program yet was divided, and has run."""
    if tape.contexts or tape.extra or tape.owner.extra.get("levels"):
        return False
    node = _first_turn(tape)
    turns = node is not None
    node = node if turns else _compiled_before(tape.prefix)
    tail = None if node is None else _steps_after(tape.prefix, node)
    if tail is None or not (turns or _is_compiled(tape, node, tail)):
        return False
    if turns:
        _end_there(node, tape.prefix)
    else:
        tape.prefix.memo["divided"] = tape.prefix.memo.get("divided", 0) + 1
    _divide(tape, node, tail)
    record.flush(tape.owner.tape)
    return True


def _first_turn(tape):
    """The prefix after which a record is whole turns of the loop that this thread is in; None where it is not in one, or they are one program's."""
    span = tape.owner.extra.get("span")
    if span is None or tape.prefix.size < span.size:
        return None
    calls, nodes, _ = calls_of(tape.prefix, tape.prefix.size)
    n, count = len(span.calls), 0
    while np.array_equal(calls[count * n : (count + 1) * n], span.calls):
        count += 1
    at = count * n if count * n < len(nodes) else (count - 1) * n
    return nodes[at] if at > 0 else None


def _compiled_before(prefix):
    """The last prefix on the way to this one with a compiled program, if that is a training step and what comes after updates nothing; else None."""
    if not prefix.turned or prefix.memo.get("divided", 0) >= OFTEN:
        return None
    while prefix.weight >= LEAST:
        if any(p.compiled is not None for p in _programs(prefix)):
            return prefix if _is_step(prefix) else None
        if _updates(prefix.step):
            return None
        prefix = prefix.parent
    return None


def _updates(step):
    return type(step) is Step and step.mode == LEAF and step.kind == "op"


def _is_step(prefix):
    """Whether a record ends with updates after a backward pass."""
    while prefix.turned and not _updates(prefix.step):
        if type(prefix.step) is Step and prefix.step.kind == "backward":
            return False
        prefix = prefix.parent
    return prefix.turned


def _end_there(node, prefix):
    """Let each record that comes to `node` end: no edge leads on from there to `prefix`."""
    node.setup = TURNS
    while prefix.parent is not node:
        prefix = prefix.parent
    for label in [k for k, edge in node.next.items() if edge is prefix or getattr(edge, "prefix", None) is prefix]:
        del node.next[label]


def _programs(node):
    try:
        return record.Prefix.programs.__get__(node, record.Prefix).values()  # which are not made here
    except AttributeError:
        return ()


def _steps_after(prefix, node):
    """The steps between two prefixes, each with the Spec that was called; None where they can not be recorded anew."""
    steps = []
    while prefix is not node:
        step, parent = prefix.step, prefix.parent
        if type(step) is Step:
            label = next((k for k, edge in parent.next.items() if edge is prefix), None)
            spec = None if label is None else label[1][0] if label[0] == "held" else label[0]
            # the rest are passes, Functions and marks of the engine's
            known = type(spec) in (Spec, HeldSpec, SayingSpec) or (step.kind in ("leaf", "detach") and step.ins)
            if step.packed or (step.mode != LEAF and True in step.needs) or not known:
                return None
            steps.append((step, spec))
        prefix = parent
    return steps[::-1]


def _is_compiled(tape, node, tail):
    mask = bytearray(live_mask(tape.values)[: node.size])
    for step, _ in tail:
        for s in step.ins:
            if type(s) is not tuple and 0 <= s < node.size:
                mask[s] = 1
    program = node.programs.get(bytes(mask))
    return program.compiled is not None if program is not None else stand_in(Program(node, bytes(mask))) is not None


def _divide(tape, node, tail):
    first, floats, ints, outside = node.size, tape.floats, tape.ints, tape.inputs
    last = {s: i for i, (step, _) in enumerate(tail) for s in step.ins if type(s) is not tuple}
    known = {s: tape.values[s] for s in last if 0 <= s < first}
    known.update(enumerate(tape.values[first:], first))
    notes = [(d, {s: d.pop(s) for s in [s for s in d if s >= first]}) for d in (tape.leaves, tape.seen, tape.lines)]
    tape.prefix, tape.values, tape.inputs = node, tape.values[:first], outside[: node.inputs]
    tape.floats, tape.ints = floats[: node.numbers[0]], ints[: node.numbers[1]]
    tape.slots = {v: s for v, s in tape.slots.items() if s >= -node.inputs}
    record.flush(tape)
    for i, (step, spec) in enumerate(tail):
        ins = [_number(s, floats, ints) if type(s) is tuple else outside[-s - 1] if s < 0 else known[s] for s in step.ins]
        outs = range(step.first, step.first + len(step.out_avals))
        _again(tape.owner, step, spec, ins, [known[s] for s in outs], [[d.get(s) for s in outs] for _, d in notes])
        del ins
        for s in (*(s for s in step.ins if type(s) is not tuple), *outs):
            if last.get(s, -1) <= i:
                known.pop(s, None)  # its tape holds it, or nobody


def _number(reference, floats, ints):
    kind, i = reference
    return floats[i] if kind == "f" else complex(floats[i], floats[i + 1]) if kind == "c" else bool(ints[i]) if kind == "b" else ints[i]


def _again(owner, step, spec, ins, outs, notes):
    """Record a step on the open tape; its results are the Values that they were."""
    if step.kind == "op" and is_full(owner.tape, spec, ins, step.mode):
        record.flush(owner.tape)
    tape = owner.tape
    node, numbers = _edge(tape, spec, step.mode, ins) if step.kind == "op" else (alias_edge(tape, *ins, step.kind), None)
    follow(tape, node, outs, numbers)
    slot = node.step.first
    for v, *known in zip(outs, *notes):
        v.tape, v.slot = tape, slot
        for d, note in zip((tape.leaves, tape.seen, tape.lines), known):
            if note is not None:
                d[slot] = note
        slot += 1


def _edge(tape, spec, mode, ins):
    """(the edge of a call, its runtime numbers or None)."""
    label, numbers = label_of(tape, spec, mode, ins)
    prefix, held = tape.prefix, ("held", label)
    node = prefix.next.get(label) or prefix.next.get(held)
    if node is None:
        avals = record.avals_of(ins)
        looked = check_held(spec, avals, ins) if type(spec) is HeldSpec else type(spec) is SayingSpec and spec.texts(avals)
        key = held if looked else None
        node = extend(tape, label, spec, ins, mode, key)
    return node, numbers


__all__ = ["divided"]
