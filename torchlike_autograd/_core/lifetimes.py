"""What users attached to nodes that nobody can reach any more is let go (layer 4): contexts of custom Functions, hooks, metadata, packed values.

Structure stays on the open tape until it is flushed; what is attached to it may be large, and programs watch it die.  A tensor whose node has something
attached is watched; when it dies, the tape is swept: a node is alive while somebody holds a Value that was computed through it, the node itself, or its
context.  It is swept too before a flush, at a full collection of cycles, and for those who ask.
"""

from __future__ import annotations

import gc
import sys
import weakref
from sys import getrefcount

from . import execute, nodes
from .cycles import held_by, led_to
from .lines import is_ours
from .nodes import Leaf, changes
from .record import Tape, thread
from .speed import native

_watched: dict = {}  # id of a tensor -> its weak reference
_PER_DEATH, _MOST = 64, 4096  # values looked at for each death, on average; what can be saved up


class _Watch(weakref.ref):
    """key: id of the tensor; value: weak reference to the Value that it shows; base: whether it is no view."""

    __slots__ = ("base", "key", "value")


def watch(t):
    """Sweep when this tensor is gone."""
    key, v = id(t), t._tl_v
    found = _watched.get(key)
    if found is None:
        found = _watched[key] = _Watch(t, _died)
        found.key = key
    elif found.value() is v:
        return
    found.value, found.base = weakref.ref(v), t._tl_view is None


def watch_node(node):
    """Sweep when this node, which has notes now, is gone: its tensor may have gone before."""
    if isinstance(node, nodes.AccumulateGrad):
        _noted_leaves[0] = True
        if node.variable is not None:
            watch(node.variable)
    key = id(node)
    _watched_nodes[key] = weakref.ref(node, lambda _: _node_died(key))


_watched_nodes: dict = {}  # id of a node -> its weak reference
_noted_leaves = [False]  # whether any accumulation point has notes


def _node_died(key):
    _watched_nodes.pop(key, None)
    query(frame=sys._getframe(1).f_back)


def _run_what_leads_back():
    """End the tape where it alone still leads to closed ones with something attached, by steps that nobody can reach: they go with it."""
    tape = thread.state.tape
    if not tape.open or thread.state.extra.get("pass") is not None or len(tape.values) != tape.prefix.size:
        return
    behind = [-i - 1 for i, v in enumerate(tape.inputs) if v.tape is not None and not v.tape.open and (v.tape.extra or v.tape.contexts)]
    if behind:
        alive = _reached(tape, execute.live_mask(tape.values), _held_nodes(tape))
        if not all(slot in alive for slot in behind):
            execute.flush()


def unwatch(t):
    """The tensor shows something else from now on."""
    _watched.pop(id(t), None)


def _died(found):
    """The tensor still holds its Value now; it is known which one, unless it was written since."""
    _watched.pop(found.key, None)
    v = found.value()
    if v is not None and v.tape is not None and v.tape.contexts and not v.tape.open:
        _let_go(v)
    del v  # held by the tensor alone, to be counted
    state = thread.state
    tape = state.tape
    if not tape.open or not (tape.contexts or tape.extra or _noted_leaves[0]):
        return
    credit = min(state.extra.get("sweep credit", 0) + _PER_DEATH, _MOST)
    if len(tape.values) <= credit:
        credit -= len(tape.values)
        sweep(tape, *_slot_on(tape, found.value(), found.base))
    state.extra["sweep credit"] = credit


def _let_go(v):
    """Contexts hold the tape that holds them: where the tensor that dies was the last one outside to hold a closed tape, by its Value v, they are let go."""
    tape = v.tape
    if getrefcount(v) > _IDLE + 2 or getrefcount(tape) > _IDLE + 1 + len(tape.contexts) or any(getrefcount(ctx) > _IDLE + 1 for ctx in tape.contexts.values()):
        return
    contexts, tape.contexts = tape.contexts, {}
    contexts.clear()


def _slot_on(tape, v, base):
    """(slot of the Value that a dying tensor shows or None, whether its cell holds it too)."""
    if v is None or v.tape is not tape:
        return None, False
    if not v.stale():
        return v.slot, False
    if not base:  # a view that is read again shows a Value that is not known here
        return None, False
    counter = v.seen[0]
    return next((w.slot for w in reversed(tape.values) if w.needs and w.seen is not None and w.seen[0] is counter and not w.stale()), None), True


def sweep(tape, dying=None, cell=False):
    """Let go what is attached to nodes of an open tape that nobody can reach; not while a pass runs or a call is being recorded.

    dying: the slot of a Value that has one holder who is about to be gone; cell: with a cell that holds it too.
    """
    while tape.open and len(tape.values) == tape.prefix.size and tape.owner.extra.get("pass") is None:
        dead = _dead(tape, dying) if not cell else _unreachable(tape, *(_attached(tape, dying, 1) or (bytes(len(tape.values)), (), ())))
        if not dead:
            if _noted_leaves[0]:
                _forget_leaves(tape, dying)
            return
        gone = [(tape.contexts.pop(first, None), tape.extra.pop(first, None)) for first in dead]
        changes[0] += 1
        gone.clear()  # here their last references go, with whatever that calls


def _ending(tape):
    """Sweep before a flush; the Values of nodes that somebody holds without their tensors."""
    sweep(tape)
    return [tape.values[slot] for slot in _held_nodes(tape)]


def _held_nodes(tape, but=frozenset()):
    """A slot of each node that somebody holds; but: ids of those that do not count."""
    contexts = tape.contexts
    return [*(first for first in contexts if getrefcount(contexts[first]) > _IDLE and id(contexts[first]) not in but),
            *(key[1] for key, node in tape.extra.items() if type(key) is tuple and node() is not None and id(node()) not in but)]


def _forget_leaves(tape, dying):
    """Let go the notes at accumulation points whose tensor and node are gone and to which no node leads."""
    alone = [(slot, leaf) for slot, leaf in (*tape.leaves.items(), *((-i - 1, v.leaf) for i, v in enumerate(tape.inputs)))
             if leaf is not None and leaf.metadata is not None and leaf.tensor() is None and (leaf.node is None or leaf.node() is None)]
    if alone:
        mask, held, _ = _held(tape, dying)
        alive = _reached(tape, mask, held)
        for slot, leaf in alone:
            if slot not in alive:
                leaf.metadata = None


def _dead(tape, dying):
    """First slots of the nodes with something attached from which nobody can walk the graph any more: structure, once it is known what is held."""
    key = attached(tape, dying)
    if key is None:
        return ()
    memo = tape.prefix.memo
    out = memo.get(key)
    if out is None:
        out = memo[key] = _unreachable(tape, *_attached(tape, dying))
    return out


def _attached(tape, dying, more=0):
    """(one byte a value: whether somebody holds it, nodes that are held, nodes with something attached); None where nothing is attached."""
    found = _held(tape, dying, more)
    return found if found[2] else None


def _held(tape, dying, more=0):
    mask = bytearray(execute.live_mask(tape.values))
    if dying is not None:
        mask[dying] = max(map(getrefcount, tape.values[dying : dying + 1])) > _IDLE + 2 + more  # this slice and the tensor
    noted = [*tape.contexts, *(key for key in tape.extra if type(key) is not tuple)]
    return bytes(mask), tuple(_held_nodes(tape)), tuple(noted)


attached = _attached if native is None else native.attached


def _reached(tape, mask, held):
    """Slots that somebody can walk to."""
    alive = {i for i, v in enumerate(tape.values) if mask[i] and v.needs and v.leaf is None}
    alive.update(held)
    steps = tape.prefix.steps()[0]
    for step in reversed(steps):
        if step.kind in ("op", "function") and any(step.first + i in alive for i in range(len(step.out_avals))):
            alive.update(s for s in step.ins if type(s) is not tuple)
    return alive


def _unreachable(tape, mask, held, noted):
    steps, alive, noted = tape.prefix.steps()[0], _reached(tape, mask, held), frozenset(noted)
    return tuple([s.first for s in steps if s.out_avals and s.first in noted and not any(s.first + i in alive for i in range(len(s.out_avals)))])


_IDLE = max(map(getrefcount, [object()]))  # of what only a container holds


_aside: list = []  # (thread's state, its tape, whether that was open) while a collection runs


def _collecting(phase, info):
    """A collection comes in the middle of anything, also where a tape is half way along an edge: what finalizers record meanwhile goes to a tape of its own."""
    if phase == "stop":
        if _aside:
            state, tape, tape.open = _aside.pop()
            state.tape = tape
    elif hasattr(thread, "state"):  # a thread may be about to begin
        if info["generation"] == 2:
            query(circles=True, frame=sys._getframe().f_back)
        state = thread.state
        tape, apart = state.tape, Tape(state)
        _aside.append((state, tape, tape.open))
        tape.open, state.tape = False, apart


def query(circles=False, frame=None):
    """Sweep this thread's tape, for somebody who asks what is alive; circles: also what only Python's collector would find on a closed tape.

    frame: where a collection or a death came, which may be in the middle of anything: the tape does not end under a call of ours.
    """
    tape = thread.state.tape
    if tape.contexts or tape.extra or _noted_leaves[0]:
        sweep(tape)
    if Leaf.watched[0] and tape.open and len(tape.values) == tape.prefix.size and thread.state.extra.get("pass") is None:
        _sweep_leaves(tape)
    if circles:
        _sweep_cycles(tape)
    if not is_ours(frame):
        _run_what_leads_back()


def _sweep_cycles(tape):
    """Let go contexts and hooks through which alone a result that leads to them is held: ctx.meta = {"out": the output}."""
    if not (tape.contexts or tape.extra) or not tape.open or len(tape.values) != tape.prefix.size or thread.state.extra.get("pass") is not None:
        return
    places, ids = held_by(_attachments(tape))
    found = _attached(tape, None) if ids else None
    if found is None:
        return
    mask = bytearray(found[0])
    _mark(tape, mask, places, 0)
    while dead := _unreachable(tape, bytes(mask), _held_nodes(tape, ids), found[2]):
        there = set(found[2]).difference(dead)
        back, places = led_to([x for first in there for x in (tape.contexts.get(first), tape.extra.get(first)) if x is not None], ids)
        if not back:  # else what can be reached holds them: a graph that a ctx keeps
            break
        ids = ids.difference(back)
        _mark(tape, mask, places, 1)
    gone = [(tape.contexts.pop(first, None), tape.extra.pop(first, None)) for first in dead]
    changes[0] += bool(gone)
    gone.clear()


def _mark(tape, mask, places, held):
    for where, slot in places:
        if where is tape and slot < len(mask):
            mask[slot] = held


def _attachments(tape):
    return [*tape.contexts.values(), *(x for key, x in tape.extra.items() if type(key) is not tuple)]


def _sweep_leaves(tape):
    """Let go the hooks of leaves whose tensors are gone, where no graph that somebody holds leads there; what more than this tape holds is left alone."""
    places: dict = {}
    for slot, v in [*((-i - 1, v) for i, v in enumerate(tape.inputs)), *enumerate(tape.values)]:
        leaf = v.leaf
        if leaf is not None and leaf.observed() and leaf.tensor() is None:
            places.setdefault(id(leaf), [leaf]).append(slot)
    if not places:
        return
    del leaf, v  # held by nobody here, to be counted
    mask = execute.live_mask(tape.values)
    alive = _reached(tape, mask, _held_nodes(tape))
    inputs = [getrefcount(v) > _IDLE + 2 for v in tape.inputs]  # the name here, and the table of what was entered
    for leaf, *slots in [places.pop(key) for key in list(places)]:
        own = len(slots) + sum(x is leaf for x in tape.leaves.values())
        if getrefcount(leaf) == own + 2 + (_IDLE - 1) and not any(s in alive or (mask[s] if s >= 0 else inputs[-s - 1]) for s in slots):
            changes[0] += 1
            leaf.hooks = leaf.post = leaf.prehooks = leaf.posthooks = None


execute.ending[0] = _ending
nodes.on_notes = watch_node
gc.callbacks.append(_collecting)
