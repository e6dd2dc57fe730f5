"""The backward pass (layer 6).

Gradients travel from tape to tape, the youngest first.  On each tape a `Plan` says what to run: stages that nobody can look into are recorded as one
call each; between them hooks and custom Functions run in Python.  With `create_graph` the same stages are recorded call by call, so that the gradients
have a graph of their own.
"""

from __future__ import annotations

import itertools
import operator

from .._ops.lift import pullback
from .._ops.registry import OPS
from .._ops.spec import spec_of
from . import belonging, errors, levels, nodes, placed, record, sparse_gradients, spread
from .anomaly import failing
from .arrivals import AS_IT_COMES
from .asked import cuts_of, mark_useful, next_tape, targets_on
from .hooks import modes_of, posthooks, prehooks, put_back, tensor_hooks
from .leaving import arrive, finish_leaf, leaf_at, leave, places_of, settle, settle_arrived, settled_plainly
from .nodes import Leaf, Nowhere, changes, numbered, observed
from .passes import more_room, put_back_room
from .plan import Plan, lost_besides, plan_for, stage_form
from .program import release_kept
from .record import GRAD, INFERENCE, LEAF, LOCK, NOGRAD, Step, Value, new_prefix, record_op, slot_table, thread
from .refusals import look
from .sparse_gradients import SparseValue
from .speed import native
from .stages import Stage, refuse_write
from .through import HELD, pull_of, results, stage_of, with_results
from .versions import check


class Pass:
    """One call of backward or grad.

    targets: None (accumulate into every leaf) or a set of coordinates, a Leaf or (tape, slot); captured: what arrived there.
    """

    __slots__ = (
        "accumulate", "arrived", "arriving", "callbacks", "captured", "create_graph", "depth", "frontier", "keep_graph", "levels", "mark", "now", "number",
        "partial", "roots", "sparse", "targets", "undefined", "useful")

    def __init__(self, keep_graph, create_graph, targets, accumulate):
        self.keep_graph, self.create_graph = keep_graph, create_graph
        self.targets, self.accumulate = targets, accumulate
        self.captured = {}
        self.frontier = {}  # tape -> {slot: gradient Value}
        self.undefined = {}  # tape -> slots where an undefined gradient arrived
        self.arrived = {}  # Leaf -> its gradient from this pass so far
        self.sparse = {}  # Leaf -> [SparseValue], what it got of these so far
        self.arriving = None  # the Tensor whose Value a leaf is given, where the leaf may take its memory
        self.useful = None
        self.callbacks = []
        self.roots = ()
        self.number = -1
        self.partial = targets is not None  # whether it or one that it runs inside leaves leaves out
        self.depth = 0  # how many passes it runs inside
        self.now = None  # the Leaf or (tape, slot) whose node is run, where that is done in Python; () after all
        self.levels = None  # ids of the levels that the pass runs inside
        self.mark = None  # of the reverse-mode level whose pass it is, see walls.py

    def give(self, where, g):
        """Add a gradient for a Leaf or (tape, slot)."""
        if isinstance(where, Leaf):
            self.leaf(where, g)
            return
        tape, slot = where
        slots = self.frontier.setdefault(tape, {})
        old = slots.get(slot)
        slots[slot] = g if old is None else self.add(old, g)

    def lose(self, where):
        """An undefined gradient for a Leaf or (tape, slot): it is passed on to those who watch."""
        if type(where) is Leaf:
            if where.observed():
                self.arrived.setdefault(where, None)
        elif type(where) is tuple:
            self.frontier.setdefault(where[0], {})
            self.undefined.setdefault(where[0], set()).add(where[1])

    def add(self, a, b):
        return record_op(_ADD, (a, b), GRAD if self.create_graph else NOGRAD)[0]

    def leaf(self, leaf, g):
        """A gradient contribution of a leaf (summed until the end of the pass)."""
        if type(g) is SparseValue:
            self.sparse.setdefault(leaf, []).append(g)
        elif type(leaf) is not Nowhere:
            old = self.arrived.get(leaf)
            self.arrived[leaf] = g if old is None else self.add(old, g)


_numbers = itertools.count()
_ADD = spec_of(OPS["add.Tensor"], (), ("T", "T", "N"))


def run_backward(roots, keep_graph, create_graph, targets=None, accumulate=True, arriving=None, mark=None):
    """Run a pass from `roots` [(coordinate, gradient Value)]; returns {coordinate: gradient Value} of the targets."""
    state = thread.state
    again = levels.reused(state.extra["levels"], roots) if state.extra.get("levels") else None
    if again is not None:
        if accumulate:
            raise NotImplementedError("a backward pass inside vmap through the graph of another vmap that has ended; use torch.autograd.grad")
        return levels.apart(again, roots, lambda roots: run_backward(roots, keep_graph, create_graph, targets, accumulate, arriving, mark))
    p = Pass(keep_graph, create_graph, targets, accumulate)
    p.arriving = arriving
    p.roots, p.number = roots, next(_numbers)
    outer, state.grad = modes_of(state), INFERENCE if state.inference else create_graph
    outer_pass, state.extra["pass"] = state.extra.get("pass"), p
    placed.cut(not create_graph)
    room = None if outer_pass is None else more_room(p, outer_pass)
    try:
        if state.extra.get("levels"):
            p.levels, mark = levels.of_pass(state.extra["levels"], roots), mark or belonging.mark()
        p.mark = mark
        for where, g in roots:
            p.give(where, g)
        mark_useful(p)
        while p.frontier:
            tape = next_tape(p) if numbered[0] else max(p.frontier, key=_age)
            run_tape(p, tape, p.frontier.pop(tape))
        for leaf in list(p.sparse):
            finish_leaf(p, leaf, p.arrived.pop(leaf, None))
            put_back(state, outer)
        if native is not None and p.targets is None and not create_graph and arriving is None and not AS_IT_COMES and not any(g.needs for _, g in roots):
            native.finish(p.arrived)
        modes = modes_of(state)
        while p.arrived:
            leaf = next(iter(p.arrived))
            finish_leaf(p, leaf, p.arrived.pop(leaf))
            put_back(state, modes)
        p.now = ()
        for f in p.callbacks:
            f()
    finally:
        state.grad = outer[0]
        put_back(state, outer)
        state.extra["pass"] = outer_pass
        if room is not None:
            put_back_room(room)
    return p.captured


_age = operator.attrgetter("serial")


def run_tape(p, tape, grads):
    """Send gradients {slot: Value} through one tape."""
    if tape.open and tape.owner is not thread.state:
        record.flush(tape)
    targets = targets_on(p, tape)
    cuts = cuts_of(tape, p)
    lost = set(p.undefined.pop(tape, ())) if p.undefined else set()
    roots, rest = tuple(sorted(grads)), lost_besides(lost, grads)
    plan = plan_for(tape.prefix, roots, targets, cuts, rest)
    stop = _stop(tape, plan, plan.first, cuts)
    if stop:
        plan = plan_for(tape.prefix, roots, targets, cuts | stop, rest)
    rest = [plan.items, 0]
    try:
        ends = walk(p, tape, plan, rest, grads, targets, cuts, lost)
    except BaseException:
        if not p.keep_graph:
            with LOCK:
                _free(tape, plan.saving.difference(_not_run(p, tape, *rest)))
        raise
    with LOCK:  # another thread may want to run the tape for one of its values
        _pass_on(p, tape, plan, grads)
    for slot in ends:
        p.lose(leaf_at(tape, slot))


def _stop(tape, saved, now, cuts):
    """What is to be cut besides so that a pass comes as far as the node that may not run any more, which then raises; nothing where all may or it is cut there.

    now: the part of `saved` that is read before anybody can look.
    """
    try:
        check(tape, saved)
    except RuntimeError:
        step = failing(tape, saved.visited)
        if step is not None and ("node", step.first) not in cuts:
            return frozenset((("node", step.first), *range(step.first, step.first + len(step.out_avals))))
        _check(tape, now)
    return _NO_CUTS


_NO_CUTS = frozenset()


def _check(tape, saved):
    anomaly = thread.state.anomaly
    if saved is None:
        return
    if anomaly is None:
        check(tape, saved)
    else:
        anomaly.check(check, tape, saved)


def _pass_on(p, tape, plan, grads):
    """Free what a tape kept, and hand on the gradients that leave it."""
    if not p.keep_graph:
        _free(tape, plan.saving)  # not before: a hook that looks runs the tape, and the rest of the pass reads what it kept
    if p.targets is None:
        if native is None or not native.leave(tape, grads, p.arrived):
            leave(p, tape, grads)
    else:
        for slot, g in grads.items():
            arrive(p, tape, slot, g)


def walk(p, tape, plan: Plan, rest, grads, targets, cuts, lost):
    """Run the items of a plan; `grads` is updated in place and ends with what leaves this tape.

    lost: slots where undefined gradients arrived, updated likewise; rest: filled with the items and the number of the one that is next, for where one fails.

    Leaves at which nothing more can arrive are accumulated before whatever is visible, as torch's engine runs their nodes first.

    After a visible node the rest is planned anew where a gradient did not come, or where someone registered or removed a hook.  Returns the ends that only
    undefined gradients reached.
    """
    items, at, looked = plan.items, 0, False
    state, seen, last, done = thread.state, changes[0], float("inf"), set()
    modes, places = modes_of(state), None
    if p.arrived and any(type(item) is tuple for item in items):
        places = places_of(p, tape, plan)
        settle_arrived(p, places)
    straight, ends = native is not None and _goes_straight(p, tape), settled_plainly(p, tape, plan, places)
    while True:
        if straight and tape.open:
            try:
                went = native.walk(p, tape, items, at, grads, changes, ends)
            except BaseException:  # of a hook: what comes after it are the first stage to which all has come, and the rest
                stages = (k for k in range(at, len(items)) if type(items[k]) is Stage and all(s in grads for s in items[k].cots))
                rest[:] = items, next(stages, len(items))
                raise
            put_back(state, modes)
            looked = went < 0  # the hooks of the next item have run, and changed what is watched
            went, at = at, ~went if looked else went
            for item in items[went:at]:
                last = _ran(item, last, lost)
                if type(item) is tuple and item[0] == "ready":
                    done.update(item[1])
        if at == len(items):
            return [s for s in plan.lost if s not in done]
        item, at = items[at], at + 1
        rest[:] = items, at
        if type(item) is Stage:
            outs = run_stage(p, tape, item, [grads[s] for s in item.cots])
            for s in item.cots:
                if not _captured_here(p, tape, s):
                    grads.pop(s, None)
            grads.update(zip(item.outs, outs))
            _ran(item, last, lost)
            continue
        complete, stop = True, _NO_CUTS
        if item[0] == "check":
            stop = _stop(tape, item[1], item[1], cuts)
            if not stop:
                continue
            if at > 1 and type(items[at - 2]) is tuple and items[at - 2][0] == "gradient":  # whose hooks have run
                run_apart(p, tape, items[at - 2], grads)
        elif item[0] in ("ready", "leaf"):
            if places is None:
                places = places_of(p, tape, plan, done)
                ends = settled_plainly(p, tape, plan, places)
            for slot in item[1]:
                leaf = leaf_at(tape, slot)
                if type(leaf) is Leaf and slot not in done:
                    settle(p, leaf, slot, grads, places)
                    done.add(slot)
            if item[0] == "ready":
                continue
        elif item[0] == "gradient":
            complete = run_watched(p, tape, item, grads, seen, looked)
            looked = False
        else:
            anomaly = state.anomaly
            complete = run_node(p, tape, item, grads) if anomaly is None else anomaly.run(run_node, p, tape, item, grads)
        p.now = None
        put_back(state, modes)
        if type(item[1]) is Step:
            last = _ran(item, last, lost)
            if item[0] == "node" or not complete:
                lost.update(s for i in item[2] if (s := item[1].ins[i]) not in grads)
        if complete and changes[0] == seen and not stop:
            continue
        now, seen = cuts_of(tape, p) | stop, changes[0]
        if not complete or now != cuts:
            cuts, places = now, None
            left = tuple(sorted(s for s in grads if not _captured_here(p, tape, s) and not (s >= last and _ran_silently(tape, s))))
            plan = plan_for(tape.prefix, left, targets, cuts, lost_besides(lost, grads, last))
            items, at = plan.items if plan.first is None else [("check", plan.first, plan.first.checked(), plan.first.visited), *plan.items], 0
            ends = settled_plainly(p, tape, plan, None)


def _ran(item, last, lost):
    """The first slot of the last visible step, after an item has run; gradients came to its slots, undefined ones or not."""
    if lost and type(item) is Stage:
        lost.difference_update(v.step.first + i for v in item.visits for i in v.given)
    if type(item) is not tuple or type(item[1]) is not Step:
        return last
    lost.difference_update(item[1].first + i for i in item[3])
    return item[1].first


def _ran_silently(tape, slot):
    """Whether the gradient of a slot went to a node that sends nothing on."""
    step = slot_table(tape.prefix)[slot][0]
    return step.kind == "op" and step.mode != LEAF and step.form.silent


def _goes_straight(p, tape):
    """Whether a pass accumulates without a graph, levels or anomaly mode, over this thread's open tape."""
    return p.targets is None and not p.create_graph and p.levels is None and tape.open and tape.owner is thread.state


def _captured_here(p, tape, slot):
    return p.targets is not None and (tape, slot) in p.targets


# Stages

def run_stage(p, tape, stage, cots):
    """The gradients that leave a stage, as Values."""
    made = _run_stage(p, tape, stage, cots)
    return made if not stage.spread or tape.open else spread.as_leaves(tape, stage, made, p.create_graph)


def _run_stage(p, tape, stage, cots):
    if p.levels is not None:
        return levels.run_stage(p, tape, stage, cots, value_at, number_at)
    if stage.looks:
        stage = stage_of(stage, tape) if p.create_graph and tape.open else stage
        return stage.run(lambda s: value_at(tape, s), lambda t: number_at(tape, t), cots, lambda *call: _record_looking(p, tape, *call), p.add)
    if p.create_graph:
        other = stage_of(stage, tape)
        if other is not stage:
            with results(tape, other.reads) as found:
                return _record_calls(p, tape, other if found else stage, cots)
        return _record_calls(p, tape, stage, cots)
    if tape.open:
        with LOCK:
            if tape.open:  # still: another thread may have run it for one of its values
                return _record_stage(tape, stage, cots)
    form, reads, numbers = stage_form(stage, tape)
    return record_op(form, [*cots, *[value_at(tape, s) for s in reads], *[number_at(tape, t) for t in numbers]], NOGRAD)


def _record_calls(p, tape, stage, cots):
    """A stage recorded call by call."""
    if native is not None:
        return native.run_stage(stage, tape, cots)
    return stage.run(lambda s: value_at(tape, s), lambda t: number_at(tape, t), cots, _record_pull, p.add)


def _record_stage(tape, stage, cots):
    """A stage over what is still pending: it reads the slots of the same program.  Under the lock."""
    label = (stage, *[c.slot if c.tape is tape else tape.enter(c) for c in cots])
    if native is not None:
        out = native.record_stage(tape, label)
        if out is not None:
            return out
    prefix = tape.prefix
    nxt = prefix.next.get(label)
    if nxt is None:
        step = Step("backward", stage, label[1:], NOGRAD, stage.avals, (False,) * len(stage.avals), prefix.size)
        nxt = prefix.next[label] = new_prefix(prefix, step, len(stage.avals), 0, 0, 0, len(stage.visits))
    tape.prefix = nxt
    first = nxt.step.first
    out = [Value(a, False, tape, first + i) for i, a in enumerate(stage.avals)]
    tape.values.extend(out)
    return out


def _free(tape, saving):
    """Let go of what nodes keep."""
    _free_structure(tape, saving)
    tape.freed |= saving
    if not tape.open:
        release_kept(tape)


def _not_run(p, tape, items, at):
    """The nodes of a pass that failed which had not run: those of the items that are left, and the one that failed."""
    for item in items[at:]:
        if type(item) is Stage:
            yield from (v.step.first for v in item.visits)
        elif type(item[1]) is Step:
            yield item[1].first
    if type(p.now) is tuple and p.now and p.now[0] is tape:
        yield p.now[1]


def _free_structure(tape, saving):
    """Releasing saved values is part of what is recorded: a later flush of this tape keeps nothing for these nodes."""
    if not tape.open or not saving:
        return
    prefix = tape.prefix
    label = ("frees", saving)
    nxt = prefix.next.get(label)
    if nxt is None:
        step = Step("leaf", None, (), NOGRAD, (), (), prefix.size)
        nxt = prefix.next[label] = new_prefix(prefix, step, 0, 0, 0, 0)
        nxt.frees |= saving
    tape.prefix = nxt


def value_at(tape, slot):
    """The Value of a forward slot, with its place in the graph."""
    if tape.open:
        return tape.inputs[-slot - 1] if slot < 0 else tape.values[slot]
    v = tape.kept.get(slot)
    if v is None:
        v = HELD.get((tape, slot))
        if v is None:
            raise errors.second_time()
        return v
    if slot >= 0 and v.tape is None and v.leaf is None and slot_table(tape.prefix)[slot][1]:
        graph = Value(v.aval, True, tape, slot)
        graph.array, leaf, seen = v.array, tape.leaves.get(slot), tape.seen.get(slot)
        graph.seen = None if seen is None else (seen[0], seen[0].n)
        if leaf is not None:
            graph.tape, graph.leaf = None, leaf
        return graph
    return v.late()


def number_at(tape, token):
    kind, k = token
    if kind == "f":
        return tape.floats[k]
    if kind == "i":
        return tape.ints[k]
    if kind == "b":
        return bool(tape.ints[k])
    return complex(tape.floats[k], tape.floats[k + 1])


def _record_pull(form, gs, ins):
    """A pullback of `create_graph`: what it passes on unchanged keeps its own place in the graph."""
    passes = form.passes
    if not passes:
        return record_op(form, [*gs, *ins], GRAD)
    made = passes if None not in passes else record_op(form, [*gs, *ins], GRAD)
    return [g if i is None else gs[i] for i, g in zip(passes, made)]


# Visible nodes

def run_node(p, tape, item, grads):
    """A step with hooks on it, a captured non-leaf, or a custom Function; False where a wanted gradient did not come."""
    _, step, wanted, given, saved = item
    ctx = tape.contexts[step.first] if step.kind == "function" else None
    p.now = (tape, step.first)
    seen = observed(tape, step.first)
    late = seen is None or not seen.posthooks  # hooks that come while the node runs are shown no gradients, as torch has moved them then
    outs = [grads.pop(step.first + i, None) for i in range(len(step.out_avals))]
    came = outs if seen is None else tensor_hooks(p, step, seen, outs)
    _capture(p, tape, step, came if wanted and not p.accumulate else outs)  # as in torch: before hooks where the node runs for other targets too
    filled = not wanted and p.accumulate and any(_captured_here(p, tape, step.first + i) for i in range(len(outs)))
    if seen is not None and seen.prehooks and (wanted or filled):
        said = prehooks(seen, nodes.of_node(step, outs) if ctx is None else ctx._tl_per_output(outs))
        outs = nodes.of_results(step, said) if ctx is None else ctx._tl_of_tensors(said)
    if not wanted:
        if not filled:
            return True
        if ctx is None:
            _check(tape, saved)
        full = ctx._tl_run_backward(outs, p) if ctx is not None else ()
        if seen is not None and seen.posthooks:  # a target whose `.grad` is filled runs, and its gradients go nowhere
            outs, edges = (nodes.of_node(step, outs), None) if ctx is None else (ctx._tl_per_output(outs), ctx._tl_edge_places())
            posthooks(step, seen, range(len(full)), full, outs, edges)
        return True
    if ctx is not None:
        full = ctx._tl_run_backward(outs, p, wanted)
        seen = observed(tape, step.first)
        if seen is not None and seen.posthooks:
            full = posthooks(step, seen, range(len(full)), full, () if late else ctx._tl_per_output(outs), ctx._tl_edge_places())
        ins = [full[i] for i in wanted]
    else:
        _check(tape, saved)
        ins = _run_pull(p, tape, step, wanted, outs)
        if seen is not None and seen.posthooks:
            ins = posthooks(step, seen, wanted, ins, () if late else nodes.of_node(step, outs))
    if thread.state.anomaly is not None:
        thread.state.anomaly.look(tape, step, wanted, ins)
    _spread(p, step, wanted, ins, grads)
    return all(step.ins[i] in grads for i in wanted) if given else not any(step.ins[i] in grads for i in wanted)


def _capture(p, tape, step, outs):
    """Note what arrived at targets among the results of a step."""
    for i, g in enumerate(outs):
        if g is not None and _captured_here(p, tape, step.first + i):
            p.captured[(tape, step.first + i)] = g


def _spread(p, step, wanted, ins, grads):
    """Add what a node gives to the gradients of its inputs."""
    for i, g in zip(wanted, ins):
        if type(g) is SparseValue:
            p.sparse.setdefault(g.leaf, []).append(g)
        elif g is not None:
            slot = step.ins[i]
            old = grads.get(slot)
            grads[slot] = g if old is None else p.add(old, g)


def run_watched(p, tape, item, grads, seen, looked):
    """Hooks and retained gradients of a step that the next stage runs; False where the step ran here, as a hook changed what is watched.

    looked: the hooks have run.
    """
    _, step, _, given, _ = item
    first = step.first
    outs = [grads.get(first + i) for i in range(len(step.out_avals))]
    if not looked:
        p.now = (tape, first)
        came = tensor_hooks(p, step, tape.extra[first], outs)
        if not p.accumulate:
            _capture(p, tape, step, came)
    for i in given:
        grads[first + i] = outs[i]
    if changes[0] == seen:
        return True
    run_apart(p, tape, item, grads)
    return False


def run_apart(p, tape, item, grads):
    """Run a step at whose gradients somebody has looked."""
    _, step, wanted, given, saved = item
    outs = [grads.get(step.first + i) for i in range(len(step.out_avals))]
    for i in given:
        if not _captured_here(p, tape, step.first + i):
            del grads[step.first + i]
    _check(tape, saved)
    _spread(p, step, wanted, _run_pull(p, tape, step, wanted, outs), grads)


def _run_pull(p, tape, step, wanted, outs):
    given = tuple(i for i, g in enumerate(outs) if g is not None)
    if not given or step.form.silent:
        return [None] * len(wanted)
    seen = observed(tape, step.first)
    sparse = sparse_gradients.asked(step) and wanted[0] == 0 and p.levels is None and type(leaf_at(tape, step.ins[0])) is Leaf
    if seen is not None and seen.saved:
        pull, gs, ins = nodes.unpacking(p, tape, step, wanted, outs)
        return _sparsely(p, tape, step, pull, gs, ins) if sparse else _record_looking(p, tape, pull, gs, ins)
    refuse_write(step)
    pull = step.form.pullback(wanted, given) if p.levels is None else pullback(step.form, wanted, given, p.levels)
    other = pull_of(step, wanted, given) if p.create_graph and p.levels is None else None
    if other is not None:
        with_own = with_results(step)
        with results(tape, [with_own.ins[i] for i in other.keep if i >= len(step.ins)]) as found:
            if found:
                return _record_looking(p, tape, other, [outs[i] for i in given], _inputs_at(tape, with_own, other))
    gs, ins = [outs[i] for i in given], _inputs_at(tape, step, pull)
    return _sparsely(p, tape, step, pull, gs, ins) if sparse else _record_looking(p, tape, pull, gs, ins)


def _sparsely(p, tape, step, pull, gs, ins):
    """The gradients of a step whose first input, a leaf, gets a sparse one."""
    rest = _record_looking(p, tape, pull, gs, ins)[1:] if len(pull.wanted) > 1 else ()
    return [sparse_gradients.made(step, leaf_at(tape, step.ins[0]), gs[0], dict(zip(pull.keep, ins))), *rest]


def _inputs_at(tape, step, pull):
    """The inputs that a pullback reads, in order."""
    ins = []
    for i in pull.keep:
        s = step.ins[i]
        ins.append(number_at(tape, s) if type(s) is tuple else value_at(tape, s))
    return ins


def _record_looking(p, tape, pull, gs, ins):
    if pull.refuses:
        look(tape, pull, gs, ins, p.create_graph)
    return _record_pull(pull, gs, ins) if p.create_graph else record_op(pull, [*gs, *ins], NOGRAD)
