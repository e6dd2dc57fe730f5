"""Calls that were recorded before (layer 6): the remembered edge of the trie is followed with as little Python as there can be.

Nothing here decides anything: each function follows an edge that the general way (`dispatch.run`, `dispatch.inplace`) has made, and goes the
general way where there is none.  They differ in how many tensors a call has, because generic code over argument lists costs more than the call.
"""

from __future__ import annotations

from .._tensor import Tensor
from . import record
from .laying import bent, lay
from .record import INPLACE, LEAF, LOCK, NOGRAD, Value, record_op, thread
from .speed import native
from .state import new as _new
from .storage import REPLAY, ReplayedView, View, cell_of, lead_nowhere, read, write

PLAIN = {Tensor}  # exact types of tensors that may go these ways

_acquire, _release = LOCK.acquire, LOCK.release


def unary(spec, x):
    """A call with one tensor and no numbers."""
    v = x._tl_v if x._tl_cell is None else read(x)
    th = thread.state
    _acquire()
    try:
        tape = th.tape
        nxt = tape.prefix.next.get((spec, th.grad, v.slot if v.tape is tape else tape.enter(v)))
        out = nxt and Value(nxt.aval, nxt.needs, tape, nxt.first)
        if out is None or not record.follow(tape, nxt, (out,)):
            out = record_op(spec, (v,))[0]
    finally:
        _release()
    t = _new(Tensor)
    t._tl_v = out
    if spec.lies is not None and (spec.lies or bent(x)):
        lay(spec, (x,), (t,))
    return t


def binary(spec, x, y):
    """A call with two tensors."""
    a = x._tl_v if x._tl_cell is None else read(x)
    b = y._tl_v if y._tl_cell is None else read(y)
    th = thread.state
    _acquire()
    try:
        tape = th.tape
        i = a.slot if a.tape is tape else tape.enter(a)
        nxt = tape.prefix.next.get((spec, th.grad, i, b.slot if b.tape is tape else tape.enter(b)))
        out = nxt and Value(nxt.aval, nxt.needs, tape, nxt.first)
        if out is None or not record.follow(tape, nxt, (out,)):
            out = record_op(spec, (a, b))[0]
    finally:
        _release()
    t = _new(Tensor)
    t._tl_v = out
    if spec.lies is not None and (spec.lies or bent(x) or bent(y)):
        lay(spec, (x, y), (t,))
    return t


def with_number(spec, x, number):
    """A call with a tensor and a Python number, in either order by the spec's pattern."""
    v = x._tl_v if x._tl_cell is None else read(x)
    t = _new(Tensor)
    t._tl_v = _numbered(spec, v, number)
    if spec.lies is not None and (spec.lies or bent(x)):
        lay(spec, (x, number) if spec.pattern[0] == "T" else (number, x), (t,))
    return t


def _numbered(spec, v, number):
    th = thread.state
    _acquire()
    try:
        tape = th.tape
        nxt = tape.prefix.next.get((spec, th.grad, v.slot if v.tape is tape else tape.enter(v)))
        if nxt is None or record.beyond(number):
            return record_op(spec, (v, number) if spec.pattern[0] == "T" else (number, v))[0]
        out = Value(nxt.aval, nxt.needs, tape, nxt.first)
        return out if record.follow(tape, nxt, (out,), (number,)) else record_op(spec, (v, number) if spec.pattern[0] == "T" else (number, v))[0]
    finally:
        _release()


def view(spec, source, number=None):
    """A view by an operator with one result, with one number at most."""
    v = source._tl_v if source._tl_cell is None else read(source)
    if number is None:
        return make_view(source, spec, (), record_op(spec, (v,))[0], None)
    return make_view(source, spec, (number,), _numbered(spec, v, number), None)


def make_view(source, link, numbers, v, creation):
    """A Tensor showing `v`, a view of `source` by one more link."""
    cell = source._tl_cell
    if cell is None:
        cell = cell_of(source)
    counter, old = source._tl_counter, source._tl_view
    if creation is None:
        creation = "default" if thread.state.grad else "inference" if thread.state.inference else "no_grad"
    if old is None:
        base, chain, under = source, ((link, numbers),), None
    else:
        chain, base = (*old.chain, (link, numbers)), old.base
        if base is None:
            base, under = source, old
        else:
            under = old.under
            if creation == "default" or old.creation == "inference":
                creation = old.creation
    t = _new(Tensor)
    t._tl_v = v
    t._tl_cell, t._tl_at, t._tl_counter = cell, cell.n, counter
    v.seen = seen = (counter, counter.n)
    if v.tape is not None:
        v.tape.seen[v.slot] = seen
    t._tl_view = View(base, chain, creation, under) if not REPLAY or thread.state not in REPLAY else ReplayedView(base, chain, creation, under)
    if not v.needs and base._tl_v.needs and not thread.state.grad:
        lead_nowhere(t)
    return t


def twin(spec, t, y, general):
    """`t.op_(y)`, or `t.op_()` for None, where `t` is no view; anything unusual goes to `general(spec, (t, y), t)`."""
    if t._tl_view is not None:
        return general(spec, (t,) if y is None else (t, y), t)
    th = thread.state
    grad = th.grad
    _acquire()  # from the reading to the writing: what another thread writes to `t` is not lost
    try:
        old = t._tl_v if t._tl_cell is None else read(t)
        leaf = old.leaf if old.needs else None
        if old.needs and (leaf is None) is not grad:
            return general(spec, (t,) if y is None else (t, y), t)
        tape = th.tape
        mode = LEAF if leaf is not None else INPLACE if grad else NOGRAD
        i = old.slot if old.tape is tape else tape.enter(old)
        if isinstance(y, Tensor):
            w = y._tl_v if y._tl_cell is None else read(y)
            nxt = tape.prefix.next.get((spec, mode, i, w.slot if w.tape is tape else tape.enter(w)))
        else:
            nxt = tape.prefix.next.get((spec, mode, i))
        if nxt is None or nxt.aval is not old.aval or (old.needs and not nxt.needs):
            return general(spec, (t,) if y is None else (t, y), t)
        if record.beyond(y):
            return general(spec, (t, y), t)
        new = Value(nxt.aval, nxt.needs, tape, nxt.first)
        if not record.follow(tape, nxt, (new,), None if y is None or isinstance(y, Tensor) else (y,)):
            return general(spec, (t,) if y is None else (t, y), t)
        if leaf is not None:
            new.leaf = tape.leaves[new.slot] = leaf
        write(t, new)
    finally:
        _release()
    return t


class Builtin:
    """A function that instances do not bind, as PyTorch's built-in ones: `class C: act = torch.tanh` gives no method."""

    __slots__ = ("__weakref__", "__wrapped__")

    def __init__(self, function):
        self.__wrapped__ = function

    def __call__(self, *args, **kwargs):
        return self.__wrapped__(*args, **kwargs)

    def __getattr__(self, name):
        return getattr(self.__wrapped__, name)

    def __reduce__(self):
        return self.__wrapped__.__qualname__  # copied and pickled by name, as functions are

    def __repr__(self):
        return repr(self.__wrapped__)

    __doc__ = property(lambda self: self.__wrapped__.__doc__)
    __module__ = property(lambda self: self.__wrapped__.__module__)


def wrapped(function, known, kinds, role="call", first=None, binds=True):
    """A function of the op table with the remembered paths before it, where the C module is there.

    known, kinds: its tables (`bind.make_function`, `bind.Recipes`); role: "call", "write" (a `_` twin), "swapped" (a reflected operator) or "item" (`x[...]`);
    first: the spec of a call with two matrices, of `x[i]`; binds: whether it is a method where it is an attribute of a class.
    """
    if native is None:
        return function if binds else Builtin(function)
    return (native.Function if binds else native.Builtin)(function, known, kinds, _ROLES[role], first)


_ROLES = {"call": 0, "swapped": 1, "write": 2, "item": 3}


if native is not None:
    python_view = view
    unary, binary, with_number, view, twin = native.unary, native.binary, native.with_number, native.view, native.twin

__all__ = ["PLAIN", "binary", "make_view", "twin", "unary", "view", "with_number", "wrapped"]
