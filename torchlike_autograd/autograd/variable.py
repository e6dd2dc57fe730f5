"""torch.autograd.Variable, the old name of a tensor (layer 7)."""

from __future__ import annotations

import warnings

from .._core.passes import Engine
from .._core.shown import Shown
from .._tensor import Tensor


class _VariableMeta(Shown):
    def __instancecheck__(cls, obj):
        return isinstance(obj, Tensor)


class Variable(metaclass=_VariableMeta):
    """Called with a tensor: one without history that shares its memory."""

    _execution_engine = Engine()

    def __new__(cls, data=None, requires_grad=False, volatile=None):
        if volatile is not None:
            warnings.warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.", UserWarning, stacklevel=2)
        if data is None:
            data = Tensor()
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        if requires_grad and not (data.is_floating_point() or data.is_complex()):
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        return data.data.requires_grad_(bool(requires_grad))
