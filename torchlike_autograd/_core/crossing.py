"""Backward passes and levels (layer 6): which levels a pass goes over, and what becomes of those in its graph that have ended.

A pass inside of a level maps what was recorded there; what an ended level left in the graph is pulled back whole (`_ops/lift.py`).  Two kinds of graphs need
more care: that of an ended level whose id a running one has again (`clash`), and that of an ended dual level through whose primals alone gradients go
(`left_behind`).
"""

from __future__ import annotations

import contextlib

from .._ops.lift import DUAL, MAP, Move, MoveSpec, Through, levels_of
from .._ops.registry import OPS
from .._ops.spec import Pullback, spec_of
from .behind import levels_behind, places_behind, top, type_at
from .leaving import leaf_at
from .levels import NOTED, Level, Reservation, move, next_id, primal, primal_ins, running
from .nodes import Leaf, observed, step_of
from .record import GRAD, LOCK, NOGRAD, Value, record_op, slot_table, thread


def of_pass(levels, roots):
    """The levels that a pass maps over, as types hold them: running maps, and dual levels of what it differentiates."""
    keys = {lv.key for lv in levels if lv.id is not None}
    found = {key for key in keys if key[2] == MAP}
    for where, g in roots:
        types = [g.aval] if type(where) is not tuple else [g.aval, type_at(*where)]
        found |= {lv for a in types for lv in levels_of(a) if lv[2] == DUAL and lv in keys}
    unpacked = thread.state.extra.get("forward_ad")
    if unpacked is not None and unpacked[1].key not in found:
        hows = _ways(_places(roots), unpacked[1].key)
        if not hows.isdisjoint(_OF_PRIMALS) and hows.isdisjoint(_OF_TANGENTS):  # it leads into the level through primals that were unpacked there
            found.add(unpacked[1].key)
    return frozenset(found)


_OF_PRIMALS, _OF_TANGENTS = {"primal", "still"}, {"tangent", "gradient"}


def _places(roots):
    return [w for w, _ in roots if type(w) is tuple]


def _ways(places, key):
    """How a graph leads into and out of a dual level, as types hold it, by other ways than tangents that were given to it."""
    specs = {_move_of(slot_table(tape.prefix)[slot][0].form) for tape, slot in _primal_places(places, key) if slot >= 0}
    return {how for spec, how in specs if spec is not None and spec.level == key}


def _move_of(form):
    """(the MoveSpec of a form, how it moves); "gradient" of the gradient of a move, which may be that of a tangent."""
    form = getattr(form, "base", form)
    if isinstance(form, Pullback):
        form = getattr(form.inner, "base", form.inner)
        return (form.spec, "gradient") if isinstance(form, Move) else (None, None)
    spec = getattr(form, "spec", None)
    return (spec, spec.how) if type(spec) is MoveSpec else (None, None)


def _primal_places(places, key):
    """All places of a graph, but what leads to it only through tangents that were given to a level, as types hold it."""
    return places_behind(places, lambda step: primal_ins(step, key))


# Levels that have ended

def left_behind(roots):
    """{the ended levels of torch.autograd.forward_ad, as types hold them, through whose primals alone a pass from outside goes: None}.

    It reads nothing but primals there, as torch does: the derivative of a tangent may be NaN where that of the primal is not.
    """
    here, places = {lv.key for lv in running()}, _places(roots)
    reached = {(key, tape) for tape, slot in places_behind(places) for key in levels_of(type_at(tape, slot))}
    with LOCK:      # a level of another tape may be called the same in types: that of a `jvp`, say
        left = {key for tape, keys in NOTED["left"].items() for key in keys if key not in here and (key, tape) in reached}
    ways = {key: _ways(places, key) for key in left}
    return dict.fromkeys(key for key, hows in ways.items() if hows.isdisjoint(_OF_TANGENTS) and (hows or any(key in levels_of(type_at(*at)) for at in places)))


def _keys(name):
    with LOCK:
        return {key for found in NOTED[name].values() for key in found}


def clash(roots, targets):
    """(a running level that is called in types as an ended one in the graph of a pass, {key: where it began} if it is in that graph too), or None.

    In the second case the pass reads nothing but primals of what is older; NotImplementedError where that is not enough.
    """
    held, places = _keys("ended"), _places(roots)
    suspects = {lv.key: lv for lv in running() if lv.id is not None and lv.key in held and not _made_inside(targets, lv)}
    if not suspects:
        return None
    older, own = {}, set()
    for key, at in levels_behind(places):
        if key in suspects and at < suspects[key].start:
            older[key] = suspects[key]
        elif key in suspects:
            own.add(key)
    for key, lv in older.items():
        if key not in own:
            return lv, None
        earlier = [(tape, slot) for tape, slot in _primal_places(places, key) if (tape.serial, slot) < lv.start]
        if not _reaches([at for at in earlier if key in levels_of(type_at(*at))], targets):
            continue
        if lv.kind == DUAL and _OF_TANGENTS.isdisjoint(_ways(earlier, key)):
            return lv, {key: lv.start}
        raise NotImplementedError("a backward pass inside of a transformation through the graph of another one that has ended, and through its own")
    return None


def _made_inside(targets, lv):
    """Whether all that is asked for was made after a level began, so that the pass stays there."""
    if targets is None:
        return False
    here = running()
    leaves = {leaf for r in here[here.index(lv) + 1:] if r.start >= lv.start for leaf in r.leaves}
    return all(where in leaves if isinstance(where, Leaf) else (where[0].serial, where[1]) >= lv.start for where in targets)


def _reaches(places, targets):
    """Whether a pass goes on from some places to what is asked for; targets None: to all leaves."""
    return targets is None or any(at in targets or leaf_at(*at) in targets for at in places_behind(places))


def apart(lv, roots, run):
    """What a pass gives whose gradients go over another level meanwhile than `lv`, of an id that the graph does not hold."""
    with standing_in(lv, _places(roots)) as other:
        found = run([(w, moved_over(g, lv, other)) for w, g in roots])
    return {where: moved_over(g, other, lv) for where, g in found.items()}


@contextlib.contextmanager
def standing_in(lv, places):
    """Inside, another level runs in the place of one, of an id that the graph behind some places does not hold; it is given."""
    extra = thread.state.extra
    levels, other = extra["levels"], Level(lv.kind, lv.size, lv.randomness)
    other.start, at = lv.start, levels.index(lv)
    last = max([r.id for r in levels if r.id is not None] + [r.top for r in extra.get("reserved", ())] + [top(places)])
    other.id = next_id(last, other)
    for r in extra.get("watching", ()):
        r.top = max(r.top, other.id)
    levels[at] = other
    try:
        yield other
    finally:
        levels[at] = lv


def moved_over(g, old, new):
    """A gradient in another level than the one that it is in."""
    if old.key not in levels_of(g.aval):
        return g
    if old.kind == MAP:
        return move("enter", new, [move("exit", old, [g])])
    return move("join", new, [move("primal", old, [g]), move("tangent", old, [g])])


# Tangents that were unpacked in the level of the pass

def unpacks_tangents(levels, roots):
    """Whether the graph of a pass inside of these levels, as types hold them, has tangents that were unpacked in one of them."""
    return any("tangent" in _ways(_places(roots), lv.key) for lv in running() if lv.unpacked and lv.key in levels)


def unpacked_in(form, levels):
    """The level among these, as types hold them, of which a form unpacks a tangent; None for any other form.  NotImplementedError for the gradient of one."""
    spec, how = _move_of(form)
    if spec is None or spec.level not in levels or how not in _OF_TANGENTS:
        return None
    if how == "gradient" and spec.level[2] == DUAL:
        raise NotImplementedError("a backward pass inside a dual level from a dual tensor through the gradient of a tangent that was unpacked there")
    return spec.level if how == "tangent" else None


def refuse_hooks(places):
    """The pass comes a second time to what is behind these places, where a hook would see a part of a gradient each time."""
    for tape, slot in places_behind(places):
        seen = observed(tape, step_of(tape, slot).first) if slot >= 0 and tape.extra else None
        if seen is not None and (seen.hooks.get(slot) or seen.prehooks or seen.posthooks):
            raise NotImplementedError("a backward pass inside a dual level from a dual tensor through a tangent that was unpacked there, and through hooks")


def primals_of(captured, active):
    """Gradients that arrived, those of dual numbers without that of the tangent where the pass is not inside of their level (`active`: those that it is)."""
    keys = {lv.key for lv in running() if lv.kind == DUAL}.difference(active or ())
    return {where: without(g, keys) if isinstance(g, Value) else g for where, g in captured.items()} if keys else captured


def beside_primal(g, key):
    """A gradient of a tangent as that of the dual number, of which a level is known as types hold it."""
    zero = record_op(_ZERO, [g], NOGRAD)[0]
    return record_op(MoveSpec("join", key, hidden=True), [zero, g], GRAD)[0]


def handed_back(key, other, lv, g):
    """A gradient of a dual number, of which a level is known as types hold it, as that of its primal; where another level stood in for one, in that one."""
    return moved_over(without(g, (key,)), other, lv)


_ZERO = spec_of(OPS["_zero_"], (), ("T",))


def without(v, keys):
    """A Value without some dual levels, as types hold them."""
    return primal(v, but=[lv for lv in levels_of(v.aval) if lv not in keys])


@contextlib.contextmanager
def beyond(ts):
    """Inside, ids are above those in the graphs behind some tensors: of maps that have ended, which a map of their gradients has to be told from."""
    out = Reservation()
    out.top = top([(t._tl_v.tape, t._tl_v.slot) for t in ts if t._tl_value().needs and t._tl_v.leaf is None and t._tl_v.tape is not None])
    yield out.hold()


def defined(pull, grads):
    """The gradients that a pullback gives, None for the tangent of a dual number in whose level the pass is."""
    return [None if i == 1 else g for i, g in zip(pull.wanted, grads)] if type(pull) is Through else grads
