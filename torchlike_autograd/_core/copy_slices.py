"""Writes to views at whose node somebody looks after it has run (layer 6).

A write through a view is two steps here, the operator that computes what is written and the one that puts it into the base.  torch's node `CopySlices` runs
that of the operator inside of itself, and the hooks after it are shown what both give: the whole gradient of the base, and those of the operator's other
arguments.  Where there are such hooks the second node is run in the place of its turn, with the first one:

    g ---- put's pullback ---> (part of the base outside of the view, gradient of what was written)
    gradient of what was written ---- operator's pullback ---> (gradient of the view, *others)
    hooks: (put(part, gradient of the view), *others)
"""

from __future__ import annotations

from . import nodes
from .asked import targets_on
from .hooks import posthooks
from .leaving import leaf_at
from .plan import visit_of
from .record import GRAD, NOGRAD, record_op


class Inside:
    """The node inside of a write to a view: its tape and step, what the pass wants of it, what it keeps (a Saved or None), its Function's ctx or None."""

    __slots__ = ("ctx", "saved", "step", "tape", "wanted")

    def __init__(self, p, tape, step):
        self.tape, self.step = tape, step
        self.wanted, self.saved = visit_of(tape.prefix, step, targets_on(p, tape))
        self.ctx = tape.contexts[step.first] if step.kind == "function" else None

    def edges(self):
        """The flat inputs of its edges; the view's first."""
        return list(nodes.edge_indices(self.step) if self.ctx is None else self.ctx._tl_edge_places())


def inside(p, tape, step):
    """The Inside of a step that puts what was written to a view into its base; None for another step, or where what was written has no node."""
    if step.kind != "op" or getattr(step.form.spec, "arity", 0) != 2 or type(slot := step.ins[1]) is tuple:
        return None
    where = (tape, slot) if slot >= 0 else leaf_at(tape, slot)
    if type(where) is not tuple:
        return None
    tape, writer = where[0], nodes.step_of(*where)
    if writer.kind == "function":
        return Inside(p, tape, writer) if len(writer.out_avals) == 1 and tape.contexts[writer.first]._tl_input_is_tensor[0] else None
    return Inside(p, tape, writer) if writer.kind == "op" and writer.form.op.name not in nodes.HIDDEN and any(writer.needs) else None


def run(p, tape, item, inner, given, outs, run_inside, numbers):
    """[(output number, tape, slot, gradient)] of what the node of a write sends on.

    given: what the pullback of the step that puts gives to what the pass wants of the base and of what was written; outs: the gradients that the hooks are
    shown, None where none are called; run_inside(g): {flat input of the operator: gradient}; numbers: of the view.
    """
    step, own = item[1], dict(zip(item[2], given))
    base, written = own.get(0), own.get(1)
    found = {} if written is None else run_inside(written)
    view, *edges = inner.edges()
    of_view = found.pop(view, None)
    if base is not None and of_view is not None:
        base = record_op(step.form.spec, [base, of_view, *numbers], GRAD if p.create_graph else NOGRAD)[0]
    others = [i for i in inner.wanted if i != view]
    values = [base, *map(found.get, others)]
    if outs is not None:
        values = posthooks(step, nodes.observed(tape, step.first), [-1, *others], values, outs, [-1, *edges])
    if 0 in item[2]:
        sent = [(0, tape, step.ins[0], values[0])]
    else:  # a pass through a tangent, which reads the primal of the view alone: by the node of that
        sent = [] if of_view is None else [(0, inner.tape, inner.step.ins[view], of_view)]
    return sent + [(1 + edges.index(i), inner.tape, inner.step.ins[i], g) for i, g in zip(others, values[1:])]


__all__ = ["inside", "run"]
