"""A cotangent that reaches its end through views alone: the gradient there is a view of it, as in torch.

`y.view(3).backward(h)` gives the leaf `y` a gradient in the memory of `h`: torch's formula for a view is a view of the gradient, and an accumulation node keeps
what nobody else holds.  Values are immutable here, so memory is shared by Tensors: the cotangent is followed from its root as a Tensor, through nodes that
nobody watches, and what arrives starts the pass in its place.
"""

from __future__ import annotations

from .._core import record
from .._core.leaving import end_of
from .._core.nodes import Leaf, observed, step_of
from .._core.record import LEAF, thread
from .._core.shapes import view_strides
from .._ops.spec import Form

_VIEWED = {"ViewBackward0", "UnsafeViewBackward0", "ReshapeAliasBackward0"}
_SQUEEZED = {"UnsqueezeBackward0", "SqueezeBackward0", "SqueezeBackward1", "SqueezeBackward2"}
_PERMUTED = {"TBackward0", "TransposeBackward0", "PermuteBackward0"}


def followed(place, g, targets, create_graph):
    """(place, Tensor): where the cotangent `g` of `place` is once it went through views alone, and what it is there; (place, g) where something else comes.

    place: a Leaf or (tape, slot); targets: places where gradients are looked at, or None.
    """
    start, given, state = place, g, thread.state
    if state.anomaly is not None:
        return start, given
    outer, state.grad = state.grad, create_graph
    try:
        while type(place) is tuple:
            if targets is not None and place in targets:
                return place, g
            tape, slot = place
            if tape.open and tape.owner is not state:
                record.flush(tape)
            step = step_of(tape, slot)
            g = _back(step, tape, g)
            if g is None:
                return start, given
            place = end_of(tape, step.ins[0])
    finally:
        state.grad = outer
    return (place, g) if type(place) is Leaf else (start, given)


def may_share(step):
    """Whether a cotangent may go through a step as it is, or as a view of itself."""
    form = step.form
    if step.kind != "op" or type(form) is not Form or step.mode == LEAF or step.wanted != (0,) or len(step.out_avals) != 1 or form.silent:
        return False  # a Form of another type moves into or out of a level, or works inside of one
    return _is_view(form) or form.pullback((0,), (0,)).passes == (0,)


def _is_view(form):
    return form.op.is_view or form.op.key == "_unsafe_view"


def _back(step, tape, g):
    """The gradient of a step's one input as torch's formula for it gives it, where that is `g` or a view of it; else None."""
    form = step.form
    if observed(tape, step.first) or not may_share(step):
        return None
    shown = thread.state.grad and g._tl_needs  # in a graph, where it is seen which operators torch uses
    if not _is_view(form):  # products and others whose last step is a view in torch bear its node's name
        return g
    if form.node in _VIEWED or (form.node in _SQUEEZED and not shown):
        shape = form.avals[0].shape
        return g.view(shape) if view_strides(g.shape, g.stride(), shape) is not None else None
    if form.node in _PERMUTED:
        return None if form.op.layout is None or shown else g.permute(_dims_back(form))
    return g if form.node == "AliasBackward0" or form.pullback((0,), (0,)).passes == (0,) else None


def _dims_back(form):
    """The order of dims that undoes a permutation: where each dim of the input went."""
    shape = form.avals[0].shape
    _, went, _ = form.op.layout(shape, tuple(range(len(shape))), 0, **form.spec.statics)
    return tuple(sorted(range(len(went)), key=went.__getitem__))

