"""Modules and functions after torch.jit.script and torch.jit.trace (layer 8): new objects of torch's classes that run the Python of those that were given.

There is no TorchScript: nothing is translated, `code` and `graph` are missing, and a saved module is a pickle of the original (its class must be importable
where it is loaded, which TorchScript does not ask).
"""

from __future__ import annotations

import copy
import functools
import inspect
import io
import typing
import warnings

from ..nn.modules.module import Module


def deprecated(name, instead="switch to `torch.compile` or `torch.export`"):
    """torch's word on a function of torch.jit."""
    warnings.warn(f"`torch.jit.{name}` is deprecated. Please {instead}.", DeprecationWarning, stacklevel=2)


class ScriptModule(Module):
    """A class to derive modules from whose methods torch.jit.script_method marks, and what scripted modules are instances of."""

    _plain: type | None = None

    @property
    def original_name(self):
        """The name of the class that was scripted."""
        return (self._plain or type(self)).__name__

    def save(self, f, _extra_files=None):
        """Write the module to a file."""
        _write(self, f, _extra_files)

    def save_to_buffer(self, _extra_files=None):
        """The bytes of that file."""
        held = io.BytesIO()
        _write(self, held, _extra_files)
        return held.getvalue()


class _Made(ScriptModule):
    """What both kinds of modules share: the class is the module's too, so that every method is there."""

    def extra_repr(self):
        return f"original_name={self.original_name}"

    def __copy__(self):
        return _remade(self, type(self), lambda m: m)

    def __deepcopy__(self, memo):
        new = memo[id(self)] = object.__new__(_class(self._plain, RecursiveScriptModule))
        new.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return new

    def __reduce_ex__(self, protocol):
        raise RuntimeError(f"Tried to serialize object __torch__.{self.original_name} which does not have a __getstate__ method defined!")


class RecursiveScriptModule(_Made):
    """What scripting a module makes."""

    def _get_name(self):
        return type(self).__name__


class TracedModule(_Made):
    """What tracing a module makes of its submodules."""

    def _get_name(self):
        return self.original_name


class TopLevelTracedModule(TracedModule):
    """What tracing a module makes."""


def _number(kind, value):
    """What TorchScript makes of a number, or of a tensor of one, that is given for an argument of this type."""
    if isinstance(value, (bool, int, float)):
        return kind(value) if kind is float or not isinstance(value, float) else value
    return kind(value.item()) if hasattr(value, "item") and value.numel() == 1 else value


def typed(function):
    """The function, whose arguments that are annotated as float or int arrive as such: TorchScript turns 1 into 1.0, products with it into floats."""
    try:
        hints, signature = typing.get_type_hints(function), inspect.signature(function)
    except (NameError, TypeError, ValueError):
        return function
    kinds = {n: k for n in signature.parameters for k in (float, int) if hints.get(n) in (k, typing.Optional[k])}  # noqa: UP045 - what is compared with
    if not kinds:
        return function

    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError:
            return function(*args, **kwargs)
        bound.apply_defaults()
        bound.arguments.update((n, _number(k, bound.arguments[n])) for n, k in kinds.items())
        return function(*bound.args, **bound.kwargs)

    return call


class ScriptFunction:
    """What scripting or tracing a function makes."""

    def __init__(self, function, is_typed=False):
        functools.update_wrapper(self, function)
        self._call = typed(function) if is_typed else function
        self.name = getattr(function, "__name__", type(function).__name__).replace("<lambda>", "_lambda")
        self.qualified_name = f"__torch__.{self.name}"

    def __call__(self, *args, **kwargs):
        return self._call(*args, **kwargs)

    def save(self, f, _extra_files=None):
        """Write the function to a file."""
        _write(self, f, _extra_files)

    def __reduce__(self):
        raise RuntimeError(f"Tried to serialize object {self.qualified_name} which does not have a __getstate__ method defined!")


for _cls in (ScriptModule, RecursiveScriptModule, ScriptFunction):
    _cls.__module__ = "torch.jit" if _cls is ScriptFunction else "torch.jit._script"
for _cls in (TracedModule, TopLevelTracedModule):
    _cls.__module__ = "torch.jit._trace"


def _remade(module, cls, child):
    """An object of another class with the module's parts: parameters and buffers are shared, `child` gives the submodules."""
    new = object.__new__(cls)
    for name, value in module.__dict__.items():
        new.__dict__[name] = value.copy() if name[0] == "_" and hasattr(value, "items") else value
    new.__dict__["_modules"] = type(module._modules)((k, m if m is None else child(m)) for k, m in module._modules.items())
    return new


@functools.cache
def _class(plain, kind):
    own = {"_plain": plain, "__module__": kind.__module__}
    if issubclass(kind, RecursiveScriptModule) and (forward := typed(plain.forward)) is not plain.forward:
        own["forward"] = forward
    return type(kind.__name__, (kind, plain), own)


def scripted(module, kind=RecursiveScriptModule, made=None):
    """The module as one of `kind`; a module that stands in several places stays one."""
    made = {} if made is None else made
    if isinstance(module, ScriptModule):
        return module
    if module not in made:
        below = TracedModule if kind is TopLevelTracedModule else kind
        made[module] = _remade(module, _class(type(module), kind), lambda m: scripted(m, below, made))
    return made[module]


def original(module, made=None):
    """The way back: a module of the class that was scripted, which shares all parts."""
    made = {} if made is None else made
    if module not in made:
        made[module] = _remade(module, getattr(module, "_plain", None) or type(module), lambda m: original(m, made))
    return made[module]


def _write(m, f, extra):
    from ..serialization import save as write

    kind = "function" if isinstance(m, ScriptFunction) else "module"
    plain = m.__wrapped__ if kind == "function" else original(m)
    write({"torch.jit": kind, "held": plain, "extra": dict(extra or {})}, f)


def save(m, f, _extra_files=None):
    """Write a scripted module or function to a file: a pickle of what it was made from."""
    deprecated("save", "switch to `torch.export`")
    _write(m, f, _extra_files)


def load(f, map_location=None, _extra_files=None, _restore_shapes=False):
    """Read what `save` wrote; _extra_files: a dict whose keys get what was written under them."""
    from ..serialization import load as read

    deprecated("load", "switch to `torch.export`")
    found = read(f, map_location=map_location, weights_only=False)
    if not isinstance(found, dict) or "torch.jit" not in found:
        raise RuntimeError("torch.jit.load: the file was not written by torch.jit.save of this package (there is no TorchScript here)")
    for name in _extra_files or {}:
        if name in found["extra"]:
            text = found["extra"][name]
            _extra_files[name] = text.encode() if isinstance(text, str) else text
    if found["torch.jit"] == "function":
        return ScriptFunction(found["held"], True)
    return scripted(found["held"])
