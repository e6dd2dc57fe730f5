"""Writes where memory is shared (layer 6): to tensors that show an element several times, and to `out=` tensors that share memory with what is read.

torch's kernels differ.  Most refuse; those that store one value wherever they write take a tensor that repeats elements: an element is written if any of
its places is.  Most operators may write to the very memory that they read, those that move elements about may not.
"""

from __future__ import annotations

import numpy as np

from .._ops.registry import OPS, Promote
from .._ops.spec import spec_of
from .._tensor import Tensor, from_array
from . import dtypes, record
from .composite import named
from .hot import view
from .layouts import check_overlap, shares
from .record import NOGRAD, Value, record_op
from .saying import warn
from .storage import may_repeat, peek, repeated_dims, repeats, write

_DEPRECATED = {"masked_fill": ("masked_fill_", "mask] = scalar", 2450), "index_fill": ("index_fill_", "mask] = scalar", 1913),
               "_index_put": ("index_put_", "indices] = tensor", 976), "_mask_put": ("index_put_", "indices] = tensor", 976)}
_TAKEN = {"tril", "triu", "threshold", "conj_physical", "_fill_", "_zero_", *_DEPRECATED}


LAST_STAYS = {"mv", "bmm", "cummax", "cummin"}  # their kernels write to any `out`, one element after the other
_KERNELS_FIRST = {"addmm", "addbmm", "baddbmm", "cumsum", "cumprod"}
_CASTS_FIRST = {"clamp", "clamp_min", "clamp_max"}


def _say(name):
    twin, shown, line = _DEPRECATED[name]
    warn(f"Use of {twin} on expanded tensors is deprecated. Please clone() the tensor before performing this operation. This also applies to advanced indexing "
         f"e.g. tensor[{shown} (Triggered internally at /pytorch/aten/src/ATen/native/TensorAdvancedIndexing.cpp:{line}.)")


def _takes(spec, flat):
    name = spec.op.name
    return name in _TAKEN


def inplace_repeated(spec, flat, target, check_result):
    """The twin of `dispatch.inplace` for a tensor that shows elements several times: torch's error (after the operator's own), or the write.

    check_result(form, old): raises where the result cannot be written to the tensor.  No gradient goes through such a write.
    """
    values = [peek(x) if isinstance(x, Tensor) else x for x in flat]
    takes, avals = _takes(spec, flat), tuple([v.aval if type(v) is Value else record.NUMBERS[record.number_kind(v)] for v in values])
    try:
        form = spec.form(avals)
    except RuntimeError as refusal:  # of the kernel, or of sizes, which most operators come to later
        if takes or spec.op.name in _KERNELS_FIRST or not (isinstance(refusal, NotImplementedError) or str(refusal).startswith("The size of tensor a")):
            raise
        raise repeats(target) from None
    if takes or spec.op.name in _CASTS_FIRST:
        check_result(form, peek(target))
    if not takes:
        raise repeats(target)
    if record.thread.state.grad and any(type(v) is Value and v.needs for v in values):
        raise NotImplementedError(f"torchlike_autograd: a gradient through {spec.op.name.strip('_')}_ on a tensor that shows elements several times")
    for name in (spec.op.name, "masked_fill") if spec.op.name == "_mask_put" else (spec.op.name,):
        if name in _DEPRECATED:
            _say(name)
    dims = repeated_dims(target)
    if spec.op.name == "_index_put":
        new = record_op(spec_of(OPS["_index_put_repeated"], (*spec.statics.items(), ("repeated", dims)), spec.pattern), values, NOGRAD)[0]
    else:
        new = record_op(spec, values, NOGRAD)[0]
        new = record_op(spec_of(OPS["_written"], (("dims", dims),), ("T", "T")), (new, peek(target)), NOGRAD)[0]
    write(_once(target, dims), new)
    return target


def _once(target, dims):
    """A view of each element that a tensor repeats along `dims`, once."""
    for d in dims:
        target = view(spec_of(OPS["_slice"], (("dim", d), ("length", 1), ("step", 1)), ("T", "i")), target, 0)
    return target


def last_places(out, v):
    """(where to write, what) for an operator that takes any `out`: of what is written to one place the last stays."""
    if not may_repeat(out):
        return out, v
    dims = repeated_dims(out)
    for d in dims:
        v = record_op(spec_of(OPS["_slice"], (("dim", d), ("length", 1), ("step", 1)), ("T", "i")), (v, v.aval.shape[d] - 1), NOGRAD)[0]
    return _once(out, dims), v


# Elements that lie at the same place (of `unfold` and `as_strided`): torch's kernels go from one to the next

_LAST_COUNTS = {"_fill_", "_zero_", "_copy_", "_index_put", "_mask_put", "masked_fill", "index_fill", "fill", "copy",    # do not read what they write
                "clamp", "clamp_min", "clamp_max", "relu", "abs", "floor", "ceil", "round", "trunc", "sign", "nan_to_num", "hardtanh"}  # change nothing again


def keeps_last(op):
    """Whether an operator leaves in memory what its last element there is, however often it is applied."""
    return op.name in _LAST_COUNTS


def inplace_overlapping(spec, flat, target):
    """`add_` and `sub_` of elements at the same place add up; NotImplementedError for what would have to be done one after the other."""
    base = target._base
    if spec.op.key not in ("add.Tensor", "sub.Tensor") or base is None or base.storage_offset() or not base.is_contiguous():
        raise NotImplementedError(f"torchlike_autograd: {spec.op.name.strip('_')}_ on a tensor whose elements lie over each other in memory")
    strides, offset = target._tl_geometry()
    where = sum((np.arange(n).reshape((-1,) + (1,) * (target.ndim - d - 1)) * s for d, (n, s) in enumerate(zip(target.shape, strides))), np.array(offset))
    other, alpha = flat[1], flat[2] if len(flat) > 2 and flat[2] is not None else 1
    what = named("mul")(other if isinstance(other, Tensor) else from_array(np.asarray(other, target.dtype.np), target.dtype, like=target),
                        alpha if spec.op.name == "add" else -alpha)
    base.view(-1).index_add_(0, from_array(where.reshape(-1), dtypes.int64, like=target), what.to(target.dtype).expand(target.shape).reshape(-1))
    return target


# What is read and written at once

_MOVING = {"cat", "stack", "gather", "index_select", "take", "max.dim", "min.dim", "_masked_select", "masked_select", "outer", "nonzero", "kthvalue",
           "mode", "linalg_cross"}
_MOVING_TWINS = {"scatter", "scatter_add", "scatter_reduce", "index_add", "index_copy", "index_fill", "_index_put", "put", "index_reduce"}
_ELEMENTWISE = {Promote.RESULT, Promote.FLOAT, Promote.BOOL}
_ALSO = {"cumsum", "cumprod", "logcumsumexp", "lerp", "where", "addr", "conj_physical", "nan_to_num", "heaviside", "logical_and", "logical_or", "logical_xor",
         "logical_not", "hardshrink", "softshrink", "hardsigmoid", "hardswish", "hardtanh", "elu", "gelu", "leaky_relu", "mish", "silu", "softplus", "sort",
         "topk", "kron", "renorm", "linalg_solve_triangular", "msort"}
_FROM_COPY = {"addmm", "addbmm", "baddbmm", *_MOVING_TWINS}  # begin with a copy of their first input
_ANYWHERE = {"logsumexp"}


def check_out(op, outs, flat):
    """torch's error where a tensor given as ``out=`` shares memory with an input."""
    moving, copied = op.key in _MOVING or op.name in _MOVING, op.name in _FROM_COPY
    if op.name in _ANYWHERE or not (moving or copied or op.promote in _ELEMENTWISE or op.name in _ALSO):
        return
    for o in outs:
        if o._tl_view is not None and not copied and (refusal := repeats(o)) is not None:
            raise refusal
        for i, x in enumerate(flat):
            if isinstance(x, Tensor) and (x is o or (x._tl_cell is not None and x._tl_cell is o._tl_cell)):
                if copied and i:
                    if op.name in _MOVING_TWINS:
                        shares(o, x)
                elif moving:
                    shares(o, x)
                elif x is not o:
                    check_overlap(o, x)


def check_twin(op, target, flat):
    """The same for a write in place to `target`; one element that is read everywhere may lie in it."""
    moving = op.name in _MOVING_TWINS
    for x in flat[1:]:
        if isinstance(x, Tensor) and (x is target or (x._tl_cell is not None and x._tl_cell is target._tl_cell)):
            if op.name in ("index_fill", "masked_fill", "_fill_") and x is not target and not x._tl_v.aval.shape:
                continue
            if moving:
                shares(target, x)
            elif x is not target:
                check_overlap(target, x)


__all__ = ["LAST_STAYS", "check_out", "check_twin", "inplace_repeated", "last_places"]
