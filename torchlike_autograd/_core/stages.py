"""The parts of a plan (layer 3): visits of steps, the stages that they are cut into, and what is looked at between these."""

from __future__ import annotations

from itertools import chain

from .._ops.no_gradient import unimplemented
from .._ops.registry import UNIMPLEMENTED
from .record import INPLACE


def refuse_write(step):
    """torch's error for a gradient of a write in place that has none: it says the name of the twin."""
    if step.mode == INPLACE and step.form.op.derivative == UNIMPLEMENTED:
        raise unimplemented(step.form.op, True)


class Visit:
    """One step to run backward: gradients of outputs `given` in, of flat inputs `wanted` out; more: another visit of it follows, for other inputs."""

    __slots__ = ("given", "more", "pull", "step", "wanted")

    def __init__(self, step, wanted, given):
        self.step, self.wanted, self.given, self.more = step, wanted, given, False
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
        self.avals = tuple(slot_aval(s, table, input_avals) for s in outs)
        self.spread = any("@" in a.device for a in self.avals)

    def __repr__(self):
        return "; ".join(map(repr, [v.step for v in self.visits]))

    def run(self, lookup, number, cots, call, add):
        """Gradients of `outs` from those of `cots`, in order."""
        grads, outs = dict(zip(self.cots, cots)), self.outs
        for v in self.visits:
            pull, ins, first = v.pull, v.step.ins, v.step.first
            gs = [grads[first + i] if v.more or first + i in outs else grads.pop(first + i) for i in v.given]
            reads = [number(ins[i]) if type(ins[i]) is tuple else lookup(ins[i]) for i in pull.keep] if pull.keep else ()
            for i, g in zip(v.wanted, call(pull, gs, reads)):
                old = grads.get(ins[i])
                grads[ins[i]] = g if old is None else add(old, g)
        return [grads[s] for s in self.outs]


class Saved:
    """What nodes keep.  saving: first slots of those that keep something; kept, results: slots that they keep of their inputs and of their own outputs, whose
    versions are checked; shown: (kept slot, the other slot whose memory it shows); visited: first slots of the nodes.
    """

    __slots__ = ("kept", "results", "saving", "shown", "visited")

    def __init__(self, saving, kept, results, visited, table):
        self.saving, self.kept, self.results, self.visited = frozenset(saving), frozenset(kept), frozenset(results), tuple(visited)
        self.shown = tuple([(s, memory) for s in self.kept if (memory := memory_of(s, table)) != s])

    def checked(self):
        """The slots whose versions say whether all is as it was."""
        return tuple(self.kept | self.results | {s for _, s in self.shown})


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


def slot_aval(slot, table, input_avals):
    return input_avals[-slot - 1] if slot < 0 else table[slot][2]


class Stages:
    """Cuts the visits into stages, simulating which gradients are alive.

    Each stage has what it keeps checked when its turn comes, as torch does it at each node: somebody who looks before it may see that a pass fails, or write to
    what was saved ("check" before it, for visible nodes in their own items).  first: what is to check before anything runs, or None.
    """

    def __init__(self, roots, table, avals, targets):
        self.items, self.current, self.touched, self.ready = [], [], set(), []
        self.saves, self.first = [], None
        self.alive = dict.fromkeys(roots)
        self.start = tuple(self.alive)
        self.table, self.avals = table, avals
        self.wanted_targets = targets
        self.targets = ()

    def visit(self, v, saves):
        self.current.append(v)
        self.saves.append(saves)
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
            self.event(("leaf", (slot,)))
        else:
            self.ready.append(slot)

    def watched(self, item, v, saves):
        self._look((*item, self._saved(saves)))
        self.visit(v, saves)

    def _saved(self, *saves):
        """What nodes keep, each (first slot, slots of inputs, slots of results) or None; None where they keep nothing."""
        if not any(saves):
            return None
        firsts, kept, results = zip(*filter(None, saves))
        return Saved(firsts, chain.from_iterable(kept), chain.from_iterable(results), firsts, self.table)

    def _look(self, item):
        self.close()
        if self.ready:
            self.items.append(("ready", tuple(self.ready)))
            self.ready = []
        self.items.append(item)

    def event(self, item, saves=None):
        self._look((*item, self._saved(saves)) if item[0] == "node" else item)
        if item[0] == "node":
            self._consume(item[1], item[3], item[2] if item[3] else ())
            self.touched.clear()
        self.start = tuple(self.alive)

    def close(self):
        """End a stage: it takes what its visits consume or add to, and gives what is alive after it and was touched."""
        touched = self.touched
        saved = self._saved(*self.saves)
        if not self.items:
            self.first = saved
        elif saved is not None:
            self.items.append(("check", saved, saved.checked(), saved.visited))
        if self.current:
            outs = tuple([s for s in self.alive if s in touched])
            self.items.append(Stage(self.current, tuple([s for s in self.start if s in touched]), outs, self.table, self.avals))
        self.current, self.saves = [], []
        touched.clear()
        self.start = tuple(self.alive)

    def finish(self):
        self.close()
        self.targets = tuple(self.alive)
        return self.items


__all__ = ["Saved", "Stage", "Stages", "Visit", "memory_of", "refuse_write", "slot_aval"]
