"""Planning a backward pass over one tape (layer 3).

A plan is pure structure: which steps are visited, in which order (latest first, as torch's engine does), for which inputs, what they
keep, and where a person can look: it is cut into stages there.  It is built once for a prefix and found again by key.  A `Stage` is run
by whoever provides `call`: inside a compiled program, op by op, or recorded call by call (`create_graph`).
"""

from __future__ import annotations

import heapq
import itertools

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from .._ops.casts import jitted
from .._ops.graft import does_not_fit, reaches
from .._ops.no_gradient import unimplemented
from .._ops.registry import OPS, UNIMPLEMENTED
from .._ops.spec import NUMBERS, PullbackOp
from .record import GRAD, INPLACE, LEAF, Step, slot_table
from .sparse_gradients import asked


def refuse_write(step):
    """torch's error for a gradient of a write in place that has none: it says the name of the twin."""
    if step.mode == INPLACE and step.form.op.derivative == UNIMPLEMENTED:
        raise unimplemented(step.form.op, True)


class Visit:
    """One step to run backward: gradients of outputs `given` in, of flat inputs `wanted` out."""

    __slots__ = ("given", "pull", "step", "wanted")

    def __init__(self, step, wanted, given):
        self.step, self.wanted, self.given = step, wanted, given
        refuse_write(step)
        self.pull = step.form.pullback(wanted, given)


class Stage:
    """A run of visits that nobody can look into.

    cots: slots whose gradients come in; outs: slots whose gradients go out; reads: slots of forward values used;
    spread: whether any gradient goes over several devices.
    """

    __slots__ = ("avals", "cots", "looks", "numbers", "outs", "reads", "spread", "visits")

    def __init__(self, visits, cots, outs, table, input_avals):
        self.visits, self.cots, self.outs = visits, cots, outs
        reads, self.numbers = {}, False
        for v in visits:
            for i in v.pull.keep:
                slot = v.step.ins[i]
                if type(slot) is tuple:
                    self.numbers = True
                else:
                    reads[slot] = True
        self.reads = tuple(reads)
        self.looks = any(v.pull.refuses for v in visits)
        self.avals = tuple(_slot_aval(s, table, input_avals) for s in outs)
        self.spread = any("@" in a.device for a in self.avals)

    def __repr__(self):
        return "; ".join(map(repr, [v.step for v in self.visits]))

    def run(self, lookup, number, cots, call, add):
        """Gradients of `outs` from those of `cots`, in order."""
        grads, outs = dict(zip(self.cots, cots)), self.outs
        for v in self.visits:
            pull, ins, first = v.pull, v.step.ins, v.step.first
            gs = [grads[first + i] if first + i in outs else grads.pop(first + i) for i in v.given]
            reads = [number(ins[i]) if type(ins[i]) is tuple else lookup(ins[i]) for i in pull.keep] if pull.keep else ()
            for i, g in zip(v.wanted, call(pull, gs, reads)):
                old = grads.get(ins[i])
                grads[ins[i]] = g if old is None else add(old, g)
        return [grads[s] for s in self.outs]


class Plan:
    """The stages and events of one backward pass over one tape.

    items: Stage, ("node", step, wanted, given) for a step that is visible to Python, ("gradient", step, wanted, given) where only the gradients that a step of
    the next stage gets are visible, ("leaf", slot) where nothing more comes to a leaf that somebody watches, or
    ("ready", slots) where nothing more comes to these other ends;
    targets: slots whose gradients are asked for; lost: ends that only undefined gradients reach; saving: first slots of visited nodes that keep something;
    kept, results: slots that they keep of their inputs and of their own outputs; shown: (kept slot, the other slot whose memory it shows).
    """

    __slots__ = ("items", "kept", "lost", "results", "saving", "shown", "targets", "visited")

    def __init__(self, items, targets, saving, kept, results, visited, lost, table):
        self.items, self.targets, self.saving, self.kept, self.results, self.visited, self.lost = items, targets, saving, kept, results, visited, lost
        self.shown = tuple([(s, memory_of(s, table)) for s in kept if memory_of(s, table) != s])


def memory_of(slot, table):
    """The slot whose memory a slot shows: through the views of an operator made of several steps, for which no tensor counts versions."""
    while slot >= 0:
        step = table[slot][0]
        if step.kind != "op" or not step.ins or type(step.ins[0]) is tuple or not _shows(step.form):
            return slot
        slot = step.ins[0]
    return slot


def _shows(form):
    """Whether a result is its input, seen otherwise: as a view, or as one example of a map."""
    return getattr(form.spec, "how", None) == "enter" or (form.op.is_view and not form.op.untracked)


def _slot_aval(slot, table, input_avals):
    return input_avals[-slot - 1] if slot < 0 else table[slot][2]


def needs_of(prefix):
    """A function slot -> requires grad, for any slot of the prefix."""
    table = slot_table(prefix)
    outside = prefix.steps()[1]
    return lambda slot: outside[-slot - 1].needs if slot < 0 else table[slot][1]


def input_avals(prefix):
    """Types of the outside slots."""
    return [o.aval for o in prefix.steps()[1]]


def wanted_of(step, needs, useful=None):
    """Flat inputs of a step through which gradient flows."""
    if step.kind == "function":
        own = step.ins[: len(step.ins) - len(step.out_avals)]
        return tuple(i for i, s in enumerate(own) if needs(s) and (useful is None or s in useful))
    if step.kind != "op" or useful is None:
        return step.wanted
    return tuple([i for i in step.wanted if step.ins[i] in useful])


WALL = "wall"


def useful_slots(prefix, targets: frozenset) -> frozenset:
    """Slots from which gradient can reach the node of a target (targets included); (WALL, slot) among them: not through that one."""
    key = ("useful", targets)
    out = prefix.memo.get(key)
    if out is None:
        needs = needs_of(prefix)
        found = set(targets)
        for step in prefix.steps()[0]:
            outs = range(step.first, step.first + len(step.needs))
            if len(outs) > 1 and not found.isdisjoint(outs):  # a pass goes from node to node: to that of a target through any of its results
                found.update(s for s, n in zip(outs, step.needs) if n and (WALL, s) not in targets)
            elif any(step.needs) and any(type(s) is not tuple and s in found and needs(s) for s in step.ins) and wanted_of(step, needs, found):
                found.update(step.first + i for i, n in enumerate(step.needs) if n and (WALL, step.first + i) not in targets)
        out = prefix.memo[key] = frozenset(found)
    return out


def plan_for(prefix, roots: tuple, targets, cuts: frozenset, lost=()) -> Plan:
    """The plan from `roots` (distinct slots with a gradient); targets None means every leaf and outside slot.

    lost: (slots where an undefined gradient arrived, first slot of the last step that ran), see `_visits`.
    """
    key = ("plan", roots, targets, cuts, lost) if lost else ("plan", roots, targets, cuts)
    out = prefix.memo.get(key)
    if out is None:
        out = prefix.memo[key] = _build(prefix, roots, targets, cuts, lost)
    return out


def _visible(step, cuts):
    return step.kind == "function" or asked(step) or any(step.first + i in cuts for i in range(len(step.out_avals)))


def _build(prefix, roots, targets, cuts, lost=()):
    needs = needs_of(prefix)
    table = slot_table(prefix)
    useful = None if targets is None else useful_slots(prefix, targets)
    order, gone = _visits(prefix, roots, needs, useful, cuts, lost)
    order = _by_number(order, cuts)
    ends = _last_uses(order, cuts, _in_turn(roots, lost, table) if lost else roots)
    builder = _Stages(roots, table, input_avals(prefix), targets)
    for slot in ends.get(None, ()):
        builder.complete(slot, cuts)
    saving, kept, results = set(), set(), set()
    for step, wanted, given in order:
        first, ins = step.first, step.ins
        visible = step.kind == "function" or (cuts and _visible(step, cuts)) or asked(step)
        if not wanted and not visible:
            continue
        read = step.wanted if wanted or ("filled", first) in cuts else ()  # whose `.grad` is filled runs too, for nobody; a node unpacks all that it saved
        silent = False
        if step.kind == "op":
            if given and step.form.op is _GRAFT:
                _check_fits(step, order)
            found, silent, later = _known(step, read, wanted)
            if found is not None:
                saving.add(first)
                if not step.packed:
                    again = rewritten(prefix) if later else ()
                    for i in found[0]:
                        if type(slot := ins[i]) is not tuple and slot not in again:
                            kept.add(slot)
                    for i in found[1]:
                        results.add(first + i)
        if visible and _only_watched(step, wanted, given, cuts):
            builder.watched(("gradient", step, wanted, given), Visit(step, wanted, given))
        elif visible:
            builder.event(("node", step, wanted, given))
        elif given and not silent:
            builder.visit(Visit(step, wanted, given))
        elif given:
            step.form.refuse(wanted)
        for slot in ends.get(first, ()) if ends else ():
            builder.complete(slot, cuts)
    return Plan(builder.finish(), builder.targets, frozenset(saving), frozenset(kept), frozenset(results), tuple([s.first for s, w, _ in order if w]),
                tuple([s for s in gone if s < 0 or table[s][0].mode == LEAF or table[s][0].kind == "leaf"]), table)


def _check_fits(step, order):
    """torch's error for contents of a shape that does not fit the history: of the node that sends their gradient there."""
    values, history = (a.shape for a in step.form.avals)
    if values != history and not reaches(history, values):
        sender, i = next(((s, i) for s, wanted, _ in order for i in wanted if s.kind == "op" and s.ins[i] == step.first), (None, None))
        raise does_not_fit(values, history, *(() if sender is None else (sender.form.diff_in.index(i), f"Function {sender.form.node} returned an ")))


_GRAFT = OPS["_graft"]


def second_order(step):
    """Whether a step computes gradients, of which a later pass goes through the graph."""
    return isinstance(step.form.op, PullbackOp)


def rewritten(prefix):
    """Slots that an operator in place reads and writes over: its gradient reads a copy in torch, which nobody writes to."""
    out = prefix.memo.get("rewritten")
    if out is None:
        out = prefix.memo["rewritten"] = frozenset(s.ins[0] for s in prefix.steps()[0] if s.mode == INPLACE and s.ins)
    return out


COPY_SLICES = "torch::autograd::CopySlices"


def _known(step, read, wanted):
    """(what the node of an operator keeps, see `_saved`; whether it runs and sends nothing on; whether it computes gradients)."""
    form, inplace = step.form, step.mode == INPLACE
    key = ("node", read, wanted, inplace)
    out = form._pullbacks.get(key)
    if out is None:
        out = form._pullbacks[key] = (_saved(form, read, inplace, wanted) if read else None, form.silent, second_order(step))
    return out


def _saved(form, wanted, inplace, run=None):
    """(inputs whose versions are checked, outputs) that a node keeps; None where it has nothing to release.  run: inputs that get a gradient (all)."""
    ins, outs = form.kept(wanted, inplace)
    has = ins or outs or (inplace and form.kept(wanted)[0]) or form.node == COPY_SLICES  # torch's lets go of the node that it wraps
    return (tuple(form.checks(wanted, inplace, run)), tuple(outs)) if has else None


def _only_watched(step, wanted, given, cuts):
    """Whether people look at the gradients that a step gets, all of which come, and not at the node itself."""
    if step.kind == "function" or asked(step) or not wanted or _silent(step) or ("node", step.first) in cuts:
        return False
    return all(i in given or step.first + i not in cuts for i in range(len(step.out_avals)))


_ONLY = (0,)


def _visits(prefix, roots, needs, useful, cuts=(), lost=()):
    """([(step, wanted, given outputs)] latest first, slots that only undefined gradients reach).

    An undefined gradient goes on through every node: hooks and custom Functions see it (given: ()).  Those that have run already are passed over.
    """
    have, gone = set(roots), set(lost[0] if lost else ())
    walls = {c[1] for c in cuts if type(c) is tuple and c[0] == WALL} if cuts else ()
    out, lowest = [], min([s for s in (*have, *gone) if s >= 0], default=0)  # no gradient is due below this slot
    for step in reversed(prefix.steps()[0]):
        if step.first + len(step.needs) <= lowest:
            break
        if step.mode == LEAF or True not in step.needs or step.kind in ("leaf", "detach"):
            continue
        first = step.first
        if walls:
            have -= walls
            gone -= walls
        if len(step.needs) == 1:
            given = _ONLY if first in have else ()
        else:
            given = tuple([i for i in range(len(step.needs)) if first + i in have])
        if not given and not (gone and any(first + i in gone for i in range(len(step.needs)))):
            continue
        if not given and lost and first >= lost[1] and _visible(step, cuts):
            continue
        wanted = step.wanted if useful is None and step.kind == "op" else wanted_of(step, needs, useful)
        if given and step.kind == "op" and (len(given) < len(step.needs) or getattr(step.form.op, "apart", False)):
            wanted = step.form.reached(wanted, given)
        if given and step.kind == "op" and (lost_here := _undefined(step)):
            gone.update(step.ins[i] for i in wanted if i in lost_here)
            lowest = min([lowest, *(step.ins[i] for i in lost_here if i in wanted and step.ins[i] >= 0)])
            wanted = tuple(i for i in wanted if i not in lost_here)
        out.append((step, wanted, given))
        ins, where = step.ins, have if given and not _silent(step) else gone
        for i in wanted:
            where.add(slot := ins[i])
            if 0 <= slot < lowest:
                lowest = slot
    return out, gone - have if gone else gone


def _by_number(order, cuts):
    """The visits with the highest numbers first, each after all that it gets gradients from; as they are where nobody set a number."""
    said = next((c[1] for c in cuts if type(c) is tuple and c[0] == "order"), None)
    if said is None:
        return order
    numbers, at = dict(said), {step.first + i: k for k, (step, _, _) in enumerate(order) for i in range(len(step.out_avals))}
    below = [list(dict.fromkeys(at[step.ins[i]] for i in wanted if step.ins[i] in at)) for step, wanted, _ in order]
    waits = [sum(k in ks for ks in below) for k in range(len(order))]
    turn, ready, out = itertools.count(), [], []  # of equal numbers the one that came first

    def push(k):
        heapq.heappush(ready, (-numbers[order[k][0].first], next(turn), k))

    for k, n in enumerate(waits):
        if not n:
            push(k)
    while ready:
        k = heapq.heappop(ready)[2]
        out.append(order[k])
        for j in below[k]:
            waits[j] -= 1
            if not waits[j]:
                push(j)
    return out


def _undefined(step):
    """The inputs of a step that get no gradient whatever its results get."""
    names = getattr(step.form.op, "empty", None)
    return step.form.undefined() if type(names) is tuple else ()


def _silent(step):
    """Whether a node runs and sends nothing on."""
    return step.kind == "op" and step.form.silent


def _in_turn(roots, lost, table):
    """Where gradients and undefined ones are, in the order in which the last step that ran gave them."""
    places = {s: i for i, s in reversed(list(enumerate(table[lost[1]][0].ins)))} if lost[1] < len(table) else {}
    return sorted((*roots, *lost[0]), key=lambda s: places.get(s, -1))


def _last_uses(order, cuts, roots):
    """{first slot of the step after which nothing more comes to an end: [slots]}; none where nobody looks."""
    if not (cuts or any(_visible(step, cuts) for step, _, _ in order)):
        return {}
    last = dict.fromkeys(roots)
    made = {step.first + i for step, _, _ in order for i in range(len(step.out_avals))}
    for step, wanted, _ in order:
        for i in wanted:
            slot = step.ins[i]
            if slot not in made:
                last.pop(slot, None)
                last[slot] = step.first
    out = {}
    for slot, first in last.items():
        if slot not in made:
            out.setdefault(first, []).append(slot)
    return out


class _Stages:
    """Cuts the visits into stages, simulating which gradients are alive."""

    def __init__(self, roots, table, avals, targets):
        self.items, self.current, self.touched, self.ready = [], [], set(), []
        self.alive = dict.fromkeys(roots)
        self.start = tuple(self.alive)
        self.table, self.avals = table, avals
        self.wanted_targets = targets
        self.targets = ()

    def visit(self, v):
        self.current.append(v)
        self._consume(v.step, v.given, v.wanted)

    def _consume(self, step, given, wanted):
        alive, targets, touched, first, ins = self.alive, self.wanted_targets, self.touched, step.first, step.ins
        for i in given:
            slot = first + i
            touched.add(slot)
            if targets is None or slot not in targets:
                alive.pop(slot, None)
        for i in wanted:
            slot = ins[i]
            touched.add(slot)
            alive[slot] = None

    def complete(self, slot, cuts):
        """Nothing more comes to an end."""
        if slot in cuts:
            self.event(("leaf", slot))
        else:
            self.ready.append(slot)

    def watched(self, item, v):
        self._look(item)
        self.visit(v)

    def _look(self, item):
        self.close()
        if self.ready:
            self.items.append(("ready", tuple(self.ready)))
            self.ready = []
        self.items.append(item)

    def event(self, item):
        self._look(item)
        if item[0] == "node":
            self._consume(item[1], item[3], item[2] if item[3] else ())
            self.touched.clear()
        self.start = tuple(self.alive)

    def close(self):
        """End a stage: it takes what its visits consume or add to, and gives what is alive after it and was touched."""
        touched = self.touched
        if self.current:
            outs = tuple([s for s in self.alive if s in touched])
            self.items.append(Stage(self.current, tuple([s for s in self.start if s in touched]), outs, self.table, self.avals))
        self.current = []
        touched.clear()
        self.start = tuple(self.alive)

    def finish(self):
        self.close()
        self.targets = tuple(self.alive)
        return self.items


class StageForm:
    """A stage of a closed tape as something that can be recorded: f(*cots, *reads, *numbers) -> gradients.

    Slots are renumbered in order of use, so that stages of different tapes with one structure are one form.
    """

    diff_in = diff_out = ()
    node = None
    tuple_out, is_view = True, False
    guard = None
    key = name = "backward"

    def __init__(self, cots, visits, outs, avals, out_avals):
        self.cots, self.visits, self.outs = cots, visits, outs
        self.spec, self.op = self, self
        self.weight = len(visits)
        self.avals, self.out_avals = avals, out_avals
        self._jit, self.call = None, self.apply

    def form(self, avals):
        """Itself: a stage has one set of types."""
        return self

    def apply(self, *flat):
        """The gradients, as arrays."""
        return tuple(self.run(flat, apply_form))

    def run(self, flat, call, add=None):
        """The gradients, each pullback run by `call`, sums of them by `add`."""
        add = add or add_arrays
        n = len(self.cots)
        grads, values = dict(zip(self.cots, flat)), flat[n:]
        for pull, given, ins, wanted in self.visits:
            for i, g in zip(wanted, call(pull, [grads[i] for i in given], [values[i] for i in ins])):
                old = grads.get(i)
                grads[i] = g if old is None else add(old, g)
        return [grads[i] for i in self.outs]

    def host(self, compile_host):
        """The stage run pullback by pullback, each on the host where that is possible."""
        def call(form, gs, ins):
            run = form.host(compile_host)
            return run(*map(np.asarray, (*gs, *ins))) if run is not None else form.jit()(*gs, *ins)

        return lambda *flat: self.run(flat, call)

    def jit(self):
        """Compiled, for op-by-op execution."""
        if self._jit is None:
            self._jit = jitted(self.apply, self.avals)
        return self._jit

    def __repr__(self):
        return f"backward[{len(self.visits)} steps]"


_stage_forms: dict = {}


def stage_form(stage, tape):
    """(the StageForm of a stage, slots it reads, number tokens it takes)."""
    out = tape.prefix.memo.get(("stage", stage))
    if out is None:
        out = tape.prefix.memo["stage", stage] = _renumbered(stage, slot_table(tape.prefix), input_avals(tape.prefix))
    return out


def _renumbered(stage, table, outside):
    grads, values = {}, {}
    cots = tuple(grads.setdefault(s, len(grads)) for s in stage.cots)
    tokens = [t for v in stage.visits for t in (v.step.ins[i] for i in v.pull.keep) if type(t) is tuple]
    for s in stage.reads:
        values[s] = len(values)
    for t in tokens:
        values.setdefault(t, len(values))
    visits = tuple((v.pull, tuple(grads[v.step.first + i] for i in v.given), tuple(values[v.step.ins[i]] for i in v.pull.keep),
                    tuple(grads.setdefault(v.step.ins[i], len(grads)) for i in v.wanted)) for v in stage.visits)
    outs = tuple(grads[s] for s in stage.outs)
    numbers = [t for t in values if type(t) is tuple]
    avals = (*(_slot_aval(s, table, outside) for s in (*stage.cots, *stage.reads)), *(NUMBERS[t[0]] for t in numbers))
    key = (cots, visits, outs, avals)
    form = _stage_forms.get(key)
    if form is None:
        if len(_stage_forms) > 4096:
            _stage_forms.clear()
        form = _stage_forms[key] = StageForm(cots, visits, outs, avals, stage.avals)
    return form, stage.reads, numbers


def add_arrays(a, b):
    """The sum of two gradients, of NumPy's or JAX's arrays."""
    return a + b if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) else jnp.add(a, b)


def apply_form(form, gs, ins):
    """Run a pullback inside the program being traced."""
    return form.call(*gs, *ins)


def number_of(token, floats, ints):
    """The runtime number that a step's input token names."""
    kind, k = token
    if kind == "f":
        return _entry(floats, k)
    if kind == "i":
        return _entry(ints, k)
    if kind == "b":
        return _entry(ints, k) != 0
    return jax.lax.complex(_entry(floats, k), _entry(floats, k + 1))


def _entry(vector, k):
    """One number of a vector: concrete, or a plain slice of a traced one."""
    if isinstance(vector, Tracer):
        return jax.lax.squeeze(jax.lax.slice_in_dim(vector, k, k + 1), (0,))
    return vector[k]


__all__ = ["GRAD", "Plan", "Stage", "Step", "Visit", "apply_form", "number_of", "plan_for", "refuse_write", "stage_form", "useful_slots"]
