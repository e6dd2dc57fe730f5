"""torch.nn.parameter (layer 8): a Tensor that modules count among their parameters."""

from __future__ import annotations

from .._core import dtypes, errors
from .._core.hot import PLAIN
from .._core.state import copy_state
from .._tensor import Tensor, _new

__all__ = ["Parameter"]


class Parameter(Tensor):
    """A leaf tensor that requires grad by default and shares the storage of `data`."""

    _is_param = True

    def __new__(cls, data=None, requires_grad=True):
        from .._core import config
        from .._functions.create import filled

        source = filled((0,), 0, config.default_dtype()) if data is None else data
        base = source.detach()
        if type(requires_grad) is not bool:
            raise TypeError(f"_make_subclass(): argument 'require_grad' (position 3) must be bool, not {type(requires_grad).__name__}")
        if requires_grad and base.dtype.category < dtypes.FLOAT:
            raise errors.only_float_requires_grad()
        self = _new(cls)
        copy_state(base, self)
        if requires_grad:
            self.requires_grad_()
        return self

    def __init__(self, data=None, requires_grad=True):
        pass

    def __deepcopy__(self, memo):
        """A Parameter of a copy of the data: gradients, hooks and attributes stay behind."""
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
        return memo[id(self)]


PLAIN.add(Parameter)
