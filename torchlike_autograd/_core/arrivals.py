"""Adding gradients to leaves (layer 6)."""

from __future__ import annotations

from .._ops.registry import OPS
from .._ops.spec import spec_of
from .._tensor import Tensor, wrap
from .._tensor_members import pin_layout
from . import levels, sparse_gradients
from .hooks import shown
from .record import GRAD, INFERENCE, LOCK, NOGRAD, record_op, thread
from .shapes import contiguous_strides
from .sparse_gradients import SparseValue
from .speed import native
from .storage import another, as_detached, with_history, write
from .versions import written_once

_ADD = spec_of(OPS["add.Tensor"], (), ("T", "T", "N"))
_COPY = spec_of(OPS["_copy_"], (), ("T", "T"))
AS_IT_COMES = set()  # states of the threads whose passes leave gradients in the layout that they come in


def accumulate(leaf, g, p):
    """Add a gradient to a leaf's: in place, as torch does, unless the sum needs a graph; with other threads there as one piece."""
    first = leaf.grad is None
    as_it_comes = first and thread.state in AS_IT_COMES and not p.create_graph
    if first and p.arriving is not None and p.arriving._tl_v is g and (as_it_comes or _laid_out_as(p.arriving, leaf.tensor())):
        leaf.grad = p.arriving.detach()
        return
    if g.needs is not INFERENCE and p.inference:  # the cotangent that the user gave, to which no operator was applied
        g = p.made([another(g)])[0]
    elif g.needs and not p.create_graph:
        g = as_detached(g)
    if first and p.levels and not p.create_graph and "forward_ad" in thread.state.extra:
        g = levels.primal(g)  # a first gradient comes without a tangent; what is added to it later brings its own
    if native is not None and not p.create_graph and type(g) is not SparseValue:
        native.accumulate(leaf, g)
    else:
        with LOCK:
            accumulate_any(leaf, g, p.create_graph)
    if as_it_comes and type(g) is not SparseValue:
        pin_layout(leaf.grad)


def _laid_out_as(g, t):
    """Whether a gradient lies in memory as the gradient of a leaf does."""
    return g.stride() == (contiguous_strides(g.shape) if t is None else t.stride())


def accumulate_any(leaf, g, create_graph=False):
    old = leaf.grad
    if type(g) is SparseValue or (old is not None and type(old) is not Tensor and sparse_gradients.is_sparse(old)):
        leaf.grad = sparse_gradients.summed(old, shown(g), create_graph)
    elif old is None:
        leaf.grad = wrap(g) if not create_graph else written_once(wrap(record_op(_COPY, (as_detached(g), g), GRAD)[0] if g.needs else g))
    elif create_graph:
        leaf.grad = wrap(record_op(_ADD, (old._tl_value(), g), GRAD)[0])
    else:
        v = old._tl_value()
        new = record_op(_ADD, (v, g), NOGRAD)[0]
        write(old, with_history(new, v) if v.needs else new)  # as every write without grad mode, it leaves the history that there was
