"""What a pass runs on one tape (layer 6): stages that nobody can look into, and nodes that somebody sees, with their hooks.

Both are recorded: a stage over what is still pending reads the slots of the same program; with `create_graph` everything is recorded call by call.
"""

from __future__ import annotations

from .._ops.lift import pullback
from . import copy_slices, crossing, errors, nodes, sparse_gradients, spread, written_views
from .hooks import posthooks, prehooks, tensor_hooks
from .leaving import arrive, end_of, leaf_at
from .nodes import Leaf, changes, observed
from .plan import stage_form
from .program import release_kept
from .record import GRAD, LOCK, NOGRAD, Step, Value, follow, new_prefix, record_op, slot_table, thread
from .refusals import look
from .sparse_gradients import SparseValue
from .speed import native
from .stages import refuse_write
from .through import HELD, apart, one_by_one, pull_of, results, stage_of, with_results
from .versions import check


def check_saved(tape, saved):
    """Whether what nodes keep (a Saved, or None) is there and as it was; RuntimeError, with the place of the call in anomaly mode."""
    anomaly = thread.state.anomaly
    if saved is None:
        return
    if anomaly is None:
        check(tape, saved)
    else:
        anomaly.check(check, tape, saved)


def captured_here(p, tape, slot):
    """Whether a slot is a target."""
    return p.targets is not None and (tape, slot) in p.targets


# Stages

def run_stage(p, tape, stage, cots):
    """The gradients that leave a stage, as Values."""
    made = _run_stage(p, tape, stage, cots)
    if p.inference:
        p.made(made)
    return made if not stage.spread or tape.open else spread.as_leaves(tape, stage, made, p.create_graph)


def _run_stage(p, tape, stage, cots):
    if p.levels is not None:
        return _run_in_levels(p, tape, stage, cots)
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
            while tape.open:  # still: another thread may have run it for one of its values
                made = _record_stage(tape, stage, cots)
                if made is not None:
                    return made
    form, reads, numbers = stage_form(stage, tape)
    return record_op(form, [*cots, *[value_at(tape, s) for s in reads], *[number_at(tape, t) for t in numbers]], NOGRAD)


def _run_in_levels(p, tape, stage, cots):
    """A stage call by call, each pullback mapped over the levels of the pass; None for a gradient that is undefined."""
    grads = {s: g for s, g in zip(stage.cots, cots) if g is not None}
    for v in stage.visits:
        step = v.step
        given = tuple([k for k in v.given if step.first + k in grads])
        if not given:
            continue
        for i, g in zip(v.wanted, _pulled(p, tape, step, v.wanted, given, [grads[step.first + k] for k in given])):
            if g is not None:
                slot = step.ins[i]
                old = grads.get(slot)
                grads[slot] = g if old is None else p.add(old, g)
    return [grads.get(s) for s in stage.outs]


def _record_calls(p, tape, stage, cots):
    """A stage recorded call by call."""
    if native is not None and not written_views.on(tape):
        return native.run_stage(stage, tape, cots)
    return stage.run(lambda s: value_at(tape, s), lambda t: number_at(tape, t), cots, _record_pull, p.add)


def _record_stage(tape, stage, cots):
    """A stage over what is still pending: it reads the slots of the same program; None where `follow` says False.  Under the lock."""
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
    first = nxt.step.first
    out = [Value(a, False, tape, first + i) for i, a in enumerate(stage.avals)]
    return out if follow(tape, nxt, out) else None


def value_at(tape, slot):
    """The Value of a forward slot, with its place in the graph."""
    noted = written_views.noted[0]
    if noted and (v := written_views.shown_at(tape, slot)) is not None:
        return v
    if tape.open:
        v = tape.inputs[-slot - 1] if slot < 0 else tape.values[slot]
        return written_views.now(v) if noted else v
    v = tape.kept.get(slot)
    if noted and (shown := written_views.now(v)) is not v:
        return shown
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
    """The number that a token of a step's inputs names."""
    kind, k = token
    if kind == "f":
        return tape.floats[k]
    if kind == "i":
        return tape.ints[k]
    if kind == "b":
        return bool(tape.ints[k])
    return complex(tape.floats[k], tape.floats[k + 1])


def _record_pull(form, gs, ins):
    """A pullback of `create_graph`: a node for each gradient that torch has a formula of its own for."""
    parts = one_by_one(form)
    if parts is None:
        return _record_whole(form, gs, ins)
    return [_record_whole(part, gs, [ins[k] for k in places])[0] for part, places in parts]


def _record_whole(form, gs, ins):
    """What the pullback passes on unchanged keeps its own place in the graph."""
    passes = form.passes
    if not passes:
        return record_op(form, [*gs, *ins], GRAD)
    made = passes if None not in passes else record_op(form, [*gs, *ins], GRAD)
    return [g if i is None else gs[i] for i, g in zip(passes, made)]


def free(tape, saving):
    """Let go of what nodes keep."""
    _free_structure(tape, saving)
    tape.freed |= saving
    if not tape.open:
        release_kept(tape)


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


# Visible nodes

def run_node(p, tape, item, grads):
    """A step with hooks on it, a captured non-leaf, or a custom Function; False where a wanted gradient did not come.

    Where the node inside of a write to a view has run too: the slots that both were to send gradients to."""
    _, step, wanted, _, saved = item
    ctx = tape.contexts[step.first] if step.kind == "function" else None
    p.now = (tape, step.first)
    seen = observed(tape, step.first)
    outs = [grads.pop(step.first + i, None) for i in range(len(step.out_avals))]
    came = outs if seen is None else tensor_hooks(p, step, seen, outs)
    _capture(p, tape, step, came if wanted and not p.accumulate else outs)  # as in torch: before hooks where the node runs for other targets too
    filled = not wanted and p.accumulate and any(captured_here(p, tape, step.first + i) for i in range(len(outs)))
    if ctx is None and wanted:
        return _run_op(p, tape, item, outs, grads)
    if seen is not None and seen.prehooks and (wanted or filled):
        said = prehooks(seen, nodes.of_node(step, outs) if ctx is None else ctx._tl_per_output(outs))
        outs = nodes.of_results(step, said) if ctx is None else ctx._tl_of_tensors(said)
    if not wanted:
        if not filled:
            return True
        if ctx is None:
            check_saved(tape, saved)
        full = ctx._tl_run_backward(outs, p) if ctx is not None else ()
        if seen is not None and seen.posthooks:  # a target whose `.grad` is filled runs, and its gradients go nowhere
            outs, edges = (nodes.of_node(step, outs), None) if ctx is None else (ctx._tl_per_output(outs), ctx._tl_edge_places())
            posthooks(step, seen, range(len(full)), full, outs, edges)
        if ctx is not None:
            p.let_go(ctx._tl_let_go)
        return True
    late = _comes_late(seen)
    full = ctx._tl_run_backward(outs, p, wanted)
    seen = observed(tape, step.first)
    if seen is not None and seen.posthooks:
        full = posthooks(step, seen, range(len(full)), full, () if late else ctx._tl_per_output(outs), ctx._tl_edge_places())
    p.let_go(ctx._tl_let_go)
    return _send(p, tape, item, [full[i] for i in wanted], grads)


def _comes_late(seen):
    """Whether a hook after a node comes while that runs: it is shown no gradients, as torch has moved them then."""
    return seen is None or not seen.posthooks


def _run_op(p, tape, item, outs, grads):
    """The rest of an operator's node, with the hooks before and after it; as `run_node`."""
    _, step, wanted, _, saved = item
    seen = observed(tape, step.first)
    if seen is not None and seen.prehooks:
        outs = nodes.of_results(step, prehooks(seen, nodes.of_node(step, outs)))
    late = _comes_late(seen)
    check_saved(tape, saved)
    ins = run_pull(p, tape, step, wanted, outs)
    if seen is not None and seen.posthooks:
        outs = () if late else nodes.of_node(step, outs)
        inner = None if late else copy_slices.inside(p, tape, step)
        if inner is not None:
            return _run_both(p, tape, item, inner, ins, outs, grads)
        ins = posthooks(step, seen, wanted, ins, outs)
    return _send(p, tape, item, ins, grads)


def _send(p, tape, item, ins, grads):
    """Send on what a node gives; False where a wanted gradient did not come."""
    _, step, wanted, given, _ = item
    if thread.state.anomaly is not None:
        thread.state.anomaly.look(tape, step, wanted, ins)
    _spread(p, step, wanted, ins, grads)
    return all(step.ins[i] in grads for i in wanted) if given else not any(step.ins[i] in grads for i in wanted)


def _run_both(p, tape, item, inner, given, outs, grads):
    """The rest of a write to a view with hooks after it, see copy_slices.py."""
    sent = run_inside(p, tape, item, inner, given, outs)
    if thread.state.anomaly is not None:
        numbers = [n for n, *_ in sent]
        thread.state.anomaly.look(tape, item[1], numbers, [g for *_, g in sent], range(1 + max(numbers, default=0)))
    for _, where, slot, g in sent:
        if where is tape:
            _give(p, slot, g, grads)
        elif g is None:
            p.lose(end_of(where, slot))
        else:
            arrive(p, where, slot, g)
    return frozenset([slot for _, where, slot, _ in sent if where is tape])


def run_inside(p, tape, item, inner, given, outs):
    """What `copy_slices.run` gives, with the node inside run as any other."""
    def run(g):
        if inner.ctx is not None:
            return dict(enumerate(inner.ctx._tl_run_backward([g], p, inner.wanted)))
        check_saved(inner.tape, inner.saved)
        return dict(zip(inner.wanted, run_pull(p, inner.tape, inner.step, inner.wanted, [g])))

    sent = copy_slices.run(p, tape, item, inner, given, outs, run, [number_at(tape, t) for t in item[1].ins[2:]])
    if inner.ctx is not None:  # after the hooks, which may raise or come to the nodes again
        p.let_go(inner.ctx._tl_let_go)
    elif inner.tape is not tape and inner.saved is not None:
        p.let_go(free, inner.tape, inner.saved.saving)
    return sent


def _capture(p, tape, step, outs):
    """Note what arrived at targets among the results of a step."""
    for i, g in enumerate(outs):
        if g is not None and captured_here(p, tape, step.first + i):
            p.captured[(tape, step.first + i)] = g


def _spread(p, step, wanted, ins, grads):
    """Add what a node gives to the gradients of its inputs."""
    for i, g in zip(wanted, ins):
        _give(p, step.ins[i], g, grads)


def _give(p, slot, g, grads):
    """Add a gradient (None: none) to those of a slot."""
    if type(g) is SparseValue:
        p.sparse.setdefault(g.leaf, []).append(g)
    elif g is not None:
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
        came = tensor_hooks(p, step, tape.extra.get(first) or observed(tape, first, True), outs)
        if not p.accumulate:
            _capture(p, tape, step, came)
    for i in given:
        grads[first + i] = outs[i]
    if changes[0] == seen:
        return True
    sent = run_apart(p, tape, item, grads)
    return sent if type(sent) is frozenset else False


def run_apart(p, tape, item, grads):
    """Run a step at whose gradients somebody has looked: as `run_node`, with the hooks that its tensors' may have brought to its node."""
    _, step, _, given, _ = item
    outs = [grads.get(step.first + i) for i in range(len(step.out_avals))]
    for i in given:
        if not captured_here(p, tape, step.first + i):
            del grads[step.first + i]
    return _run_op(p, tape, item, outs, grads)


def run_pull(p, tape, step, wanted, outs):
    """What the node of a step gives to its wanted inputs for gradients of its results (None where undefined)."""
    made = _run_pull(p, tape, step, wanted, outs)
    return p.made(made) if p.inference else made


def _run_pull(p, tape, step, wanted, outs):
    given = tuple(i for i, g in enumerate(outs) if g is not None)
    if not given or step.form.silent:
        return [None] * len(wanted)
    seen = observed(tape, step.first)
    sparse = sparse_gradients.asked(step) and wanted[0] == 0 and p.levels is None and type(leaf_at(tape, step.ins[0])) is Leaf
    if seen is not None and seen.saved:
        pull, gs, ins = nodes.unpacking(p, tape, step, wanted, outs)
        ins = _read_of(p, tape, step, ins)
        return _sparsely(p, tape, step, pull, gs, ins) if sparse else _record_looking(p, tape, pull, gs, ins)
    refuse_write(step)
    gs = [outs[i] for i in given]
    if sparse:
        pull = step.form.pullback(wanted, given)
        return _sparsely(p, tape, step, pull, gs, _inputs_at(tape, step, pull))
    return _pulled(p, tape, step, wanted, given, gs)


def _pulled(p, tape, step, wanted, given, gs):
    """What the pullback of a step gives for gradients of the results `given`; with a graph of its own as torch's formula, which may read results."""
    key = None if p.levels is None else crossing.unpacked_in(step.form, p.levels)
    if key is not None and p.held is not None:
        p.late.append((key, end_of(tape, step.ins[0]), gs[0]))
        return [None]
    other = pull_of(step, wanted, given, p.levels) if p.create_graph else None
    if other is not None:
        if p.levels is None and apart(step.form, wanted):
            return [g for i in wanted for g in _pulled(p, tape, step, (i,), given, gs)]
        with_own = with_results(step)
        with results(tape, [with_own.ins[i] for i in other.keep if i >= len(step.ins)]) as found:
            if found:
                return _record_looking(p, tape, other, gs, _read_of(p, tape, step, _inputs_at(tape, with_own, other)))
    pull = step.form.pullback(wanted, given) if p.levels is None else pullback(step.form, wanted, given, p.levels)
    found = _record_looking(p, tape, pull, gs, _read_of(p, tape, step, _inputs_at(tape, step, pull)))
    return found if p.levels is None else crossing.defined(pull, found)


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


def _read_of(p, tape, step, ins):
    """What a pass reads of a step: primals alone where it goes through an ended dual level."""
    if not p.ended:
        return ins
    keys = {key for key, start in p.ended.items() if start is None or (tape.serial, step.first) < start}
    return [crossing.without(v, keys) if isinstance(v, Value) else v for v in ins]


def _record_looking(p, tape, pull, gs, ins):
    if pull.refuses:
        look(tape, pull, gs, ins, p.create_graph)
    return _record_pull(pull, gs, ins) if p.create_graph else record_op(pull, [*gs, *ins], NOGRAD)


__all__ = ["captured_here", "check_saved", "number_at", "run_apart", "run_inside", "run_node", "run_pull", "run_stage", "run_watched", "value_at"]
