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
from .._ops.read_again import keeps_nothing
from .._ops.registry import OPS
from .._ops.spec import NUMBERS, Pullback, PullbackOp
from .record import GRAD, INPLACE, LEAF, Step, slot_table
from .sparse_gradients import asked
from .stages import Saved, Stages, Visit, slot_aval
from .tangent_graphs import Ways, unpacks


class Plan(Saved):
    """The stages and events of one backward pass over one tape.

    items: a Stage; ("node", step, wanted, given, saved) for a step that is visible to Python; ("gradient", step, wanted, given, saved) where only the gradients
    that a step of the next stage gets are visible; ("leaf", (slot,)) where nothing more comes to a leaf that somebody watches; ("ready", slots) where nothing
    more comes to these other ends; ("check", saved, slots, first slots) before a stage where what it keeps may have been written meanwhile (saved: a Saved).
    first: what is to check before anything runs (a Saved), or None; targets: slots whose gradients are asked for; lost: ends that only undefined gradients
    reach.
    """

    __slots__ = ("first", "items", "lost", "targets")

    def __init__(self, items, first, targets, lost, *saved):
        super().__init__(*saved)
        self.items, self.first, self.targets, self.lost = items, first, targets, lost


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


_NEVER = float("inf")


def lost_besides(slots, have, last=_NEVER):
    """`plan_for`'s argument of that name, of slots where undefined gradients arrived and those where others did."""
    left = set(slots).difference(have)
    return (tuple(sorted(left)), last) if left or last != _NEVER else ()


def _visible(step, cuts):
    return step.kind == "function" or asked(step) or any(step.first + i in cuts for i in range(len(step.out_avals)))


def _build(prefix, roots, targets, cuts, lost=()):
    needs = needs_of(prefix)
    table = slot_table(prefix)
    useful = None if targets is None else useful_slots(prefix, targets)
    order, gone = _visits(prefix, roots, needs, useful, cuts, lost)
    order = _by_number(order, cuts)
    ends = _last_uses(order, cuts, _in_turn(roots, lost, table) if lost else roots)
    builder = Stages(roots, table, input_avals(prefix), targets)
    for slot in ends.get(None, ()):
        builder.complete(slot, cuts)
    saving, kept, results = set(), set(), set()
    unread = set()  # nodes of writes to views that get an undefined gradient, with those that they wrap: nothing of them runs
    for step, wanted, given in order:
        first, ins = step.first, step.ins
        if not given and step.kind == "op" and step.form.node == COPY_SLICES:
            unread.add(first)
            if len(ins) > 1 and type(ins[1]) is int and ins[1] >= 0:
                unread.add(table[ins[1]][0].first)
        visible = step.kind == "function" or (cuts and _visible(step, cuts)) or asked(step)
        if not wanted and not visible:
            continue
        read = step.wanted if wanted or ("filled", first) in cuts else ()  # whose `.grad` is filled runs too, for nobody; a node unpacks all that it saved
        silent, saves = False, None
        if step.kind == "op":
            if given and step.form.op is _GRAFT:
                _check_fits(step, order)
            found, silent, later = _known(step, read, wanted)
            if found is not None:
                saving.add(first)
            if found is not None and (given or first not in unread):
                saves = _saves(prefix, step, found, later)
                kept.update(saves[1])
                results.update(saves[2])
        if visible and _only_watched(step, wanted, given, cuts):
            builder.watched(("gradient", step, wanted, given), Visit(step, wanted, given), saves)
        elif visible:
            builder.event(("node", step, wanted, given), saves)
        elif given and not silent:
            builder.visit(Visit(step, wanted, given), saves)
        else:
            builder.saves.append(saves)
            if given:
                step.form.refuse(wanted)
        for slot in ends.get(first, ()) if ends else ():
            builder.complete(slot, cuts)
    lost_ends = [s for s in gone if s < 0 or table[s][0].mode == LEAF or table[s][0].kind == "leaf"]
    return Plan(builder.finish(), builder.first, builder.targets, tuple(lost_ends), saving, kept, results, [s.first for s, w, _ in order if w], table)


def _saves(prefix, step, found, later):
    """(first slot, slots of inputs, slots of results) of a node that keeps `found`; later: it computes gradients."""
    again = rewritten(prefix) if later else {}
    inputs, own = found if not step.packed else ((), ())
    slots = [s for i in inputs if type(s := step.ins[i]) is not tuple and again.get(s, step.first) >= step.first]
    return step.first, slots, [step.first + i for i in own]


def visit_of(prefix, step, targets):
    """(what a pass wants of a node, what that keeps: a Saved or None) where it runs by itself."""
    wanted = wanted_of(step, needs_of(prefix), None if targets is None else useful_slots(prefix, targets))
    found, _, later = _known(step, wanted, wanted) if step.kind == "op" and wanted else (None, None, None)
    if found is None:
        return wanted, None
    first, kept, results = _saves(prefix, step, found, later)
    return wanted, Saved((first,), kept, results, (first,), slot_table(prefix))


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
    """{slot: first slot of the operator in place that reads it and writes over it}: its gradient reads a copy in torch, which nobody writes to; gradients
    that were there before it read the slot itself."""
    out = prefix.memo.get("rewritten")
    if out is None:
        out = prefix.memo["rewritten"] = {s.ins[0]: s.first for s in reversed(prefix.steps()[0]) if s.mode == INPLACE and s.ins}
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
    if isinstance(form, Pullback) and keeps_nothing(form):
        return None
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

    An undefined gradient goes on through every node: hooks and custom Functions see it (given: ()), and what these saved is checked.  Those that have run
    already are passed over.
    """
    have, gone = set(roots), set(lost[0] if lost else ())
    walls = {c[1] for c in cuts if type(c) is tuple and c[0] == WALL} if cuts else ()
    out, lowest = [], min([s for s in (*have, *gone) if s >= 0], default=0)  # no gradient is due below this slot
    ways = Ways(prefix, have) if unpacks(prefix) else None
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
        ran = lost and not given and first >= lost[1]
        if ran and _visible(step, cuts):
            continue
        wanted = step.wanted if useful is None and step.kind == "op" else wanted_of(step, needs, useful)
        if given and step.kind == "op" and (len(given) < len(step.needs) or getattr(step.form.op, "apart", False)):
            wanted = step.form.reached(wanted, given)
        if given and step.kind == "op" and (lost_here := _undefined(step)):
            gone.update(step.ins[i] for i in wanted if i in lost_here)
            lowest = min([lowest, *(step.ins[i] for i in lost_here if i in wanted and step.ins[i] >= 0)])
            wanted = tuple(i for i in wanted if i not in lost_here)
        if ways is not None and given:
            wanted = ways.reached(step, wanted, given)
        if not ran:
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
    avals = (*(slot_aval(s, table, outside) for s in (*stage.cots, *stage.reads)), *(NUMBERS[t[0]] for t in numbers))
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


__all__ = ["GRAD", "Plan", "Step", "apply_form", "lost_besides", "number_of", "plan_for", "stage_form", "useful_slots"]
