"""The memory around a detached view (layer 7), which `as_strided` may show although no tensor of its history does."""

from __future__ import annotations

from .._core import duals, levels
from .._core.record import mark_seen, record_op
from .._core.state import new
from .._core.storage import as_detached, cell_of, peek
from .._ops.registry import OPS
from .._ops.spec import LeveledAval, spec_of
from .._tensor import Tensor


def whole_of(t):
    """An alias, without history, of all the memory that a detached view shows a part of; None for any other tensor."""
    if t._tl_view is None or t._tl_view.base is not None or (peek(t).needs and peek(t).leaf is None) or type(peek(t).aval) is LeveledAval:
        return None
    cell = cell_of(t)
    if type(cell.value.aval) is LeveledAval:
        return None
    out = new(Tensor)
    out._tl_v = v = as_detached(cell.value)
    out._tl_cell, out._tl_at, out._tl_counter = cell, cell.n, t._tl_counter
    if v.seen is None:
        mark_seen(v, t._tl_counter)
    return out


def parts_of(t):
    """(level, primal, tangent) of a dual tensor that shows a part of its memory; None for any other tensor."""
    view = t._tl_view
    if view is None or not view.of_two or not view.chain or levels.mapped(t._tl_v) is not None:
        return None
    level = levels.dual_level(t._tl_v)
    return level, *duals.unpacked(t, level)


def marked(source, input, view):
    """A view of `source`.  Where that is an alias that `whole_of` made, differentiated writes to it or to `input` raise NotImplementedError: the one would not
    know of the other's history."""
    if source is not input and source is not input._base:
        view._tl_view.creation = input._tl_view.creation = "beyond"
    elif source is not input and (view._tl_view.creation == "default" or input._tl_view.creation == "inference"):
        view._tl_view.creation = input._tl_view.creation  # of the base, but made from a view of it
    return view


def seen_through(view, input, source):
    """A view of `source` made from a view of it, `input`, that shows less: as in torch, the gradient is that of what `input` shows."""
    spec = view._tl_view.chain[-1][0]
    strides, at = input._tl_geometry()
    statics = (*spec.statics.items(), ("shown", strides), ("start", at - source._tl_geometry()[1]))
    view._tl_v = record_op(spec_of(OPS["_as_strided_beyond"], statics, ("T", "T")), (peek(input), peek(source)))[0]
    mark_seen(view._tl_v, view._tl_counter)
    return view
