"""The memory around a detached view (layer 7), which `as_strided` may show although no tensor of its history does."""

from __future__ import annotations

from .._core.state import new
from .._core.storage import as_detached, cell_of, peek
from .._ops.spec import LeveledAval
from .._tensor import Tensor


def whole_of(t):
    """An alias, without history, of all the memory that a detached view shows a part of; None for any other tensor."""
    if t._view is None or t._view.base is not None or peek(t).needs or type(peek(t).aval) is LeveledAval:
        return None
    cell = cell_of(t)
    if type(cell.value.aval) is LeveledAval:
        return None
    out = new(Tensor)
    out._v = v = as_detached(cell.value)
    out._cell, out._at, out._counter = cell, cell.n, t._counter
    if v.seen is None:
        v.seen = (t._counter, t._counter.n)
    return out


def marked(source, input, view):
    """A view of `source`.  Where that is an alias that `whole_of` made, differentiated writes to it or to `input` raise NotImplementedError: the one would not
    know of the other's history."""
    if source is not input and source is not input._base:
        view._view.creation = input._view.creation = "beyond"
    return view
