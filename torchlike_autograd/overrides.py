"""torch.overrides (layer 8): asking about `__torch_function__`.

What differs: operators do not look for `__torch_function__` by themselves; `handle_torch_function` calls it for a program's own functions.
"""

from __future__ import annotations

import functools

from ._core import publish as _publish
from ._tensor import Tensor

__all__ = ["handle_torch_function", "has_torch_function", "is_tensor_like", "is_tensor_method_or_property", "wrap_torch_function"]


def _overrides(x):
    f = getattr(type(x), "__torch_function__", None)
    return f is not None and f is not getattr(Tensor, "__torch_function__", None)


def has_torch_function(relevant_args):
    """Whether one of the arguments has its own `__torch_function__`."""
    return any(map(_overrides, relevant_args))


def has_torch_function_unary(x):
    """`has_torch_function` of one argument."""
    return _overrides(x)


def has_torch_function_variadic(*args):
    """`has_torch_function` of several arguments."""
    return any(map(_overrides, args))


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    """Ask the arguments in turn, subclasses before their parents; TypeError where all say NotImplemented."""
    found = []
    for x in relevant_args:
        if _overrides(x) and type(x) not in [type(y) for y in found]:
            at = next((i for i, y in enumerate(found) if issubclass(type(x), type(y))), len(found))
            found.insert(at, x)
    types = tuple(type(x) for x in found)
    for x in found:
        out = x.__torch_function__(public_api, types, args, kwargs)
        if out is not NotImplemented:
            return out
    name = f"{public_api.__module__}.{public_api.__name__}"
    raise TypeError(f"no implementation found for '{name}' on types that implement __torch_function__: {[type(x) for x in found]}")


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
    return any(func is x or func is getattr(x, "fget", None) for c in Tensor.__mro__ for x in vars(c).values())


__getattr__ = _publish.missing("torch.overrides")
