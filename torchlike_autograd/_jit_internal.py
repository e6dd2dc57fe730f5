"""torch._jit_internal (layer 8): what libraries take from below torch.jit; there is no TorchScript, so marks for it change nothing."""

from __future__ import annotations

import inspect
import types
import typing
import weakref
from typing import Any, Callable, Dict, Final, List, Optional, Tuple, TypeVar, Union  # noqa: F401, UP035 - torch's module has them too

from ._core import publish as _publish
from .futures import Future  # noqa: F401
from .jit import _overload, _overload_method, export, ignore, is_scripting, unused  # noqa: F401
from .nn.functional import BroadcastingList1, BroadcastingList2, BroadcastingList3  # noqa: F401

BroadcastingList4 = BroadcastingList5 = BroadcastingList6 = BroadcastingList3
T = TypeVar("T")
boolean_dispatched = weakref.WeakKeyDictionary()  # what TorchScript would ask of functions made by `boolean_dispatch`: nobody asks here


def boolean_dispatch(arg_name, arg_index, default, if_true, if_false, module_name, func_name):
    """A function that calls `if_true` or `if_false` by the bool argument `arg_name` (or the one at `arg_index`), with the docstring that one of them has."""
    from .nn.functional import boolean_dispatch as made

    return made(arg_name, arg_index, default, if_true, if_false, module_name, func_name)


class FunctionModifiers:
    """How functions can be marked for TorchScript: torch's words."""

    UNUSED = "unused (ignored and replaced with raising of an exception)"
    IGNORE = "ignore (leave as a call to Python, cannot be torch.jit.save'd)"
    EXPORT = "export (compile this function even if nothing calls it)"
    DEFAULT = "default (compile if called from a exported function / forward)"
    COPY_TO_SCRIPT_WRAPPER = "if this method is not scripted, copy the python method onto the scripted model"
    _DROP = "_drop (function is fully ignored, declaration can be unscriptable)"


def _copy_to_script_wrapper(fn):
    """`fn`, marked."""
    fn._torchscript_modifier = FunctionModifiers.COPY_TO_SCRIPT_WRAPPER
    return fn


def _drop(fn):
    """`fn`, marked."""
    fn._torchscript_modifier = FunctionModifiers._DROP
    return fn


def get_torchscript_modifier(fn):
    """The mark of a function or method; None for what can have none."""
    fn = getattr(fn, "__func__", fn)
    return getattr(fn, "_torchscript_modifier", FunctionModifiers.DEFAULT) if callable(fn) else None


def is_ignored_fn(fn) -> bool:
    """Whether a function is marked as left out."""
    return get_torchscript_modifier(fn) in (FunctionModifiers.UNUSED, FunctionModifiers.IGNORE, FunctionModifiers._DROP)


def _of(ann, kind):
    return ann is kind or typing.get_origin(ann) is kind


def is_tuple(ann) -> bool:
    """Whether an annotation is of tuples."""
    return _of(ann, tuple) or ann is Tuple  # noqa: UP006


def is_list(ann) -> bool:
    """Whether an annotation is of lists."""
    return _of(ann, list) or ann is List  # noqa: UP006


def is_dict(ann) -> bool:
    """Whether an annotation is of dictionaries."""
    return _of(ann, dict) or ann is Dict  # noqa: UP006


def is_union(ann) -> bool:
    """Whether an annotation is a union."""
    return typing.get_origin(ann) in (Union, types.UnionType)


def is_optional(ann) -> bool:
    """Whether an annotation is a union of one type with None."""
    return ann is Optional or (is_union(ann) and len(ann.__args__) == 2 and type(None) in ann.__args__)


def is_final(ann) -> bool:
    """Whether an annotation says Final."""
    return ann is Final or typing.get_origin(ann) is Final


def get_callable_argument_names(fn) -> list[str]:
    """The names of a function's plain arguments; none where it has others or no signature."""
    try:
        parameters = inspect.signature(fn).parameters
    except Exception:  # as torch: whatever cannot be asked
        return []
    return [n for n, p in parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD]


def _qualified_name(obj, mangle_name=True) -> str:
    """Module and name of an object, as TorchScript would call it: "__torch__." before names of other modules."""
    if hasattr(obj, "_jit_override_qualname"):
        return obj._jit_override_qualname
    module = obj.__module__
    if module is None:
        raise RuntimeError(f"Could not get qualified name for class '{obj.__name__}': __module__ can't be None.")
    home = "torch" + module[len(__package__):] if module.partition(".")[0] == __package__ else module
    return f"{home if home.startswith('torch.') or home == 'torch' else '__torch__.' + home}.{obj.__name__}"


__getattr__ = _publish.missing("torch._jit_internal")
