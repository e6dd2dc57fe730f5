"""Whether compiling a program pays now (layer 3).

A training step, or a gradient in a loop, is compiled at first sight, on a credit that hits earn back; a long one and the turns of a loop without gradients
when they come a second time.  What else stands in no loop, or has no backward pass, runs op by op, where the host can, until that has taken as long as
compiling will: what is called a few times is not worth a program, and has the same last digits each time.  So does a variant of a step that repeats, such as
the one whose loss is printed, as long as it comes only now and then.
"""

from __future__ import annotations

import collections
import sys
import warnings
import weakref

from .._ops.symbolic import outline
from . import visits
from .compiling import is_pass
from .ends import TURNS, fills
from .host_sizes import host_function
from .lines import in_loop, user_line
from .record import LEAF

# Compiling at first sight costs COMPILE of the credit, AWAY where the host lacks an operator, a run of a compiled program earns 1: a loop that repeats may
# afford it, one whose structure never does may not: each of the last ones that hardly ran, but for two, doubles the price.  Without credit (of EASE for the
# turns of a loop without gradients) a structure is compiled when its runs op by op have taken as long as compiling it will: at most twice what the better of
# the two would have taken.
COMPILE, AWAY = 256, 32
CREDIT_START, CREDIT_MAX, EASE = 12 * COMPILE, 24 * COMPILE, 6 * COMPILE
RESERVE = 16 * AWAY  # of the credit, for programs that the host lacks operators of: op by op each of these is compiled too
LONG = 200  # operators of a program that is not compiled at first sight
ODD = 32  # operators for which one may be missing on the host
MANY = 4  # programs compiled at a place, none of which came several times before the next
SIZES = 4  # of the same program that may take turns at a place, each compiled when it comes again
HITS = 4  # runs of the last program that was compiled at a place before one of other sizes is at its second coming
RARE = 4  # runs of a compiled variant between two of another one that stays as it is
credit = [CREDIT_START, CREDIT_MAX]  # what there is, the most
spent = [0.2, 64]  # seconds on compiling, the sizes of what was compiled; what is guessed before the first
_last = collections.deque(maxlen=4)  # the programs that were compiled last
_variants: dict = {}  # the backward passes of a program -> [its compiled variants, their runs when another one last came]


def waits(program):
    """Whether a program that is not compiled yet runs op by op once more."""
    rare = _is_rare_variant(program)
    if not program.prefix.weight or (program.runs < 2 and _can_wait(program)):
        return True
    if credit[0] >= _least(program) and not ((rare or _in_vain(program)) and on_host(program)):
        return False
    return program.spent == 0.0 < spent[0] or program.spent < _size(program) * spent[0] / spent[1]


def charge(program):
    """Take what compiling a program costs from the credit."""
    credit[0] = max(credit[0] - _price(), min(credit[0], RESERVE)) if on_host(program) else max(credit[0] - AWAY, 0)
    _last.append(weakref.ref(program))


def _price():
    """What compiling at first sight costs where the host could run the program."""
    idle = sum(p is not None and p.runs < REPEATED for p in (r() for r in _last))
    return COMPILE << max(idle - 2, 0)


def note(program, seconds, operators):
    """Note that a program was compiled: how long it took, and how many operators that were not compiled before it has."""
    spent[0] += seconds
    spent[1] += _size(program) * operators / program.prefix.weight
    _explain_recompiles(program)


def _size(program):
    """What the time to compile a program goes by: the primitives of its operators and gradients, those of loops once, and two for each operator."""
    if program.size is None:
        program.size = 2 * program.prefix.weight + sum(map(_primitives, program.steps))
    return program.size


def _primitives(step):
    forms = [v[0] if type(v) is tuple else v.pull for v in step.form.visits] if hasattr(step.form, "visits") else [step.form]
    return sum(_equations(closed.jaxpr) for f in forms if (closed := outline(f)) is not None)


def _equations(jaxpr):
    inner = (getattr(p, "jaxpr", p) for eqn in jaxpr.eqns for p in eqn.params.values())
    return len(jaxpr.eqns) + sum(_equations(j) for j in inner if hasattr(j, "eqns"))


def _least(program):
    """The credit that compiling a program before it has paid takes."""
    if not on_host(program):
        return AWAY
    if not _in_training(program):
        return EASE if program.prefix.setup == TURNS else CREDIT_MAX + 1
    return RESERVE + _price() if any(map(_updates, reversed(program.steps))) or in_loop(sys._getframe(1)) else CREDIT_MAX + 1


def note_variant(program):
    """Remember a compiled program by its backward passes."""
    if key := _passes_of(program):
        if len(_variants) > 4096:
            _variants.clear()
        known = _variants.setdefault(key, [weakref.WeakSet(), 0])
        known[0].add(program)
        known[1] = sum(p.runs for p in known[0])


def _is_rare_variant(program):
    """Whether other programs with the same backward passes, compiled ones, have run several times since one that is not compiled came."""
    known = _variants.get(_passes_of(program))
    if known is None:
        return False
    runs = sum(p.runs for p in known[0])
    before, known[1] = known[1], runs
    return runs - before >= RARE


def _passes_of(program):
    """What tells the backward passes of a program from others, whatever else of it is computed; 0 where it has none."""
    if program.passes is None:
        found = [tuple([v.pull for v in s.form.visits]) if s.kind == "backward" else s.form for s in program.steps if is_pass(s)]
        program.passes = hash(tuple(found)) if found else 0
    return program.passes


def _can_wait(program):
    """Whether a program can run on the host, and is no part of a training step or so long that compiling it pays only if it comes again."""
    return (program.prefix.weight > LONG or not _in_training(program)) and on_host(program)


def _in_training(program):
    """Whether a program is part of a training step."""
    return program.graph or any(map(_trains, reversed(program.steps)))


def on_host(program):
    """Whether the host runs all its operators, or all but the ODD-th part: those are compiled each by itself."""
    if program.placed:
        return visits.can_visit(program) and _has_host(program)
    if program.hosted is None:
        program.hosted = _has_host(program)
    return program.hosted


def _has_host(program):
    missing, known = program.prefix.weight // ODD, set()
    for step in program.steps:
        if step.kind == "op" and step.form not in known:
            known.add(step.form)
            missing -= step.form.host(host_function) is None
            if missing < 0:
                return False
    return True


def _in_vain(program):
    """Whether programs that are compiled at this place hardly ever run again: its structure changes from turn to turn, as that of episodes does.

    So it is where the last two hardly ran, or the last one where this one makes the same calls with other sizes, as sequences do, and has not come twice
    (or more often, see below); one of the last two that waited here has come again: that is a loop whose first turns were others.  Each program
    compiled doubles how often it must come, as of structures that alternate at random some come again now and then.  After MANY programs, and where sizes are
    many, so that this one is less than one in SIZES of those that wait here, it has to come three times in a row, or to earn what compiling it takes.
    """
    entry = _places.get(user_line())
    if entry is None:
        return False
    compiled, *last, waiting, others = entry
    known = tuple(p[0].runs for p in last if p is not None and 2 * p[0].prefix.weight > program.prefix.weight)  # not a look at the end of each turn
    entry[3:] = waiting[-1:] + ((program, known),), others + 1
    in_a_row = waiting == ((program, known),) * 2
    if compiled >= MANY:
        return not in_a_row
    resized = last[1] is not None and _resized(last[1][0], program)
    if resized and program.runs * SIZES < others:
        return not in_a_row
    again = any(w is program for w, _ in waiting) and program.runs >= 1 << max(compiled - 2, 0)
    if resized and program.runs < 1 << compiled:
        return _hardly(others, *last[1]) or last[1][0].runs - last[1][1] < HITS
    return not again and None not in last and all(_hardly(others, *p) for p in last)


def _resized(a, b):
    """Whether two programs make the same calls, if of other sizes."""
    x, y = a.prefix.steps()[0], b.prefix.steps()[0]
    return len(x) == len(y) and all(s.kind == t.kind and (s.kind != "op" or s.form.op is t.form.op or is_pass(s)) for s, t in zip(x, y))


def _hardly(others, program, runs, before):
    """Whether a compiled program has run less than once in 32 times that something else came."""
    return (program.runs - runs) * 32 <= others - before


def _trains(step):
    """Whether a step is part of a backward pass or updates a leaf."""
    return is_pass(step) or _updates(step)


def _updates(step):
    return step.mode == LEAF and step.kind == "op" and not fills(step)


REPEATED = 32  # runs of a program that was worth compiling
advice = [True]  # whether a place that keeps compiling is told so
# line of user code -> [compiles there, the last two programs that were compiled, each with its runs and what else had come by then, the last two that waited,
# each with the runs that the compiled ones had then, how often something else than a compiled program came]
_places: dict = {}
_NOWHERE = 0, None, None, (), 0


def forget():
    """Forget what was compiled where."""
    _places.clear()
    _variants.clear()
    _last.clear()


def _explain_recompiles(program):
    """Warn once when one place keeps compiling, naming what differs.

    A place where the last one ran REPEATED times is counted anew: the phases of a script (its first steps, those that print, another model) meet at one line.
    """
    place = user_line()
    if place is None:
        return
    entry = _places.setdefault(place, list(_NOWHERE))
    before = entry[2]
    entry[0] = 1 if before is not None and not _hardly(entry[4], *before) and before[0].runs - before[1] >= REPEATED else entry[0] + 1
    if entry[0] == 8 and advice[0]:
        warnings.warn_explicit(
            f"{place[0]}:{place[1]} has compiled {entry[0]} different programs; the last two differ in {_difference(before[0], program)}. "
            "Sizes, dtypes and the sequence of calls are structure; numbers and start indices are not.", UserWarning, *place)
    entry[1:3] = before, (program, program.runs, entry[4])


def _difference(a, b):
    if a is None:
        return "structure"
    for i, (x, y) in enumerate(zip(a.prefix.steps()[1], b.prefix.steps()[1])):
        if (x.aval, x.needs) != (y.aval, y.needs):
            return f"input {i}: {x.aval}{' (grad)' if x.needs else ''} and {y.aval}{' (grad)' if y.needs else ''}"
    for x, y in zip(a.prefix.steps()[0], b.prefix.steps()[0]):
        if repr(x) != repr(y):
            return _differing_gradients(x.form, y.form) if x.kind == y.kind == "backward" else f"the call {x!r} and {y!r}"
    if len(a.prefix.steps()[0]) != len(b.prefix.steps()[0]):
        return f"the number of recorded calls: {len(a.prefix.steps()[0])} and {len(b.prefix.steps()[0])}"
    return "which results are still held when it runs"


def _differing_gradients(a, b):
    """The first call of two backward passes that differs."""
    for x, y in zip(a.visits, b.visits):
        if repr(x.step) != repr(y.step):
            return f"the gradient of the call {x.step!r} and of {y.step!r}"
    if len(a.visits) == len(b.visits):
        return "the gradients that are asked for"
    return f"the number of calls that have a gradient: {len(a.visits)} and {len(b.visits)}"


__all__ = ["advice", "charge", "credit", "note", "note_variant", "waits"]
