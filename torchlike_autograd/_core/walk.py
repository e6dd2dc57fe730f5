"""The way of a pass over one tape (layer 6): the items of its plan in turn."""

from __future__ import annotations

from .anomaly import failing
from .asked import cuts_of, targets_on
from .backward import captured_here, check_saved, run_apart, run_node, run_stage, run_watched
from .hooks import modes_of, put_back
from .leaving import leaf_at, places_of, settle, settle_arrived, settled_plainly
from .nodes import Leaf, changes, step_of
from .plan import lost_besides, plan_for
from .record import LEAF, Step, slot_table, thread
from .speed import native
from .stages import Stage
from .versions import check

_NOTHING = frozenset()


class Walk:
    """Runs the items of a plan; what is visible may change what is left of it.

    After a visible node the rest is planned anew where a gradient did not come, or where somebody registered or removed a hook.  Leaves at which nothing more
    can arrive are accumulated before whatever is visible, as torch's engine runs their nodes first.

    grads: {slot: gradient Value}, at the end those that leave the tape; lost: slots where undefined gradients are; done: those where a leaf got what comes to
    it; at: the number of the item that is next; last: the first slot of the last visible step that ran; passed: that of the last step of any kind; places,
    ends: see leaving.py; saving: the nodes whose saved values the pass lets go of.
    """

    __slots__ = ("at", "cuts", "done", "ends", "grads", "items", "last", "lost", "modes", "p", "passed", "places", "plan", "saving", "seen", "state",
                 "tape", "targets")

    def __init__(self, p, tape, grads):
        self.p, self.tape, self.grads, self.state = p, tape, grads, thread.state
        self.targets, self.cuts, self.seen = targets_on(p, tape), cuts_of(tape, p), changes[0]
        self.lost, self.done, self.last = set(p.undefined.pop(tape, ())), set(), float("inf")
        self.passed = self.last
        self.modes, self.places, self.ends = modes_of(self.state), None, ()
        roots, lost = tuple(sorted(grads)), lost_besides(self.lost, grads)
        plan = plan_for(tape.prefix, roots, self.targets, self.cuts, lost)
        stop = self._stop(plan, plan.first)
        self.plan = plan_for(tape.prefix, roots, self.targets, self.cuts | stop, lost) if stop else plan
        self.items, self.at, self.saving = self.plan.items, 0, self.plan.saving

    def run(self):
        """Returns the ends that only undefined gradients reached."""
        p, tape = self.p, self.tape
        if p.arrived and any(type(item) is tuple for item in self.items):
            self.places = places_of(p, tape, self.plan)
            settle_arrived(p, self.places)
        self.ends = settled_plainly(p, tape, self.plan, self.places)
        straight = native is not None and _goes_straight(p, tape)
        while True:
            looked = straight and tape.open and self._in_c()
            if self.at == len(self.items):
                return [s for s in self.plan.lost if s not in self.done]
            item = self.items[self.at]
            if type(item) is Stage:
                self._stage(item)
                self.at += 1
                continue
            self.at += 1
            if item[0] == "ready":
                self._settle(item[1])
            elif item[0] == "check":
                self._check(item)
            elif item[0] == "leaf":
                self._settle(item[1])
                self._after(item)
            elif item[0] == "gradient":
                self._after(item, run_watched(p, tape, item, self.grads, self.seen, looked))
            else:
                anomaly = self.state.anomaly
                self._after(item, run_node(p, tape, item, self.grads) if anomaly is None else anomaly.run(run_node, p, tape, item, self.grads))

    def not_run(self):
        """The nodes that had not run when one failed: those of the items that are left, that one, and torch's one around it for a write to a view."""
        left = set(self._left())
        wraps = (s for s in self.tape.prefix.steps()[0] if s.kind == "op" and getattr(s.form.spec, "arity", 0) == 2 and s.ins[1] >= 0)
        return left.union(s.first for s in wraps if step_of(self.tape, s.ins[1]).first in left)

    def _left(self):
        for item in self.items[self.at:]:
            if type(item) is Stage:
                yield from (v.step.first for v in item.visits)
            elif type(item[1]) is Step:
                yield item[1].first
        now = self.p.now
        if type(now) is tuple and now and now[0] is self.tape:
            yield now[1]

    def _in_c(self):
        """Run what C can; whether the hooks of the next item have run, and changed what is watched."""
        before = self.at
        try:
            went = native.walk(self.p, self.tape, self.items, before, self.grads, changes, self.ends)
        except BaseException:  # of a hook: what comes after it are the first stage to which all has come, and the rest
            stages = (k for k in range(before, len(self.items)) if type(self.items[k]) is Stage and all(s in self.grads for s in self.items[k].cots))
            self.at = next(stages, len(self.items))
            raise
        put_back(self.state, self.modes)
        self.at = ~went if went < 0 else went
        for item in self.items[before:self.at]:
            self._ran(item)
            if type(item) is tuple and item[0] == "ready":
                self.done.update(item[1])
        return went < 0

    def _stage(self, stage):
        grads = self.grads
        outs = run_stage(self.p, self.tape, stage, [grads[s] for s in stage.cots])
        for s in stage.cots:
            if not captured_here(self.p, self.tape, s):
                grads.pop(s, None)
        grads.update(zip(stage.outs, outs))
        self._ran(stage)

    def _settle(self, slots):
        """Nothing more comes to these ends of the tape."""
        if self.places is None:
            self.places = places_of(self.p, self.tape, self.plan, self.done)
            self.ends = settled_plainly(self.p, self.tape, self.plan, self.places)
        for slot in slots:
            leaf = leaf_at(self.tape, slot)
            if type(leaf) is Leaf and slot not in self.done:
                settle(self.p, leaf, slot, self.grads, self.places)
                self.done.add(slot)

    def _check(self, item):
        """What the next stage reads; where a node of it fails the pass goes on as far as that."""
        stop = self._stop(item[1], item[1])
        if stop:
            before = self.items[self.at - 2] if self.at > 1 else None
            if type(before) is tuple and before[0] == "gradient":  # whose hooks have run
                run_apart(self.p, self.tape, before, self.grads)
            self._after(item, stop=stop)

    def _stop(self, saved, now):
        """What is to be cut besides so that the pass comes as far as the node that may not run any more, which then raises; nothing where all may or it is cut
        there.

        now: the part of `saved` that is read before anybody can look.
        """
        tape = self.tape
        try:
            check(tape, saved)
        except RuntimeError:
            step = failing(tape, saved.visited)
            if step is not None and ("node", step.first) not in self.cuts:
                return frozenset((("node", step.first), *range(step.first, step.first + len(step.out_avals))))
            check_saved(tape, now)
        return _NOTHING

    def _after(self, item, complete=True, stop=_NOTHING):
        """Something visible has run; complete: whether all gradients came that it was to give; slots of these where another node ran inside of it."""
        self.p.now = None
        put_back(self.state, self.modes)
        if type(complete) is frozenset:
            self._ran(item)
            self.lost.update(s for s in complete if s not in self.grads)
            complete = False
        elif type(item[1]) is Step:
            self._ran(item)
            if item[0] == "node" or not complete:
                self.lost.update(s for i in item[2] if (s := item[1].ins[i]) not in self.grads)
        if complete and changes[0] == self.seen and not stop:
            return
        cuts, self.seen = cuts_of(self.tape, self.p) | stop, changes[0]
        if not complete or cuts != self.cuts:
            self.cuts = cuts
            self._plan_anew()

    def _plan_anew(self):
        p, tape, grads = self.p, self.tape, self.grads
        left = tuple(sorted(s for s in grads if not ((s >= self.passed and captured_here(p, tape, s)) or (s >= self.last and _ran_silently(tape, s)))))
        plan = self.plan = plan_for(tape.prefix, left, self.targets, self.cuts, lost_besides(self.lost, grads, self.last))
        self.items = plan.items if plan.first is None else [("check", plan.first, plan.first.checked(), plan.first.visited), *plan.items]
        self.at, self.places, self.ends = 0, None, settled_plainly(p, tape, plan, None)

    def _ran(self, item):
        """An item has run: gradients came to its slots, undefined ones or not."""
        if type(item) is Stage:
            self.passed = item.visits[-1].step.first
            if self.lost:
                self.lost.difference_update(v.step.first + i for v in item.visits for i in v.given)
        elif type(item) is tuple and type(item[1]) is Step:
            self.lost.difference_update(item[1].first + i for i in item[3])
            self.last = self.passed = item[1].first


def _goes_straight(p, tape):
    """Whether a pass accumulates without a graph, levels, inference or anomaly mode, over this thread's open tape, from gradients that need none."""
    return (p.targets is None and not (p.create_graph or p.inference) and p.levels is None and tape.open and tape.owner is thread.state
            and not any(g.needs for _, g in p.roots))


def _ran_silently(tape, slot):
    """Whether the gradient of a slot went to a node that sends nothing on."""
    step = slot_table(tape.prefix)[slot][0]
    return step.kind == "op" and step.mode != LEAF and step.form.silent


__all__ = ["Walk"]
