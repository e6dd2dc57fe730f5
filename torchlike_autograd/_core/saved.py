"""What nodes save (layer 6): packing hooks, `_saved_*`, `_raw_saved_*`.

Design.  The record keeps Values, and a backward pass reads them where its pullbacks need them; which of them torch would call saved is said by an
operator's `saves` and matters only here and for the version check.  Two things can stand between:

* hooks that are active when an operator is called.  The tape is then a watched one (watch.py): calls are not found in the trie but recorded one by one, each
  under a label of its own, and `pack_step` hands every saved tensor to the pack hook, inputs by name and then results by name, as torch does.  What comes
  back is a `Packed` in `Observed.saved` of the step.  The step is marked `packed`: a flush keeps none of these arrays for it.
* hooks put on one slot of a node later (`_raw_saved_self.register_hooks`): a `Packed` of this slot alone.

A step with `Observed.saved` is a place where somebody can look, so that a backward pass is cut there; `unpacking` calls the unpack hooks in the order of
packing and gives the engine a `SavedPullback`, which reads inputs and results from what they returned.  Under `create_graph` an unpacked value stands in the
graph where the packed one stood.  Without hooks nothing of this is on the path of a call or of a backward pass.

Differences from torch: a pack hook is given a new Tensor over the same contents where the saved tensor is no leaf; what saves buffers that are
no results (`logsigmoid`, the LU factors of `det`) packs only what is a result or an input.
"""

from __future__ import annotations

import numpy as np

from .._ops.lift import MoveSpec, levels_of
from .._ops.pull_saved import result_name, saved_places, saved_pullback
from .._ops.saved_names import INPUTS, NAMES
from .._tensor import Tensor, _new, wrap
from . import dtypes, errors, nodes, shapes, written_views
from .backward import number_at, value_at
from .nodes import Leaf, observed
from .record import INPLACE, NOGRAD, Value, counter_of, mark_seen, record_op, slot_table, thread
from .saved_settings import setting
from .saved_strides import PLACES, holder_of, live, noted, strides_at
from .storage import as_detached, as_leaf, cell_of, history, with_history
from .versions import DETACHED, _modified

FREED = ("Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph are freed when you call .backward() or "
         "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if you need to access saved variables after "
         "calling backward.")


class Packed:
    """What a pack hook made of a saved tensor, and the hook that unpacks it."""

    __slots__ = ("kept", "levels", "unpack")
    # levels: of the transformations that the Value is under; hooks see its whole contents, with their dims in front, as they are called outside of them too

    def __init__(self, hooks, v, t=None):
        pack, self.unpack = hooks
        self.levels = levels_of(v.aval)
        if self.levels:
            t = wrap(_outside(v, self.levels))
        self.kept = _pack(pack, _shown(v) if t is None else t)

    def value(self, t=None):
        """The Value that the unpack hook gives, without history; t: the tensor that it gave."""
        v = as_detached((self.tensor() if t is None else t)._tl_value())
        for lv in self.levels:
            v = record_op(MoveSpec("enter", lv, 0), (v,), NOGRAD)[0]
        return v

    def tensor(self):
        """What the unpack hook gives."""
        if self.unpack is None:
            raise errors.second_time()
        t = self.unpack(self.kept)
        if not isinstance(t, Tensor):
            raise TypeError(f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type {type(t).__name__}")
        return t

    def release(self):
        """Forget it."""
        self.kept = self.unpack = None


def _outside(v, levels):
    """The contents of a Value with levels, the dim of the outermost one first."""
    for lv in reversed(levels):
        v = record_op(MoveSpec("exit", lv, 0), (v,), NOGRAD)[0]
    return v


def _pack(pack, t):
    state = thread.state
    counter = t._tl_counter
    if counter is None:
        counter = t._tl_counter = counter_of(t._tl_v)
    before, outer = counter.n, state.grad
    state.grad = outer and False
    try:
        out = pack(t)
    finally:
        state.grad = outer
    if counter.n != before:
        raise RuntimeError("A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot be modified by in-place "
                           "operations as this can lead to unexpected side-effects. Please open an issue if you need to perform in-place operations on the "
                           "input to a pack hook.")
    return out


def _shown(v):
    """A Tensor that shows `v`: the leaf itself, or a new one that counts versions with the storage."""
    t = v.leaf.tensor() if type(v.leaf) is Leaf else None
    if t is not None and t._tl_v is v:
        return t
    t = wrap(v)
    if v.seen is not None:
        t._tl_counter = v.seen[0]
    return t


def current_hooks(state):
    """The innermost pair of hooks of a thread, or None."""
    return state.saved_hooks[-1] if state.saved_hooks else None


def pack_step(state, tape, step, ins, outs, inplace=False, made=None):
    """Hand what a step saves to the active hooks; inplace: it writes to its first input, of which torch saves a copy then.

    outs: None before it has results; made: what that gave, {place: Packed}.
    """
    hooks = current_hooks(state)
    places = saved_places(step.form, step.wanted)
    if hooks is None or not places or not any(step.needs):
        return None
    step.packed = True
    made = {} if made is None else made
    for place in places:
        if place in made or (outs is None and place[0] == "out"):
            continue
        v = ins[place[1]] if place[0] == "in" else outs[place[1]]
        t = _copy_of(wrap(v)) if inplace and place == ("in", 0) else None
        strides = noted(tape).get(_slot(step, place)[0]) if t is None else None
        made[place] = Packed(hooks, v, t if strides is None else _bent(v, strides))
    observed(tape, step.first, True).saved = made
    return made


def _copy_of(t):
    from .composite import named

    return named("clone")(t)


# In a backward pass

def unpacking(p, tape, step, wanted, outs):
    """(pullback, cotangents, inputs) of a step on which hooks are."""
    given = tuple(i for i, g in enumerate(outs) if g is not None)
    saved = observed(tape, step.first).saved
    values = {place: _unpacked(tape, step, place, packed, p.create_graph) for place, packed in saved.items()}
    pull = saved_pullback(step, wanted, given, tuple(saved), p.levels or ())
    ins = []
    for i in pull.keep:
        s = step.ins[i]
        ins.append(number_at(tape, s) if type(s) is tuple else values[("in", i)] if ("in", i) in values else value_at(tape, s))
    for packed in saved.values():
        p.let_go(packed.release)
    return pull, [outs[i] for i in given], [*ins, *(values[("out", k)] for k in pull.own)]


def _unpacked(tape, step, place, packed, graph):
    slot, a = _slot(step, place)
    t = packed.tensor()
    v = _as_it_was(tape, slot, t) if graph and not packed.levels else None
    if v is not None and v.aval is a:
        return v
    v = packed.value(t)
    if v.aval.shape != a.shape:
        raise NotImplementedError(f"an unpack hook that returns the shape {list(v.aval.shape)} where {list(a.shape)} was packed")
    if v.aval is not a:
        from .dispatch import cast_spec

        if v.aval.dtype is not a.dtype:
            v = record_op(cast_spec(a.dtype), (v,), NOGRAD)[0]
    if not graph:
        return v
    out = in_graph(tape, slot, v)
    if out is not v and t._tl_counter is not None:  # what is saved of it again counts the versions of what was unpacked
        mark_seen(out, t._tl_counter)
    return out


def _as_it_was(tape, slot, t):
    """What an unpacked tensor shows, where that is the saved leaf or result itself; else None."""
    if not tape.open:
        leaf = tape.edges[-slot - 1] if slot < 0 else tape.leaves.get(slot)
        return history(t) if type(leaf) is Leaf and t._tl_v.leaf is leaf else None
    w = tape.inputs[-slot - 1] if slot < 0 else tape.values[slot]
    return history(t) if w.needs and (t._tl_v is w or (type(w.leaf) is Leaf and t._tl_v.leaf is w.leaf)) else None


def _slot(step, place):
    side, i = place
    return (step.ins[i], step.form.avals[i]) if side == "in" else (step.first + i, step.out_avals[i])


def in_graph(tape, slot, v):
    """The contents of `v` in the place of a slot in the graph."""
    if written_views.noted[0] and (w := written_views.shown_at(tape, slot)) is not None:
        return with_history(v, w)
    if tape.open:
        w = tape.inputs[-slot - 1] if slot < 0 else tape.values[slot]
        return with_history(v, w) if w.needs else v
    edge = tape.edges[-slot - 1] if slot < 0 else tape.leaves.get(slot) or ((tape, slot) if slot_table(tape.prefix)[slot][1] else None)
    return v if edge is None else placed(v, edge)


def placed(v, edge):
    """The contents of `v` with the history of a Leaf or (tape, slot)."""
    if isinstance(edge, Leaf):
        return as_leaf(v, edge)
    w = Value(v.aval, True, *edge)
    PLACES.add(w)
    w.array = np.broadcast_to(np.zeros((), v.aval.dtype.np), getattr(v.aval, "full", v.aval.shape))  # only its place is read
    return with_history(v, w)


# Looking at a node

class _SavedTensorMeta(type):
    def __call__(cls, *args, **kwargs):
        raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")


class SavedTensor(metaclass=_SavedTensorMeta):
    """One slot of a node for a saved tensor; `register_hooks` packs it."""

    __slots__ = ("_owner",)
    __module__ = "torch._C._autograd"

    @classmethod
    def _of(cls, owner):
        """The slot of an owner, which answers `register((pack, unpack))`."""
        out = object.__new__(cls)
        out._owner = owner
        return out

    def register_hooks(self, *hooks, **named):
        """Pack now with the first hook; whoever needs the tensor gets what the second makes of it."""
        if len(hooks) != 2 or named or not all(map(callable, hooks)):
            named = "; kwargs: " + ", ".join(f"{k}={x!r}" for k, x in named.items()) if named else ""
            raise TypeError(
                "register_hooks(): incompatible function arguments. The following argument types are supported:\n    1. (self: torch._C._autograd.SavedTensor, "
                "arg0: collections.abc.Callable, arg1: collections.abc.Callable) -> None\n\nInvoked with: " + ", ".join(map(repr, (self, *hooks))) + named)
        self._owner.register(hooks)

    @property
    def data(self):
        """What is held: the tensor, or what a pack hook made of it; None once it was freed."""
        return self._owner.look()[0]

    @property
    def unpack_hook(self):
        """The hook that unpacks it, or None."""
        return self._owner.look()[1]

    def unpack(self):
        """The tensor as a backward pass sees it; of a result torch gives none here, and says that it was detached."""
        return self._owner.whole()

    def __getattr__(self, name):
        raise AttributeError(f"'torch._C._autograd.SavedTensor' object has no attribute '{name}'")

    def __repr__(self):
        return f"<torch._C._autograd.SavedTensor object at {hex(id(self))}>"


def set_twice():
    """torch's error for a second pair of hooks on one slot."""
    return RuntimeError("Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks is allowed at a time.")


class _Slot:
    """A place among what a node of an operator saves."""

    __slots__ = ("name", "node", "place")

    def __init__(self, node, place, name):
        self.node, self.place, self.name = node, place, name

    def look(self):
        """(what is held, the hook that unpacks it)."""
        if self.place is None or _is_freed(self.node):
            return None, None
        seen = observed(self.node._tl_tape, self.node._tl_first)
        if seen is not None and seen.saved and self.place in seen.saved:
            packed = seen.saved[self.place]
            return packed.kept, packed.unpack
        t = _tensor(self.node, self.place)
        return t if self.place[0] == "in" else t.detach(), None

    def whole(self):
        """The tensor; None where none was saved. A result that has a history says that it was detached, as torch gives the node back to none here."""
        found = _number_saved(self.node, self.name) if self.place is None else self.place
        if found is not None and _is_freed(self.node):
            raise errors.second_time()
        if self.place is None:
            return found
        if self.place[0] == "out" and self.place[1] in self.node._tl_step().form.diff_out:
            raise errors.detached_inplace()
        return _tensor(self.node, self.place)

    def register(self, hooks):
        """Pack what is in this place."""
        node, place = self.node, self.place
        if _is_freed(node):
            raise RuntimeError(FREED)
        if place is None:
            raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")
        seen = observed(node._tl_tape, node._tl_first, True)
        if seen.saved and place in seen.saved:
            raise set_twice()
        step, v = node._tl_step(), _recorded(node, place)
        made = {**(seen.saved or {}), place: Packed(hooks, as_detached(v))}  # the hook sees no history, also of what was given
        seen.saved = {q: made[q] for q in saved_places(step.form, step.wanted) if q in made}


def _is_freed(node):
    return node._tl_first in node._tl_tape.freed


def listed(node):
    """The `_saved_*` and `_raw_saved_*` of a node, for `dir`."""
    out = []
    for name in _names(node):
        out.append(f"_saved_{name.lstrip('*')}")
        if name[0] == "*":
            out.append(f"_raw_saved_{name[1:]}")
    return out


def _names(node):
    """What PyTorch's node of this name saves; nothing for one of a derivative's graph, whose operator is a whole pullback here and saves otherwise."""
    names = NAMES.get(node.name(), "").split()
    return names if names and hasattr(node._tl_step().form.op, "params") else []


def _places_called(node, name):
    """Places of what is saved under a name, in order."""
    step = node._tl_step()
    form = step.form
    name = INPUTS.get(node.name(), {}).get(name, (name,))[0]
    return [q for q in saved_places(form, step.wanted)
            if (form.owners[q[1]] == name if q[0] == "in" else result_name(form.op, q[1]) == name)]


def _missing(node, name, kind):
    return AttributeError(f"'{type(node).__name__.rpartition('::')[2]}' object has no attribute '{kind}{name}'")


def raw(node, name):
    """`node._raw_saved_<name>`."""
    if f"*{name}" not in _names(node):
        raise _missing(node, name, "_raw_saved_")
    if not _is_list(node, name):
        return SavedTensor._of(_Slot(node, next(iter(_places_called(node, name)), None), name))  # a freed one says so when it is used
    if _is_freed(node):
        raise errors.second_time()
    return tuple([SavedTensor._of(_Slot(node, q, name)) for q in _listed_places(node, name) or [None]])


def _listed_places(node, name):
    """Places of a list of tensors; None where an index stands for a whole dim, which torch keeps among the indices."""
    places, dims = _places_called(node, name), node._tl_step().form.spec.statics.get("dims")
    if name != "indices" or dims is None or len(dims) != len(places):
        return places
    at = dict(zip(dims, places))
    return [at.get(d) for d in range(max(dims, default=-1) + 1)]


def _is_list(node, name):
    return any(q.name == name and q.kind.startswith("Tensor") and q.kind.endswith("[]") for q in node._tl_step().form.op.params)


def value(node, name):
    """`node._saved_<name>`."""
    names = _names(node)
    if f"*{name}" in names:
        return _tensors(node, name)
    if name not in names:
        raise _missing(node, name, "_saved_")
    return setting(node, name)


def _tensors(node, name):
    freed, several = _is_freed(node), _is_list(node, name)
    places = _listed_places(node, name) if several else _places_called(node, name) or _not_kept(node, name)
    if freed and (several or places or _number_saved(node, name) is not None):
        raise errors.second_time()
    if several:
        return tuple([None if q is None else _tensor(node, q) for q in places])
    return _tensor(node, places[0]) if places else _number_saved(node, name)  # None where nothing was saved, of a freed node too


def _not_kept(node, name):
    """A result that torch saves and nothing here reads: it is computed again where it is gone."""
    form = node._tl_step().form
    return [("out", k) for k in range(len(form.out_avals)) if node.name() in INPUTS and result_name(form.op, k) == name]


def _number_saved(node, name):
    """A number that stood in a tensor's place, as a 0-dim tensor, or zeros; None where nothing was saved."""
    from .. import tensor, zeros

    step = node._tl_step()
    form = step.form
    like = INPUTS.get(node.name(), {}).get(name, (name, None))[1]
    if like is not None:
        a = form.avals[form.owners.index(like)]
        return zeros(a.shape, dtype=a.dtype)
    for i in form.kept(step.wanted)[0]:
        if form.owners[i] == name and type(step.ins[i]) is tuple:
            number = number_at(node._tl_tape, step.ins[i])
            return tensor(number, dtype=_WIDE.get(type(number)))
    return None


_WIDE = {float: dtypes.float64, complex: dtypes.complex128}


def _tensor(node, place):
    t = _held(node, place)
    return _copy_of(t) if _is_copied(node._tl_step(), place) else t


def _held(node, place):
    tape, step = node._tl_tape, node._tl_step()
    seen = observed(tape, node._tl_first)
    slot = _slot(step, place)[0]
    if seen is not None and seen.saved and place in seen.saved:
        return wrap(in_graph(tape, slot, seen.saved[place].value()))
    v = _recorded(node, place)
    t = None if _is_copied(step, place) else holder_of(v)
    if t is not None and (place[0] == "in" or t._tl_view is None):
        return t if place[0] == "in" else _alias(t)
    return _lying(v, tape, slot)


def _lying(v, tape, slot):
    """A Tensor that shows `v` with the strides of the one that was saved."""
    shape = v.aval.shape
    if not shape or type(v.leaf) is Leaf:
        return _shown(v)
    return _bent(v, strides_at(tape, slot, shape))


def _bent(v, strides):
    t = _shown(v)
    t._tl_laid = None if strides == shapes.contiguous_strides(v.aval.shape) else (strides, 0)
    return t


def _alias(t):
    """Another tensor over the memory of one that is alone or a base, with its history as it is: what is written to the one is seen in the other."""
    cell, out = cell_of(t), _new(Tensor)
    out._tl_v, out._tl_cell, out._tl_at, out._tl_counter, out._tl_laid = t._tl_v, cell, t._tl_at, t._tl_counter, t._tl_laid
    return out


def _is_copied(step, place):
    """Whether a saved tensor is what its operator wrote to, of which torch keeps a copy."""
    return step.mode == INPLACE and place == ("in", 0)


def _recorded(node, place):
    """The Value of a saved tensor that no hook has packed, its version checked."""
    tape, step = node._tl_tape, node._tl_step()
    slot, a = _slot(step, place)
    if not _is_copied(step, place):
        _check_version(tape, slot, a, place)
    if tape.open:
        return tape.inputs[-slot - 1] if slot < 0 else tape.values[slot]
    found = _found(tape, slot)
    if found is None and place[0] == "out":
        found = in_graph(tape, slot, _again(tape, step)[place[1]])
    if found is None:
        raise NotImplementedError(f"'{step.form.op.name}' reads nothing of this saved tensor in its gradient, so that it was not kept")
    return found


def _found(tape, slot):
    """The Value of a slot of a closed tape, if it was kept or somebody still holds it."""
    v = live(tape, slot)
    if v is not None:
        return v
    if slot in tape.kept:
        return value_at(tape, slot)
    edge = tape.edges[-slot - 1] if slot < 0 else tape.leaves.get(slot)
    t = edge.tensor() if type(edge) is Leaf else None
    return None if t is None else t._tl_value()


def _again(tape, step):
    """The results of a step, computed again from what was kept of its inputs."""
    ins = [number_at(tape, s) if type(s) is tuple else value_at(tape, s) if s in tape.kept else _found(tape, s) for s in step.ins]
    if None in ins:
        raise NotImplementedError(f"what '{step.form.op.name}' saves of its results was not kept")
    ins = [as_detached(x) if isinstance(x, Value) else x for x in ins]
    return record_op(step.form.spec, ins, NOGRAD)


def result_again(tape, slot):
    """A result that a closed tape did not keep, computed again, in its place in the graph; None where its inputs are gone."""
    step = slot_table(tape.prefix)[slot][0]
    try:
        return in_graph(tape, slot, _again(tape, step)[slot - step.first])
    except NotImplementedError:
        return None


def _check_version(tape, slot, a, place):
    if tape.open and slot < 0:
        seen = tape.inputs[-slot - 1].seen
    elif slot < 0:
        seen = tape.kept[slot].seen if slot in tape.kept else None
    else:
        seen = tape.seen.get(slot)
    if seen is not None and seen[0].n != seen[1] and seen[0] is not DETACHED:
        raise _modified(tape, slot, seen, a, place[0] == "out")


nodes.on_saved(value, raw, listed, unpacking)

__all__ = ["Packed", "SavedTensor", "current_hooks", "pack_step", "unpacking"]
