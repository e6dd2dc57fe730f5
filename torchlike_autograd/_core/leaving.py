"""What leaves a tape in a backward pass (layer 6): gradients go on to an older tape, or arrive at leaves and are added to theirs.

torch's engine runs the node of a leaf as soon as nothing more can come to it.  Nobody sees when that is but who looks in the middle of a pass: so a plan names
the leaves that are complete before each visible item ("ready"), and they are accumulated then; the others when the pass has gone through all tapes.
"""

from __future__ import annotations

from collections import Counter

from . import sparse_gradients
from .arrivals import AS_IT_COMES, accumulate
from .asked import age, cuts_of, targets_on
from .hooks import checked, replaced, run_hooks, shown, tensor_of
from .nodes import Leaf
from .plan import lost_besides, plan_for
from .record import thread

# In the middle of a pass

def places_of(p, tape, plan, done=()):
    """{Leaf: at how many slots the rest of a pass comes to it, with a gradient or without}: where this plan ends, and on the tapes that are yet to come.

    done: slots where it has come to one already.
    """
    found, coming, gone = Counter(), {t: set(slots) for t, slots in p.frontier.items()}, {t: set(slots) for t, slots in p.undefined.items()}
    while True:
        for slots, into in ((plan.targets, coming), (plan.lost, gone)):
            for where in (leaf_at(tape, s) for s in slots if s not in done):
                if type(where) is tuple:
                    coming.setdefault(where[0], set())
                    into.setdefault(where[0], set()).add(where[1])
                elif where is not None:
                    found[where] += 1
        done = ()
        if not coming:
            return found
        tape = max(coming, key=age)
        have = coming.pop(tape)
        plan = plan_for(tape.prefix, tuple(sorted(have)), targets_on(p, tape), cuts_of(tape, p), lost_besides(gone.pop(tape, ()), have))


def settled_plainly(p, tape, plan, places):
    """The ends of a plan at which `native.walk` may accumulate: a tuple where it has to see that they are as many leaves, a set where that is known."""
    if p.sparse or plan.lost or p.undefined or p.arriving is not None or thread.state in AS_IT_COMES:
        return ()
    if places is None:
        return () if p.frontier or p.arrived else plan.targets
    return {s for s in plan.targets if type(leaf := leaf_at(tape, s)) is Leaf and places[leaf] == 1 and leaf not in p.arrived}


def settle_arrived(p, places):
    """Finish the leaves that had gradients from younger tapes and get no more: none where tangents are pulled back late."""
    for leaf in () if p.held is not None else [leaf for leaf in p.arrived if leaf not in places]:
        finish_leaf(p, leaf, p.arrived.pop(leaf))


def settle(p, leaf, slot, grads, places):
    """Take what came from this tape to a slot, a gradient or an undefined one; its leaf is finished unless other places still add to it."""
    places[leaf] -= 1
    g = grads.pop(slot, None)
    if g is None:
        p.lose(leaf)
    else:
        p.leaf(leaf, g)
    if places[leaf] <= 0 and p.held is None and (leaf in p.arrived or leaf in p.sparse):
        finish_leaf(p, leaf, p.arrived.pop(leaf, None))


# At the end of a tape

def leave(p, tape, grads):
    """Gradients that leave this tape, where no targets were named."""
    is_open, inputs, edges, arrived = tape.open, tape.inputs, tape.edges, p.arrived
    for slot, g in grads.items():
        if g is None:
            continue
        where = tape.leaves.get(slot) if slot >= 0 else inputs[-slot - 1].leaf if is_open else edges[-slot - 1]
        if type(where) is Leaf and where not in arrived:
            arrived[where] = g
        elif (where := leaf_at(tape, slot)) is not None:
            p.give(where, g)


def arrive(p, tape, slot, g):
    """A gradient that leaves this tape: at a target, a leaf, or an older tape."""
    if g is None:
        return
    if slot >= 0 and (tape, slot) in (p.targets or ()):
        p.captured.setdefault((tape, slot), g)
        return
    where = leaf_at(tape, slot)
    if where is not None:
        p.give(where, g)


def leaf_at(tape, slot):
    """The Leaf, or (older tape, slot), behind a slot that ends a tape."""
    if slot >= 0:
        return tape.leaves.get(slot)
    if not tape.open:
        return tape.edges[-slot - 1]
    v = tape.inputs[-slot - 1]
    return v.leaf or ((v.tape, v.slot) if v.tape is not None else None)


def end_of(tape, slot):
    """The Leaf or (tape, slot) where a gradient of a slot goes on."""
    return leaf_at(tape, slot) or (tape, slot)


def finish_leaf(p, leaf, g):
    """Hooks of a leaf, accumulation, hooks after it; an undefined gradient (None) goes to the hooks that come before."""
    if leaf in p.sparse:
        g = sparse_gradients.total(p.sparse.pop(leaf), g, p.add)
    if p.targets is None and not leaf.off and not leaf.observed():
        if g is not None:
            accumulate(leaf, g, p)
        return
    p.now = leaf
    if leaf.hooks and (p.targets is None or leaf in p.targets or (len(p.begun) == 1 and p.begun[0][0] is leaf)):
        g = run_hooks(leaf.hooks, g)
    if p.targets is not None and leaf in p.targets and not p.accumulate:
        p.captured[leaf] = g
        return
    if p.targets is not None and leaf not in p.targets:
        return
    if leaf.prehooks:
        for f in list(leaf.prehooks.values()):
            result = f((shown(g),))
            if result is not None:
                g, = replaced(result, (g,), f)
    t = tensor_of(leaf)
    if t is not None and not t._tl_needs:
        return
    arrived = shown(g)
    if g is not None:
        to = leaf if t is None else t._tl_leaf
        first = to.grad is None and not p.create_graph
        if to.grad is not None and to.grad.dtype is not g.aval.dtype:  # a leaf that takes any: what is there keeps its dtype
            to.grad = to.grad + shown(g) if p.create_graph else to.grad.add_(shown(g))
        else:
            accumulate(to, g, p)
        if first and leaf.posthooks:  # torch keeps the gradient itself then: what is written to `.grad` is seen in both
            arrived = to.grad.detach()
    if leaf.post:
        for f in list(leaf.post.values()):
            result = f(t)
            if result is not None and result is not t:
                checked(result, t._tl_value(), f)
                raise RuntimeError("Tensor post accumulate grad hooks should return None.")
    if leaf.posthooks:
        for f in list(leaf.posthooks.values()):
            result = f((), (arrived,))
            if result is not None:
                replaced(result, (), f)

__all__ = ["arrive", "end_of", "finish_leaf", "leaf_at", "leave", "places_of", "settle", "settle_arrived", "settled_plainly"]
