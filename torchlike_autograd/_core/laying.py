"""How the results of a call lie in memory (layer 6): strides from the operands', where one of them does not lie row by row.

`_ops/memory.py` has the rules.  Whether to ask is read from flags, as nearly every call has operands that lie row by row: of a spec (`lies`), of a tensor
(`bent`, which may say yes to one that lies row by row all the same).
"""

from __future__ import annotations

from .._ops.memory import preserved
from .._tensor import Tensor
from .layouts import memory_order
from .shapes import contiguous_strides

_found: dict = {}  # (spec, sizes of a result, operands, which result, its dtype) -> its strides, None for row by row


def bent(t):
    """Whether a tensor may have its dims in another order than that of memory."""
    view = t._view
    return t._layout_ is not None or (view is not None and (view.bent or t._cell.layout is not None))


def keep_order(out, like):
    """Give a fresh tensor the order of dims in memory of another one of its shape."""
    if bent(like):
        shape = out._v.aval.shape
        strides = preserved(shape, like.stride())
        out._layout_ = None if strides == contiguous_strides(shape) else (strides, 0)


def order_of(t):
    """The dims from the slowest to the fastest in memory; None for row by row."""
    return memory_order(tuple(t.shape), t.stride()) if bent(t) else None


def lay(spec, flat, outs, first=0):
    """Set the strides of results, where they do not lie row by row; spec.lies is not None; first: which result the first one is."""
    if spec.lies or any(isinstance(x, Tensor) and bent(x) for x in flat):
        operands = _operands(spec, flat)
        for i, t in enumerate(outs, first):
            shape = t._v.aval.shape
            if len(shape) > 1:
                strides = _strides(spec, shape, operands, i, t._v.aval.dtype)
                if strides is not None:
                    t._layout_ = strides, 0


def _strides(spec, shape, operands, output, dtype):
    key = spec, shape, operands, output, dtype
    if key not in _found:
        if len(_found) > 4096:
            _found.clear()
        strides = tuple(spec.op.lies(shape, operands, output=output, type=dtype, **spec.statics))
        _found[key] = None if strides == contiguous_strides(shape) else strides
    return _found[key]


def _operands(spec, flat):
    """(shape, strides) of each tensor, None for one that is absent, ((), ()) for a number in its place."""
    op, out, i = spec.op, [], 0
    for param, token in zip([p for p in op.params if p.kind.startswith("Tensor") or p.name in op.lift], spec.pattern):
        if token[0] == "N":
            out.append(None)
            continue
        for x in flat[i:i + (token[1] if type(token) is tuple else 1)]:
            i += 1
            if isinstance(x, Tensor):
                out.append((x._v.aval.shape, x.stride()))
            elif param.kind.startswith("Tensor"):
                out.append(((), ()))
    return tuple(out)


__all__ = ["bent", "keep_order", "lay", "order_of"]
