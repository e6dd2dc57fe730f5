"""`.data` inside of torch.func's transformations (layer 6): torch takes a tensor apart from the level that it was made in alone.

Its tangent there goes; its history there ends, at a wall: passes of that level do not go through it, those of the levels around it and of plain autograd do.
"""

from __future__ import annotations

from .._ops.registry import OPS
from .._ops.spec import spec_of
from .._tensor import Tensor, wrap
from . import belonging, duals, levels, walls
from .record import GRAD, Counter, mark_seen, record_op
from .state import new as _new
from .storage import View, another, as_detached, cell_of

_SAME = spec_of(OPS["alias"], (), ("T",))


def data(t):
    """The tensor that `t.data` is, or None where nothing that runs made `t`: it has no history at all then."""
    v = t._tl_value()
    level = _maker(v)
    if level is None:
        return None
    for inner in levels.running()[levels.running().index(level) + 1:]:
        if inner.kind == levels.DUAL and inner.randomness != "jvp" and levels.has(v, inner):        # of torch.autograd.forward_ad: it has none of its own
            t = duals.unpacked(t, inner)[0]
            v = t._tl_value()
    if level.kind == levels.DUAL:
        return _without_tangent(t, v, level)
    if v.needs and belonging.belongs(v, level):
        if not belonging.reaches([v], level.leaves):
            return _over(t, as_detached(v))
        v = record_op(_SAME, [v], GRAD)[0]
        walls.build(v, [level], False)
    return _over(t, v)


def _maker(v):
    """The innermost running level that wraps a Value: it was made there, of whatever."""
    for level in reversed(levels.running()):
        if level.kind == "grad" and (_since(v, level) or belonging.belongs(v, level)):
            return level
        if level.kind == levels.DUAL and level.randomness == "jvp" and (levels.has(v, level) or _since(v, level)):
            return level
    return None


def _since(v, level):
    """Whether a Value was recorded after a level began."""
    return v.tape is not None and v.leaf is None and v.slot >= 0 and (v.tape.serial, v.slot) >= level.start


def _without_tangent(t, v, level):
    if not levels.has(v, level):
        return _over(t, v)
    p = duals.unpacked(t, level)[0]
    if type(t._tl_view) is duals.DualView and p._tl_value().needs:
        return t._tl_view.source.view_as(t._tl_view.source)       # what is written to it is part of the history around the level
    return p


def _over(t, v):
    """A tensor that shows a Value with the contents of `t`, in its memory, under the history of the Value and with versions of its own."""
    view = t._tl_view
    if view is not None and (view.of_two or (view.base is not None and view.base._tl_view is not None and view.base._tl_view.of_two)):
        return wrap(v)
    cell = cell_of(t)
    out = _new(Tensor)
    out._tl_v, out._tl_counter = another(v) if not v.needs else v if v is not t._tl_v else record_op(_SAME, [v], GRAD)[0], Counter()
    out._tl_cell, out._tl_at, out._tl_laid = cell, cell.n, t._tl_laid
    out._tl_view = None if view is None else View(None, view.chain, "default")
    mark_seen(out._tl_v, out._tl_counter)
    return out


levels.APART["data"] = data
