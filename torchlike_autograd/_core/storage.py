"""Storage cells, versions and views (layer 4).

Arrays are immutable; a write makes a new Value and moves the cell.  Data belong to the cell, history belongs to a tensor:

* alone: no cell.  The tensor holds its Value; a write replaces it.
* of its own history: a base, an alias (detach, .data), a view that torch does not track (a view of those kinds, the results of unsafe_split).  It shares a
  `Cell` with others and reads the cell's contents, through a chain of view operators if it has one, under the history that it had.
* tracked view: has a base, whose history is its history.  A write through it puts the new view value back into the base ("CopySlices") and everybody
  else reads again when asked:

      base ---- cell {value, n} ---- view (chain: select 1, narrow 0:2)
      view.mul_(10):  new = view * 10;  base = put(chain, base, new);  cell.value = base;  n += 1

A reader that took the old Value keeps it; the version check finds out.  All functions take Tensors by duck type: `_tl_v` (Value last read),
`_tl_cell`, `_tl_at` (the cell's n at that time), `_tl_view`.
"""

from __future__ import annotations

from weakref import ref

from .._ops import graft  # noqa: F401 - its entry is a spec here
from .._ops.registry import OPS
from .._ops.spec import LeveledAval, spec_of
from . import belonging, errors, layouts, levels, walls
from .chains import BEYOND_STRIDES, REPEATING, PickSpec, pick, put_spec, recorded, replay_spec, written_repeats
from .nodes import Nowhere, node_at, observed, place_and_step, short_name, step_of
from .record import GRAD, INFERENCE, LEAF, NOGRAD, counter_of, mark_as, mark_seen, record_alias, record_one, record_op, thread
from .shapes import numel, reach
from .speed import native
from .values import OF_LEAF, over_its_array


class Cell:
    """The contents shared by a base, its aliases and views; n counts contents, `counter` is torch's version.

    layout: (strides, offset) of the contents if they do not lie row by row.  memory: what `data_ptr` points to, once it was asked for.
    asked: how many bytes `resize_` of the storage asked for.  shared: what NumPy has to do with the memory (`sharing.py`).
    """

    __slots__ = ("asked", "counter", "layout", "memory", "n", "shared", "value")

    def __init__(self, value, counter, layout=None):
        self.value, self.counter, self.layout, self.n = value, counter, layout, 0

    def look(self):
        """Called before the contents are read."""

    def written(self):
        """Called when there are other contents."""


class View:
    """How a tensor is read from its cell: chain of (spec, numbers); the base whose history it shows (None: its own), and in which mode it was made.

    under: the View that the base had then.
    """

    __slots__ = ("base", "bent", "chain", "creation", "geometry", "stale", "under")
    # bent: whether a link may show dims in another order than that of memory
    # stale: set where it was read again after a write while its base did not require grad: torch makes a history when the base does
    # creation: "default" | "no_grad" | "inference" | "multi" | "function" | "beyond"
    of_two = False  # whether it is read from two tensors (duals.py)

    def __init__(self, base, chain, creation, under=None):
        self.base, self.chain, self.creation, self.under = base, chain, creation, under
        self.geometry = None
        self.bent = any(link.bends for link, _ in chain)

    @property
    def shown_base(self):
        """What `_base` is: for a view of a dual tensor what that is a view of."""
        under = None if self.base is None else self.base._tl_view
        found = under.shown_base if under is not None and under.of_two else None
        return self.base if found is None else found


class ReplayedView(View):
    """A View that shows a node for each of its links when it is read again; made while `REPLAY` counts threads that want it."""

    __slots__ = ()


REPLAY = set()  # states of the threads that want it


def cell_of(t) -> Cell:
    """The tensor's cell, made now if it was alone."""
    cell = t._tl_cell
    if cell is None:
        counter = t._tl_counter
        if counter is None:
            counter = t._tl_counter = counter_of(t._tl_v)
        cell = t._tl_cell = Cell(t._tl_v, counter, t._tl_laid)
        if t._tl_v.seen is None:
            mark_seen(t._tl_v, counter)
        t._tl_at = 0
    return cell


def held(cell):
    """How many elements the memory of a cell has room for."""
    shape = cell.value.aval.shape
    return numel(shape) if cell.layout is None else reach(shape, *cell.layout)


def memory_size(t):
    """Bytes of the memory behind a tensor."""
    cell = cell_of(t)
    return held(cell) * cell.value.aval.dtype.itemsize


def read(t):
    """The current Value of a tensor that has a cell."""
    return t._tl_v if _is_read(t) else _read_again(t, thread.state.grad)


def peek(t):
    """`read` for those who do not use the history, so that a view whose history torch refuses to give is no error."""
    return t._tl_v if t._tl_cell is None or _is_read(t) else _read_again(t, False)


def history(t):
    """`read` for those who use the history in any mode."""
    return t._tl_v if t._tl_cell is None or _is_read(t) else _read_again(t, True)


def _is_read(t):
    cell = t._tl_cell
    cell.look()
    return t._tl_at == cell.n


def _read_again(t, strict):
    """What `t` shows after its cell was written; strict: torch's error where it would not give the history."""
    cell, view, old = t._tl_cell, t._tl_view, t._tl_v
    if view is not None and view.of_two:
        return view.read(t)
    base = None if view is None else view.base
    if base is None or base._tl_cell is not cell:
        v = with_history(cell.value if view is None else replayed(view.chain, cell.value, NOGRAD), old)
    else:
        b = _beneath(base, strict)
        if old.seen is not None and old.seen[1] == t._tl_counter.n and not (b.needs and not old.needs and hasattr(view, "stale")):
            v = _same_history(t, replayed_from(view, base, b, NOGRAD), b)  # written behind the version's back
        elif not b.needs and (view.creation == "default" or not old.needs or old.leaf is not None):
            view.stale = True
            v = _without_base(view, base, b, old)
        elif view.creation == "default":
            if not strict and (not old.needs or old.leaf is not None):
                return replayed_from(view, base, b, GRAD)  # as torch, which makes a first history only for those who use it: see check_inplace
            v = replayed_from(view, base, b, GRAD) if type(view) is View else _link_by_link(view, base, b)
        elif strict:
            raise view_error(t, True)
        else:
            return as_leaf(replayed_from(view, base, b, NOGRAD), Nowhere(t))
    v = own_value(v, t._tl_counter)
    if v is old and not v.needs and v.seen is not None and v.seen[1] != t._tl_counter.n:  # an alias was turned in place: what saved these contents is told
        v = another(v)
    if t._tl_counter.inference and not v.needs:
        v.needs = INFERENCE
    if old.tape is not None and old.tape.extra and v.needs and v.leaf is None and v is not old:
        _still_retained(old, v)
    t._tl_v, t._tl_at = v, cell.n
    mark_seen(v, t._tl_counter)
    return v


def _beneath(base, strict):
    """The Value of a base that views of it are read from."""
    view = base._tl_view
    if view is not None and view.of_two:
        return view.beneath(base)
    return base._tl_v if base._tl_at == base._tl_cell.n else _read_again(base, strict)


def is_inference(t):
    """Whether the memory of `t` was made in inference mode."""
    return t._tl_v.needs is INFERENCE if t._tl_counter is None else t._tl_counter.inference


def _without_base(view, base, b, old):
    """A view read again whose base does not require grad: a leaf stays one; a history that there was (the base was detached in place) ends here."""
    if old.needs and old.leaf is None:
        return replayed_from(view, base, as_leaf(b, Nowhere(base)), GRAD)
    v = replayed_from(view, base, b, NOGRAD)
    return v if type(old.leaf) is Nowhere else with_history(v, old)


def own_value(v, counter):
    """`v`, or another Value with its contents where `v` belongs to a tensor that counts versions elsewhere."""
    return v if v.seen is None or v.seen[0] is counter else another(v)


def another(v):
    """A Value of its own with the contents of `v`, without history."""
    if not _on_its_own(v):
        return record_alias(v, "detach")
    out = type(v)(v.aval, False, None, OF_LEAF if v.leaf is not None or (v.tape is None and v.slot == OF_LEAF) else 0)
    out.array = v.array
    return out


def _on_its_own(v):
    """Whether another Value over the array of `v` can do without a record, where levels that end find theirs."""
    return v.array is not None and type(v.aval) is not LeveledAval


def with_history(v, old):
    """The contents of `v` under the history of `old`."""
    if not old.needs:
        return as_detached(v)
    level = belonging.innermost(old) if v.needs and v.leaf is None and v is not old and levels.running() else None
    if level is not None:       # written through `.data` inside of a transformation: the levels around it see that
        return walls.merged([level], old, v)
    if old.leaf is not None:
        return v if v.leaf is old.leaf else as_leaf(v, old.leaf)
    old = old if v.aval.shape == old.aval.shape else _whole_history(old)
    return record_one(_GRAFT, (v, old if levels.dual(v) else levels.primal(old, GRAD)), GRAD)


def _whole_history(old):
    """The Value whose shape gradients have to fit: of contents of another shape under a history the one that the history began with, if a record holds both."""
    while old.tape is not None and old.tape.open:
        step = step_of(old.tape, old.slot)
        if step.kind != "op" or step.form.op is not OPS["_graft"]:
            break
        slot = step.ins[1]
        old = old.tape.values[slot] if slot >= 0 else old.tape.inputs[-slot - 1]
    return old


def _same_history(t, v, b):
    """A view's new contents where its history stays; one that had none requires grad with its base, leading nowhere."""
    old = t._tl_v
    if old.needs and (b.needs or not isinstance(old.leaf, Nowhere)):
        return with_history(v, old)
    return as_leaf(v, Nowhere(t)) if b.needs else as_detached(v)


def lead_nowhere(t):
    """Make a view of what requires grad, made under no_grad, require grad without an edge, as torch has it; one of an inference tensor does not."""
    if t._tl_counter.inference or not history(t._tl_view.shown_base).needs:
        return
    seen = t._tl_v.seen
    t._tl_v = as_leaf(t._tl_v, Nowhere(t))
    mark_as(t._tl_v, seen)


def untrack(t):
    """Make a fresh view share memory and nothing else: history and versions are its own."""
    t._tl_view = View(None, t._tl_view.chain, "default")
    t._tl_counter = counter_of(t._tl_v)
    if type(t._tl_v.leaf) is Nowhere:
        t._tl_v = as_detached(t._tl_v)
    mark_seen(t._tl_v, t._tl_counter)


def replayed(chain, value, mode):
    """`value` through a chain of view operators."""
    if not chain:
        return as_detached(value) if mode == NOGRAD else value
    spec = replay_spec(chain)
    if spec.apart is None or mode == NOGRAD or not value.needs:
        return record_one(spec, (value, *_numbers(chain)), mode)
    return _in_parts(chain, value, spec.apart)


def _in_parts(chain, value, first):
    """`replayed` as torch replays what strides do not tell: one node for the links before the first such one, a node for each from there on."""
    value = replayed(chain[:first], value, GRAD)
    for spec, numbers in chain[first:]:
        value = record_one(spec if spec.op.name in BEYOND_STRIDES else replay_spec(((spec, numbers),)), (value, *numbers), GRAD)
    return value


def replayed_from(view, base, b, mode):
    """The view of a base whose Value is `b`."""
    if base._tl_view is view.under:
        return replayed(view.chain if view.under is None else view.chain[len(view.under.chain):], b, mode)
    return replayed(view.chain, _whole(base, b), mode)


def unhooked(t, old):
    """What a write through a view starts from: `old`, read anew from the base where hooks are on the nodes of the view, or a custom Function made it; these
    are left behind in torch."""
    view = t._tl_view
    if view.of_two:
        return view.beneath(t)
    base = view.base
    if base is None or base._tl_cell is not t._tl_cell:
        return old
    of_dual = base._tl_view is not None and base._tl_view.of_two      # whose node is one more on the way
    return replayed_from(view, base, _beneath(base, True), GRAD) if _hooked(old, len(view.chain) + 2 * of_dual) else old


def _hooked(v, links):
    """Whether anybody hooked one of the last nodes behind a Value."""
    tape, slot = v.tape, v.slot
    while links and tape is not None and v.leaf is None:
        step = step_of(tape, slot)
        seen = tape.extra.get(step.first)
        beyond = step.kind == "op" and step.form.op.name == "_as_strided_beyond"  # what it shows more of the base has no gradient but by a write
        if beyond or step.kind == "function" or (seen is not None and (seen.prehooks or seen.posthooks or seen.retain or any(seen.hooks.values()))):
            return True
        slot, links = step.ins[0], links - 1
        if type(slot) is tuple:
            return False
        if slot < 0:
            edge = tape.edges[-slot - 1] if not tape.open else None
            if tape.open:
                v = tape.inputs[-slot - 1]
                edge = (v.tape, v.slot)
            if type(edge) is not tuple:
                return False
            tape, slot = edge
    return False


def _link_by_link(view, base, b):
    """`replayed_from` with a node for each link of the chain."""
    whole = base._tl_view is not view.under
    b = _whole(base, b) if whole else b
    for spec, numbers in view.chain if whole or view.under is None else view.chain[len(view.under.chain):]:
        outs = record_op(recorded(spec, numbers), (b, *numbers), GRAD)
        b = pick(spec, outs) if isinstance(spec, PickSpec) else outs[0]
    return b


def _whole(base, b):
    """The contents of the cell with the history of a base that shows them through a chain (one that was transposed in place, say)."""
    if base._tl_view is None or not base._tl_view.chain:
        return b
    chain = base._tl_view.chain
    return record_one(put_spec(chain, "_whole"), (as_detached(base._tl_cell.value), b, *_numbers(chain)), GRAD if b.needs else NOGRAD)


def view_error(t, indirect):
    """torch's error for a write to a view (or to what it shows) that cannot be differentiated; names come from the history that the view had."""
    if t._tl_view.creation == "argument":      # of a transformation: a leaf there
        return errors.leaf_inplace()
    v, node, number = t._tl_v, None, 0
    if v.needs and v.leaf is None:
        node, number = node_at(v.tape, v.slot)
    return errors.view_written(t._tl_view.creation, None if node is None else short_name(node), number, indirect)


def as_leaf(v, leaf):
    """`v` as a leaf that requires grad, accumulating into `leaf`."""
    if _on_its_own(v):
        out = type(v)(v.aval, True, None, 0)
        out.array = v.array
    else:
        out = record_alias(v, "leaf")
        out.tape.leaves[out.slot] = leaf
    out.leaf = leaf
    return out


def as_detached(v):
    """`v` without history."""
    if not v.needs:
        return v
    if _on_its_own(v):
        return over_its_array(v)
    tape, slot = v.tape, v.slot  # of another thread it may be run for the record
    out = record_alias(v, "detach")
    told = layouts.TOLD.get(tape) if layouts.TOLD and tape is not None else None
    if told is not None and slot in told and out.tape is not None:
        layouts.TOLD.setdefault(out.tape, {})[out.slot] = told[slot]
    return out


def write(t, new):
    """Make `new` the contents of `t` (same shape and dtype) and count a version."""
    cell = t._tl_cell
    counter = t._tl_counter
    if cell is None:
        old = t._tl_v
        if counter is None:
            counter = t._tl_counter = counter_of(old)
        if old.seen is None:
            mark_seen(old, counter)
        if counter.inference and not new.needs:
            new.needs = INFERENCE
        t._tl_v = new
        try:
            counter.n += 1
        except RuntimeError:
            t._tl_v = _without_history(new)
            raise
        mark_seen(new, counter)
        if new.needs and old.needs:
            follow(old, new, counter)
        return
    view = t._tl_view
    base = None if view is None else view.base
    shown = new
    if view is not None and view.of_two:
        return view.write(t, new)
    if base is not None and base._tl_cell is cell:
        old = _beneath(base, False)
        if view.under is not None and not new.needs and may_repeat(base) and repeated_dims(base):
            return _write_below(t, new)
        if base._tl_view is not view.under:  # a base that shows a part of its memory by now, and not what else is written here
            cell.value = _put_data(view.chain, cell.value, new) if view.chain else as_detached(new)
        new = _put(view, base, old, new)
        t = base
        if t._tl_view is not None and t._tl_view.of_two:
            return t._tl_view.write(t, new)
    else:
        old = t._tl_v
    if new.needs:
        follow(old, new, counter)
    value = new if t._tl_view is None or not t._tl_view.chain else _put_data(t._tl_view.chain, cell.value, new)
    if counter.inference and not new.needs:
        new.needs = INFERENCE
    cell.value = value
    cell.n += 1
    t._tl_v, t._tl_at = new, cell.n
    try:
        counter.n += 1  # refused for an inference tensor outside of its mode, which is written nevertheless, as torch does it
        mark_seen(new, counter)
        if shown is not new:
            mark_seen(shown, counter)
    except RuntimeError:
        t._tl_v = _without_history(new)
        cell.value = t._tl_v if value is new else value
        raise
    finally:
        cell.written()


def _without_history(new):
    """What was written to an inference tensor outside of the mode, which is refused."""
    out = as_detached(new) if new.needs is not INFERENCE else new
    out.needs = INFERENCE
    return out


def _write_below(t, new):
    """Write what has no history through a view of a tensor that repeats elements: to the memory under both, which the other places show when they are read."""
    cell, counter = t._tl_cell, t._tl_counter
    if counter.inference:
        new.needs = INFERENCE
    cell.value = _put_data(t._tl_view.chain, cell.value, new)
    cell.n += 1
    counter.n += 1
    mark_seen(new, counter)
    cell.written()


python_write = write
if native is not None:
    write = native.write


def write_own(t, new, old):
    """`write` to the tensor whose method was called: a view without a history has its own from then on, as torch gives it one at once."""
    write(t, new)
    if new.needs and not old.needs and t._tl_view is not None:
        history(t)


def follow(old, new, counter):
    """A tensor that retains its gradient goes on doing so with its new value; messages name the last writer."""
    counter.writer = ref(new)
    if old.tape is None or not old.tape.extra or new.leaf is not None:
        return
    _still_retained(old, new)


class LeftBehind(ref):
    """What stands for a tensor that retains the gradient of a result which it does not show any more."""

    __slots__ = ()


def retained_behind(t, old):
    """`t` is about to be turned in place, or to lose its history: a gradient that it retains is that of what it was, `old`, from now on."""
    if not old.needs or old.leaf is not None or not old.tape.extra:
        return
    tape, slot, step = place_and_step(old)
    seen = observed(tape, step.first)
    if seen is not None and slot in seen.retain and seen.retain[slot]() is t:
        seen.retain[slot], t._tl_leaf_point().behind = LeftBehind(t), True


def _still_retained(old, new):
    if old.leaf is not None or not any(type(first) is int for first in old.tape.extra):
        return
    where, place, _ = place_and_step(old)
    for first, seen in list(where.extra.items()):
        if type(first) is int and type(seen.retain.get(place)) is ref:
            holder = seen.retain.pop(place)
            tape, slot, step = place_and_step(new)
            observed(tape, step.first, True).retain[slot] = holder
            if new.tape is not tape:
                observed(new.tape, step_of(new.tape, new.slot).first, True)  # the next write looks here


def _put_data(chain, value, new):
    return record_one(put_spec(chain), (value, new, *_numbers(chain)), NOGRAD)


def _put(view, base, old, new):
    """The base's next Value where `new` was written through a view of it; where that is not recorded its history stays."""
    if base._tl_view is not view.under:
        return replayed(base._tl_view.chain, _put_into(view.chain, _whole(base, old), new), GRAD)
    return _put_into(view.chain if view.under is None else view.chain[len(view.under.chain):], old, new)


def _put_into(chain, old, new):
    if new.needs:
        return record_one(put_spec(chain), (old, new, *_numbers(chain)), GRAD) if chain else new
    if not old.needs:
        return _put_data(chain, old, new) if chain else new
    if old.leaf is None or not chain:
        return with_history(_put_data(chain, old, new) if chain else new, old)
    out = record_one(put_spec(chain), (old, new, *_numbers(chain)), LEAF)
    out.leaf = out.tape.leaves[out.slot] = old.leaf
    return out


def _numbers(chain):
    return [x for _, numbers in chain for x in numbers]


def may_repeat(t):
    """Whether a tensor is a view made by an operator that can show one element several times."""
    return t._tl_view is not None and any(link.op.name in REPEATING for link, _ in t._tl_view.chain)


def repeats(t):
    """torch's error for a write to a view that shows one element several times, or None where it does not."""
    return written_repeats() if may_repeat(t) and repeated_dims(t) else None


def overlaps(t):
    """Whether elements of a view that `may_repeat`, but repeats none along a dim, lie at the same place of memory."""
    shape, reach = t._tl_v.aval.shape, 0
    for stride, n in sorted((s, n) for n, s in zip(shape, t._tl_geometry()[0]) if n > 1):
        if stride <= reach and 0 not in shape:
            return True
        reach += stride * (n - 1)
    return False


def repeated_dims(t):
    """The dims along which a tensor shows the same elements."""
    shape = t._tl_v.aval.shape
    return () if 0 in shape else tuple([d for d, (n, s) in enumerate(zip(shape, t._tl_geometry()[0])) if s == 0 and n > 1])


_GRAFT = spec_of(OPS["_graft"], (), ("T", "T"))
