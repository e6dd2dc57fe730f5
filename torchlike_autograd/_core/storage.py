"""Storage cells, versions and views (layer 4).

Arrays are immutable; a write makes a new Value and moves the cell.  Three kinds of tensor:

* alone: no cell.  The tensor holds its Value; a write replaces it.
* base or alias (detach, .data): shares a `Cell` with others; reads the cell's Value.
* view: shares the base's cell and reads it through a chain of view operators.  A write through a view puts the new view value back into the
  base ("CopySlices") and everybody else reads again when asked:

      base ---- cell {value, n} ---- view (chain: select 1, narrow 0:2)
      view.mul_(10):  new = view * 10;  cell.value = put(chain, cell.value, new);  n += 1

A reader that took the old Value keeps it; the version check finds out.  All functions take Tensors by duck type: `_v` (Value last read),
`_cell`, `_at` (the cell's n at that time), `_view`, `_detached`.
"""

from __future__ import annotations

from weakref import ref

import jax
import jax.numpy as jnp

from .._ops.registry import OPS, SMOOTH, Promote, call, op, real
from .._ops.spec import Form, Layout, Spec, spec_of
from . import shapes
from .nodes import observed
from .record import GRAD, LEAF, NOGRAD, Counter, mark_seen, record_alias, record_one, slot_table, thread


class Cell:
    """The contents shared by a base, its aliases and views; n counts contents, `counter` is torch's version."""

    __slots__ = ("counter", "n", "value")

    def __init__(self, value, counter):
        self.value, self.counter, self.n = value, counter, 0


class View:
    """How a view is read from its base: chain of (spec, numbers), and how it was made."""

    __slots__ = ("base", "chain", "creation", "geometry", "producer")
    # creation: "default" | "no_grad" | "inference" | "multi" | "function"

    def __init__(self, base, chain, creation, producer=None):
        self.base, self.chain, self.creation, self.producer = base, chain, creation, producer
        self.geometry = None


def cell_of(t) -> Cell:
    """The tensor's cell, made now if it was alone."""
    cell = t._cell
    if cell is None:
        counter = t._counter
        if counter is None:
            counter = t._counter = Counter()
        cell = t._cell = Cell(t._v, counter)
        if t._v.seen is None:
            mark_seen(t._v, counter)
        t._at = 0
    return cell


def read(t):
    """The current Value of a tensor that has a cell."""
    cell = t._cell
    if t._at == cell.n:
        return t._v
    old, view = t._v, t._view
    if view is None:
        v = cell.value
    elif len(view.chain) == 0:
        v = cell.value
    else:
        v = record_one(_replay_spec(view.chain), (cell.value, *_numbers(view.chain)), GRAD)
    if t._detached:
        v = as_detached(v)
    elif old.leaf is not None and old.needs and v.leaf is not old.leaf:
        v = as_leaf(v, old.leaf)
    elif old.needs and not v.needs:
        v = record_one(_GRAFT, (v, old), GRAD)
    t._v, t._at = v, cell.n
    mark_seen(v, t._counter)
    return v


def as_leaf(v, leaf):
    """`v` as a leaf that requires grad, accumulating into `leaf`."""
    if v.array is not None:
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
    if v.array is not None:
        out = type(v)(v.aval, False, None, 0)
        out.array = v.array
        return out
    return record_alias(v, "detach")


def write(t, new):
    """Make `new` the contents of `t` (same shape and dtype) and count a version."""
    cell = t._cell
    counter = t._counter
    if cell is None:
        old = t._v
        if counter is None:
            counter = t._counter = Counter()
        if old.seen is None:
            mark_seen(old, counter)
        counter.n += 1
        mark_seen(new, counter)
        t._v = new
        if new.needs and old.needs:
            _follow(old, new, counter)
        return
    view = t._view
    old = cell.value
    if view is not None and view.chain:
        new = _put(view.chain, cell.value, new, t._detached)
    if new.needs:
        _follow(old, new, counter)
    cell.value = new
    cell.n += 1
    counter.n += 1
    if view is None or not view.chain:
        t._v, t._at = new, cell.n
        mark_seen(new, counter)


def _follow(old, new, counter):
    """A tensor that retains its gradient goes on doing so with its new value; messages name the last writer."""
    counter.writer = ref(new)
    if old.tape is None or not old.tape.extra or new.leaf is not None:
        return
    for first, seen in list(old.tape.extra.items()):
        if type(first) is int and old.slot in seen.retain:
            holder = seen.retain.pop(old.slot)
            step = slot_table(new.tape.prefix)[new.slot][0]
            observed(new.tape, step.first, True).retain[new.slot] = holder


def _put(chain, base_value, new, detached):
    leaf = base_value.leaf if base_value.needs else None
    mode = thread.state.grad
    if leaf is not None:
        mode = LEAF if not new.needs or not mode else GRAD
    elif base_value.needs or new.needs:
        mode = GRAD if mode and not detached else NOGRAD
    out = record_one(_put_spec(chain), (base_value, new, *_numbers(chain)), mode)
    if mode == LEAF:
        out.leaf = leaf
        out.tape.leaves[out.slot] = leaf
    return out


def _numbers(chain):
    return [x for _, numbers in chain for x in numbers]


# Chains as operators: interned by the specs they are made of.

class _ChainOp:
    """An operator made of view operators: `replay` reads the view from the base, `put` writes it back."""

    def __init__(self, chain_specs, body, node, saves):
        self.key = self.name = f"{node}[{', '.join(s.op.name for s in chain_specs)}]"
        self.body, self.node, self.saves = body, node, saves
        self.params = ()
        self.derivative, self.promote = "body", Promote.NONE
        self.nondiff = self.nondiff_out = self.lift = self.scalars = ()
        self.rule, self.opmath, self.is_view, self.host, self.promote_with = None, False, False, False, None
        self.multi = False
        self.bake, self.guard, self.zero_second = {}, None, False
        self.specs = {}


class _ChainSpec(Spec):
    """Spec whose flat inputs go to the body as they are."""

    __slots__ = ("arity",)

    def form(self, avals):
        out = self.forms.get(avals)
        if out is None:
            out = self.forms[avals] = _ChainForm(self, avals)
        return out


class _FlatLayout:
    def __init__(self, names):
        self.names = names

    def owner(self):
        return self.names

    def arguments(self, flat):
        return list(flat), {}


class _ChainForm(Form):
    __slots__ = ()

    def _layout(self):
        names = ["self", "src"][: self.spec.arity]
        return _FlatLayout(names + [f"n{i}" for i in range(len(self.avals) - self.spec.arity)])


_replays: dict = {}
_puts: dict = {}


def _replay_spec(chain):
    key = tuple(s for s, _ in chain)
    out = _replays.get(key)
    if out is None:
        out = _replays[key] = _chain_spec(key, _reader([(s, len(n)) for s, n in chain]), "AsStridedBackward0", {}, 1)
    return out


def _put_spec(chain):
    key = tuple(s for s, _ in chain)
    out = _puts.get(key)
    if out is None:
        out = _puts[key] = _chain_spec(key, _writer([(s, len(n)) for s, n in chain]), "torch::autograd::CopySlices", {}, 2)
    return out


def _chain_spec(key, body, node, saves, arity):
    spec = _ChainSpec(_ChainOp(key, body, node, saves), {}, ())
    spec.arity = arity
    return spec


def _apply_link(spec, x, numbers):
    args, kwargs = _link_arguments(spec, x, numbers)
    return spec.op.body(*args, **kwargs, **spec.statics)


def _link_arguments(spec, x, numbers):
    return Layout(spec.op, spec.pattern).arguments([x, *numbers])


def _reader(links):
    def body(base, *numbers):
        x, k = base, 0
        for spec, n in links:
            x = _pick(spec, _apply_link(spec, x, numbers[k:k + n]))
            k += n
        return x

    return body


def _pick(spec, out):
    return out[spec.output] if isinstance(spec, PickSpec) else out


class PickSpec:
    """Output `output` of a multi-output view operator, as a link of a chain."""

    _made: dict = {}

    def __new__(cls, spec, output):
        key = (spec, output)
        out = cls._made.get(key)
        if out is None:
            out = cls._made[key] = object.__new__(cls)
            out.spec, out.output = spec, output
            out.op, out.statics, out.pattern = spec.op, spec.statics, spec.pattern
        return out


_REPEATING = ("expand", "unfold", "_as_strided")  # views that may show one element several times


def _writer(links):
    if any(spec.op.name in _REPEATING for spec, _ in links):
        return _mapped_writer(links)

    def body(base, src, *numbers):
        steps, x, k = [], base, 0
        for spec, n in links:
            own = numbers[k:k + n]
            steps.append((spec, x, own))
            x = _pick(spec, _apply_link(spec, x, own))
            k += n
        new = src
        for spec, x, own in reversed(steps):
            new = _put_link(spec, x, new, own)
        return new

    return body


def _mapped_writer(links):
    """Through views that may repeat elements: one write by the index map of the whole chain."""
    reader = _reader(links)

    def body(base, src, *numbers):
        _refuse_repeats(links, base.shape)
        where = reader(jnp.arange(shapes.numel(base.shape)).reshape(base.shape), *numbers)
        return base.reshape(-1).at[where.reshape(-1)].set(src.reshape(-1), unique_indices=True).reshape(base.shape)

    return body


def _refuse_repeats(links, shape):
    """torch's error for a write to a tensor that shows one element several times."""
    strides, offset = shapes.contiguous_strides(shape), 0
    for spec, _ in links:
        out = spec.op.layout(shape, strides, offset, **spec.statics, **dict.fromkeys(spec.op.lift, 0))
        shape, strides, offset = _pick(spec, out)
    if any(s == 0 and n > 1 for n, s in zip(shape, strides)):
        raise RuntimeError("unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() the tensor "
                           "before performing the operation.")


def _put_link(spec, x, new, numbers):
    write = spec.op.write
    _, kwargs = _link_arguments(spec, x, numbers)
    if write is not None and not isinstance(spec, PickSpec):
        return write(x, new, **kwargs, **spec.statics)
    index = jnp.arange(shapes.numel(x.shape)).reshape(x.shape)
    where = _pick(spec, _apply_link(spec, index, numbers))
    return x.reshape(-1).at[where.reshape(-1)].set(new.reshape(-1)).reshape(x.shape)


@op("_graft(Tensor self, Tensor history) -> Tensor", node="GraftBackward0", samples=[call(real(2), real(2))], kinks=SMOOTH, nondiff=("self",),
    names=())
def _graft(self, history):
    """The values of `self` with the gradient of `history` (after a write through `.data`)."""
    return _grafted(self, history)


@jax.custom_jvp
def _grafted(values, history):
    return values


@_grafted.defjvp
def _(primals, tangents):
    return _grafted(*primals), tangents[1]


_GRAFT = spec_of(OPS["_graft"], (), ("T", "T"))
