"""The commonest backward pass, remembered (layer 6): one real scalar root, no options, nobody watching, every gradient of this tape for a leaf.

What such a pass does depends on structure only, so it is learned once from the general plan and then repeated: on the open tape it is one
edge of the trie, on a tape that has run it is one recorded stage.  `torch.autograd.grad` of one root on the open tape, whose targets are all there, is
remembered too: which stage it is.  Anything else goes the general way, `engine.run_backward`.
"""

from __future__ import annotations

from .._ops.registry import OPS
from .._ops.spec import spec_of
from .._tensor import Tensor
from . import dtypes, levels, placed, record, walls
from .arrivals import accumulate
from .asked import outside_below
from .backward import number_at, run_stage
from .engine import Pass, free
from .errors import second_time
from .nodes import HIDDEN, Leaf, numbered, step_of
from .plan import plan_for, stage_form
from .program import release_kept
from .record import LOCK, NOGRAD, Step, Value, new_prefix, record_op, thread
from .speed import native
from .stages import Stage
from .state import new as _new
from .versions import check

_NOTHING = frozenset()
_PASS = Pass(False, False, None, True)


class Simple:
    """What is known of a pass.

    `arrivals`: for each gradient (slot of its leaf, type); `kept`, `results`: slots for the version check (`checked`: both); `saving`: nodes released.

    On an open tape: `prefix`, where it stands afterwards, and `first`, the slot of the first gradient.  On a closed one: `ones`, the spec of the gradient
    that the pass starts from, and `form`, `reads`, `numbers`: the stage and what it takes.
    """

    __slots__ = ("arrivals", "checked", "first", "form", "kept", "numbers", "ones", "prefix", "reads", "results", "saving", "shown", "visited")


def run_simple(v):
    """backward() of one real scalar without options, if it is the common case: True when done."""
    if native is not None and native.backward(v):
        return True
    tape = v.tape
    if tape.extra or tape.freed or Leaf.watched[0] or record.IMMEDIATE[0] or tape.contexts:
        return False
    open_here = tape is thread.state.tape
    if tape.open and not open_here:
        return False
    prefix = tape.prefix
    known = prefix.next.get(("simple", v.slot)) if open_here else prefix.memo.get(("simple", v.slot))
    if known is None:
        known = _learn(tape, prefix, v, open_here) or False
        if open_here:
            prefix.memo.clear()  # the plan is not asked for again
            prefix.next["simple", v.slot] = known
        else:
            prefix.memo["simple", v.slot] = known
    if known is False or (open_here and not tape.open):  # a signal's handler may have looked
        return False
    leaves = []
    for slot, _ in known.arrivals:
        leaf = tape.leaves.get(slot) if slot >= 0 else tape.inputs[-slot - 1].leaf if open_here else tape.edges[-slot - 1]
        if type(leaf) is not Leaf or leaf.off:
            return False
        leaves.append(leaf)
    try:
        check(tape, known)
    except RuntimeError:  # the general way gets as far as torch does
        return False
    made = _on_open(tape, v, known, prefix) if open_here else _on_closed(tape, known)
    if made is None:
        return False
    for leaf, g in zip(leaves, made):
        if leaf.grad is None:
            leaf.grad = t = _new(Tensor)
            t._tl_v = g
        else:
            accumulate(leaf, g, _PASS)
    return True


def _on_open(tape, v, known, start):
    with LOCK:
        slot, made = known.first - 1, []
        for a in (v.aval, *(a for _, a in known.arrivals)):  # the first one is what the pass starts from
            made.append(Value(a, False, tape, slot))
            slot += 1
        if not record.follow(tape, known.prefix, made, start=start):
            return None
        tape.freed |= known.saving
    return made[1:]


def _on_closed(tape, known):
    one = record_op(known.ones, (), NOGRAD)[0]
    try:
        kept = [tape.kept[s] for s in known.reads]
    except KeyError:
        raise second_time() from None
    made = record_op(known.form, [one, *kept, *[number_at(tape, t) for t in known.numbers]], NOGRAD)
    tape.freed |= known.saving
    release_kept(tape)
    return made


def _learn(tape, prefix, v, open_here):
    """What the general plan says about this pass; None where the pass is not of the common kind."""
    plan = plan_for(prefix, (v.slot,), None, _NOTHING)
    if len(plan.items) != 1 or type(plan.items[0]) is not Stage or v.aval.dtype.category != dtypes.FLOAT:
        return None
    stage = plan.items[0]
    if stage.looks or (stage.spread and not open_here):
        return None
    out = Simple()
    out.arrivals = tuple(zip(stage.outs, stage.avals))
    out.kept, out.results, out.saving = plan.kept, plan.results, plan.saving
    out.shown, out.visited = plan.shown, plan.visited
    out.checked = plan.checked()
    out.ones = spec_of(OPS["_ones"], (("size", v.aval.shape), ("dtype", v.aval.dtype)), ())
    if open_here:
        _extend(out, prefix, stage, plan.saving)
    else:
        out.form, reads, numbers = stage_form(stage, tape)
        out.reads, out.numbers = tuple(reads), tuple(numbers)
    return out


def _extend(out, start, stage, saving):
    """Append the pass to the trie: the gradient it starts from, the release, the stage."""
    ones = out.ones.form(())
    prefix = new_prefix(start, Step("op", ones, (), NOGRAD, ones.out_avals, (False,), start.size), 1, 0, 0, 0, 1)
    if saving:
        prefix = new_prefix(prefix, Step("leaf", None, (), NOGRAD, (), (), prefix.size), 0, 0, 0, 0)
        prefix.frees |= saving
    run = Step("backward", stage, (start.size,), NOGRAD, stage.avals, (False,) * len(stage.avals), prefix.size)
    out.prefix = new_prefix(prefix, run, len(stage.avals), 0, 0, 0, len(stage.visits))
    out.first = prefix.size


# torch.autograd.grad

class SimpleGrad:
    """What is known of a pass that fills no `.grad`: its `plan`, of one `stage`; `slots` of the targets in their order, and the root's `step`."""

    __slots__ = ("plan", "slots", "stage", "step")


_WITH_GRAPH, _WITHOUT = Pass(True, True, set(), False), Pass(False, False, set(), False)


def simple_grad(root, targets):
    """The SimpleGrad of gradients of one Value for others, all on this thread's open tape where nobody watches; None where the pass is not of that kind."""
    state, tape = thread.state, root.tape
    if (tape is not state.tape or not tape.open or root.leaf is not None or tape.extra or tape.contexts or numbered[0] or record.IMMEDIATE[0]
            or state.anomaly is not None or state.inference or state.extra.get("levels") or tape in levels.NOTED["left"]
            or state.extra.get("pass") is not None or walls.on(tape, None)):
        return None
    slots = _slots(tape, root.slot, targets)
    if slots is None:
        return None
    memo, key = tape.prefix.memo, ("grad", root.slot, slots)
    known = memo.get(key)
    if known is None:
        known = memo[key] = _learn_grad(tape, root.slot, slots) or False
    if known is False or known.step.out_avals[root.slot - known.step.first] is not root.aval:  # whose data were replaced
        return None
    try:
        check(tape, known.plan)
    except RuntimeError:  # the general way gets as far as torch does
        return None
    return known


def run_simple_grad(tape, known, seed, keep_graph, create_graph):
    """The gradients of the targets, as Values."""
    state = thread.state
    p = _WITH_GRAPH if create_graph else _WITHOUT
    mode, state.grad, state.extra["pass"] = state.grad, p.create_graph, p
    placed.cut(not create_graph)
    try:
        made = dict(zip(known.stage.outs, run_stage(p, tape, known.stage, [seed])))
    finally:
        state.grad, state.extra["pass"] = mode, None
    if not keep_graph:
        with LOCK:
            free(tape, known.plan.saving)
    return [made[s] for s in known.slots]


def _slots(tape, root, targets):
    """Where targets are on the open tape; None where one is elsewhere or in two places, where older tapes come below the root, or leaves have hooks."""
    places: dict = {}
    for slot, leaf in tape.leaves.items():
        places[leaf] = None if leaf in places else slot
    for i, v in enumerate(tape.inputs):
        if v.needs and v.leaf is not None:
            places[v.leaf] = None if v.leaf in places else -i - 1
        elif v.needs and i in outside_below(tape.prefix, frozenset((root,))):
            return None
    if Leaf.watched[0] and any(leaf.observed() for leaf in places):
        return None
    found = tuple([places.get(v.leaf) if type(v.leaf) is Leaf else v.slot if v.tape is tape and v.needs and v.leaf is None else None for v in targets])
    return None if None in found else found


def _learn_grad(tape, root, slots):
    """What the general plan says about this pass; None where the pass is not of the common kind."""
    out, own = SimpleGrad(), frozenset(slots)
    out.step = step_of(tape, root)
    steps = (out.step, *[step_of(tape, s) for s in slots if s >= 0 and s not in tape.leaves])
    if root in own or any(step.kind != "op" or step.form.op.name in HIDDEN for step in steps):
        return None
    out.slots, out.plan = slots, plan_for(tape.prefix, (root,), own, _NOTHING)
    items = out.plan.items
    if len(items) != 1 or type(items[0]) is not Stage or out.plan.lost or items[0].spread or items[0].looks or set(items[0].outs) != own:
        return None
    out.stage = items[0]
    return out


__all__ = ["run_simple", "run_simple_grad", "simple_grad"]
