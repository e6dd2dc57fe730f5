"""Running programs (layer 3): compiling, caching, choosing between fused and op-by-op, counting.

A structure that repeats runs as one compiled program; compiling costs hundreds of milliseconds, for hundreds of operators seconds, and worth.py says when
that pays.  What is not compiled runs op by op, on the host where it can.  Both ways run the same Forms.
"""

from __future__ import annotations

import contextlib
import gc
import time
from array import array

import jax
import numpy as np

from . import compiling, config, donation, guards, levels, placed, record, room, sightings, visits, worth
from .compiling import Sections, build, called
from .cuts import divided
from .ends import MORE, live_mask
from .host import program_function
from .host_sizes import host_function
from .links import leading
from .program import Program, last_uses, results, run_step, stand_in
from .record import LOCK, ROOT, Tape, Value, slot_table, thread
from .speed import native
from .worth import credit

HEAVY = 1 << 26  # bytes that a program run op by op may hold, guessed from above, before it lets each array go after its last use
FIRST = 2  # runs of a program that free more than the others
DEAD = 64  # operators of a record that is dropped without another look where nobody holds its results


class Stats(dict):
    """Counters of the executor; `torchlike_autograd.stats()` returns a copy."""

    def __str__(self):
        width = max(map(len, self))
        return "\n".join(f"{k:<{width}}  {v:.3f}" if isinstance(v, float) else f"{k:<{width}}  {v}" for k, v in self.items())


stats = Stats(flushes=0, compiles=0, hits=0, op_by_op=0, compile_seconds=0.0, programs=0, structures=0)
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
        try:
            with LOCK:
                flush()
        finally:
            state.extra["steady"] = before


def is_steady(state):
    """Whether a thread is inside of `steady`."""
    return state.extra.get("steady", False)


ending = [None]  # f(tape): lets go what is attached to nodes that are dead, gives Values of nodes that somebody holds (lifetimes.py)
timer = [None]  # f(tape, run) while somebody times programs (profiling.py)


def _run_pending(tape):
    held = ending[0](tape) if tape.contexts or tape.extra else ()  # holding them keeps their graph
    try:
        if native is None or is_steady(tape.owner) or not native.flush(tape):
            _flush_generally(tape)
    except BaseException:
        _put_back(tape)
        raise
    del held


def _flush_generally(tape):
    mask = live_mask(tape.values)
    if tape.prefix.programs.get(mask) is None and divided(tape):
        return
    _reopen(tape)
    _run(tape, mask)


def _reopen(tape):
    following = Tape(tape.owner) if tape.owner.tape is tape else tape.owner.tape
    tape.open, tape.owner.tape = False, following


def _put_back(tape):
    """What was interrupted, or found no memory, runs when somebody asks for one of its values again; what is recorded next is no part of it."""
    size = tape.prefix.size
    if tape.program is None and len(tape.values) != size:  # C has dropped them: those that are held by others know their slots
        held = {v.slot: v for v in gc.get_referrers(tape) if type(v) is Value and v.tape is tape}
        tape.values = [held.get(i) or Value(aval, False, tape, i) for i, (_, _, aval) in enumerate(slot_table(tape.prefix))]
        del held
    if len(tape.values) == size:
        tape.open = True


def _run(tape, mask):
    stats["flushes"] += 1
    prefix = tape.prefix
    if prefix.weight < DEAD and 1 not in mask and not prefix.guarded:
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
    start, compiles = time.perf_counter(), stats["compiles"]
    arrays = _execute(program, tape) if program.outs or program.guarded else ()
    _deliver(tape, program, arrays)
    if program.runs <= FIRST or stats["compiles"] > compiles:
        room.give_back(time.perf_counter() - start)
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


def _read_ahead(tape, v):
    """The array of a value whose tape is being run further down the stack, for a signal's handler or a finalizer: computed apart, nothing else changes."""
    program = Program(tape.prefix, bytes(i == v.slot for i in range(tape.prefix.size)))
    with jax.enable_x64(True), placed.on_host():
        v.array = _run_op_by_op(program, tape)[0]


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
    """The value's array, moved to JAX once if it is still NumPy's, and there to where its type says."""
    a = _any_array(v)
    if type(a) is np.ndarray:
        key = v.aval.device
        a = v.array = placed.on_device(a) if key == "cpu" else placed.adopt(a, key)
    return a


def _execute(program, tape):
    program.runs += 1
    program.prefix.used += 1
    calm = is_steady(tape.owner)
    if program.compiled is not None and not calm:
        stats["hits"] += 1
        if credit[0] < credit[1]:
            credit[0] += 1
        return _call(program, tape)
    floats, ints = tape.floats, tape.ints
    with jax.enable_x64(True), placed.on_host():
        if calm or config.get("execution") == "immediate" or jax.config.jax_disable_jit or worth.waits(program):
            return _run_op_by_op(program, tape)
        if program.placed:
            program.compiled = placed.of(program, len(floats), _count)
            program.donates = program.compiled.lend(donation.heirs(program, tape))
            return _call(program, tape)
        heirs = donation.heirs(program, tape)
        return _compile(program, floats, ints, [_device_array(tape.inputs[i]) for i in program.argument_indices], heirs)


def _run_op_by_op(program, tape):
    stats["op_by_op"] += 1
    floats, start = tape.floats, time.perf_counter()
    away = program.placed and not worth.on_host(program)
    run = placed.of(program, len(floats), _count).run_eagerly if away else op_by_op
    # What can be made again: most structures that run like this are never seen again, and the collector walks over all that is kept.
    program.prefix.memo.clear()
    out = run(program, np.array(floats, np.float64), _int_vector(tape.ints), [_any_array(tape.inputs[i]) for i in program.argument_indices])
    if program.runs > 1:  # the first run makes what runs its operators
        program.spent += time.perf_counter() - start
    return visits.sent(program, out) if program.placed and not away else out


def _call_compiled_program(program, tape):
    inputs = tape.inputs
    spares = {k for k in program.donates if donation.held(tape, program.argument_indices[k])}
    arguments = [_numbers(program, tape.floats, tape.ints), *[
        a if (a := inputs[i].array) is not None and type(a) is not np.ndarray else _device_array(inputs[i]) for i in program.argument_indices]]
    for k in spares:
        arguments[k + 1] = donation.spare(arguments[k + 1])
    return called(program, arguments)


_call = _call_compiled_program if native is None else native.run


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
    room.keep()
    start = time.perf_counter()
    words, weight, sections = _numbers(program, floats, ints), program.prefix.weight, Sections.of(program, len(floats))
    if sections is None:
        new, out = build(program, program.function(), words, len(floats), arrays, heirs)
    else:
        new, program.donates, out = sections.build(words, arrays, heirs)
        program.compiled, weight = sections, new
    if new:
        worth.charge(program)
        _count(program, start, weight)
    else:
        stats["hits"] += 1
    worth.note_variant(program)
    return out


def _count(program, start, weight=None):
    seconds = time.perf_counter() - start
    stats["compiles"] += 1
    stats["compile_seconds"] += seconds
    worth.note(program, seconds, program.prefix.weight if weight is None else weight)


def op_by_op(program, floats, ints, arrays):
    """Run each step by itself: on the host where arrays are small, otherwise from its own compiled function."""
    env = {slot: np.asarray(a) for slot, a in zip(program.arguments, arrays)}
    heavy = len(program.steps) * max([a.nbytes for a in env.values()], default=0) > HEAVY

    def run(step):
        run_step(step, env, floats, ints, call_on_host, pull_on_host)

    with np.errstate(all="ignore"):
        if heavy:
            for step, dead in last_uses(program):
                _run_steps([step], env, floats, ints, run, heavy)
                for slot in dead:
                    del env[slot]
        else:
            _run_steps(program.steps, env, floats, ints, run, heavy)
        out = results(program, env, floats, ints, _guard_on_host, np.stack)
    return [np.asarray(a) if isinstance(a, np.generic) else a for a in out]  # a compiled call takes NumPy's scalars for float32


def _run_each(steps, env, floats, ints, run, heavy):
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
    return form.guard_on_host(program_function, ins)


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
        worth.forget()
        compiling.forget()
        sightings.clear()
        ROOT.next.clear()
        ROOT.memo.clear()
        ROOT.programs.clear()
        record.ROOT_NODES[0] = 0
        stats["programs"] = stats["structures"] = 0
        for state in (thread.state,):
            state.tape = Tape(state)


record.on_flush(flush, _read_ahead)
