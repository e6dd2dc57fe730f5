"""torch.overrides (layer 8): `__torch_function__` of subclasses and other objects, and modes that see every call.

What differs: a mode does not see what the package itself reads of a tensor (an optimizer its `grad`), nor `torch.nn.init`.
"""

from __future__ import annotations

import functools

from . import functional as _functional
from ._core import overriding as _overriding
from ._core import publish as _publish
from ._core.overloads import OpOverload as _OpOverload
from ._core.overloads import OpOverloadPacket as _OpOverloadPacket
from ._core.overriding_modes import enter as _enter
from ._core.overriding_modes import leave as _leave
from ._overridable import get_ignored_functions, get_overridable_functions, get_testing_overrides
from ._tensor import Tensor

__all__ = ["get_ignored_functions", "get_overridable_functions", "get_testing_overrides", "handle_torch_function",
           "has_torch_function", "is_tensor_like", "is_tensor_method_or_property", "resolve_name", "wrap_torch_function"]


def _overrides(x):
    return _overriding.overrides(type(x))


def has_torch_function(relevant_args):
    """Whether one of the arguments has its own `__torch_function__`, or a mode wants to see the call."""
    try:
        relevant_args = iter(relevant_args)
    except TypeError:
        raise TypeError("expected a sequence") from None
    return bool(not _overriding.here.off and any(map(_overrides, relevant_args))) or bool(_overriding.here.modes)


def has_torch_function_unary(x):
    """`has_torch_function` of one argument."""
    return has_torch_function((x,))


def has_torch_function_variadic(*args):
    """`has_torch_function` of several arguments."""
    return has_torch_function(args)


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    """Ask modes and then the arguments in turn, subclasses before their parents; TypeError where all say NotImplemented."""
    return _overriding.hand_over(public_api, relevant_args, args, kwargs)


class TorchFunctionMode:
    """A context whose `__torch_function__` sees every call of torch's functions in it; calls that it makes itself go to the mode around it."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        _enter(self)
        return self

    def __exit__(self, *exc):
        _leave()


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that changes nothing."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def _enable_torch_function():
    """A context in which subclasses and modes are asked again."""
    return _overriding.On()


def _get_current_function_mode():
    return _overriding.here.modes[-1] if _overriding.here.modes else None


def _get_current_function_mode_stack():
    return list(_overriding.here.modes)


def resolve_name(f):
    """The dotted name of a function, an operator, a method or an attribute's `__get__` or `__set__` of torch, or None."""
    if isinstance(f, (_OpOverload, _OpOverloadPacket)):
        return str(f)
    attribute = getattr(f, "__self__", None) if getattr(f, "__name__", None) in ("__get__", "__set__") else None
    if attribute is not None:
        path = _overriding.path_in(Tensor, attribute, "torch.Tensor")
        return path and f"{path}.{f.__name__}"
    path = _overriding.PATHS.get(id(f)) or _overriding.path_in(Tensor, f, "torch.Tensor")
    home, _, name = (path or "").rpartition(".")
    return f"torch.functional.{name}" if home == "torch" and name in _functional.__all__ else path


def wrap_torch_function(dispatcher):
    """A decorator for functions that can be overridden; `dispatcher` says by which arguments."""

    def decorate(f):
        @functools.wraps(f)
        def wrapped(*args, **kwargs):
            relevant = dispatcher(*args, **kwargs)
            return handle_torch_function(wrapped, relevant, *args, **kwargs) if has_torch_function(relevant) else f(*args, **kwargs)

        return wrapped

    return decorate


def is_tensor_like(inp):
    """Whether something is a Tensor or has `__torch_function__`."""
    return type(inp) is Tensor or isinstance(inp, Tensor) or hasattr(inp, "__torch_function__")


def is_tensor_method_or_property(func):
    """Whether something is a method or property of Tensor."""
    owner = getattr(func, "__self__", None)
    return any(func is x or func is getattr(x, "fget", None) or (owner is x and isinstance(x, property)) for c in Tensor.__mro__ for x in vars(c).values())


__getattr__ = _publish.missing("torch.overrides")
