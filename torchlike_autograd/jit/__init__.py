"""torch.jit (layer 8): there is no TorchScript; what is scripted or traced runs its Python, whose calls run as compiled programs."""

from __future__ import annotations

import contextlib
from typing import Any, Final, NamedTuple  # noqa: F401 (torch.jit.Final)

from .._core import publish as _publish
from ..futures import Future
from ..nn.modules.module import Module
from . import _script, _state
from ._script import RecursiveScriptModule, ScriptFunction, ScriptModule, TopLevelTracedModule, TracedModule, load, save  # noqa: F401
from ._script import deprecated as _deprecated

__all__ = ["Attribute", "Error", "Future", "ScriptFunction", "ScriptModule", "annotate", "enable_onednn_fusion", "export", "fork", "freeze", "ignore",
           "interface", "isinstance", "load", "onednn_fusion_enabled", "optimize_for_inference", "save", "script", "script_if_tracing", "set_fusion_strategy",
           "strict_fusion", "trace", "trace_module", "unused", "wait"]

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
    _deprecated("set_fusion_strategy", "use `torch.compile` instead")
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


def script(obj=None, optimize=None, _frames_up=0, _rcb=None, example_inputs=None):
    """A module as a `RecursiveScriptModule`, a function as a `ScriptFunction`; a class as it is."""
    _deprecated("script")
    if not _state._enabled or _isinstance(obj, (type, ScriptFunction)):
        return obj
    return _script.scripted(obj) if _isinstance(obj, Module) else ScriptFunction(obj, True)


def trace(func=None, example_inputs=None, optimize=None, check_trace=True, check_inputs=None, check_tolerance=1e-05, strict=True, _force_outplace=False,
          _module_class=None, _compilation_unit=None, example_kwarg_inputs=None, _store_inputs=True):
    """A module as a `TopLevelTracedModule`, a function as a `ScriptFunction`: nothing is traced, control flow stays."""
    _deprecated("trace")
    if not _state._enabled or _isinstance(func, ScriptFunction):
        return func
    return trace_module(func, {"forward": example_inputs}) if _isinstance(func, Module) else ScriptFunction(func)


def trace_module(mod, inputs, *args, **kwargs):
    """As `trace`."""
    _deprecated("trace_method")
    return mod if not _state._enabled else _script.scripted(mod, TopLevelTracedModule)


def script_method(fn):
    """`fn` as it is."""
    _deprecated("script_method")
    return fn


def export(fn):
    """`fn` as it is."""
    return fn


script_if_tracing = export


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


def _get_trace_graph(f, args=(), kwargs=None, strict=True, _force_outplace=False, return_inputs=False, _return_inputs_states=False):
    """NotImplementedError: there is no TorchScript."""
    raise NotImplementedError("torch.jit._get_trace_graph: there is no TorchScript here; torch.fx traces")


class TracerWarning(Warning):
    """What a tracer warns of."""


def interface(obj):
    """`obj` as it is."""
    _deprecated("interface", "use `torch.compile` instead")
    return obj


def freeze(mod, preserved_attrs=None, optimize_numerics=True):
    """A scripted module as it is, which must not train."""
    _deprecated("freeze", "use `torch.compile` instead")
    if not _isinstance(mod, ScriptModule):
        raise RuntimeError("Freezing expects a ScriptModule as input. "
                           "Please use torch.jit.script or torch.jit.trace to script your 'nn.Module'.")
    if mod.training:
        raise RuntimeError("Freezing is currently only implemented for modules in eval mode. "
                           "Please call .eval() on your module before freezing.")
    return mod


def optimize_for_inference(mod, other_methods=None):
    """`mod` as it is."""
    _deprecated("optimize_for_inference", "use `torch.compile` instead")
    return mod


def fork(func, *args, **kwargs):
    """A Future of the call, which is made at once."""
    _deprecated("fork", "use `torch.compile` instead")
    out = Future()
    try:
        out.set_result(func(*args, **kwargs))
    except Exception as e:
        out.set_exception(e)
    return out


def wait(future):
    """The value of a Future."""
    _deprecated("wait", "use `torch.compile` instead")
    if future is None:
        raise RuntimeError("Future can't be None")
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
