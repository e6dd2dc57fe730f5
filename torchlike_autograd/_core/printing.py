"""`repr` of tensors (layer 5): what `_tensor_str` needs, read from a Tensor."""

from __future__ import annotations

from textwrap import indent

import numpy as np

from .. import _tensor_str
from .._ops.lift import MoveSpec
from .._ops.spec import LeveledAval
from . import belonging, config, levels
from .nothing import Nothing
from .record import record_op
from .storage import as_detached, peek


def tensor_text(t):
    """The text that torch prints for this tensor."""
    v, fn, tangent = peek(t), None, None
    if levels.transforming():
        text = _transformed_text(t, v)
        if text is not None:
            return text
    if type(v.aval) is LeveledAval:
        if levels.mapped(v) is not None:
            return _mapped_text(t, v)
        tangent = _tangent_text(t, v)
    if v.needs:
        try:
            fn = None if t.is_leaf else t.grad_fn.name()
        except RuntimeError:  # a view whose history torch refuses to give
            fn = "Invalid"
    if "@" in v.aval.device and spread_text[0] is not None:
        return spread_text[0](t)
    default = config.default_dtype()
    from .._tensor import Tensor

    kind, is_parameter = type(t), getattr(t, "_is_param", False)
    name = "tensor" if kind is Tensor or "_is_param" in vars(kind) else kind.__name__
    text = _tensor_str.tensor_repr(
        Nothing(t.shape, t.dtype.np) if t.is_meta else np.asarray(t._tl_numpy()),
        dtype=t.dtype.name, default_dtype=default.name, default_complex=default.complex_here().name,
        requires_grad=v.needs if type(v.aval) is not LeveledAval else t.requires_grad, grad_fn=fn, device=str(t.device), class_name=name,
        is_parameter=is_parameter,
        tangent=tangent)
    # the class of parameters has a heading and hands it down; a tensor of another class that was wrapped in one is only marked
    return text if getattr(kind, "_is_param", False) else text.removeprefix(_tensor_str.PARAMETER_HEADING)


spread_text = [None]


def on_spread(f):
    """Install what prints tensors that are spread over devices."""
    spread_text[0] = f
    return f


def _tangent_text(t, v):
    """The tangent of a dual tensor as it is printed; None where its level has ended."""
    from .._tensor import wrap

    k, n, kind = levels.dual(v)
    if not any(lv.id == k and lv.kind == levels.DUAL for lv in levels.running()):
        return None
    if levels.shares((k, n, kind)):
        return f"{levels.FORWARD_AD['unpack'](t)[1]}"
    return f"{wrap(record_op(MoveSpec('tangent', (k, n, kind)), [v])[0])}"


def _transformed_text(t, v):
    """What torch prints of a tensor of the innermost differentiating level that is above the maps it is under; None where there is none."""
    from .._tensor import wrap

    for number, level in reversed(list(enumerate(levels.of_func(), 1))):
        if level.kind == levels.MAP and levels.has(v, level):
            return None
        if level.kind == "grad" and belonging.belongs(v, level):
            inner = level.aliases.get((v.tape, v.slot), v)
            if inner is v and not belonging.reaches([v], level.leaves):
                inner = as_detached(v)
        elif level.kind == levels.DUAL and level.randomness == "jvp" and levels.has(v, level):
            inner = record_op(MoveSpec("primal", level.key), [v])[0]
        else:
            continue
        return f"GradTrackingTensor(lvl={number}, value=\n{indent(_below(wrap(inner), level), '    ')}\n)"
    return None


def _below(t, level):
    """The text of a tensor outside of a level and of those inside it."""
    running = levels.running()
    at = running.index(level)
    inner, running[at:] = running[at:], []
    try:
        return tensor_text(t)
    finally:
        running += inner


def _mapped_text(t, v):
    """What torch prints inside a map: the whole batch."""
    from .._tensor import wrap

    key = levels.mapped(v)
    running = levels.running()
    number, level = next(((i, lv) for i, lv in enumerate(levels.of_func(), 1) if lv.id == key[0]), (int(key[0]) + 1, None))
    outside = [lv for lv in running[:None if level is None else running.index(level)] if lv.kind == "grad" and belonging.belongs(v, lv)]
    own, dim = levels.entered_from(v, key)
    if own is None:
        own = record_op(MoveSpec("exit", key, 0), [v if outside else as_detached(v)])[0]
    whole = wrap(own if outside else as_detached(own))
    text = _below(whole, level) if level is not None and outside else tensor_text(whole)
    return f"BatchedTensor(lvl={number}, bdim={dim}, value=\n{indent(text, '    ')}\n)"
