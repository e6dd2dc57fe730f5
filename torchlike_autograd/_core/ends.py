"""Where a record ends by itself (layer 3): so that each training step is one program, and the same one as the step before.

`is_full` is asked by calls that have no edge in the trie: where it says yes none is added, so that it is asked again.  native/record.h has twins of `goes_on`
and `begins_a_step`.

Too much work ends a record as well.  A loop that is differentiated goes on and becomes a loop of its program.  Of a loop that is not, such as sampling, turns
that together have SPAN operators are a program, the same one each time: `cuts.py` divides what was recorded until the loop was seen.
"""

from __future__ import annotations

from sys import getrefcount
from typing import NamedTuple

import numpy as np

from .._ops.registry import NONE
from . import config
from .speed import native
from .values import GRAD, LEAF, OF_LEAF, Value

_IDLE = max(map(getrefcount, [object()]))  # what getrefcount sees of a value that only a list holds
_LIVE = bytes(0 if i <= _IDLE else 1 for i in range(256))
_NEVER = 1 << 62
LIMIT = [config.get("record_limit"), _NEVER]  # of weight, and of results while a loop is divided: a hint for native/extend.h
MOST, SPAN, _LOOK, _PERIOD = 8, 128, 256, 256
NOTHING, FILLED, MORE, TURNS = range(4)
FILLS = {"_copy_", "_fill_", "_zero_"}


def fills(step):
    """Whether a step gives a leaf new contents that do not depend on the old ones, as initialization does."""
    return step.mode == LEAF and step.kind == "op" and step.form.op.name in FILLS


def setup_after(setup, step):
    """What a tape holds after a step: NOTHING that matters, FILLED parameters, or MORE than the setting up of a model."""
    if step.kind in ("leaf", "detach"):
        return setup
    if fills(step):
        return FILLED
    return MORE if step.kind != "op" or step.mode == LEAF or True in step.needs or step.form.op.name == "backward" else setup


def _live_mask(values) -> bytes:
    """One byte a value: 1 where somebody besides the tape holds it."""
    try:
        return bytes(map(getrefcount, values)).translate(_LIVE)
    except ValueError:  # more than 255 holders
        return bytes(min(n, 255) for n in map(getrefcount, values)).translate(_LIVE)


live_mask = _live_mask if native is None else native.live_mask


def goes_on(tape, spec, ins):
    """Whether a call after a backward pass belongs to the same training step: it reads what this tape computes, or the data of a leaf, as averages of weights
    do, and nothing that requires grad but for a number that has no gradient, as the count of right answers."""
    values = [x for x in ins if type(x) is Value]
    needing = [v for v in values if v.needs]
    if needing and (spec.op.derivative != NONE or any(v.tape is not tape or v.leaf is not None for v in needing)):
        return False
    return any(v.tape is tape or (v.tape is None and v.slot == OF_LEAF) for v in values)


def begins_a_step(tape, spec, ins, mode):
    """Whether a call in grad mode that comes after a backward pass is the first of the next training step."""
    return bool(tape.prefix.turned and tape.values and mode & GRAD and not goes_on(tape, spec, ins))


def is_dead(tape, ins):
    """Whether nobody holds or reads what a tape computes: a model that was set up, whose weights were drawn since.  The first step would differ from others."""
    prefix = tape.prefix
    return prefix.setup < MORE and not prefix.guarded and not any(type(x) is Value and x.tape is tape for x in ins) and 1 not in live_mask(tape.values)


class Span(NamedTuple):
    """The turns of a loop that are a program: how many results and which operators, last first."""

    size: int
    calls: np.ndarray


def goes_round(tape, limit):
    """Whether a record that is full is in the middle of a loop that is differentiated, and goes on, up to MOST times as long.

    Such a loop becomes one of the program; cut, what its first part saves for the backward pass would come out of one program and go into the next, turn by
    turn.  Looked at anew every _LOOK operators.  Any other loop is divided from here on.
    """
    prefix = tape.prefix
    parent = prefix.parent
    if limit < _LOOK or prefix.weight > MOST * limit:
        return False
    if parent.weight > limit and parent.weight // _LOOK == prefix.weight // _LOOK:
        return True
    calls, nodes, graph = calls_of(prefix, 2 * limit)
    if graph:
        calls = calls[:4 * _PERIOD]
        return any(np.array_equal(calls[:3 * p], calls[p:4 * p]) for p in range(1, len(calls) // 4 + 1))
    period = _period(calls)
    length = period * -(-SPAN // period)
    if period > 1 and 2 * length <= len(calls):
        tape.owner.extra["span"] = span = Span(nodes[0].size - nodes[length].size, calls[:length])
        LIMIT[1] = span.size
    return False


def calls_of(prefix, most):
    """(the operators of a record, last first, at most so many; the prefixes that they lead to; whether any is differentiated)."""
    calls, nodes, graph = [], [], False
    while prefix.step is not None and len(calls) < most:
        step = prefix.step
        if hasattr(step, "kind"):  # no input that came in
            calls.append(hash((step.form.op.name, step.out_avals)) if step.kind == "op" else 0)  # with or without a guard
            nodes.append(prefix)
            graph = graph or True in step.needs
        prefix = prefix.parent
    return np.array(calls), nodes, graph


def _period(calls):
    """How many operators a turn has: half of them are what they were a turn before.  1 where there is no loop."""
    half = len(calls) // 2
    return next((p for p in range(1, half + 1) if np.array_equal(calls[:half], calls[p:p + half])), 1)


def ends_turns(tape):
    """Whether a record is the turns of a loop that is divided."""
    prefix, span = tape.prefix, tape.owner.extra.get("span")
    if span is not None and prefix.size >= span.size:
        calls, _, graph = calls_of(prefix, len(span.calls) + 1)
        if np.array_equal(calls, span.calls) and not graph:
            prefix.setup = TURNS
        else:
            del tape.owner.extra["span"]
            LIMIT[1] = _NEVER
    return prefix.setup == TURNS


def is_full(tape, spec, ins, mode):
    """Whether a call has to go on another tape: there is too much work on this one, a model was set up and is used now, or the next training step begins."""
    if not tape.values:
        return False
    prefix = tape.prefix
    if ends_turns(tape) or (prefix.weight + spec.weight > LIMIT[0] and not goes_round(tape, LIMIT[0])):
        return True
    if begins_a_step(tape, spec, ins, mode) or is_dead(tape, ins):
        return True
    return prefix.setup == FILLED and mode & GRAD and any(type(x) is Value and x.needs for x in ins)  # the first step has the structure of all others then
