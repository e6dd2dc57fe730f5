"""From a tape to a program (layer 3): what is live, what must be kept for a backward pass, which steps to run.

The key of a program is (prefix, liveness mask): both are structure.
"""

from __future__ import annotations

import math
from operator import ge

import jax.numpy as jnp

from .._ops.pull_saved import saved_pullback
from .._ops.registry import REFUSALS, UNIMPLEMENTED
from .plan import add_arrays, apply_form, needs_of, number_of, wanted_of
from .record import INPLACE, LEAF, slot_table
from .stages import memory_of


class Program:
    """One prefix with one set of wanted results.

    outs: slots returned; shown: those that a live Value waits for; kept: slots whose arrays stay for a backward pass (outside slots are negative);
    keeps: for each kept slot (slot, place among outs, type);
    placed: whether values are anywhere but on the host, then its pieces (placed.py);
    graph: whether anything live can still be differentiated; leads: see `edges_lead`; arguments: outside slots passed in; steps: what runs;
    hosted: see `worth.on_host`; sources: see `results.sources_of`; passes, size: see worth.py; runs: how often;
    spent: seconds of runs op by op but for the first.
    """

    __slots__ = ("__weakref__", "argument_indices", "arguments", "compiled", "donates", "graph", "guarded", "hosted", "keeps", "kept", "leads", "mask",
                 "numbers", "outs", "passes", "placed", "prefix", "runs", "sent", "shown", "size", "sources", "spent", "steps")

    def __init__(self, prefix, mask):
        self.prefix, self.mask = prefix, mask
        table = slot_table(prefix)
        self.shown = tuple(i for i, m in enumerate(mask) if m)
        self.graph, kept = _graph(prefix, self.shown, table)
        self.kept = tuple(sorted(kept))
        self.outs = tuple(dict.fromkeys((*self.shown, *(s for s in self.kept if s >= 0))))
        memories = {memory_of(s, table) for s in self.kept if s >= 0} & set(self.shown)
        watched = {s for s in memories if not table[s][1] or table[s][0].mode == LEAF}  # data now, whose versions are counted there
        if self.graph:
            watched |= _saved_data(prefix, set(self.shown), table)
        self.keeps = tuple((s, self.outs.index(s) if s >= 0 else -1, table[s][2] if s >= 0 else None) for s in sorted(watched.union(self.kept)))
        self.guarded = guarded(prefix.steps()[0]) if prefix.guarded else ()  # also where nobody holds what they check
        self.steps, used = _needed(prefix, (*self.outs, *[s.first for s in self.guarded]), table)
        self.placed = _placed(prefix, self.steps, used, table)
        if self.placed:
            used.update(s for step in self.steps if step.kind == "backward" for s in step.form.outs)  # gradients are spread as these are
        self.arguments = tuple(sorted((s for s in used if s < 0), reverse=True))
        self.argument_indices = [-s - 1 for s in self.arguments]
        self.numbers = any(_has_numbers(s) for s in self.steps)
        self.compiled = self.sources = None
        self.donates = ()  # places among the arguments of those that give their memory away, see donation.py
        self.sent = None, None  # the numbers of the last run: their bytes, and the device's array once they came twice
        self.runs, self.spent, self.size = 0, 0.0, None
        self.leads = self.passes = self.hosted = None

    def function(self):
        """f(floats, ints, *arrays) -> arrays of `outs`."""

        def run(floats, ints, *arrays):
            env = dict(zip(self.arguments, arrays))
            for step in self.steps:
                run_step(step, env, floats, ints, apply_op, apply_form)
            return results(self, env, floats, ints)

        return run

    def __str__(self):
        lines = [f"  %{-i - 1}: {o.aval}{' grad' if o.needs else ''} (outside)" for i, o in enumerate(self.prefix.steps()[1])]
        return "\n".join([*lines, *(f"  {s}" for s in self.steps), f"  return {', '.join(f'%{s}' for s in self.outs)}"])


def stand_in(program):
    """A compiled program of the same record that returns what this one does and little more, or None.

    A look at the end of a training step finds gradients alive that are gone when the next step begins.
    """
    table = slot_table(program.prefix)
    for mask, p in program.prefix.programs.items():
        if p.compiled is None or p.kept != program.kept or 2 * len(p.outs) > 3 * len(program.outs):
            continue
        if all(map(ge, mask, program.mask)) and _live(p.shown, table) == _live(program.shown, table):
            return p
    return None


def _placed(prefix, steps, used, table):
    outside = prefix.steps()[1]
    return any(a.device != "cpu" for s in steps for a in s.out_avals) or any(outside[-s - 1].aval.device != "cpu" for s in used if s < 0)


def results(part, env, floats, ints, guard=lambda form, ins: form.guard(*ins), stack=jnp.stack):
    """Arrays of a program's or a section's `outs`, and last the codes of guarded calls where there are any."""
    out = [env[s] for s in part.outs]
    if part.guarded:
        out.append(stack([guard(s.form, _inputs(s, env, floats, ints)) for s in part.guarded]))
    return out


def guarded(steps):
    """The calls that give a code which says whether they may be used."""
    return tuple([s for s in steps if s.kind == "op" and s.form.op.guard is not None])


def apply_op(form, ins):
    """Run an operator inside the program being traced."""
    return form.call(*ins)


def run_step(step, env, floats, ints, call, call_pullback):
    """Run one step on `env` (slot -> array); `call` runs forms, `call_pullback` runs pullbacks of a stage."""
    kind = step.kind
    if kind == "op":
        slot, ins = step.first, step.ins
        for o in call(step.form, _inputs(step, env, floats, ints) if tuple in map(type, ins) else [env[s] for s in ins]):
            env[slot] = o
            slot += 1
    elif kind == "backward":
        outs = step.form.run(env.__getitem__, lambda t: number_of(t, floats, ints), [env[s] for s in step.ins], call_pullback, add_arrays)
        for i, o in enumerate(outs):
            env[step.first + i] = o
    else:  # leaf, detach, function: the same array under a new slot
        for i, s in enumerate(step.ins[-len(step.out_avals):] if kind == "function" else step.ins):
            env[step.first + i] = env[s]


def _inputs(step, env, floats, ints):
    return [number_of(s, floats, ints) if type(s) is tuple else env[s] for s in step.ins]


def _has_numbers(step):
    return any(type(s) is tuple for s in step.ins) or (step.kind == "backward" and step.form.numbers)


def reads_of(step):
    """The slots that a step reads."""
    if step.kind == "op":
        return step.ins if tuple not in map(type, step.ins) else [s for s in step.ins if type(s) is not tuple]
    own = [s for s in step.ins if type(s) is not tuple]
    if step.kind == "function":
        return own[-len(step.out_avals):]
    return [*own, *step.form.reads] if step.kind == "backward" else own


def last_uses(program):
    """[(step, slots that nothing reads after it)], in order."""
    wanted, found = {*program.outs, *[s for step in program.guarded for s in reads_of(step)]}, []
    for step in reversed(program.steps):
        own = {*reads_of(step), *range(step.first, step.first + len(step.out_avals))}
        found.append((step, own - wanted))
        wanted |= own
    return reversed(found)


def _needed(prefix, outs, table):
    """The steps that `outs` depend on, in order, and all slots they read."""
    need, chosen = set(outs), []
    for step in reversed(prefix.steps()[0]):
        first, n = step.first, len(step.out_avals)
        if first in need if n == 1 else any(first + i in need for i in range(n)):
            chosen.append(step)
            need.update(reads_of(step))
    chosen.reverse()
    return chosen, need


def _saved_data(prefix, shown, table):
    """The slots among `shown` that nodes save of their own results and that are data (indices, say): as in torch they may not be written to."""
    return {s.first + i for s in prefix.steps()[0] if s.kind == "op" and s.wanted and len(s.out_avals) > 1 and not s.packed
            and any(s.first + i in shown and not table[s.first + i][1] for i in range(len(s.out_avals)))
            for i in s.form.kept(s.wanted, s.mode == INPLACE)[1] if s.first + i in shown and not table[s.first + i][1]}


def _live(shown, table):
    """The slots of results whose history is asked for."""
    return {s for s in shown if table[s][1] and table[s][0].mode != LEAF}


def _graph(prefix, shown, table):
    """Whether live values need grad, and which slots their nodes' pullbacks read."""
    live = _live(shown, table)
    if not live:
        return False, set()
    freed = prefix.frees
    if not any(s.kind == "op" and s.wanted and s.first not in freed and s.mode != LEAF and True in s.needs and _keeps(s) for s in prefix.steps()[0]):
        return True, set()  # the commonest: its backward pass has been
    return True, walked(prefix, live, freed)[1]


def walked(prefix, starts, freed=None):
    """(slots that can be walked to from `starts` against the calls, slots that the pullbacks of their nodes read but for those whose values were `freed`).

    The second is left empty where nothing is said about `freed`.
    """
    needs, table, reached, kept = needs_of(prefix), slot_table(prefix), set(starts), set()
    for step in reversed(prefix.steps()[0]):
        if not any(step.first + i in reached for i in range(len(step.out_avals))) or step.mode == LEAF:
            continue
        wanted = wanted_of(step, needs)
        reached.update(step.ins[i] for i in wanted)
        if step.kind == "op" and wanted and freed is not None and step.first not in freed:
            kept.update(s for s in kept_by(step, wanted) if type(s) is not tuple)
    outside = {memory_of(s, table) for s in kept if s >= 0}
    return reached, kept | {s for s in outside if s < 0}  # whose versions are counted there


def edges_lead(program):
    """(one byte an outside slot: 1 where the graph that stays leads there or its pullbacks read it, bytes that it keeps).

    What else the tape read (what the passes on it went through) is not held by that graph: a chain of edges would hold every tape since the first.
    """
    if program.leads is None:
        prefix = program.prefix
        reached = walked(prefix, _live(program.shown, slot_table(prefix)))[0].union(program.kept)
        size = sum(math.prod(a.shape) * a.dtype.itemsize for _, _, a in program.keeps if a is not None)
        program.leads = bytes(-i - 1 in reached for i in range(len(prefix.steps()[1]))), size
    return program.leads


def _keeps(step):
    """Whether the pullback of a step reads a slot."""
    return any(type(s) is not tuple for s in kept_by(step, step.wanted))


def kept_by(step, wanted):
    """The slots and numbers that the pullback of a step reads."""
    if step.form.op.derivative == UNIMPLEMENTED:
        return ()
    try:
        if step.packed:
            pull = saved_pullback(step, wanted, step.form.diff_out)
            return [step.ins[i] for i in pull.keep if i not in pull.saved]
        pull = step.form.pullback(wanted, step.form.diff_out)
    except REFUSALS:  # a derivative that refuses: backward raises it, not the look at the result
        return () if len(wanted) < 2 else [s for i in wanted for s in kept_by(step, (i,))]  # one of them alone may be asked for
    return [step.ins[i] for i in pull.keep]


def release_kept(tape):
    """Drop the arrays that no unreleased node reads."""
    key = ("still", tape.program, frozenset(tape.freed))
    still = tape.prefix.memo.get(key)
    if still is None:
        needs, still = needs_of(tape.prefix), set()
        for step in tape.prefix.steps()[0]:
            if step.kind == "op" and any(step.needs) and step.first not in tape.freed:
                wanted = wanted_of(step, needs)
                if wanted:
                    still.update(s for s in kept_by(step, wanted) if type(s) is not tuple)
        table = slot_table(tape.prefix)
        still |= {memory_of(s, table) for s in still if s >= 0}
        tape.prefix.memo[key] = still = frozenset(still)
    for slot in [s for s in tape.kept if s not in still]:
        del tape.kept[slot]
