"""What is checked before a backward pass runs over a tape (layer 5): nothing that it reads was released or written since."""

from __future__ import annotations

from operator import itemgetter

from .._ops.registry import OPS
from .._ops.spec import LeveledAval, spec_of
from . import errors
from .levels import DUAL, MAP, levels_of, primal_needs, running
from .nodes import node_at, short_name, step_of
from .parts import primal_maps
from .plan import rewritten
from .record import NOGRAD, Counter, Value, mark_seen, record_op, slot_table, thread
from .storage import cell_of, peek, with_history, write
from .values import over_its_array

DETACHED = Counter(1)  # of values whose tensor was detached in place: nodes that saved the tensor miss its history, those that gave it do not
_AS_RECORDED = "as recorded"  # in a thread's extra: what passes read is what was recorded, whatever was written since


class as_recorded:
    """Inside, passes do not ask whether what they read was written since: a linear function stays that of the point where it was made."""

    def __enter__(self):
        self.before = thread.state.extra.get(_AS_RECORDED)
        thread.state.extra[_AS_RECORDED] = True

    def __exit__(self, *exc):
        if self.before is None:
            del thread.state.extra[_AS_RECORDED]


def detached(v):
    """Note that the tensor of a computed Value has no history any more."""
    v.seen = DETACHED, 0
    if v.tape is not None:
        v.tape.seen[v.slot] = v.seen


def check(tape, plan):
    """The freed-graph and version checks, before anything runs."""
    if _AS_RECORDED in thread.state.extra:
        return
    if tape.freed and not tape.freed.isdisjoint(plan.saving):
        raise errors.second_time()
    if tape.seen:
        mine, read = max(_stale(tape, plan.results, True), default=None), _stale(tape, plan.kept, False)
        if mine is not None or read:  # torch finds the one that it reaches first
            node, slot = _read_first(tape, plan, read) if read else (-1, None)
            own = mine is not None and slot_table(tape.prefix)[mine][0].first > node
            slot = mine if own else slot
            raise _modified(tape, slot, tape.seen[slot], slot_table(tape.prefix)[slot][2], own)
    if plan.shown:
        _check_shown(tape, plan.shown)
    stale: dict = {}
    for slots, own in ((plan.kept, False), (() if tape.open else plan.results, True)):
        for slot in slots:
            if slot < 0 or not tape.open:  # what a closed tape computed and is data now counts its versions itself
                seen = _seen_at(tape, slot)
                if seen is not None and seen[0].n != seen[1] and not (own and seen[0] is DETACHED):
                    stale.setdefault(slot, (seen, own))
    if stale:
        slot = _read_first(tape, plan, stale)[1]
        raise _modified(tape, slot, stale[slot][0], slot_table(tape.prefix)[slot][2] if slot >= 0 else tape.prefix.steps()[1][-slot - 1].aval, stale[slot][1])


def _read_first(tape, plan, slots):
    """(first slot of the node, slot) of the one of some slots that torch unpacks first: for its first node, which unpacks its arguments by their names."""
    for first in plan.visited:
        step = slot_table(tape.prefix)[first][0]
        if step.kind == "op":
            for _, slot in sorted(zip(step.form.owners, step.ins), key=itemgetter(0)):
                if slot in slots:
                    return first, slot
    return -1, max(slots)


def _check_shown(tape, pairs):
    """The version check of what is kept as a view that no tensor counts versions for, by the memory that it shows."""
    stale = {}
    for slot, memory in pairs:
        seen = _seen_at(tape, memory)
        if seen is not None and seen[0] is not DETACHED and seen[0].n != seen[1] and slot not in tape.seen:
            stale[slot] = seen
    if stale:
        slot = max(stale)
        raise _modified(tape, slot, stale[slot], slot_table(tape.prefix)[slot][2], shows=True)


def _seen_at(tape, slot):
    """(counter, version) of what a slot shows; None where nobody counts."""
    if slot >= 0 and (tape.open or slot in tape.seen):
        return tape.seen.get(slot)
    v = tape.inputs[-slot - 1] if tape.open else tape.kept.get(slot)
    if v is not None and v.seen is not None:
        return v.seen
    place = _place_at(tape, slot) if slot < 0 else None  # of another tape, from which a pass with create_graph took the value
    return None if place is None or place[1] < 0 or place[1] in rewritten(place[0].prefix) else place[0].seen.get(place[1])


def _stale(tape, slots, own):
    """Those of some slots that were written since."""
    seen = tape.seen
    return {s for s in slots & seen.keys() if seen[s][0].n != seen[s][1] and not (own and seen[s][0] is DETACHED)}


def _modified(tape, slot, seen, a, own=False, shows=False):
    """The version error; it names the node that wrote last, or the one that made the value (`own`: and kept it); a view would be read again."""
    counter, at, a, *_ = *seen, a  # the places of a mask are seen with the mask's type
    if counter is DETACHED:
        return errors.detached_inplace()
    v = counter.writer() if counter.writer is not None and not own else None
    if v is not None and _was_detached(tape, slot) and not _written_by(v, tape, slot):
        v = None
    place = _place_at(tape, slot)
    if place is not None and any(place in level.aliases for level in running()):  # an input of a transformation: a leaf there
        place = v = None
    producer = None
    if shows or (place is not None and (_written_to_view(*place) if own else _shows_base(*place))):
        producer = "output 0 of AsStrided"
    else:
        if v is not None and v.tape is not None and v.leaf is None:
            place = v.tape, v.slot
        if place is not None and _has_node(*place):
            node, nr = node_at(*place)
            producer = f"output {nr if own else 0} of {short_name(node)}"  # torch notes the number only of what a node keeps of its own
    return errors.modified_inplace(errors.tensor_type(a.dtype), (*_mapped_sizes(tape, slot, a), *a.shape), producer, counter.n, at)


def _has_node(tape, slot):
    """Whether a slot has a node for its user: none of what requires no grad, and of a dual number whose tangent alone does."""
    step, needs, at = slot_table(tape.prefix)[slot]
    key = next((lv for lv in reversed(levels_of(at)) if lv[2] == DUAL), None) if step.kind == "op" else None
    return bool(needs) and (key is None or primal_needs(Value(at, True, tape, slot), key))


def _mapped_sizes(tape, slot, a):
    """The dims that the memory of a primal has outside of the maps that it is under, where these have ended."""
    maps = [lv for lv in levels_of(a) if lv[2] == MAP and all(lv != r.key for r in running())]
    if maps and any(lv[2] == DUAL for lv in levels_of(a)):      # that its tangent alone may be under, as in `jacfwd`
        maps = primal_maps(tape.values[slot]).intersection(maps) if tape.open and slot >= 0 else ()
    return [lv[1] for lv in sorted(maps)]


def _was_detached(tape, slot):
    """Whether a slot is of a tensor that was detached or is a leaf, or of its views: what others who share its memory write gives it no history."""
    while slot >= 0:
        step = step_of(tape, slot)
        if step.kind != "op" or not step.form.op.is_view:
            return step.kind in ("detach", "leaf")
        slot = step.ins[0]
    return False


def _written_by(v, tape, slot):
    """Whether a Value was written over that of a slot itself."""
    if v.tape is not tape or v.leaf is not None:
        return False
    step = step_of(tape, v.slot)
    return step.kind == "op" and step.ins[0] == slot


def _place_at(tape, slot):
    """(tape, slot) of the node that gives a slot; None for leaves and values without history."""
    if slot >= 0:
        return (tape, slot) if slot_table(tape.prefix)[slot][1] and slot not in tape.leaves else None
    if not tape.open:
        edge = tape.edges[-slot - 1]
        return edge if type(edge) is tuple else None
    v = tape.inputs[-slot - 1]
    return (v.tape, v.slot) if v.needs and v.leaf is None and v.tape is not None else None


def _written_to_view(tape, slot):
    """Whether a slot is what an in-place operator put into the base of a view."""
    return any(s.kind == "op" and getattr(s.form.spec, "arity", 0) == 2 and s.ins[1] == slot for s in tape.prefix.steps()[0])


def _shows_base(tape, slot):
    step = step_of(tape, slot)
    return step.kind == "op" and (step.form.op.is_view or step.form.node == "AsStridedBackward0")


__all__ = ["check", "count_write", "detached"]


def count_write(t):
    """Count a version of a tensor that was written behind the record, or is said to have been: it is written what it holds, so that only what was saved before
    is stale.  A view's is counted where its memory has its history, which stays as it is."""
    base = t._tl_view.base if t._tl_view is not None else None
    if base is not None and base._tl_cell is t._tl_cell:
        t = base
    v = peek(t)
    if type(v.aval) is LeveledAval:  # transformations walk through it, which keep no versions
        cell_of(t)
        t._tl_counter.n += 1
        return
    computed = v.array is not None and not v.needs
    new = over_its_array(v) if computed else record_op(spec_of(OPS["_copy_"], (), ("T", "T")), (v, v), NOGRAD)[0]
    write(t, with_history(new, v) if v.needs else new)


def written_once(t):
    """A fresh tensor into which torch copies: a write that it counts, and that nobody saved anything before."""
    cell_of(t)
    t._tl_counter.n += 1
    mark_seen(t._tl_v, t._tl_counter)
    return t
