"""A gradient of an expanded shape, summed to the shape that its place in the graph has."""

from __future__ import annotations

from .._core import shapes
from .._core.composite import named
from .._ops.graft import does_not_fit
from .._tensor import wrap


def reduced_to(v, shape, i, whose=""):
    """`v` summed to `shape`, if that is expanded to the shape of `v`; whose: what torch's words say of who gave gradient i."""
    try:
        ok = shapes.broadcast(v.aval.shape, shape) == v.aval.shape
    except RuntimeError:
        ok = False
    if not ok:
        raise does_not_fit(v.aval.shape, shape, i, whose)
    lead = len(v.aval.shape) - len(shape)
    dims = (*range(lead), *(d + lead for d, n in enumerate(shape) if n == 1 and v.aval.shape[d + lead] != 1))
    return (named("sum")(wrap(v), dims) if dims else wrap(v)).view(shape)._tl_value()


__all__ = ["reduced_to"]
