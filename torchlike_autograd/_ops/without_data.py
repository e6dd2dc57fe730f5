"""Operators of which some operands have no data (layer 2): where their results are, and what torch refuses.

What differs from torch: it gives memory that nobody wrote where the first operand of a product has data and another has none; here that is refused.
"""

from __future__ import annotations

from .._core import devices
from .._core.nothing import no_data

_UNASKED = {"mm": (0,), "bmm": (0,), "addmm": (1, 0), "baddbmm": (1, 0), "convolution": (0,)}  # the operands whose device torch looks at
_BY_INDEX = {"embedding", "_embedding_bag", "_index", "_index_put", "index_select", "gather", "take", "scatter", "scatter_add", "scatter_reduce"}
_BY_OTHER = {"masked_fill", "nll_loss", "_nll_loss"}  # the second operand is the expected one


def place(form):
    """Where the results are when some operands have no data: what torch lets stand beside them, and its error for everything else."""
    avals, name = form.avals, form.op.name
    if name in _UNASKED and avals[0].device == "meta":
        return devices.common([avals[i] for i in _UNASKED[name]])
    if name in _UNASKED:
        avals = [avals[i] for i in _UNASKED[name]] + list(avals)
    if name in _BY_OTHER:
        avals = avals[::-1]
    if name in _BY_INDEX:
        avals = [a for a, owner in zip(avals, form.owners) if owner not in ("index", "indices", "offsets") or a.device == "meta"]
    return devices.common(avals)


def check_gradients(form, wanted):
    """torch's error for gradients that would have to come from where there is no data, when a backward pass gets there."""
    if any(a.device == "meta" for a in form.out_avals) and any(form.avals[i].device != "meta" for i in wanted):
        raise no_data()


__all__ = ["check_gradients", "place"]
