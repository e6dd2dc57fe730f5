"""Transformations that are running in a thread (layer 3): which levels there are, moving values in and out, backward passes inside them.

`enter` picks the smallest id (an integer, a half more for the levels of `forward_ad`) above those of the levels that run and those held by derivatives that
are still to be called (`reserve`), so that a program that transforms in the same way again has the same types, and the same compiled programs.
"""

from __future__ import annotations

import weakref
from sys import getrefcount

from .._ops.lift import DUAL, MAP, Move, MoveSpec, levels_of, with_levels
from .._ops.registry import OPS
from .._ops.spec import LeveledAval, aval, spec_of
from . import errors, parts
from .record import GRAD, INFERENCE, LOCK, NOGRAD, Value, data, record_alias, record_op, slot_table, thread
from .tangent_graphs import tangent_needs

FUNCTIONALIZED = "functionalized"  # in a thread's extra: whether a function runs that `functionalize` was given
OLD = "old"  # the randomness of a map of torch's older kind, which batches gradients: Functions run in it as they are


class Level:
    """One running transformation; id None for one without a dim of its own ("grad"); randomness: of a map; leaves: those that a reverse-mode one made,
    aliases: {(tape, slot): the Value from outside that it shows}, sources: {id of an argument that it made: the dual tensor whose memory that shows},
    mark: what walls.py knows it by; start: where the record was when it began; examples: {id of what a map gave its function: (the argument, its Value)},
    transform: a weak reference to the reverse-mode transformation whose level this is, arrived: [(an argument of a map, its dim, what stands for it inside,
    its Value)], where functions of a program move them in; unpacked: whether a tangent was, of a dual one."""

    __slots__ = ("aliases", "arrived", "escaped", "examples", "id", "kind", "leaves", "mark", "randomness", "size", "sources", "start", "tapes",
                 "transform", "unpacked")

    def __init__(self, kind, size, randomness="error"):
        self.kind, self.size, self.randomness, self.id, self.leaves = kind, size, randomness, None, ()
        # The last two: weak references: Values with levels that a flush inside this one left, the tapes that it closed.
        self.aliases, self.sources, self.escaped, self.tapes, self.mark, self.examples = {}, {}, [], [], object(), {}
        self.transform, self.arrived, self.unpacked = None, None, False

    @property
    def key(self):
        """The level as types hold it."""
        return (self.id, self.size, self.kind)

    def noted(self, name):
        """Note, under a name, for passes that come later, in whatever thread, that tapes hold what was recorded in it."""
        with LOCK:
            for tape in (thread.state.tape, *self.tapes_left()):
                NOTED[name].setdefault(tape, set()).add(self.key)

    def tapes_left(self):
        """The tapes that a flush inside it closed, as far as they are there."""
        return [t for t in (r() for r in self.tapes) if t is not None]


NOTED = {"ended": weakref.WeakKeyDictionary(), "left": weakref.WeakKeyDictionary()}  # {tape: keys of levels that have ended, of forward_ad alone}
ENDED = weakref.WeakSet()  # leaves of reverse-mode levels that have ended


def running():
    """This thread's levels, outermost first (also those without a dim)."""
    return thread.state.extra.get("levels", ())


def of_func():
    """This thread's levels of torch.func and of maps, outermost first: none of forward_ad."""
    return [lv for lv in running() if lv.kind != DUAL or lv.randomness == "jvp"]


def transforming(older=False):
    """Whether one of torch.func's transformations runs (not a dual level of forward_ad alone); older: or a map of torch's older kind."""
    return any(lv.kind == "grad" or (lv.kind == MAP and (older or lv.randomness is not OLD)) or lv.randomness == "jvp" for lv in running())


def differentiating():
    """Whether a reverse-mode transformation of torch.func runs."""
    return any(lv.kind == "grad" for lv in running())


def mapped_here(v):
    """Whether the innermost transformation of torch.func is a map that goes over this Value."""
    inner = of_func()
    return bool(inner) and inner[-1].kind == MAP and inner[-1].randomness != OLD and has(v, inner[-1])


def deriving():
    """Whether a transformation of torch.func that differentiates, by either mode, runs."""
    return any(lv.kind == "grad" or lv.randomness == "jvp" for lv in running())


def mapped_by_innermost(v):
    """Whether one of the maps inside of which no other transformation of torch.func runs goes over this Value."""
    for lv in reversed(of_func()):
        if lv.kind != MAP:
            return False
        if has(v, lv):
            return lv.randomness != OLD
    return False


def mapping():
    """Whether a map runs."""
    return any(lv.kind == MAP for lv in running())


def mapped_among(ts):
    """Whether any of these is a tensor that a map goes over."""
    return bool(running()) and any(mapped(t._tl_value()) is not None for t in ts if hasattr(t, "_tl_value"))


def hidden_among(ts):
    """Whether a look at any of these is refused, as it is mapped over."""
    return bool(running()) and any(hidden(t._tl_value()) for t in ts if hasattr(t, "_tl_value"))


def made_inside(leaf):
    """A tensor that asks for gradients inside a reverse-mode level: outside of it there is nothing to ask for."""
    for level in reversed(running()):
        if level.kind == "grad":
            level.leaves.append(leaf)
            return


def next_id(last, level):
    """The id of a level above another id: an integer, a half more for a level of forward_ad, whose graph goes on when it has ended: no `jvp` is called so."""
    return 1 + int(last // 1) + (0.5 if level.kind == DUAL and level.randomness != "jvp" else 0)


class enter:
    """Run inside a new level; as a context manager gives the Level.  above: its id is above this one too."""

    def __init__(self, kind, size=2, randomness="error", above=-1):
        self.level, self.above = Level(kind, size, randomness), above

    def __enter__(self):
        extra = thread.state.extra
        levels = extra.setdefault("levels", [])
        tape = thread.state.tape
        self.level.start = (tape.serial, len(tape.values))
        if self.level.kind in (MAP, DUAL):
            held = extra.get("reserved", ())
            last = max([lv.id for lv in levels if lv.id is not None] + [r.top for r in held] + [self.above])
            self.level.id = next_id(last, self.level)
            for r in extra.get("watching", ()):
                r.top = max(r.top, self.level.id)
        levels.append(self.level)
        return self.level

    def __exit__(self, *exc):
        extra, level = thread.state.extra, self.level
        extra["levels"].remove(level)
        if level.id is not None:
            level.noted("ended")


class Recording:
    """A part of torch.func's derivatives: outside of inference mode, which is on again after, as nothing that it makes could be differentiated."""

    def __enter__(self):
        state = thread.state
        self.before = (state.inference, state.grad, state.extra.get("grad")) if state.inference else None
        if self.before is not None:
            state.inference, state.grad, state.extra["grad"] = False, False, None

    def __exit__(self, *exc):
        if self.before is not None:
            state = thread.state
            state.inference, state.grad, state.extra["grad"] = self.before


class Reservation:
    """Keeps the ids used while a derivative was recorded from being used again as long as it can be called."""

    __slots__ = ("__weakref__", "top")

    def __init__(self):
        self.top = -1

    def __enter__(self):
        extra = thread.state.extra
        extra.setdefault("watching", []).append(self)
        return self

    def __exit__(self, *exc):
        thread.state.extra["watching"].remove(self)

    def hold(self):
        """Reserve from now on, until this object is gone."""
        if self.top >= 0:
            extra = thread.state.extra
            held = extra.get("reserved")
            if held is None:
                held = extra["reserved"] = weakref.WeakSet()
            held.add(self)
        return self


def move(how, level, values, dim=0, mode=None, hidden=False):
    """A Value into or out of a level ("enter", "exit", "join", "primal", "tangent"); mode: GRAD where that is no call of the user's; hidden: without a node."""
    if how in ("primal", "tangent"):
        v = _joined_from(values[0], level, how)
        if v is not None:
            return v
        level.unpacked = level.unpacked or how == "tangent"
        if values[0].needs and not (tangent_needs if how == "tangent" else primal_needs)(values[0], level.key):
            mode = NOGRAD
    return record_op(MoveSpec(how, level.key, dim, hidden), values, mode)[0]


def tangent(v, key):
    """That of a Value with a dual level, as types hold it, read behind the user's back."""
    for level in running():
        if level.key == key:
            level.unpacked = True
    return record_op(MoveSpec("tangent", key), [v], GRAD if tangent_needs(v, key) else NOGRAD)[0]


def dim_of(v, level):
    """The dim that a mapped Value had outside of a level where it came into it just so, otherwise 0."""
    if v.tape is not None and (v.tape.open or v.slot >= 0):
        step = slot_table(v.tape.prefix)[v.slot][0]
        if _enters(step, level.key):
            return step.form.spec.dim
    return 0


def _enters(step, key):
    """Whether a step moves a Value into a level, as types hold it."""
    spec = step.form.spec if step.kind == "op" else None
    return type(spec) is MoveSpec and spec.how == "enter" and spec.level == key


def entered_from(v, key):
    """(the Value that a mapped one was just made of, the dim that is mapped over) on an open tape, otherwise (None, 0)."""
    if v.tape is None or not v.tape.open:
        return None, 0
    step = slot_table(v.tape.prefix)[v.slot][0]
    if not _enters(step, key):
        return None, 0
    slot = step.ins[0]
    return v.tape.inputs[-slot - 1] if slot < 0 else v.tape.values[slot], step.form.spec.dim


def _joined_from(v, level, how):
    """The Value that a dual one was just joined from, where that is known."""
    if v.tape is None or not v.tape.open:
        return None
    step = slot_table(v.tape.prefix)[v.slot][0]
    if step.kind != "op" or type(step.form) is not Move or step.form.spec.how != "join" or step.form.level != level.key:
        return None
    slot = step.ins[how == "tangent"]
    return v.tape.inputs[-slot - 1] if slot < 0 else v.tape.values[slot]


def entered(v):
    """Whether a Value is an input of a reverse-mode transformation that runs: a leaf there, whatever it was made of outside."""
    return any((v.tape, v.slot) in lv.aliases for lv in running() if lv.aliases)


def has(v, level):
    """Whether a Value has a dim of this level."""
    return level.key in levels_of(v.aval)


def has_key(v, key):
    """Whether a Value has a dim of a level, as types hold it."""
    return key in levels_of(v.aval)


def gets_tangent(t, old, new):
    """Told before a result of type `new` is written to a tensor of type `old`: torch.autograd.forward_ad shares memory from its first tangent on, and where
    tangents are off what is written keeps its own."""
    extra = thread.state.extra
    found = extra.get("forward_ad")
    if found is not None and found[1].key in levels_of(new) and (found[1].key not in levels_of(old) or extra.get("tangents") is not None):
        FORWARD_AD["share"](t, found[1])


FORWARD_AD: dict = {}  # set by duals.py
APART: dict = {}  # set by apart.py


def shares(key):
    """Whether a level, as types hold it, is that of torch.autograd.forward_ad, whose dual tensors share memory with their parts."""
    found = thread.state.extra.get("forward_ad")
    return found is not None and found[1].key == key


def requires_grad(v):
    """Whether a Value with levels requires grad for its user: as a dual number of torch.autograd.forward_ad where its primal does."""
    found = thread.state.extra.get("forward_ad")
    return bool(v.needs) if found is None else primal_needs(v, found[1].key)


def primal_needs(v, key):
    """Whether the primal of a Value requires grad: gradient flows to it by another way than through tangents of a level alone."""
    if not v.needs:
        return False
    seen, stack = set(), [(v.tape, v.slot, v)]
    while stack:
        tape, slot, v = stack.pop()
        if v is not None and (v.leaf is not None or key not in levels_of(v.aval)):
            return True
        if tape is None or (tape, slot) in seen:
            continue
        seen.add((tape, slot))
        if slot < 0:
            if tape.open:
                v = tape.inputs[-slot - 1]
                stack += [(v.tape, v.slot, v)] if v.needs else []
            elif type(tape.edges[-slot - 1]) is tuple:
                stack.append((*tape.edges[-slot - 1], None))
            elif tape.edges[-slot - 1] is not None:
                return True
            continue
        step, needs, a = slot_table(tape.prefix)[slot]
        if needs and (slot in tape.leaves or key not in levels_of(a) or step.kind not in ("op", "function")):
            return True
        if needs:
            stack += [(tape, s, None) for s in primal_ins(step, key)]
    return False


def primal_ins(step, key):
    """The inputs of a step through which gradient flows, the tangent of a join aside."""
    if step.kind == "function":
        return step.ins[: len(step.ins) - len(step.out_avals)]
    spec = step.form.spec
    joins = type(spec) is MoveSpec and spec.how == "join" and spec.level == key
    return [step.ins[i] for i in step.wanted if not (joins and i == 1)]


def shared_primal(v, own, part=None):
    """The primal of a dual Value without the maps that its tangent alone is under, `own` maps aside; None where the primal is under one of them too.

    part: the primal, where it is that of one level.
    """
    maps = [lv for lv in levels_of(v.aval) if lv[2] == MAP and lv not in own]
    if maps and not parts.primal_maps(v).isdisjoint(maps):
        return None
    v = primal(v) if part is None else part
    for lv in reversed(maps):
        whole = record_op(MoveSpec("exit", lv, 0), [v])[0]
        v = record_op(spec_of(OPS["select.int"], (("dim", 0),), ("T", "i")), [whole, 0])[0]
    return v


def mapped(v):
    """The innermost map that a Value is under, as types hold it, or None."""
    return next((lv for lv in reversed(levels_of(v.aval)) if lv[2] == MAP), None)


def dual(v):
    """The innermost dual level of a Value, as types hold it, or None."""
    return next((lv for lv in reversed(levels_of(v.aval)) if lv[2] == DUAL), None)


def refuse_forward(inside):
    """torch's error for forward mode inside of forward mode, but `jvp` inside of `jvp`."""
    if inside:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")


def dual_level(v):
    """The running level of the innermost dual dim of a Value: of torch.autograd.forward_ad or of `jvp`; None where it has ended."""
    found = thread.state.extra.get("forward_ad")
    if found is not None and not transforming():
        return found[1]
    key = dual(v)
    return next((lv for lv in running() if lv.key == key), None)


def looked_at(v):
    """What a look at a Value with levels reads: the primal of a dual one; torch's error under a map."""
    if hidden(v):
        raise errors.no_memory()
    return primal(v) if mapped(v) is None else shared_primal(v, ())


def hidden(v):
    """Whether a look at a Value is refused: it is mapped over, and not by its tangent alone."""
    return mapped(v) is not None and shared_primal(v, ()) is None


def of_all_examples(v):
    """The primal of a Value with the dims of the maps that it is under in front."""
    v = primal(v)
    for lv in reversed(levels_of(v.aval)):
        v = record_op(MoveSpec("exit", lv, 0), [v])[0]
    return v


def primal(v, mode=None, but=()):
    """A Value without its dual levels; but: with those among these levels, as types hold them."""
    for lv in reversed(levels_of(v.aval)):
        if lv[2] == DUAL and lv not in but:
            v = record_op(MoveSpec("primal", lv), [v], mode)[0]
    return v


def outside(g):
    """A gradient that comes to a dual number whose level has ended, as it is seen from outside: without that of the tangent."""
    return primal(g, but=[lv.key for lv in running()]) if type(g.aval) is LeveledAval else g


def in_pairs(g, a, old=None):
    """A gradient from outside for a dual number of type `a` whose level has ended; old: the one whose tangents it keeps, none where that is None."""
    for lv in levels_of(a):
        if lv[2] == DUAL and lv not in levels_of(g.aval) and all(r.key != lv for r in running()):
            spec, of = (spec_of(OPS["_zero_"], (), ("T",)), g) if old is None else (MoveSpec("tangent", lv), old)
            part = record_op(spec, [of], GRAD if old is not None and g.needs else NOGRAD)[0]
            g = record_op(MoveSpec("join", lv, hidden=True), [g, part], GRAD)[0]
    return g


def refuse_dynamic(t, name):
    """torch's error where a shape would depend on a tensor that is mapped over; "mask": as an index."""
    if type(t._tl_v.aval) is LeveledAval and hidden(t._tl_value()):
        raise errors.mapped_mask() if name == "mask" else errors.mapped_shape(name)


def refuse_format(t, words):
    """torch's error for another order of dims in memory than the plain one, of a tensor that is mapped over."""
    if type(t._tl_v.aval) is LeveledAval and mapped(t._tl_v) is not None:
        raise RuntimeError(f"NYI: {words}")


def check_write(old, new, name="", values=()):
    """torch's error where a result of type `new`, which is mapped, would be written to a tensor of type `old`, which is not.

    values: what a dual result is computed from, which may be mapped over by its tangents alone.
    """
    missing = [lv for lv in levels_of(new) if lv[2] == MAP and lv not in levels_of(old)]
    if missing and values and any(lv[2] == DUAL for lv in levels_of(new)):
        missing = [lv for lv in missing if any(type(v) is Value and lv in levels_of(v.aval) and lv in parts.primal_maps(v) for v in values)]
    if missing:
        name = name.partition(".")[0].strip("_")
        if name not in ("add", "atan2", "copysign"):
            ruled, depth = name in _RULED or name in _NAMED, [lv.id for lv in running()].index(missing[-1][0]) + 1
            said = f"{name}_" if name in _NAMED else "inplace arithmetic" if ruled else f"aten::{name}_"
            raise errors.mapped_inplace(said, "in a vmap" if ruled else f"at level {depth}")
        raise RuntimeError(f"output with shape {list(old.shape)} doesn't match the broadcast shape {[n for _, n, _ in missing] + list(new.shape)}")


# what torch maps in place by a rule of its own
_RULED = ("clamp_max", "clamp_min", "copy", "div", "logical_and", "logical_or", "logical_xor", "masked_fill", "mul", "sub")
_NAMED = ("fill", "index_add", "index_fill", "index_put", "scatter_add")  # and by one that says which


def draw(f, shape):
    """(array, levels) of a random draw of `shape` by f(shape), under the maps that run: one draw for each example where they say so."""
    maps = [lv for lv in running() if lv.kind == MAP]
    if any(lv.randomness in ("error", OLD) for lv in maps):
        raise errors.mapped_random(any(lv.randomness is OLD for lv in maps))
    own = tuple(lv.key for lv in maps if lv.randomness == "different")
    return f((*(n for _, n, _ in own), *shape)), own


def refuse_random():
    """torch's error for a draw inside a map; NotImplementedError for one that cannot be made for each example."""
    maps = [lv for lv in running() if lv.kind == MAP]
    if any(lv.randomness in ("error", OLD) for lv in maps):
        raise errors.mapped_random(any(lv.randomness is OLD for lv in maps))
    if any(lv.randomness == "different" for lv in maps):
        raise NotImplementedError("this random function inside vmap with randomness='different'")


def made(v):
    """A fresh Value, marked as made in inference mode where that is on."""
    if thread.state.inference:
        v.needs = INFERENCE
    return v


def drawn(array, dtype, own):
    """A Value of what `draw` gave."""
    v = made(data(array, dtype))
    if own:
        shape = tuple(array.shape)[len(own):]
        v.aval = with_levels(aval(shape, dtype), own)
    return v


def like(x, t):
    """A fresh tensor, mapped where the tensor that it is made like is."""
    a = x._tl_v.aval
    if type(a) is LeveledAval:
        for k, n, kind in a.levels:
            if kind == MAP:
                t._tl_v = record_op(MoveSpec("enter", (k, n, kind)), record_op(MoveSpec("exit", (k, n, kind)), [t._tl_v]))[0]
        if dual(x._tl_v) is not None:
            parts.made_like(t._tl_v, x._tl_value())
    return t


def flushing(tape):
    """What a flush inside levels may leave: (dual and reverse-mode levels, weak references to Values for them, what is known of parts of Values).

    Whoever watches writes is told first: afterwards nobody knows what made a Value.
    """
    for f in tape.owner.extra.get("before flush", ()):
        f(tape)
    found = [lv for lv in tape.owner.extra["levels"] if lv.kind != MAP]
    refs = [(i, weakref.ref(v)) for i, v in enumerate(tape.values) if v.needs or type(v.aval) is LeveledAval] if found else []
    return found, refs, parts.of_tape(tape)


def flushed(left, tape):
    """Tell the levels what the flush left."""
    found, refs, known = left
    parts.note(tape, known)
    refs = [((tape.serial, i), r) for i, r in refs if r() is not None]
    for level in found:
        level.escaped += [r for at, r in refs if at >= level.start]  # what was there before the level began is none of its own
        level.tapes.append(weakref.ref(tape))


def strip(level, start):
    """End a dual level: whoever still holds a dual number of it holds its primal from now on.

    start: (tape, number of values on it) when the level began.
    """
    tape = thread.state.tape
    found = [v for v in tape.values[start[1] if tape is start[0] else 0:] if has(v, level)]
    for v in found:
        if getrefcount(v) > _IDLE:
            _become_primal(v, level, ())
    kept = [tape.slots, *(t.kept for t in level.tapes_left())]
    level.noted("left")
    for v in {id(v): v for v in (r() for r in level.escaped) if v is not None and has(v, level)}.values():
        _become_primal(v, level, kept)


_IDLE = max(map(getrefcount, [object()])) + 2  # of a Value that is on its tape, in `found` and named


def _become_primal(v, level, kept):
    """Let a Value be its primal; tapes go on with another one in its place."""
    tape = thread.state.tape
    u = Value(v.aval, v.needs, v.tape, v.slot)
    u.array, u.leaf, u.seen = v.array, v.leaf, v.seen
    if v.tape is tape:
        tape.values[v.slot] = u
    else:
        tape.inputs[:] = [u if x is v else x for x in tape.inputs]
        for values in kept:
            for k in [k for k, x in values.items() if x is v]:
                values[k] = u
            if v in values:
                values[u] = values.pop(v)
    mode = GRAD if u.leaf is None and primal_needs(u, level.key) else NOGRAD  # a tangent that requires grad is not enough
    p = record_op(MoveSpec("primal", level.key, hidden=True), [u], mode)[0]
    if u.leaf is not None:
        p = record_alias(p, "leaf")
        p.leaf = p.tape.leaves[p.slot] = u.leaf
        u.leaf.gets_pairs()
    v.aval, v.needs, v.tape, v.slot, v.array, v.leaf = p.aval, p.needs, p.tape, p.slot, p.array, p.leaf
    if p.array is None:
        p.tape.values[p.slot] = v
