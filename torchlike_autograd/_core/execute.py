"""Running programs (layer 3): compiling, caching, choosing between fused and op-by-op, counting.

A structure that repeats runs as one compiled program.  Compiling costs hundreds of milliseconds, for hundreds of operators seconds: a training step, or a
gradient in a loop, is compiled at first sight, a long one and the turns of a loop without gradients when they come a second time.  What else has no backward
pass, such as a printed value, an evaluation or the setting up of a script, runs on the host, where it can, until that has taken as long as compiling will.
Training draws on a credit that hits earn back; when it is used up, or where a place compiles in vain, new structures run op by op until that has taken as
long as compiling them would.  Both ways run the same Forms.
"""

from __future__ import annotations

import contextlib
import sys
import time
import warnings
from array import array

import jax
import numpy as np

from . import compiling, config, donation, guards, levels, placed, record, room, sightings
from .compiling import Sections, build, called, is_pass
from .cuts import divided
from .ends import MORE, TURNS, fills, live_mask
from .host import host_function
from .lines import in_loop, user_line
from .links import leading
from .program import Program, results, run_step, stand_in
from .record import LEAF, LOCK, ROOT, Tape, Value, thread
from .speed import native

# Compiling at first sight costs COMPILE of the credit, AWAY where the host lacks an operator, a run of a compiled program earns 1: a loop that repeats may
# afford it, one whose structure never does may not.  Without credit (of EASE for gradients outside loops, and for the turns of a loop without gradients) a
# structure is compiled when its runs op by op have taken as long as compiling it will: at most twice what the better of the two would have taken.
COMPILE, AWAY = 256, 32
CREDIT_START, CREDIT_MAX, EASE = 12 * COMPILE, 24 * COMPILE, 6 * COMPILE
LONG = 200  # operators of a program that is not compiled at first sight
ODD = 32  # operators for which one may be missing on the host
DEAD = 64  # operators of a record that is dropped without another look where nobody holds its results


class Stats(dict):
    """Counters of the executor; `torchlike_autograd.stats()` returns a copy."""

    def __str__(self):
        width = max(map(len, self))
        return "\n".join(f"{k:<{width}}  {v:.3f}" if isinstance(v, float) else f"{k:<{width}}  {v}" for k, v in self.items())


stats = Stats(flushes=0, compiles=0, hits=0, op_by_op=0, compile_seconds=0.0, programs=0, structures=0)
_credit = [CREDIT_START, CREDIT_MAX]  # what there is, the most
_programs: dict = {}  # (prefix, mask) -> Program, least recently used first


def flush(tape=None):
    """Run what is pending and reachable on a tape (default: this thread's), and close it."""
    with LOCK:
        if tape is None:
            tape = thread.state.tape
        if not tape.open:
            return
        if not tape.values:
            if tape.owner.tape is not tape or not tape.inputs:
                return
            _reopen(tape)
            return
        left = levels.flushing(tape) if tape.owner.extra.get("levels") else None
        if timer[0] is None:
            _run_pending(tape)
        else:
            timer[0](tape, _run_pending)
        if left is not None:
            levels.flushed(left, tape)


def settle():
    """End the record where it holds nothing but the setting up of a model: what comes now is the first training step, with the structure of the others."""
    tape = thread.state.tape
    if tape.open and tape.values and tape.prefix.setup < MORE:
        flush(tape)


@contextlib.contextmanager
def steady():
    """Equal calls of this thread have equal last digits in here: what is recorded runs op by op, compiled or not."""
    state = thread.state
    with LOCK:
        flush()
    before, state.extra["steady"] = is_steady(state), True
    try:
        yield
    finally:
        with LOCK:
            flush()
        state.extra["steady"] = before


def is_steady(state):
    """Whether a thread is inside of `steady`."""
    return state.extra.get("steady", False)


ending = [None]  # f(tape): lets go what is attached to nodes that are dead, gives Values of nodes that somebody holds (lifetimes.py)
timer = [None]  # f(tape, run) while somebody times programs (profiling.py)


def _run_pending(tape):
    held = ending[0](tape) if tape.contexts or tape.extra else ()  # holding them keeps their graph
    if native is None or is_steady(tape.owner) or not native.flush(tape):
        _flush_generally(tape)
    del held


def _flush_generally(tape):
    mask = live_mask(tape.values)
    if tape.prefix.programs.get(mask) is None and divided(tape):
        return
    _reopen(tape)
    try:
        _run(tape, mask)
    except BaseException:
        tape.values = []
        raise


def _reopen(tape):
    tape.open = False
    if tape.owner.tape is tape:
        tape.owner.tape = Tape(tape.owner)


def _run(tape, mask):
    stats["flushes"] += 1
    prefix = tape.prefix
    if prefix.weight < DEAD and 1 not in mask:
        tape.floats, tape.ints, tape.values, tape.inputs, tape.slots = [], [], [], [], {}
        return
    program, key = prefix.programs.get(mask), None
    if program is None:
        program = Program(prefix, mask)
        other = prefix.programs[mask] = stand_in(program) or program
        if other is program:
            key = sightings.hash_of(program)
            program.runs = int(sightings.came_before(key))
            _remember(program)
        program = other
    arrays = _execute(program, tape) if program.outs else ()
    _deliver(tape, program, arrays)
    if key is not None and program.runs <= 1 and program.compiled is None and config.get("execution") != "immediate":
        sightings.forget(program, key)
        _programs.pop((prefix, mask), None)


def _deliver(tape, program, arrays):
    values = tape.values
    if program.guarded:
        guards.await_codes(arrays[-1], program, tape)
    _show(values, program.shown, arrays)
    tape.program = program
    if program.graph:
        _keep(tape, program, arrays)
    else:
        tape.kept, tape.slots, tape.leaves, tape.seen = {}, {}, {}, {}
        tape.floats, tape.ints = [], []
    tape.values, tape.inputs, tape.slots = [], [], {}


def _show_each(values, shown, arrays):
    """Give the Values that somebody holds their arrays."""
    for slot, a in zip(shown, arrays):
        v = values[slot]
        v.array = a
        if not v.needs or v.leaf is not None:
            v.tape = None


_show = _show_each if native is None else native.deliver


def _keep(tape, program, arrays):
    """Turn the tape into a graph: edges to the outside, and the arrays that pullbacks read."""
    inputs = tape.inputs
    tape.edges = edges = [v.leaf or ((v.tape, v.slot) if v.tape is not None else None) if v.needs else None for v in inputs]
    if tuple in map(type, edges):
        tape.edges = [e if lead or type(e) is not tuple else None for e, lead in zip(edges, leading(program))]
    kept = {}
    for slot, place, aval in program.keeps:
        if slot < 0:
            kept[slot] = inputs[-slot - 1]
        elif tape.values[slot].array is not None and tape.values[slot].tape is None:
            kept[slot] = tape.values[slot]  # the same value that the next step uses: one argument, not two; it shows whether it was written since
        else:
            v = kept[slot] = Value(aval, False, None, 0)
            v.array = arrays[place]
    tape.kept = kept


def _any_array(v):
    """The value's array, JAX's or NumPy's."""
    if v.array is None:
        v.tape.resolve(v)
    return v.array


def _device_array(v):
    """The value's array, moved to JAX once if it is still NumPy's."""
    a = _any_array(v)
    if type(a) is np.ndarray:
        a = v.array = placed.on_device(a)
    return a


def _execute(program, tape):
    program.runs += 1
    program.prefix.used += 1
    calm = is_steady(tape.owner)
    if program.compiled is not None and not calm:
        stats["hits"] += 1
        if _credit[0] < _credit[1]:
            _credit[0] += 1
        return _call(program, tape)
    floats, ints = tape.floats, tape.ints
    with jax.enable_x64(True), placed.on_host():
        if calm or config.get("execution") == "immediate" or jax.config.jax_disable_jit or _waits(program):
            return _run_op_by_op(program, tape)
        if program.placed:
            program.compiled = placed.of(program, len(floats), _count)
            program.donates = program.compiled.lend(donation.heirs(program, tape))
            return _call(program, tape)
        heirs = donation.heirs(program, tape)
        return _compile(program, floats, ints, [_device_array(tape.inputs[i]) for i in program.argument_indices], heirs)


def _waits(program):
    """Whether a program that is not compiled yet runs op by op once more.

    What is neither part of a training step nor of a loop does until that took as long as compiling it will: a function that is called a few times has the same
    last digits each time.
    """
    if not program.prefix.weight or (program.runs < 2 and _can_wait(program)):
        return True
    if _credit[0] >= _least(program) and not (_in_vain(program) and _on_host(program)):
        return False
    return program.spent < program.prefix.weight * (stats["compile_seconds"] + _GUESS[0]) / (_operators[0] + _GUESS[1])


def _least(program):
    """The credit that compiling a program before it has paid takes."""
    if not _on_host(program):
        return AWAY
    if not _in_training(program):
        return EASE if program.prefix.setup == TURNS else CREDIT_MAX + 1
    return COMPILE if any(map(_updates, reversed(program.steps))) or in_loop(sys._getframe(1)) else EASE


_operators = [0]  # in all programs that were compiled
_GUESS = 0.2, 50  # seconds and operators that count as compiled before the first are


def _run_op_by_op(program, tape):
    stats["op_by_op"] += 1
    floats, start = tape.floats, time.perf_counter()
    run = placed.of(program, len(floats), _count).run_eagerly if program.placed else op_by_op
    # What can be made again: most structures that run like this are never seen again, and the collector walks over all that is kept.
    program.prefix.memo.clear()
    out = run(program, np.array(floats, np.float64), _int_vector(tape.ints), [_any_array(tape.inputs[i]) for i in program.argument_indices])
    if program.runs > 1:  # the first run makes what runs its operators
        program.spent += time.perf_counter() - start
    return out


def _call_compiled_program(program, tape):
    inputs = tape.inputs
    spares = {k for k in program.donates if donation.held(tape, program.argument_indices[k])}
    arguments = [_numbers(program, tape.floats, tape.ints), *[
        a if (a := inputs[i].array) is not None and type(a) is not np.ndarray else _device_array(inputs[i]) for i in program.argument_indices]]
    for k in spares:
        arguments[k + 1] = donation.spare(arguments[k + 1])
    return called(program, arguments)


_call = _call_compiled_program if native is None else native.run


def _can_wait(program):
    """Whether a program can run on the host, and is no part of a training step or so long that compiling it pays only if it comes again."""
    return (program.prefix.weight > LONG or not _in_training(program)) and _on_host(program)


def _in_training(program):
    """Whether a program is part of a training step."""
    return program.graph or any(map(_trains, reversed(program.steps)))


def _on_host(program):
    """Whether the host runs all its operators, or all but the ODD-th part: those are compiled each by itself."""
    if program.placed:
        return False
    missing, known = program.prefix.weight // ODD, set()
    for step in program.steps:
        if step.kind == "op" and step.form not in known:
            known.add(step.form)
            missing -= step.form.host(host_function) is None
            if missing < 0:
                return False
    return True


def _in_vain(program):
    """Whether the last two programs that were compiled at this place hardly ever ran again: its structure changes from turn to turn, as that of episodes does.

    Of structures that alternate at random some come again now and then.
    One of the last two that waited here has come again: that is a loop whose first turns were others.  Each program compiled doubles how often it must come.
    """
    entry = _places.get(user_line())
    if entry is None:
        return False
    compiled, *last, waiting, others = entry
    entry[3:] = waiting[-1:] + (program,), others + 1
    again = program in waiting and program.runs >= 1 << max(compiled - 2, 0)
    return not again and None not in last and all(_hardly(others, *p) for p in last)


def _hardly(others, program, runs, before):
    """Whether a compiled program has run less than once in 32 times that something else came."""
    return (program.runs - runs) * 32 <= others - before


def _trains(step):
    """Whether a step is part of a backward pass or updates a leaf."""
    return is_pass(step) or _updates(step)


def _updates(step):
    return step.mode == LEAF and step.kind == "op" and not fills(step)


def _numbers(program, floats, ints):
    """The runtime numbers as one argument: 64-bit values as pairs of 32-bit words, so that a call needs no 64-bit mode around it.

    Numbers that stay as they are from run to run are moved to the device once.
    """
    if not program.numbers:
        return None
    try:
        raw = array("d", floats).tobytes() + array("q", ints).tobytes()
    except OverflowError:
        raw = array("d", floats).tobytes() + _int_vector(ints).tobytes()
    return _sent(program, raw)


def _sent(program, raw):
    last, sent = program.sent
    if raw == last:
        if sent is None:
            sent = jax.device_put(_words(raw), placed.host_device())
            program.sent = raw, sent
        return sent
    program.sent = raw, None
    return _words(raw)


def _words(raw):
    return np.frombuffer(raw, np.uint32).reshape(-1, 2)


def _int_vector(ints):
    try:
        return np.array(ints, np.int64)
    except OverflowError:
        return np.array([_wrap(i) for i in ints], np.int64)


def _wrap(i):
    """Unsigned 64-bit numbers keep their bits."""
    return i - (1 << 64) if i >= (1 << 63) else int(i)


def _compile(program, floats, ints, arrays, heirs):
    start = time.perf_counter()
    words, weight, sections = _numbers(program, floats, ints), program.prefix.weight, Sections.of(program, len(floats))
    if sections is None:
        new, out = build(program, program.function(), words, len(floats), arrays, heirs)
    else:
        new, program.donates, out = sections.build(words, arrays, heirs)
        program.compiled, weight = sections, new
    if new:
        _credit[0] = max(_credit[0] - (COMPILE if _on_host(program) else AWAY), 0)
        _count(program, start, weight)
    else:
        stats["hits"] += 1
    return out


def _count(program, start, weight=None):
    stats["compiles"] += 1
    stats["compile_seconds"] += time.perf_counter() - start
    _operators[0] += program.prefix.weight if weight is None else weight
    _explain_recompiles(program)


def op_by_op(program, floats, ints, arrays):
    """Run each step by itself: on the host where arrays are small, otherwise from its own compiled function."""
    env = {slot: np.asarray(a) for slot, a in zip(program.arguments, arrays)}
    with np.errstate(all="ignore"):
        _run_steps(program.steps, env, floats, ints, lambda step: run_step(step, env, floats, ints, call_on_host, pull_on_host))
        out = results(program, env, floats, ints, _guard_on_host, np.stack)
    return [np.asarray(a) if isinstance(a, np.generic) else a for a in out]  # a compiled call takes NumPy's scalars for float32


def _run_each(steps, env, floats, ints, run):
    for step in steps:
        run(step)


_run_steps = _run_each if native is None else native.run_on_host


def call_on_host(form, ins):
    run = form.host(host_function)
    return run(*ins) if run is not None else [np.asarray(a) for a in form.jit()(*ins)]


def pull_on_host(form, gs, ins):
    run = form.host(host_function)
    return run(*gs, *ins) if run is not None else [np.asarray(a) for a in form.jit()(*gs, *ins)]


def _guard_on_host(form, ins):
    return form.guard_on_host(host_function, ins)


def _remember(program):
    """Bound the number of programs; drop the structure that belonged to the dropped ones."""
    _programs[(program.prefix, program.mask)] = program
    stats["programs"] = len(_programs)
    stats["structures"] = record.ROOT_NODES[0]
    if len(_programs) > config.get("cache_size") or record.ROOT_NODES[0] > 200_000:
        _prune(config.get("cache_size") // 2)
    elif room.is_short():
        _prune(len(_programs) // 2)
        room.make(not placed.tracing())


def _prune(most):
    """Keep the programs that were used most recently and often; take the trie down to what leads to them."""
    ranked = sorted(_programs.values(), key=lambda p: (p.compiled is not None, p.runs), reverse=True)
    keep, wanted = ranked[:most], {ROOT}
    for p in keep:
        node = p.prefix
        while node is not None and node not in wanted:
            wanted.add(node)
            node = node.parent
    stack, count = [ROOT], 0
    while stack:
        node = stack.pop()
        edges = {k: e for k, e in node.next.items() if e is not False}
        stack.extend(map(sightings.end_of, edges.values()))
        node.next = {k: e for k, e in edges.items() if node in wanted and sightings.end_of(e) in wanted}  # no cycles are left for the collector
        count += node in wanted
    for p in ranked[len(keep):]:
        for mask in [m for m, q in p.prefix.programs.items() if q is p]:
            del p.prefix.programs[mask]
        _programs.pop((p.prefix, p.mask), None)
    for p in keep:
        p.runs //= 2
    record.ROOT_NODES[0] = count
    stats["programs"], stats["structures"] = len(_programs), count


def clear_caches():
    """Forget every program and structure (compiled ones too)."""
    with LOCK:
        flush()
        _programs.clear()
        _places.clear()
        compiling.forget()
        sightings.clear()
        ROOT.next.clear()
        ROOT.memo.clear()
        ROOT.programs.clear()
        record.ROOT_NODES[0] = 0
        stats["programs"] = stats["structures"] = 0
        for state in (thread.state,):
            state.tape = Tape(state)


REPEATED = 4  # runs of a program that paid for compiling it
advice = [True]  # whether a place that keeps compiling is told so
# line of user code -> [compiles there, the last two programs that were compiled, each with its runs and what else had come by then, the last two that waited,
# how often something else than a compiled program came]
_places: dict = {}
_NOWHERE = 0, None, None, (), 0


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
            return f"the call {x!r} and {y!r}"
    if len(a.prefix.steps()[0]) != len(b.prefix.steps()[0]):
        return f"the number of recorded calls: {len(a.prefix.steps()[0])} and {len(b.prefix.steps()[0])}"
    return "which results are still held when it runs"


record.on_flush(flush)
