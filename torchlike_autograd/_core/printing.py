"""`repr` of tensors (layer 5): what `_tensor_str` needs, read from a Tensor."""

from __future__ import annotations

import numpy as np

from .. import _tensor_str
from . import config
from .storage import peek


def tensor_text(t):
    """The text that torch prints for this tensor."""
    v, fn = peek(t), None
    if v.needs:
        try:
            fn = None if t.is_leaf else t.grad_fn.name()
        except RuntimeError:  # a view whose history torch refuses to give
            fn = "Invalid"
    default = config.default_dtype()
    from .._tensor import Tensor

    is_parameter = getattr(t, "_is_param", False)
    name = "tensor" if type(t) is Tensor or is_parameter else type(t).__name__
    return _tensor_str.tensor_repr(
        np.asarray(t._numpy()), dtype=t.dtype.name, default_dtype=default.name, default_complex=default.to_complex().name,
        requires_grad=v.needs, grad_fn=fn, device=str(t.device), class_name=name, is_parameter=is_parameter)
