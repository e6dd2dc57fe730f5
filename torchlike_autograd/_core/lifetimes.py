"""What users attached to nodes that nobody can reach any more is let go (layer 4): contexts of custom Functions, hooks, metadata, packed values.

Structure stays on the open tape until it is flushed; what is attached to it may be large, and programs watch it die.  A tensor whose node has something
attached is watched; when it dies, the tape is swept: a node is alive while somebody holds a Value that was computed through it, the node itself, or its
context.  It is swept too before a flush, at a full collection of cycles, and for those who ask.
"""

from __future__ import annotations

import gc
import weakref
from sys import getrefcount

from . import execute, nodes
from .nodes import changes
from .record import thread
from .speed import native

_watched: dict = {}  # id of a tensor -> its weak reference
_PER_DEATH, _MOST = 64, 4096  # values looked at for each death, on average; what can be saved up


class _Watch(weakref.ref):
    """key: id of the tensor; value: weak reference to the Value that it shows."""

    __slots__ = ("key", "value")


def watch(t):
    """Sweep when this tensor is gone."""
    key, v = id(t), t._v
    found = _watched.get(key)
    if found is None:
        found = _watched[key] = _Watch(t, _died)
        found.key = key
    elif found.value() is v:
        return
    found.value = weakref.ref(v)


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
    query()


def unwatch(t):
    """The tensor shows something else from now on."""
    _watched.pop(id(t), None)


def _died(found):
    """The tensor still holds its Value now; it is known which one, unless it was written since."""
    _watched.pop(found.key, None)
    state = thread.state
    tape = state.tape
    if not tape.open or not (tape.contexts or tape.extra or _noted_leaves[0]):
        return
    credit = min(state.extra.get("sweep credit", 0) + _PER_DEATH, _MOST)
    if len(tape.values) <= credit:
        credit -= len(tape.values)
        sweep(tape, _slot_on(tape, found.value()))
    state.extra["sweep credit"] = credit


def _slot_on(tape, v):
    return None if v is None or v.tape is not tape or v.stale() else v.slot


def sweep(tape, dying=None):
    """Let go what is attached to nodes of an open tape that nobody can reach; not while a pass runs or a call is being recorded.

    dying: the slot of a Value that has one holder who is about to be gone.
    """
    while tape.open and len(tape.values) == tape.prefix.size and tape.owner.extra.get("pass") is None:
        dead = _dead(tape, dying)
        if not dead:
            if _noted_leaves[0]:
                _forget_leaves(tape, dying)
            return
        gone = [(tape.contexts.pop(first, None), tape.extra.pop(first, None)) for first in dead]
        changes[0] += 1
        gone.clear()  # here their last references go, with whatever that calls


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


def _attached(tape, dying):
    """(one byte a value: whether somebody holds it, nodes that are held, nodes with something attached); None where nothing is attached."""
    found = _held(tape, dying)
    return found if found[2] else None


def _held(tape, dying):
    mask, contexts = bytearray(execute.live_mask(tape.values)), tape.contexts
    if dying is not None:
        mask[dying] = max(map(getrefcount, tape.values[dying : dying + 1])) > _IDLE + 2  # this slice and the tensor
    held = [first for first in contexts if getrefcount(contexts[first]) > _IDLE]
    noted = [*contexts]
    for key, found in tape.extra.items():
        if type(key) is not tuple:
            noted.append(key)
        elif found() is not None:
            held.append(key[1])
    return bytes(mask), tuple(held), tuple(noted)


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
    steps, alive = tape.prefix.steps()[0], _reached(tape, mask, held)
    return tuple([s.first for s in steps if s.out_avals and s.first in noted and not any(s.first + i in alive for i in range(len(s.out_avals)))])


_IDLE = max(map(getrefcount, [object()]))  # of what only a container holds


def _collecting(phase, info):
    if phase == "start" and info["generation"] == 2:
        query()


def query():
    """Sweep this thread's tape, for somebody who asks what is alive."""
    tape = thread.state.tape
    if tape.contexts or tape.extra or _noted_leaves[0]:
        sweep(tape)


execute.ending[0] = sweep
nodes.on_notes = watch_node
gc.callbacks.append(_collecting)
