"""`repr` of tensors (layer 5): what `_tensor_str` needs, read from a Tensor."""

from __future__ import annotations

import numpy as np

from .. import _tensor_str
from .._ops.lift import MoveSpec
from .._ops.spec import LeveledAval
from . import config, levels
from .record import record_op
from .storage import as_detached, peek


def tensor_text(t):
    """The text that torch prints for this tensor."""
    v, fn, tangent = peek(t), None, None
    if type(v.aval) is LeveledAval:
        if levels.mapped(v) is not None:
            return _mapped_text(t, v)
        tangent = _tangent_text(v)
    if v.needs:
        try:
            fn = None if t.is_leaf else t.grad_fn.name()
        except RuntimeError:  # a view whose history torch refuses to give
            fn = "Invalid"
    if "@" in v.aval.device and spread_text[0] is not None:
        return spread_text[0](t)
    default = config.default_dtype()
    from .._tensor import Tensor

    is_parameter = getattr(t, "_is_param", False)
    name = "tensor" if type(t) is Tensor or is_parameter else type(t).__name__
    return _tensor_str.tensor_repr(
        np.asarray(t._numpy()), dtype=t.dtype.name, default_dtype=default.name, default_complex=default.complex_here().name,
        requires_grad=v.needs, grad_fn=fn, device=str(t.device), class_name=name, is_parameter=is_parameter,
        tangent=tangent)


spread_text = [None]


def on_spread(f):
    """Install what prints tensors that are spread over devices."""
    spread_text[0] = f
    return f


def _tangent_text(v):
    """The tangent of a dual tensor as it is printed; None where its level has ended."""
    from .._tensor import wrap

    k, n, kind = levels.dual(v)
    if not any(lv.id == k and lv.kind == levels.DUAL for lv in levels.running()):
        return None
    return f"{wrap(record_op(MoveSpec('tangent', (k, n, kind)), [v])[0])}"


def _mapped_text(t, v):
    """What torch prints inside a map: the whole batch."""
    from .._tensor import wrap

    level = levels.mapped(v)
    number = next((i for i, lv in enumerate(levels.running(), 1) if lv.id == level[0]), level[0] + 1)
    whole = tensor_text(wrap(record_op(MoveSpec("exit", level, 0), [as_detached(v)])[0])).replace("\n", "\n    ")
    return f"BatchedTensor(lvl={number}, bdim=0, value=\n    {whole}\n)"
