"""The one path of a call (layer 6): Tensors in, a recorded Value, Tensors out; views, in-place twins and ``out=``.

`run(spec, flat)` is everything: `flat` holds Tensors and Python numbers in the order of the spec's pattern.
"""

from __future__ import annotations

import functools

from .._ops.conventions import cxx_of
from .._ops.registry import NONE, OPS, UNIMPLEMENTED
from .._ops.spec import LeveledAval, spec_of
from .._tensor import Tensor, wrap
from . import config, dtypes, errors, guards, levels, mixed, record, written_views
from .chains import links
from .hot import make_view
from .laying import lay_if_bent
from .levels import check_write
from .record import INPLACE, LEAF, LOCK, NOGRAD, Value, record_op, thread, threads
from .repeats import LAST_STAYS, check_out, check_twin, inplace_overlapping, inplace_repeated, keeps_last, last_places
from .saying import warn
from .shapes import broadcast, contiguous_strides, numel
from .sharing import lent, not_resizable
from .speed import native
from .state import new as _new
from .storage import is_inference, may_repeat, memory_size, overlaps, peek, read, repeated_dims, unhooked, untrack, view_error, with_history, write, write_own


def values_of(flat):
    """Values of Tensors; numbers as they are."""
    return [(x._tl_v if x._tl_cell is None else read(x)) if isinstance(x, Tensor) else x for x in flat]


def run(spec, flat):
    """Call an operator: the result Tensor, or a tuple of them."""
    op = spec.op
    if op.is_view and op.multi and len(flat) == 1:
        return _views(spec, flat[0])
    values = record_op(spec, values_of(flat))
    if op.guard is not None:
        guards.note(values[0])
    if op.is_view:
        return _wrap_views(spec, flat, values)
    if not op.multi:
        t = _new(Tensor)
        t._tl_v = values[0]
        lay_if_bent(spec, flat, (t,))
        return t
    outs = tuple([wrap(v) for v in values])
    lay_if_bent(spec, flat, outs)
    return pack(op, outs)


def pack(op, tensors):
    """The tuple that torch returns: a named one where the operator names its fields."""
    return tensors if op.fields is None else tuple.__new__(named_tuple(op), tensors)


_named: dict = {}


def named_tuple(op, suffix=""):
    """torch.return_types.<name> of an operator; suffix: "_out" for what an out= call returns."""
    name = (op.result_name or op.name) + suffix
    out = _named.get((name, op.fields))
    if out is None:
        body = {f: property(lambda self, i=i: self[i]) for i, f in enumerate(op.fields)}
        body.update(__slots__=(), __new__=_named_new, __repr__=_named_repr, n_fields=len(op.fields), n_sequence_fields=len(op.fields), n_unnamed_fields=0,
                    __match_args__=tuple(op.fields))  # no `_fields`, by which libraries tell classes that are called with one argument for each field
        out = _named[(name, op.fields)] = type(name, (tuple,), body)
        out.__module__, out.__qualname__ = "torch.return_types", name
    return out


_DICT = dict


def _named_new(cls, sequence=None, dict=None):
    """From as many values as there are fields; torch takes a dict beside them, of fields without a place, of which there are none."""
    name = f"torch.return_types.{cls.__name__}"
    if sequence is None:
        raise TypeError("structseq() missing required argument 'sequence' (pos 1)")
    if not hasattr(sequence, "__iter__"):
        raise TypeError("constructor requires a sequence")
    if dict is not None and not isinstance(dict, _DICT):
        raise TypeError(f"{name}() takes a dict as second arg, if any")
    values = tuple(sequence)
    if len(values) != cls.n_fields:
        raise TypeError(f"{name}() takes a {cls.n_fields}-sequence ({len(values)}-sequence given)")
    return tuple.__new__(cls, values)


def _named_repr(self):
    fields = ",\n".join(f"{f}={x!r}" for f, x in zip(self.__match_args__, self))
    return f"torch.return_types.{type(self).__name__}(\n{fields})"


# Views

def _wrap_views(spec, flat, values):
    base = next(x for x in flat if isinstance(x, Tensor))
    numbers = tuple(x for x in flat if not isinstance(x, Tensor))
    if not spec.op.multi:
        return make_view(base, spec, numbers, values[0], None)
    creation = _creation(spec.op)
    return _tracked(spec.op, tuple([make_view(base, link, numbers, v, creation) for link, v in zip(links(spec, len(values)), values)]))


def _creation(op):
    return "multi" if op.multi_view and thread.state.grad else None


def _tracked(op, out):
    if op.untracked:
        for t in out:
            untrack(t)
    return out


def _views(spec, source):
    """All results of a view operator of one tensor."""
    out = native.views(spec, source, _creation(spec.op)) if native is not None else None
    return _wrap_views(spec, (source,), record_op(spec, values_of((source,)))) if out is None else _tracked(spec.op, out)


# In place

LISTENING: list = []  # what tells modes of a write, from the first one on (listening.py)


def inplace(spec, flat, target):
    """The ``_`` twin: run, cast to the target's dtype, write; with other threads there as one piece, so that what they write is not lost."""
    if LISTENING:
        heard, out = LISTENING[0](spec, flat, target)
        if heard:
            return out
    grad = thread.state.grad  # asked first: a thread is counted from then on
    if threads[0] == 1:
        return _inplace(spec, flat, target, grad)
    with LOCK:
        return _inplace(spec, flat, target, grad)


def _inplace(spec, flat, target, grad):
    if grad and spec.op.derivative is not NONE:
        check_inplace(target, flat)
    if may_repeat(target):
        if repeated_dims(target):
            if grad and not spec.op.name.startswith("logical_"):  # which torch writes without a look at history
                check_inplace(target, flat)
            return inplace_repeated(spec, flat, target, _check_result)
        if overlaps(target) and not keeps_last(spec.op):
            return inplace_overlapping(spec, flat, target)
    if len(flat) > 1:
        check_twin(spec.op, target, flat)
    old = target._tl_v if target._tl_cell is None else read(target)
    values = [(x._tl_v if x._tl_cell is None else read(x)) if isinstance(x, Tensor) else x for x in flat]
    if grad and old.needs and target._tl_view is not None and flat[0] is target:
        values[0] = old = unhooked(target, old)
    leaf = old.leaf if old.needs and not grad and (target._tl_view is None or target._tl_view.base is None) else None
    if not old.needs or leaf is not None or grad:
        new = _known(spec, LEAF if leaf is not None else INPLACE if grad else NOGRAD, values, old.aval)
        if new is not None and (new.needs or not old.needs):
            if leaf is not None:
                new.leaf = leaf
                new.tape.leaves[new.slot] = leaf
            return _written(spec, target, new, old)
    return _written(spec, target, _inplace_value(spec, values, old, target), old)


def _written(spec, target, new, old):
    if spec.op.guard is not None:
        guards.note(new)  # before the write: who catches the error goes on with what was there
    write_own(target, new, old)
    if new.tape is not None and new.needs and target._tl_view is not None and target._tl_view.base is not None and _keeps_result(spec.op):
        written_views.note(target, new)
    return target


@functools.cache
def _keeps_result(op):
    """Whether a node of an operator may save its result."""
    return any("result" in names for names in op.saves.values())


def _known(spec, mode, values, aval):
    """The result of a call that was recorded here before with the target's own type; None otherwise."""
    with LOCK:
        tape = thread.state.tape
        label, numbers = record.label_of(tape, spec, mode, values)
        nxt = tape.prefix.next.get(label)
        if nxt is None or nxt.aval is not aval:
            return None
        if numbers is not None and any(map(record.beyond, numbers)):
            return None  # what it is depends on what stands beside it
        out = Value(aval, nxt.needs, tape, nxt.first)
        return out if record.follow(tape, nxt, (out,), numbers) else None


_REFUSAL = "result type {have} can't be cast to the desired output type {want}"
_OWN_REFUSALS = {"ldexp": "ldexp can't be cast to the desired output type {want}",
                 "mvlgamma": "mvlgamma: result type {want} can't be cast to the desired output type {have}"}
_CLAMPS = {"clamp", "clamp_min", "clamp_max"}  # torch says the C++ name of the dtype


def _check_result(form, old):
    """torch's error where a result of `form` cannot be written to a tensor that holds `old`."""
    have, want = form.out_avals[0].dtype, old.aval.dtype
    if form.op.name in _RUNNING and have is not want:
        return _check_running(form, old.aval)
    if have is not want and not dtypes.can_cast(have, want):
        shown = cxx_of(want) if form.op.key in _CLAMPS else want.char_name
        raise RuntimeError(_OWN_REFUSALS.get(form.op.name, _REFUSAL).format(have=have.char_name, want=shown))


def _check_common(spec, values, old):
    """torch refuses what cannot be written to its target before its kernel refuses the dtype."""
    from .._ops.casts import promoted  # only where a call is refused

    if spec.op.promote.value not in ("result", "float"):
        return
    have, want = promoted([_aval_of(v) for v in values]), old.aval.dtype
    if spec.op.promote.value == "float" and not (have.is_floating_point or have.is_complex):
        have = config.default_dtype()
    if not dtypes.can_cast(have, want):
        raise RuntimeError(_OWN_REFUSALS.get(spec.op.name, _REFUSAL).format(have=have.char_name, want=want.char_name)) from None


def _check_shape(spec, values, old, found):
    if found != old.aval.shape:
        from .wrong_shapes import wrong_shape

        raise wrong_shape(spec.op.name, old.aval.shape, found, [_aval_of(v).shape for v in values], old.aval.device)


def _check_spread(spec, values, old):
    """torch looks at the shape of what an elementwise call would write before it looks at any dtype."""
    complex_clamp = spec.op.name in _CLAMPS and _aval_of(values[0]).dtype.is_complex  # refused before anything is asked of shapes
    if spec.op.promote.value in ("result", "float") and not complex_clamp:
        _check_shape(spec, values, old, tuple(broadcast(*[_aval_of(v).shape for v in values])))


_RUNNING = {"cumsum", "cumprod"}  # computed in the dtype of the target


def _check_running(form, own):
    asked = form.spec.statics.get("dtype")
    if asked is not None:
        from .._ops.conventions import cxx_of  # only where dtypes differ

        shown = ["unsigned char" if d.name == "uint8" else cxx_of(d) for d in (own.dtype, asked)]
        raise RuntimeError(f"Bad in-place call: input tensor dtype {shown[0]} and output tensor dtype {shown[1]} should match")
    if own.dtype is dtypes.bool_ and own.shape and numel(own.shape):
        raise NotImplementedError(f"\"{form.op.name}_out_cpu\" not implemented for 'Bool'")


def _inplace_value(spec, values, old, target):
    try:
        form = spec.form(tuple(_aval_of(v) for v in values))
    except NotImplementedError as e:
        if getattr(e, "in_place", None) is not None:
            raise e.in_place from None
        check_inplace(target)  # torch refuses to write to a leaf before its kernels look at dtypes
        _check_spread(spec, values, old)
        _check_common(spec, values, old)
        raise
    except RuntimeError as e:
        raise (mixed.in_place(spec.op, [_aval_of(v) for v in values]) or e) from None
    out = form.out_avals[0]
    if type(out) is LeveledAval:
        _check_result(form, old)
        check_write(old.aval, out, spec.op.name, values)
        levels.gets_tangent(target, old.aval, out)
    _check_shape(spec, values, old, out.shape)
    _check_result(form, old)
    grad = thread.state.grad
    leaf = old.leaf if old.needs else None
    exact = out.dtype is old.aval.dtype
    if leaf is not None and not grad and exact and (target._tl_view is None or target._tl_view.base is None) and form.diff_out:
        new = record_op(spec, values, LEAF)[0]
        new.leaf = leaf
        new.tape.leaves[new.slot] = leaf
        return new
    if not exact:
        spec = spec_of(spec.op, tuple(spec.statics.items()), spec.pattern, old.aval.dtype)
    new = record_op(spec, values, INPLACE if grad else NOGRAD)[0]
    return keep_history(new, old, target)


def keep_history(new, old, target):
    """The value to write: where the write is not recorded, or has no derivative, history stays the old one's and a leaf a leaf."""
    if not old.needs or new.needs or (target._tl_view is not None and target._tl_view.base is not None):
        return new
    return with_history(new, old)


def _aval_of(x):
    return x.aval if type(x) is Value else record_number_aval(x)


def record_number_aval(x):
    """The type of a Python number."""
    from .._ops.spec import NUMBERS

    return NUMBERS[record.number_kind(x)]


def check_inplace(t, flat=()):
    """torch's rules for writing to `t` in the current mode, where `flat` are the arguments of the write."""
    if not thread.state.grad:
        return
    v, view = peek(t), t._tl_view
    base = None if view is None else view.base
    dual = t if base is None else base      # what is read from a primal, whose history is that of what is a view for torch, and a tangent
    if dual._tl_view is not None and dual._tl_view.of_two and dual._tl_v.leaf is None:
        under = dual._tl_view.shown
        if base is None:
            return check_inplace(under, flat)
        v, base = peek(under), under if under._tl_view is None else under._tl_view.base
    if view is not None and view.creation != "default" and not is_inference(t) and (v.needs or any(isinstance(x, Tensor) and peek(x).needs for x in flat)):
        raise view_error(t, False)
    if base is not None and base._tl_view is not None and base._tl_view.creation == "beyond" and any(isinstance(x, Tensor) and peek(x).needs for x in flat):
        raise view_error(base, False)
    if base is not None and v.needs:
        b = peek(base)
        if not b.needs or b.leaf is not None or (base._tl_view is not None and base._tl_view.creation == "argument"):
            raise errors.leaf_view_inplace()
        if not t._tl_v.needs or t._tl_v.leaf is not None:  # its base got a history later: a leaf for torch until someone uses the view's history
            raise errors.leaf_inplace()
    if v.needs and v.leaf is not None and not (is_inference(t) and all(isinstance(x, Tensor) and is_inference(x) for x in flat)):
        raise errors.leaf_inplace()  # not of inference tensors alone: that they are written is the error then


def cast_spec(dtype):
    """The spec of a conversion to `dtype`."""
    return spec_of(OPS["_to_copy"], (("dtype", dtype),), ("T",))


# out=

_APART = "torch::autograd::NotImplemented"  # the node of operators that torch knows nothing of: only an `out` that is a leaf may not require grad


def _refuse_grad(name, op, outs, inputs):
    """torch's error where a call with `out` would need a history."""
    if op.derivative is UNIMPLEMENTED and op.node == _APART:
        if any(x._tl_needs and x.is_leaf for x in outs):
            raise errors.out_requires_grad(f"aten::{op.name}")
    elif op.derivative is not NONE and any(isinstance(x, Tensor) and x._tl_needs for x in (*outs, *inputs)):
        raise errors.out_requires_grad(op.key if op.key in ("max.other", "min.other") else _own_name(name, op))


def into(name, spec, flat, out):
    """Write the result(s) of a call into `out`."""
    from .._ops.out_types import LAST_FIRST, cast_first, input_dtype
    from .words import outs_of

    outs = outs_of(name, spec.op, out)
    if thread.state.grad:
        _refuse_grad(name, spec.op, outs, flat)
    if "forward_ad" in thread.state.extra and any(isinstance(x, Tensor) and levels.dual(x._tl_value()) is not None for x in (*outs, *flat)):
        raise NotImplementedError(f"Trying to use forward AD with {_own_name(name, spec.op)}_out that does not support it because it is an out= function")
    if levels.mapped_among((*outs, *flat)):
        raise errors.mapped_without_rule(f"{name}.{_OUT_NAMES.get(name, 'out')}", "; the fallback path doesn't work on out= or view ops.")
    check_out(spec.op, outs, flat)
    own, values = next((x.dtype for x in flat if isinstance(x, Tensor)), None), values_of(flat)
    wanted = input_dtype(spec.op, outs[0].dtype, own)
    if wanted is not None:
        values = (*record_op(cast_spec(wanted), values[:1]), *values[1:])
    done = cast_first(spec, outs[0].dtype, own)
    try:
        results = list(record_op(done, values))
    except NotImplementedError as e:
        if " not implemented for " in str(e) and spec.op.name not in _COMPARISONS:
            _check_first(spec, outs[0].dtype, flat)
        raise
    for i in reversed(range(len(outs))) if spec.op.name in LAST_FIRST else range(len(outs)):
        o, v = outs[i], results[i]
        if o._tl_v.aval.device != v.aval.device:
            mixed.check_written(f"{spec.op.name}.out", o._tl_v.aval, v.aval)
        if o._tl_v.aval.dtype is not v.aval.dtype and _check_out(spec, v.aval, o._tl_v.aval, flat, i):
            results[i] = record_op(cast_spec(o._tl_v.aval.dtype), (v,))[0]
    for i, (o, v) in enumerate(zip(outs, results)):
        resized = o._tl_v.aval.shape != v.aval.shape
        write_result(*((o, v) if resized or spec.op.name not in LAST_STAYS else last_places(o, v)), told=spec.op.name not in _QUIET)
        if resized and o._tl_cell is None:
            lay_if_bent(spec, flat, (o,), i)
    if isinstance(out, (int, float, complex)):
        return outs[0]  # the tensor that was made of the number
    return out if not spec.op.multi or spec.op.fields is None else tuple.__new__(named_tuple(spec.op, "_out"), outs)


_COMPARISONS = {"lt", "le", "gt", "ge"}  # what they compare need not fit their output
_OUT_NAMES = {"where": "self_out"}


def _own_name(name, op):
    """The operator's own name, under which errors speak of one that was called by an alias."""
    return name if op.name[:1] == "_" and op.name not in _PRIVATE else op.name


_PRIVATE = {"_linalg_solve_ex", "_linalg_det", "_linalg_slogdet"}


def _check_first(spec, got, flat):
    """Raise for an `out` whose dtype torch refuses, where there is no kernel for the inputs: it looks at the dtypes first."""
    from .._ops.out_types import refuse

    given = [x.dtype for x in flat if isinstance(x, Tensor)]
    have = dtypes.int64 if spec.op.name in ("argmax", "argmin") else functools.reduce(dtypes.promote_types, given)
    castable = dtypes.can_cast(have, got)
    if have is not got and not refuse(spec.op, have, got, castable, spec.statics, given) and not castable:
        raise errors.not_castable(have, got)


def _check_out(spec, have, got, flat, index):
    from .._ops.out_types import refuse  # only where dtypes differ

    given = [x._tl_v.aval.dtype for x in flat if isinstance(x, Tensor)]
    return refuse(spec.op, have.dtype, got.dtype, dtypes.can_cast(have.dtype, got.dtype), spec.statics, given, index,
                  have.shape == got.shape, numel(have.shape) == 1)


def write_made(name, out, v):
    """Make `v`, of the factory function `name`, the contents of `out`: a leaf does not require grad after it, anything else keeps its history."""
    old = peek(out)
    if old.needs and name in _RESIZE:
        raise RuntimeError("cannot resize variables that require grad")
    if old.needs and old.leaf is not None and thread.state.grad:
        raise errors.out_requires_grad(f"aten::{name}")
    fills = name in _FILL and out._tl_v.aval.shape == v.aval.shape
    if name == "eye" and fills and may_repeat(out):  # zeros, and then ones
        write_result(*last_places(out, wrap(v).amax(repeated_dims(out), keepdim=True).expand(out.shape)._tl_value()), old.needs and old.leaf is None)
        return out
    write_result(*(last_places(out, v) if fills else (out, v)), old.needs and old.leaf is None)
    return out


def write_drawn(name, out, v):
    """Make `v`, drawn by `name`, the contents of `out`, which may not require grad in grad mode."""
    if thread.state.grad and peek(out).needs:
        raise errors.out_requires_grad(name)
    write_result(out, v, told=name not in _QUIET)
    return out


_FILL = ("zeros", "ones", "full", "eye")  # they write to any `out`
_RESIZE = ("empty", "randn")  # they resize `out` first


_QUIET = {"addbmm", "narrow_copy", "log_sigmoid", "multinomial", "bernoulli"}  # they resize `out` themselves


def write_result(out, v, keep=True, told=True):
    """Make `v` the contents of `out`, resizing it as torch does.

    keep: its history stays (it does not where a factory function fills it); told: with a warning.
    """
    old = peek(out)
    have, get = out._tl_v.aval, v.aval
    if have.device != get.device and "meta" in (have.device, get.device):
        raise RuntimeError(f"Attempting to copy from device {get.device} to device {have.device}, but cross-device copies are not allowed!")
    if not dtypes.can_cast(get.dtype, have.dtype):
        raise errors.not_castable(get.dtype, have.dtype)
    if get.dtype is not have.dtype:
        v = record_op(cast_spec(have.dtype), (v,))[0]
    if get.shape != have.shape:
        if keep and told and out.numel() != 0:
            warn(
                f"An output with one or more elements was resized since it had shape {list(have.shape)}, which does not match the required output shape "
                f"{list(get.shape)}. This behavior is deprecated, and in a future PyTorch release outputs will not be resized unless they have zero elements. "
                "You can explicitly reuse an out tensor t by resizing it, inplace, to zero elements with t.resize_(0). (Triggered internally at "
                "/pytorch/aten/src/ATen/native/Resize.cpp:38.)")
        if out._tl_cell is not None:
            _resize(out, get.shape, v)
    if old.needs and keep and (old.leaf is not None or get.shape == have.shape):
        v = keep_history(v, old, out)
    write(out, v)


def _resize(out, shape, v):
    """Give a tensor other sizes, row-major from where it begins: over the same memory, where there is enough of it.

    Otherwise what fits goes there, and the tensor has memory of its own from now on: other tensors over the old one keep their sizes.
    """
    offset, count = out.storage_offset(), numel(shape)
    room = memory_size(out) // out._tl_v.aval.dtype.itemsize - offset
    if count > room and lent(out._tl_cell):
        raise not_resizable()
    if count <= room:
        out._tl_show(out.as_strided(shape, contiguous_strides(shape), offset))
        return
    if room:
        out.as_strided((room,), (1,), offset).copy_(wrap(v).reshape(-1)[:room])
    out._tl_cell, out._tl_view, out._tl_at, out._tl_laid = None, None, 0, None


__all__ = ["cast_spec", "check_inplace", "inplace", "into", "keep_history", "pack", "run"]
