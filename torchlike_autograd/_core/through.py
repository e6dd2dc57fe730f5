"""Gradients with a graph of their own, where torch's formula reads a result (layer 6).

The gradient of `y = exp(x)` is `g * y` in torch: in the graph that `create_graph` makes it depends on `y`, and on `x` only behind it.  A plain pullback reads
inputs alone (`g * exp(x)`), the same number with the same derivative by `x`; but a derivative by `y` itself, and hooks on `y`, see a difference.  So under
`create_graph` a step that saves a result is pulled back by a `SavedPullback`, which takes it as an argument, from its own place in the graph.

And the gradients of `x * y` are two nodes there: who goes backward through one of them frees nothing that the other keeps, and is not heard by its hooks.
"""

from __future__ import annotations

from .._ops.gradient_nodes import APART
from .._ops.lift import inside
from .._ops.pull_saved import SavedPullback, saved_places
from .._ops.spec import Form, Pullback
from .record import Step
from .stages import Stage, Visit


class ResultPullback(SavedPullback):
    """A SavedPullback whose `keep` names results too, after the step's inputs."""

    __slots__ = ()

    def __init__(self, form, wanted, given, places):
        super().__init__(form, wanted, given, frozenset(i for side, i in places if side == "in"), tuple(k for side, k in places if side == "out"))
        self.keep = (*self.keep, *(len(form.avals) + k for k in self.own))


def pull_of(step, wanted, given, active=None):
    """The pullback of a step that reads its results, in a pass inside of the levels `active`; None where the plain one is torch's."""
    form = step.form if active is None else inside(step.form, active)
    if step.kind != "op" or type(form) is not Form or step.packed or 0 not in form.kept(wanted)[1]:  # statistics beside the result are nobody's
        return None
    key = ("through", wanted, given)
    if key not in form._pullbacks:
        form._pullbacks[key] = _made(form, wanted, given)
    return form._pullbacks[key]


def _made(form, wanted, given):
    form.pullback(wanted, given)  # raises what it refuses
    pull = ResultPullback(form, wanted, given, tuple(q for q in saved_places(form, wanted) if q[0] == "in" or q[1] in form.diff_out))
    return pull if any(i >= len(pull.avals) - len(pull.own) for i in pull.diff_in) else None


def with_results(step):
    """The step with its results after its inputs, where a ResultPullback finds them."""
    return Step(step.kind, step.form, (*step.ins, *range(step.first, step.first + len(step.out_avals))), step.mode, step.out_avals, step.needs, step.first)


def apart(form, wanted):
    """Whether the gradients of the inputs `wanted` are nodes of their own in torch, with nothing in common."""
    return len(wanted) > 1 and form.op.node in APART


def one_by_one(form):
    """[(pullback for one of the gradients, where its inputs are among those of `form`)]; None where they are one node in torch too, or a single one."""
    if not apart(form, form.wanted) or type(form) is not Pullback:
        return None
    out = form._pullbacks.get("one by one")
    if out is None:
        at = {i: k for k, i in enumerate(form.keep)}
        parts = [form.inner.pullback((i,), form.given) for i in form.wanted]
        out = form._pullbacks["one by one"] = [(part, [at[i] for i in part.keep]) for part in parts]
    return out


def stage_of(stage, tape):
    """The stage with each of its pullbacks as `pull_of` has it, one by one where they are `apart`; itself where none is another."""
    memo, key = tape.prefix.memo, ("through", stage)
    out = memo.get(key)
    if out is None:
        visits = [w for v in stage.visits for w in _visits(v)]
        out = memo[key] = stage if visits == stage.visits else _replaced(stage, visits)
    return out


def _visits(v):
    """What stands for a visit in `stage_of`."""
    pull = pull_of(v.step, v.wanted, v.given)
    if pull is None and one_by_one(v.pull) is None:
        return [v]
    several = [(i,) for i in v.wanted] if apart(v.step.form, v.wanted) else [v.wanted]
    pulls = [pull if len(several) == 1 else pull_of(v.step, wanted, v.given) for wanted in several]
    out = [_visit(v.step, wanted, v.given, v.step.form.pullback(wanted, v.given)) if p is None else _visit(with_results(v.step), wanted, v.given, p)
           for p, wanted in zip(pulls, several)]
    for w in out[:-1]:
        w.more = True
    return out


def _replaced(stage, visits):
    out = object.__new__(Stage)
    out.visits, out.cots, out.outs, out.avals, out.spread, out.looks = visits, stage.cots, stage.outs, stage.avals, stage.spread, stage.looks
    out.reads = tuple(v.step.ins[i] for v in visits if type(v.pull) is ResultPullback for i in v.pull.keep[len(v.pull.keep) - len(v.pull.own):])
    out.numbers = stage.numbers
    return out


def _visit(step, wanted, given, pull):
    v = object.__new__(Visit)
    v.step, v.wanted, v.given, v.pull, v.more = step, wanted, given, pull, False
    return v


HELD: dict = {}  # (tape, slot) -> a result that is read while its tape may end


class results:
    """A context in which a tape has the results in `slots`: those that it did not keep are computed again, under their own place in the graph; those of an
    open tape are held, as it may be full before all of them are read."""

    def __init__(self, tape, slots):
        self.tape, self.made, self.held = tape, [], ()
        slots = dict.fromkeys(slots)
        if tape.open:
            self.held = [(tape, s) for s in slots if (tape, s) not in HELD]
        else:
            self.made = [s for s in slots if s not in tape.kept]

    def __enter__(self):
        """True, or False where something is missing."""
        HELD.update(zip(self.held, [self.tape.values[s] for _, s in self.held]))
        if self.made:
            from .saved import result_again  # cycle: it reads values as the engine does

        for i, s in enumerate(self.made):
            v = result_again(self.tape, s)
            if v is None:
                self.made = self.made[:i]
                self.__exit__()
                return False
            self.tape.kept[s] = v
        return True

    def __exit__(self, *exc):
        for place in self.held:
            HELD.pop(place, None)
        for s in self.made:
            self.tape.kept.pop(s, None)


__all__ = ["HELD", "ResultPullback", "apart", "one_by_one", "pull_of", "results", "stage_of", "with_results"]
