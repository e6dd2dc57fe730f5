"""The backward pass (layer 6).

Gradients travel from tape to tape, the youngest first.  On each tape a `Plan` says what to run: stages that nobody can look into are recorded as one
call each; between them hooks and custom Functions run in Python.  With `create_graph` the same stages are recorded call by call, so that the gradients
have a graph of their own.
"""

from __future__ import annotations

import itertools
from functools import partial

from .._ops.registry import OPS
from .._ops.spec import spec_of
from . import belonging, crossing, levels, placed, record
from .arrivals import AS_IT_COMES
from .asked import age, mark_useful, next_tape
from .backward import free
from .hooks import modes_of, put_back
from .leaving import arrive, finish_leaf, leaf_at, leave
from .nodes import Leaf, LeafOfPairs, Nowhere, numbered
from .passes import more_room, put_back_room
from .record import GRAD, INFERENCE, LOCK, NOGRAD, record_op, thread
from .sparse_gradients import SparseValue
from .speed import native
from .walk import Walk


class Pass:
    """One call of backward or grad.

    targets: None (accumulate into every leaf) or a set of coordinates, a Leaf or (tape, slot); captured: what arrived there.
    """

    __slots__ = (
        "accumulate", "arrived", "arriving", "begun", "callbacks", "captured", "create_graph", "depth", "ended", "frontier", "held", "inference", "keep_graph",
        "late", "levels", "mark", "moved", "now", "number", "partial", "roots", "sparse", "targets", "undefined", "useful")

    def __init__(self, keep_graph, create_graph, targets, accumulate, inference=False):
        self.keep_graph, self.create_graph = keep_graph, create_graph and not inference
        self.inference = inference  # whether gradients are inference tensors, as what is computed in that mode
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
        self.begun = ()  # the roots that were asked for, where gradients went through views before the pass (`_sharing.followed`)
        self.number = -1
        self.partial = targets is not None  # whether it or one that it runs inside leaves leaves out
        self.depth = 0  # how many passes it runs inside
        self.now = None  # the Leaf or (tape, slot) whose node is run, where that is done in Python; () after all
        self.levels = None  # the levels that the pass runs inside, as types hold them
        self.ended = None  # {an ended dual level, as types hold it, of which it reads primals alone: where a running one began that is called so, or None}
        self.late = []  # (key of a dual level, place of a dual number of it, gradient of its tangent): where the pass comes to a tangent that was unpacked
        self.held = None  # where it comes to such: [(function, arguments)] that let go of what nodes keep, when these have been pulled back
        self.moved = None  # of a pass over these: what makes a gradient one of the pass that it is a part of
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
        if type(where) in (Leaf, LeafOfPairs):
            if where.observed():
                self.arrived.setdefault(where, None)
        elif type(where) is tuple:
            self.frontier.setdefault(where[0], {})
            self.undefined.setdefault(where[0], set()).add(where[1])

    def add(self, a, b):
        return self.made(record_op(_ADD, (a, b), GRAD if self.create_graph else NOGRAD))[0]

    def let_go(self, function, *args):
        """Call a function that lets go of what nodes keep, unless the graph is kept; after all where the pass comes to them again."""
        if self.held is not None:
            self.held.append((function, args))
        elif not self.keep_graph:
            function(*args)

    def made(self, values):
        """Gradients that the pass has computed."""
        if self.inference:
            for v in values:
                if v is not None:
                    v.needs = v.needs or INFERENCE
        return values

    def leaf(self, leaf, g):
        """A gradient contribution of a leaf (summed until the end of the pass)."""
        if type(g) is SparseValue:
            self.sparse.setdefault(leaf, []).append(g)
        elif type(leaf) is not Nowhere:
            g = levels.outside(g) if type(leaf) is LeafOfPairs else g
            old = self.arrived.get(leaf)
            self.arrived[leaf] = g if old is None else self.add(old, g)


_numbers = itertools.count()
_ADD = spec_of(OPS["add.Tensor"], (), ("T", "T", "N"))


def run_backward(roots, keep_graph, create_graph, targets=None, accumulate=True, arriving=None, mark=None, begun=None):
    """Run a pass from `roots` [(coordinate, gradient Value)]; returns {coordinate: gradient Value} of the targets."""
    state = thread.state
    again = crossing.clash(roots, targets) if state.extra.get("levels") and levels.NOTED["ended"] else None
    if again is not None and again[1] is None:
        if accumulate:
            raise NotImplementedError("a backward pass inside of a transformation through the graph of another one that has ended; use torch.autograd.grad")
        return crossing.apart(again[0], roots, lambda roots: run_backward(roots, keep_graph, create_graph, targets, accumulate, arriving, mark, begun))
    p = Pass(keep_graph, create_graph, targets, accumulate, state.inference and mark is None and not state.extra.get("levels"))
    p.arriving = arriving
    p.roots, p.begun, p.number = roots, begun or roots, next(_numbers)
    create_graph = p.create_graph
    outer, state.grad = modes_of(state), INFERENCE if state.inference else create_graph
    outer_pass, state.extra["pass"] = state.extra.get("pass"), p
    placed.cut(not create_graph)
    room = None if outer_pass is None else more_room(p, outer_pass)
    try:
        if state.extra.get("levels"):
            p.levels, mark = crossing.of_pass(state.extra["levels"], roots), mark or belonging.mark()
        if again is not None:
            p.ended = again[1]
        elif levels.NOTED["left"]:
            p.ended = crossing.left_behind(roots)
            if p.ended:
                p.levels = (p.levels or frozenset()) | p.ended.keys()
                roots = [(where, crossing.without(g, p.ended)) for where, g in roots]
        if p.levels and not create_graph and crossing.unpacks_tangents(p.levels, roots):
            p.held = []
        p.mark = mark
        for where, g in roots:
            p.give(where, g)
        _run_tapes(p)
        if p.held is not None:
            _run_late(p)
        for leaf in list(p.sparse):
            finish_leaf(p, leaf, p.arrived.pop(leaf, None))
            put_back(state, outer)
        if _plainly(p):
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
    return crossing.primals_of(p.captured, p.levels) if state.extra.get("levels") else p.captured


def _run_tapes(p):
    mark_useful(p)
    while p.frontier:
        tape = next_tape(p) if numbered[0] else max(p.frontier, key=age)
        run_tape(p, tape, p.frontier.pop(tape))


def _run_late(p):
    """Go on with the gradients of tangents that were unpacked in a dual level of the pass: from there on the graph is that of both parts of its numbers, as
    for a pass from outside, and the level of the gradients another one meanwhile."""
    while p.late:
        key = p.late[0][0]
        found, p.late = [x for x in p.late if x[0] == key], [x for x in p.late if x[0] != key]
        lv = next(lv for lv in levels.running() if lv.key == key)
        places = [place for _, place, _ in found if type(place) is tuple]
        crossing.refuse_hooks(places)
        with crossing.standing_in(lv, places) as other:
            sub = Pass(True, p.create_graph, p.targets, p.accumulate, p.inference)
            sub.levels, sub.ended, sub.mark, sub.held = (p.levels - {key}) | {other.key}, p.ended, p.mark, p.held
            sub.moved = partial(crossing.handed_back, key, other, lv)
            sub.number, sub.callbacks, sub.depth, sub.partial = next(_numbers), p.callbacks, p.depth, p.partial
            thread.state.extra["pass"] = sub  # what is computed anew for a pass, as checkpoints are, is for this one too
            for _, place, g in found:
                sub.give(place, crossing.beside_primal(crossing.moved_over(g, lv, other), key))
            _run_tapes(sub)
            thread.state.extra["pass"] = p
        p.late += sub.late
        for leaf, g in sub.arrived.items():
            if g is None:
                p.lose(leaf)
            else:
                p.leaf(leaf, sub.moved(g))
        for where, g in sub.captured.items():
            g, old = sub.moved(g), p.captured.get(where)
            p.captured[where] = g if old is None else p.add(old, g)
    if not p.keep_graph:
        for function, args in p.held:
            function(*args)


def _plainly(p):
    """Whether leaves that nobody watches can be accumulated in C."""
    return (native is not None and p.targets is None and not (p.create_graph or p.inference or p.levels) and p.arriving is None and not AS_IT_COMES
            and not any(g.needs for _, g in p.roots))


def run_tape(p, tape, grads):
    """Send gradients {slot: Value} through one tape."""
    if tape.open and tape is not thread.state.tape:  # of another thread, or interrupted when it ran
        record.flush(tape)
    walk = Walk(p, tape, grads)
    try:
        ends = walk.run()
    except BaseException:
        if not p.keep_graph:
            with LOCK:
                free(tape, walk.saving.difference(walk.not_run()))
        raise
    with LOCK:  # another thread may want to run the tape for one of its values
        _pass_on(p, tape, walk.saving, grads)
    for slot in ends:
        p.lose(leaf_at(tape, slot))


def _pass_on(p, tape, saving, grads):
    """Free what a tape kept, and hand on the gradients that leave it."""
    p.let_go(free, tape, saving)  # not before: a hook that looks runs the tape, and the rest of the pass reads what it kept
    if p.targets is None:
        if native is None or not native.leave(tape, grads, p.arrived):
            leave(p, tape, grads)
    else:
        for slot, g in grads.items():
            arrive(p, tape, slot, g)


__all__ = ["Pass", "free", "run_backward"]
