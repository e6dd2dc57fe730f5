"""How what a node saved lies in memory (layer 6), where the Tensor that was there is gone: told from the operators on the tape, which record no strides."""

from __future__ import annotations

import gc
import weakref

from .._tensor import Tensor
from . import layouts, shapes
from .backward import number_at
from .laying import laid_by
from .nodes import Leaf
from .record import Value, slot_table

PLACES = weakref.WeakSet()  # Values that stand for a place in a graph and hold no contents


def strides_at(tape, slot, shape):
    """Strides of a slot of a tape: those of the user's Tensor where that still is there, or those that its operator gave it.

    Row by row where neither is known: of what came from other tapes without a history.
    """
    found, todo = {}, [(tape, slot, shape, True)]
    while todo:
        tape, slot, shape, asks = todo[-1]
        own, known = found.setdefault(tape, {}), noted(tape)
        if slot not in own and slot in known:
            own[slot] = known[slot]
        t = _owner(tape, slot) if asks and slot not in own else None
        step = slot_table(tape.prefix)[slot][0] if slot >= 0 else None
        before = _made_by(tape, slot) if slot < 0 and t is None and slot not in own else None
        reads = [] if t is not None or slot in own else [(tape, *r) for r in _reads(step) if r[0] not in own]
        if before is not None and before[1] not in found.get(before[0], ()):
            reads = [(*before, shape, True)]
        if reads:
            todo[-1] = tape, slot, shape, False
            todo += reads
            continue
        if slot not in own:
            own[slot] = t.stride() if t is not None else found[before[0]][before[1]] if before is not None else _told(tape, step, slot, shape, own)
            if t is None and slot >= 0:
                layouts.TOLD.setdefault(tape, known)[slot] = own[slot]  # whoever asks next, further on, need not go all the way
        todo.pop()
    return own[slot]


def _made_by(tape, slot):
    """(tape, slot) of an input where it was made; None of a leaf and of what has no history."""
    if tape.open:
        v = tape.inputs[-slot - 1]
        return (v.tape, v.slot) if v.leaf is None and v.tape is not None and v.tape is not tape and v.slot is not None else None
    edge = tape.edges[-slot - 1]
    return edge if type(edge) is tuple else None


def holder_of(v):
    """The user's own Tensor of a saved input, where it still is there: torch gives that object."""
    t = v.leaf.tensor() if type(v.leaf) is Leaf else None
    if t is not None:
        return t
    for x in gc.get_referrers(v):
        if isinstance(x, Tensor) and x._tl_v is v:
            return x
    return None


def live(tape, slot):
    """The Value of a computed slot of a closed tape that somebody still holds."""
    if slot < 0:
        return None
    return next((x for x in gc.get_referrers(tape) if type(x) is Value and x.tape is tape and x.slot == slot and x.array is not None and x.leaf is None
                 and x not in PLACES), None)


def _owner(tape, slot):
    """The user's Tensor of a slot, where it still is there."""
    v = (tape.inputs[-slot - 1] if slot < 0 else tape.values[slot]) if tape.open else live(tape, slot) or tape.kept.get(slot)
    return None if v is None else holder_of(v)


def _is_view(step):
    return step is not None and step.kind == "op" and step.form.op.is_view and step.form.op.layout is not None


def _is_same(step):
    return step is not None and step.kind == "detach"


def _is_laid(step):
    return step is not None and step.kind == "op" and not step.form.op.is_view and getattr(step.form.spec, "lies", None) is not None


def _reads(step):
    """[(slot, shape, whether to look for its Tensor)] of the inputs that the strides of a result hang on."""
    if _is_view(step):
        return [(step.ins[0], step.form.avals[0].shape, True)]
    if _is_same(step):
        return [(step.ins[0], step.out_avals[0].shape, True)]
    if _is_laid(step):
        return [(s, a.shape, s < 0) for s, a in zip(step.ins, step.form.avals) if type(s) is not tuple and a.ndim]
    return []


def _told(tape, step, slot, shape, found):
    whole = shapes.contiguous_strides(shape)
    if _is_view(step):
        inside = step.form.avals[0].shape
        out = layouts.geometry(step.form.spec, [number_at(tape, s) for s in step.ins if type(s) is tuple], inside, found[step.ins[0]], 0)
        return (out[slot - step.first] if step.form.op.multi and not hasattr(step.form.spec, "output") else out)[1]
    if _is_same(step):
        return found[step.ins[0]]
    if not _is_laid(step):
        return whole
    spec = step.form.spec
    operands = [None if type(s) is tuple else (a.shape, found.get(s, ())) for s, a in zip(step.ins, step.form.avals)]
    if not spec.lies and all(x is None or x[1] == shapes.contiguous_strides(x[0]) for x in operands):
        return whole
    return laid_by(spec, shape, operands, slot - step.first, step.out_avals[slot - step.first].dtype) or whole


def note(tape, step):
    """Note how the results of a step that was just recorded lie, one by one while packing hooks are active: to look a chain up for each of them would take the
    square of its length."""
    reads = _reads(step)
    if reads:
        known = noted(tape)
        found = {slot: known.get(slot) or _of_leaf(tape, slot) or _of_before(tape, slot, shape) or shapes.contiguous_strides(shape) for slot, shape, _ in reads}
        for i, a in enumerate(step.out_avals):
            strides = _told(tape, step, step.first + i, a.shape, found)
            if strides != shapes.contiguous_strides(a.shape):
                layouts.TOLD.setdefault(tape, known)[step.first + i] = strides


def noted(tape):
    """{slot: strides} of what was noted, and of fresh tensors whose operators do not tell how they lie."""
    return layouts.TOLD.get(tape, {})


def _of_leaf(tape, slot):
    leaf = tape.inputs[-slot - 1].leaf if slot < 0 else tape.leaves.get(slot)
    t = leaf.tensor() if type(leaf) is Leaf else None
    return None if t is None else t.stride()


def _of_before(tape, slot, shape):
    before = _made_by(tape, slot) if slot < 0 else None
    return None if before is None else strides_at(*before, shape)


__all__ = ["PLACES", "holder_of", "live", "note", "noted", "strides_at"]
