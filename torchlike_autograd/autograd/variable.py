"""torch.autograd.variable (layer 7): the old name of a tensor, still called by old programs."""

from __future__ import annotations

import operator

from .._core import errors
from .._core.dtypes import FLOAT
from .._core.passes import Engine
from .._core.saying import warn
from .._core.shown import Shown
from .._functions.create import empty
from .._tensor import Tensor

__all__ = ["Variable", "VariableMeta"]

_NAMES = ("data", "requires_grad", "volatile", "_grad_fn", "name")


class VariableMeta(Shown):
    """Every tensor is a Variable; a call gives a plain tensor."""

    def __instancecheck__(cls, other):
        return isinstance(other, Tensor)

    def __call__(cls, *args, **kwargs):
        return _variable(**_named(args, kwargs))


class Variable(metaclass=VariableMeta):
    """`Variable(data, requires_grad=False)`: a tensor without history over the storage of `data`."""

    _execution_engine = Engine()


def _named(args, kwargs):
    if len(args) + len(kwargs) > len(_NAMES):
        raise TypeError(f"function takes at most {len(_NAMES)} {'keyword ' if not args else ''}arguments ({len(args) + len(kwargs)} given)")
    for name in kwargs:
        if name not in _NAMES:
            raise TypeError(f"'{name}' is an invalid keyword argument for this function")
    for name, _ in zip(_NAMES, args):
        if name in kwargs:
            raise TypeError(f"argument for function given by name ('{name}') and position ({_NAMES.index(name) + 1})")
    return {**dict(zip(_NAMES, args)), **kwargs}


def _flag(value):
    value = operator.index(value)
    if not 0 <= value <= 255:
        raise OverflowError(f"unsigned byte integer is {'less than minimum' if value < 0 else 'greater than maximum'}")
    return bool(value)


def _variable(data=None, requires_grad=False, volatile=False, _grad_fn=None, name=None):
    requires_grad, volatile = _flag(requires_grad), _flag(volatile)
    if name is not None and not isinstance(name, str):
        raise TypeError(f"argument 5 must be str or None, not {type(name).__name__}")
    if _grad_fn is not None:
        raise TypeError(f"_grad_fn has to be a Function object or None, but got {type(_grad_fn).__name__}")
    if volatile:
        warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.")
    if data is None:
        out = empty(0)
    elif isinstance(data, Tensor):
        out = data.detach()
    else:
        raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
    if requires_grad and out.dtype.category < FLOAT:
        raise errors.only_float_requires_grad()
    return out.requires_grad_() if requires_grad else out
