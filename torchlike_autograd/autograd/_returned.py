"""Inputs that a Function returns as they are (layer 7)."""

from __future__ import annotations

from .._core import overriding
from .._core.record import mark_seen
from .._core.state import copy_state
from .._core.storage import View, cell_of
from .._tensor import Tensor, _new
from .grad_mode import no_grad


def as_kind(o, out):
    """The alias of an input as what the input's class makes of it, which torch asks for a view."""
    if not overriding.overrides(type(o)):
        return out
    with no_grad():
        view = o.view_as(o)
    copy_state(out, view)
    return view


def alias(o, v):
    """An input returned as it is: a view of it with the Function's node."""
    cell = cell_of(o)
    out = _new(Tensor)
    out._tl_v, out._tl_cell, out._tl_at, out._tl_counter = v, cell, cell.n, o._tl_counter
    mark_seen(v, o._tl_counter)
    old = o._tl_view
    if old is None:
        out._tl_view = View(o, (), "function")
    else:
        out._tl_view = View(o, old.chain, "function", old) if old.base is None else View(old.base, old.chain, "function", old.under)
    return out


__all__ = ["alias", "as_kind"]
