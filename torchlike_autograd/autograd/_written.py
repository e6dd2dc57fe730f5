"""What a Function says that its forward wrote in place (layer 7): torch's rules for it."""

from __future__ import annotations

from .._core import levels, parts
from .._core.dispatch import check_inplace
from .._core.record import thread
from .._core.saying import warn
from .._core.storage import unhooked
from .._tensor import Tensor
from .graph import increment_version


def check_dirty(ctx, before, outputs, live):
    """torch's rules for what was written, whose versions count it even where they refuse; before: {id of an input: its Value before the call}; live: whether
    there is a node."""
    try:
        _check_dirty(ctx, before, outputs, live and len([o for o in outputs if isinstance(o, Tensor)]) > 1)
    except RuntimeError:
        for d in ctx.dirty_tensors:
            increment_version(d)
        raise


def _check_dirty(ctx, before, outputs, several):
    for d in ctx.dirty_tensors:
        v = before.get(id(d), d._tl_v)
        if thread.state.grad and v.needs and v.leaf is not None:
            raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
        if several and d._is_view():
            raise RuntimeError(_VIEW_AND_MORE)
        if thread.state.grad and v.needs:
            check_inplace(d)
        if not any(d is o for o in outputs) or (ctx._forward_cls.generate_vmap_rule and _mapped(v)):  # a generated rule returns tensors of its own
            raise RuntimeError(
                "Some elements marked as dirty during the forward method were not returned as output. The inputs that are modified inplace must all be outputs "
                "of the Function.")
        if id(d) not in before:
            if d._is_view() and thread.state.grad and any(ctx.needs_input_grad):
                raise RuntimeError(_NOT_GIVEN)
            warn(_NOT_GIVEN)


def _mapped(v):
    return any(lv.kind == levels.MAP and lv.randomness is not levels.OLD and lv.key in parts.primal_maps(v) for lv in levels.running())


_NOT_GIVEN = ("ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated should be passed to "
              "ctx.mark_dirty().")


_VIEW_AND_MORE = (
    "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return more than one Tensor. This is not supported by "
    "the current autograd engine. You should either make sure the input is not a view (using .clone() for example) or make your Function only return one "
    "Tensor (potentially splitting it into two Functions: one doing the inplace that returns a single Tensor and a second one that does the other operations). "
    "You can ask on the forum https://discuss.pytorch.org/ if you need help to do this change.")


def without_hooks(t, v):
    """What a Function leads to that writes to `t`: with a view whose nodes somebody hooked, the base, as torch's node of the write does."""
    view = t._tl_view
    return v if view is None or view.of_two or not v.needs or view.creation != "default" else unhooked(t, v)


__all__ = ["check_dirty", "without_hooks"]
