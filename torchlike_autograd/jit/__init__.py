"""torch.jit (layer 8): there is no TorchScript; functions and modules are handed back as they are, which is said once."""

from __future__ import annotations

import contextlib
from typing import Any, Final, NamedTuple

from .._core import publish as _publish
from .._core.saying import warn
from ..futures import Future
from ..nn.modules.module import Module
from . import _state  # noqa: F401

__all__ = ["Attribute", "Error", "Final", "Future", "ScriptFunction", "ScriptModule", "annotate", "enable_onednn_fusion", "export", "fork", "freeze", "ignore",
           "interface", "is_scripting", "is_tracing", "isinstance", "onednn_fusion_enabled", "optimize_for_inference", "script", "script_if_tracing",
           "script_method", "set_fusion_strategy", "trace", "trace_module", "unused", "wait"]

_said = [False]
_fusion = {"strategy": [("STATIC", 2), ("DYNAMIC", 10)], "onednn": False}


class Attribute(NamedTuple):
    """A value with the type that TorchScript is told."""

    value: Any
    type: Any


class Error(Exception):
    """What compiled TorchScript raises."""


Error.__module__ = "torch.jit"


def set_fusion_strategy(strategy):
    """Remember [("STATIC" | "DYNAMIC", depth)] and return the former; a hint to compilers of TorchScript, which nothing here asks for."""
    for kind, _ in strategy:
        if kind not in ("STATIC", "DYNAMIC"):
            raise ValueError(f"FusionBehavior only supported 'STATIC' or 'DYNAMIC', got: {kind}")
    before, _fusion["strategy"] = _fusion["strategy"], [*strategy]
    return before


def enable_onednn_fusion(enabled):
    """A hint as `set_fusion_strategy`."""
    _fusion["onednn"] = bool(enabled)


def onednn_fusion_enabled():
    """The last hint."""
    return _fusion["onednn"]


def _say(name):
    if not _said[0]:
        _said[0] = True
        warn(f"torch.jit.{name}: there is no TorchScript here; the function or module is used as it is, and what it records runs as compiled programs")


def script(obj=None, optimize=None, _frames_up=0, _rcb=None, example_inputs=None):
    """`obj` as it is."""
    _say("script")
    return obj


def trace(func=None, example_inputs=None, *args, **kwargs):
    """`func` as it is."""
    _say("trace")
    return func


def trace_module(mod, inputs, *args, **kwargs):
    """`mod` as it is."""
    _say("trace_module")
    return mod


def script_method(fn):
    """`fn` as it is."""
    return fn


script_if_tracing = export = script_method


def ignore(drop=False, **kwargs):
    """`fn` as it is, with or without arguments of the decorator."""
    return drop if callable(drop) else lambda fn: fn


def unused(fn):
    """`fn` as it is."""
    return fn


def is_scripting() -> bool:
    """False."""
    return False


is_tracing = is_scripting


def annotate(the_type, the_value):
    """`the_value`."""
    return the_value


def _overload(func):
    """`func` as it is: types of arguments are not looked at."""
    return func


_overload_method = _script_if_tracing = _overload
_isinstance = isinstance


def isinstance(obj, target_type):
    """Whether `obj` is of a type (of a container's own type: parameters are not looked at)."""
    import typing

    return _isinstance(obj, typing.get_origin(target_type) or target_type)


def save(m, f, _extra_files=None):
    """NotImplementedError: there is no TorchScript."""
    raise NotImplementedError("torch.jit.save: there is no TorchScript here; torch.save a state dict")


def load(f, map_location=None, _extra_files=None, _restore_shapes=False):
    """NotImplementedError: there is no TorchScript."""
    raise NotImplementedError("torch.jit.load: there is no TorchScript here")


class ScriptModule(Module):
    """A class to derive modules from whose methods torch.jit.script_method marks: a module as any other, which is said once."""

    def __init__(self):
        _say("ScriptModule")
        super().__init__()


class RecursiveScriptModule(ScriptModule):
    """What scripting a module makes; none is ever made here."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError(f"torch.jit.{type(self).__name__}: there is no TorchScript here; derive from torch.nn.Module")


class TopLevelTracedModule(RecursiveScriptModule):
    """As `RecursiveScriptModule`."""


class TracedModule(RecursiveScriptModule):
    """As `RecursiveScriptModule`."""


class ScriptFunction:
    """A function of TorchScript: none is ever made here."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError("torch.jit.ScriptFunction: there is no TorchScript here")


class TracerWarning(Warning):
    """What a tracer warns of."""


def interface(obj):
    """`obj` as it is."""
    return obj


def freeze(mod, preserved_attrs=None, optimize_numerics=True):
    """`mod` as it is."""
    return mod


def optimize_for_inference(mod, other_methods=None):
    """`mod` as it is."""
    return mod


def fork(func, *args, **kwargs):
    """A Future of the call, which is made at once."""
    out = Future()
    try:
        out.set_result(func(*args, **kwargs))
    except Exception as e:
        out.set_exception(e)
    return out


def wait(future):
    """The value of a Future."""
    return future.wait()


_fork, _wait = fork, wait


def _unwrap_optional(x):
    """`x`, which must not be None."""
    assert x is not None, "Unwrapping null optional"
    return x


@contextlib.contextmanager
def optimized_execution(should_optimize):
    """A context in which TorchScript would optimize or not: there is none."""
    yield


@contextlib.contextmanager
def fuser(name):
    """A context with another fuser of TorchScript's; RuntimeError for names that it does not know."""
    if name not in ("fuser0", "fuser1", "fuser2", "fuser3"):
        raise Exception(f"unrecognized fuser option (name: {name})")
    yield


class strict_fusion:
    """A context in which TorchScript would fuse everything or refuse."""

    def __enter__(self):
        pass

    def __exit__(self, type, value, tb):
        pass


__getattr__ = _publish.missing("torch.jit")
