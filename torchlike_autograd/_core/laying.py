"""How the results of a call lie in memory (layer 6): strides from the operands', where one of them does not lie row by row.

`_ops/memory.py` has the rules.  Whether to ask is read from flags, as nearly every call has operands that lie row by row: of a spec (`lies`), of a tensor
(`bent`, which may say yes to one that lies row by row all the same).
"""

from __future__ import annotations

from .._ops.memory import preserved
from .._tensor import Tensor
from .layouts import lay_as, memory_order
from .shapes import contiguous_strides

_found: dict = {}  # (spec, sizes of a result, operands, which result, its dtype) -> its strides, None for row by row


def bent(t):
    """Whether a tensor may have its dims in another order than that of memory."""
    view = t._tl_view
    return t._tl_laid is not None or (view is not None and (view.bent or t._tl_cell.layout is not None))


def keep_order(out, like):
    """Give a fresh tensor the order of dims in memory of another one of its shape."""
    if bent(like):
        lay_as(out, preserved(out._tl_v.aval.shape, like.stride()))


def order_of(t):
    """The dims from the slowest to the fastest in memory; None for row by row."""
    return memory_order(tuple(t.shape), t.stride()) if bent(t) else None


def lay(spec, flat, outs, first=0):
    """Set the strides of results, where they do not lie row by row; first: which result the first one is."""
    operands = _operands(spec, [(x._tl_v.aval.shape, x.stride()) if isinstance(x, Tensor) else None for x in flat])
    for t in outs:
        a = t._tl_v.aval
        if len(a.shape) > 1:
            strides = _strides(spec, a.shape, operands, first, a.dtype)
            if strides is not None:
                t._tl_laid = strides, 0
        first += 1


def lay_if_bent(spec, flat, outs, first=0):
    """`lay` where the rule has to be asked."""
    if spec.lies:
        return lay(spec, flat, outs, first)
    if spec.lies is not None:
        for x in flat:
            if isinstance(x, Tensor) and bent(x):
                return lay(spec, flat, outs, first)


def laid_by(spec, shape, operands, output, dtype):
    """The strides of a result of this shape and dtype, the how manieth it is; None for row by row.  operands: (shape, strides) of each flat input, or None."""
    return _strides(spec, shape, _operands(spec, operands), output, dtype)


def _strides(spec, shape, operands, output, dtype):
    key = spec, shape, operands, output, dtype
    strides = _found.get(key, _found)
    if strides is _found:
        if len(_found) > 4096:
            _found.clear()
        strides = tuple(spec.op.lies(shape, operands, output=output, type=dtype, **spec.statics))
        strides = _found[key] = None if strides == contiguous_strides(shape) else strides
    return strides


_NUMBER = (), ()
_reads: dict = {}  # spec -> which of its flat inputs a rule is told of, see `_reads_of`


def _operands(spec, flat):
    """What a rule is told of flat inputs, each (shape, strides) or None of a number: that of each tensor, None for one that is absent, ((), ()) for a number
    in its place."""
    reads = _reads.get(spec)
    if reads is None:
        reads = _reads[spec] = _reads_of(spec)
    if None not in reads:
        return tuple([_NUMBER if x is None else x for x, how in zip(flat, reads) if how])
    given, out = iter(flat), []
    for how in reads:
        x = None if how is None else next(given)
        if how is not False:
            out.append(x if x is not None else how and _NUMBER)
    return tuple(out)


def _reads_of(spec):
    """For each flat input, and each that is absent: True for a tensor or a number in its place, False for another number, None for an absent one."""
    op, out = spec.op, []
    for param, token in zip([p for p in op.params if p.kind.startswith("Tensor") or p.name in op.lift], spec.pattern):
        counts = param.kind.startswith("Tensor")
        if token[0] != "N":
            out += [counts] * (token[1] if type(token) is tuple else 1)
        elif counts:
            out.append(None)
    return tuple(out)


__all__ = ["bent", "keep_order", "laid_by", "lay", "lay_if_bent", "order_of"]
