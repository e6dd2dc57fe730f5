"""Gradients of leaves that are sparse tensors (layer 5), where an operator was asked for them: `F.embedding(..., sparse=True)` and its like.

The node of such an operator is run in Python, as that of a custom Function is.  What it gives its leaf waits in `Pass.sparse` until all of the pass's
gradients of the leaf are there; the sum with a dense one is dense.  The values and their places are recorded like anything else: nothing is looked at.

Unlike PyTorch, the gradient is dense where the tensor is no leaf, and in `torch.func`'s transformations.
"""

from __future__ import annotations

from .._ops.spec import Form
from . import errors
from .nodes import Leaf
from .record import INFERENCE, thread
from .values import Value


class SparseValue(Value):
    """A gradient as a pass hands it on, with the SparseTensor that it is and the Leaf that it is for."""

    __slots__ = ("tensor",)

    def __init__(self, tensor, aval, leaf):
        Value.__init__(self, aval, tensor._tl_v.needs, None, 0)
        self.tensor, self.leaf = tensor, leaf


def asked(step):
    """Whether a step is of an operator that was asked for a sparse gradient of its first input."""
    if step.kind != "op" or type(step.form) is not Form:
        return False
    option = step.form.op.sparse
    return option is not None and step.form.spec.statics[option]


def made(step, leaf, g, ins):
    """The SparseValue of a step's cotangent and the inputs {number: Value} that its pullback reads."""
    from ..sparse import _gradients  # cycle: sparse tensors stand on all of this

    form = step.form
    named = {form.owners[i]: v for i, v in ins.items()}
    return SparseValue(_gradients.MAKERS[form.op.name](g, form.avals[0].shape, named, **form.spec.statics), form.avals[0], leaf)


def given(t, aval, place, i, said=""):
    """A sparse tensor as gradient i of something of a type, which stands at a place in the graph: the SparseValue of a Leaf, elsewhere, and where its shape
    is another one, the Value of the dense tensor that it is.
    """
    if t.__dict__["_places"].layout != "sparse_coo":
        raise RuntimeError(f"{said}invalid gradient at index {i} - expected layout Strided but got SparseCsr")
    from ..sparse import _gradients  # as in `made`

    if t.dtype is not aval.dtype:
        t = t.to(aval.dtype)
    return SparseValue(t, aval, place) if type(place) is Leaf and t.shape == aval.shape else _gradients.dense(t)._tl_value()


def is_sparse(t):
    """Whether a tensor is a sparse one."""
    return "_places" in t.__dict__


def size(t):
    """The shape of a tensor as the user sees it, of a sparse one that of all its places."""
    return t.__dict__["_places"].size if is_sparse(t) else t.shape


def fitted(g, root):
    """A gradient that was given for a sparse tensor, as one of its values."""
    from ..sparse import _roots  # as in `made`

    return _roots.fitted(g, root)


def total(parts, dense, add):
    """The sum of a leaf's sparse gradients and its dense one (or None), as Values."""
    from ..sparse import _gradients  # as in `made`

    first = parts[0]
    whole = first if len(parts) == 1 else SparseValue(_gradients.joined([x.tensor for x in reversed(parts)]), first.aval, first.leaf)
    return whole if dense is None else add(dense, _gradients.dense(whole.tensor)._tl_value())


def summed(old, new, create_graph):
    """What `.grad` is after another gradient came: one of both tensors is sparse."""
    from ..sparse import _gradients  # as in `made`

    if old is None:
        return new
    if old._tl_v.needs is INFERENCE and not thread.state.inference:
        raise errors.inference_written()
    return _gradients.accumulated(old, new, create_graph)
