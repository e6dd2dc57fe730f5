"""What a custom Function saves (layer 7): `ctx.save_for_backward` and `ctx.saved_tensors`."""

from __future__ import annotations

from weakref import ref

from .._core import levels
from .._core.errors import inference_saved, modified_inplace, second_time, tensor_type
from .._core.nodes import short_name
from .._core.record import counter_of, thread
from .._core.saved import FREED, Packed, SavedTensor, current_hooks, placed, set_twice
from .._core.storage import as_detached, is_inference
from .._tensor import Tensor, wrap


class Kept:
    """A saved tensor: an input, or what has no history, as itself, an output by its contents and its place in the graph, or what a pack hook made of it.

    As `owner` of a SavedTensor it answers `register`, `look` and `whole`.
    """

    __slots__ = ("counter", "ctx", "freed", "output", "packed", "shown", "tensor", "value", "version")

    def __init__(self, ctx, t, outputs, inner=None):
        self.packed, self.freed, self.ctx = None, False, None if ctx is None else ref(ctx)
        self.value, self.shown = t._tl_value(), None
        self.output = next((i for i, o in enumerate(outputs) if o is t), None) if self.value.needs else None  # one without history is kept as an input is
        self.tensor = None if self.output is not None else t
        if t._tl_counter is None:  # no cell: it would hold the Value of an output when that dies
            t._tl_counter = counter_of(t._tl_v)
        self.counter, self.version = t._tl_counter, t._tl_counter.n
        hooks = current_hooks(thread.state)
        if hooks is not None:
            self._pack(hooks)
        elif self.output is not None and self.value.needs:
            self._unhold(inner[id(t)])

    def _unhold(self, inner):
        """Keep what forward computed, not the result of the node, which would hold this in turn: torch saves outputs without their history too."""
        v = self.value
        self.shown, self.value = (ref(v), (v.tape, v.slot)), inner

    def _pack(self, hooks):
        v = self._whole_value()
        self.packed, self.shown = Packed(hooks, v, self.tensor), None
        if v.needs:
            self.value = v.leaf if v.leaf is not None else (v.tape, v.slot)  # its place alone: the contents are the hooks' now
        else:
            self.value = None
        self.tensor = None

    def register(self, hooks):
        """Pack now."""
        if self.freed:
            raise RuntimeError(FREED)
        if self.packed is not None:
            raise set_twice()
        self._pack(hooks)

    def look(self):
        """(what is held, the hook that unpacks it)."""
        if self.packed is not None:
            return self.packed.kept, self.packed.unpack
        return None if self.freed else self.tensor if self.tensor is not None else wrap(as_detached(self.value)), None

    def whole(self):
        """The tensor, for who has no ctx at hand."""
        if self.freed:
            raise second_time()
        return self.unpack(None if self.ctx is None else self.ctx())

    def release(self):
        """Forget it."""
        self.freed, self.tensor, self.value, self.shown = True, None, None, None
        if self.packed is not None:
            self.packed.release()

    def unpack(self, ctx):
        """The tensor, its version checked."""
        if self.packed is not None:
            if self.value is None:
                t = self.packed.tensor()
                return wrap(as_detached(t._tl_value())) if t.requires_grad else t  # the very tensor, as in torch
            return wrap(placed(self.packed.value(), self.value))
        if self.counter.n != self.version:
            raise self._modified(ctx)
        return self.tensor if self.tensor is not None else wrap(self._whole_value())

    def _whole_value(self):
        """The Value with its history."""
        if self.shown is None:
            return self.value
        found, place = self.shown
        v = found()
        return placed(self.value, place) if v is None else v

    def _modified(self, ctx):
        a = self.value.aval
        producer = None if self.output is None else f"output {self.output} of {short_name(ctx)}"
        if self.tensor is not None and self.tensor.grad_fn is not None:
            producer = f"output {self.tensor.output_nr} of {short_name(self.tensor.grad_fn)}"
        return modified_inplace(tensor_type(a.dtype), a.shape, producer, self.counter.n, self.version)


class _Nothing:
    """Owner of the slot of a None that was saved."""

    @staticmethod
    def look():
        return None, None

    @staticmethod
    def whole():
        return None

    @staticmethod
    def register(hooks):
        raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")


def keep(ctx, tensors, outputs, inner, make=Kept):
    """The Kept of each tensor given to save_for_backward (None for None), as `make` makes it; inner: by the id of an output the Value that forward gave."""
    out = []
    for i, t in enumerate(tensors):
        if t is not None and not isinstance(t, Tensor):
            raise TypeError(f"save_for_backward can only save variables, but argument {i} is of type {type(t).__name__}")
        if t is not None and is_inference(t) and not levels.differentiating():
            raise inference_saved()
        out.append(None if t is None else make(ctx, t, outputs, inner))
    return tuple(out)


def saved_tensors(ctx):
    """What `ctx.saved_tensors` gives, once only where the Function asks for that."""
    if ctx.__dict__.get("_tl_cleared"):
        raise RuntimeError("saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set on the autograd.Function. Either access "
                           "saved_tensors only once, or set clear_saved_tensors_on_access=False.")
    if ctx._tl_freed:
        raise second_time()
    kept = ctx.__dict__.get("_tl_saved", ())  # nothing is saved before `forward` is over
    out = tuple(None if s is None else s.unpack(ctx) for s in kept)
    if ctx._forward_cls.clear_saved_tensors_on_access:
        ctx._tl_cleared = True
        release(ctx)
    return out


def release(ctx):
    """Forget what a ctx saved."""
    for s in ctx.__dict__.get("_tl_saved", ()):
        if s is not None:
            s.release()
    ctx._tl_saved = ()


def raw_saved_tensors(ctx):
    """A SavedTensor for each."""
    if ctx._tl_freed:
        raise second_time()
    return tuple(SavedTensor._of(_Nothing if s is None else s) for s in ctx.__dict__.get("_tl_saved", ()))


def check_notes(ctx, split):
    """torch's errors where forward, or setup_context, noted something else on ctx than tuples of tensors; torch 2.13 leaves out what stands there."""
    notes = ctx.__dict__
    for name in ("to_save", "saved_for_forward", "dirty_tensors", "non_differentiable"):
        noted = notes.get(name, ())
        if noted is None:
            del notes[name]
        elif not isinstance(noted, tuple) and (split or name != "saved_for_forward"):
            raise RuntimeError(f"autograd internal error: {name} attribute is expected to be a tuple but is ")
    for name, words in _NO_TENSORS.items():
        if not all(isinstance(t, Tensor) for t in notes.get(name) or ()):
            raise RuntimeError(words)


_NO_TENSORS = {"dirty_tensors": "mark_dirty can only accept variables, but argument ",
               "non_differentiable": "mark_non_differentiable only accepts variable arguments, but got "}


def check_returned(ctx, args, raw, grad):
    """torch's error where setup_context saves an input that forward returned as it is: not with grad mode off where the input requires grad, as what is
    returned is another tensor then."""
    saved = (*(ctx.to_save or ()), *(ctx.__dict__.get("saved_for_forward") or ()))
    if saved:
        outs = raw if isinstance(raw, tuple) else (raw,)
        as_is = {id(a) for a in args if isinstance(a, Tensor) and any(a is o for o in outs) and not any(a is d for d in ctx.dirty_tensors)
                 and (grad or not a.requires_grad)}
        if any(id(t) in as_is for t in saved if t is not None):
            raise RuntimeError("An input that has been returned as-is as output is being saved for backward. This is not supported if you override "
                               "setup_context. You should return and save a view of the input instead, e.g. with x.view_as(x) or setup ctx inside the forward "
                               "function itself.")


__all__ = ["Kept", "check_notes", "check_returned", "keep", "raw_saved_tensors", "release", "saved_tensors"]
