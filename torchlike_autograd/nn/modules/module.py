"""torch.nn.modules.module (layer 8): `Module`, what owns parameters, buffers and other modules.

The class is put together here; how it is called is in `_call.py`, its state dicts in `_state.py`, moving it in `_convert.py`.
"""

from __future__ import annotations

import inspect
import sys
from collections import OrderedDict
from typing import TypeVar

from ..._core import overriding
from ..._tensor import Tensor
from ...compiler import compile
from ...utils.hooks import RemovableHandle  # noqa: F401 - PyTorch's module has it too
from ..parameter import Buffer, Parameter
from . import _call, _convert, _state
from ._call import (  # noqa: F401 - PyTorch's module has them all
    _forward_unimplemented,
    _has_any_global_hook,
    _WrappedHook,
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from ._names import typename

__all__ = ["Module", "register_module_backward_hook", "register_module_buffer_registration_hook", "register_module_forward_hook",
           "register_module_forward_pre_hook", "register_module_full_backward_hook", "register_module_full_backward_pre_hook",
           "register_module_module_registration_hook", "register_module_parameter_registration_hook"]

sys.modules[__name__].__class__ = _call.HoldsGlobals
_WrappedHook.__module__ = __name__  # where torch has it: files of whole modules name it

_EXTRA_STATE_KEY_SUFFIX = _state.EXTRA
_IncompatibleKeys = _state.IncompatibleKeys
_ORDERED = ("_backward_pre_hooks", "_backward_hooks", "_is_full_backward_hook", "_forward_hooks", "_forward_hooks_with_kwargs",
            "_forward_hooks_always_called", "_forward_pre_hooks", "_forward_pre_hooks_with_kwargs", "_state_dict_hooks",
            "_state_dict_pre_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks")


def _addindent(s_, numSpaces):
    """All lines but the first, further to the right."""
    return s_.replace("\n", "\n" + " " * numSpaces)


def _through(hooks, module, name, value):
    """`value` after the global registration hooks, which may replace it."""
    for hook in hooks.values():
        other = hook(module, name, value)
        value = value if other is None else other
    return value


# What Modules do for themselves; functions, because a subclass may have a method, a parameter or a layer of any other name than PyTorch's own.

def _check_name(module, kind, name, table, shown=""):
    """torch's rules for the name of a parameter, buffer or module."""
    if not isinstance(name, str):
        raise TypeError(f"{kind} name should be a string. Got {typename(name)}")
    if hasattr(module, name) and name not in table:
        raise KeyError(f"attribute '{name}' already exists")
    if "." in name:
        raise KeyError(f'{kind} name can\'t contain "."{shown}')
    if name == "":
        raise KeyError(f'{kind} name can\'t be empty string ""')


def _member(module, target):
    path, _, name = target.rpartition(".")
    owner = module.get_submodule(path)
    if not hasattr(owner, name):
        raise AttributeError(f"{owner._get_name()} has no attribute `{name}`")
    return owner, name, getattr(owner, name)


def _set_tensor(module, own, name, value):
    """Assign a tensor: as a parameter, as a buffer, or as any other attribute."""
    if isinstance(value, Parameter):
        if "_parameters" not in own:
            raise AttributeError("cannot assign parameters before Module.__init__() call")
        _forget(module, name, ("_buffers", "_modules"))
        return module.register_parameter(name, value)
    if own.get("_parameters") and name in own["_parameters"]:
        _expect_none("parameter", name, value, "torch.nn.Parameter")
    if own.get("_modules") and name in own["_modules"]:
        _expect_none("child module", name, value, "torch.nn.Module")
    if isinstance(value, Buffer):
        return _set_buffer(module, name, value, value.persistent)
    if own.get("_buffers") and name in own["_buffers"]:
        return _set_buffer(module, name, value, name not in own["_non_persistent_buffers_set"])
    return object.__setattr__(module, name, value)


def _set_buffer(module, name, value, persistent):
    """Assign a buffer, by the module's own `register_buffer`, which may be one that knows no `persistent`."""
    known = getattr(module.register_buffer, "__func__", None) is Module.register_buffer
    if known or "persistent" in inspect.signature(module.register_buffer).parameters:
        return module.register_buffer(name, value, persistent)
    if not persistent:
        raise RuntimeError("Registering a non-persistent buffer on a Module subclass that implements register_buffer() without the persistent argument "
                           "is not allowed.")
    return module.register_buffer(name, value)


def _expect_none(kind, name, value, wanted):
    if value is not None:
        raise TypeError(f"cannot assign '{typename(value)}' as {kind} '{name}' ({wanted} or None expected)")


def _forget(module, name, tables):
    """Drop what is called `name` in the instance and in some tables."""
    own = module.__dict__
    own.pop(name, None)
    for table in tables:
        own[table].pop(name, None)
    own["_non_persistent_buffers_set"].discard(name)


class Module:
    """The base of all layers and models: assign parameters, buffers and modules as attributes, and write `forward`."""

    dump_patches = False
    _version = 1
    training: bool
    call_super_init = False
    _compiled_call_impl = None
    T_destination = TypeVar("T_destination", bound=dict)

    def __init__(self, *args, **kwargs):
        if not self.call_super_init:
            if kwargs:
                raise TypeError(f"{type(self).__name__}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'")
            if args:
                raise TypeError(f"{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} were given")
        own = self.__dict__
        own.update(training=True, _parameters={}, _buffers={}, _non_persistent_buffers_set=set())
        for name in _ORDERED:
            own[name] = OrderedDict()
        own["_is_full_backward_hook"] = None
        own["_modules"] = {}
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        for name, f in [*vars(cls).items()]:
            if id(f) in overriding.PATHS and not overriding.PATHS[id(f)].startswith("torch.Tensor."):
                setattr(cls, name, staticmethod(f))  # `act = torch.tanh` is no method: PyTorch's functions are built in, which instances do not bind

    forward = _forward_unimplemented

    # Registering

    def register_buffer(self, name, tensor, persistent=True):
        """Add a tensor that is state but no parameter; a persistent one is part of the state dict."""
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        _check_name(self, "buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor) and not hasattr(tensor, "__torch_function__"):
            raise TypeError(f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)")
        self._buffers[name] = _through(_call._global_buffer_registration_hooks, self, name, tensor)
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def register_parameter(self, name, param):
        """Add a parameter, or None as a place for one."""
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        _check_name(self, "parameter", name, self._parameters)
        if param is None:
            self._parameters[name] = None
            return
        if not isinstance(param, Parameter):
            raise TypeError(f"cannot assign '{typename(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)")
        if param.grad_fn:
            raise ValueError(f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. To express '{name}' "
                             "as a function of another Tensor, compute the value in the forward() method.")
        self._parameters[name] = _through(_call._global_parameter_registration_hooks, self, name, param)

    def add_module(self, name, module):
        """Add a module under a name."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        _check_name(self, "module", name, self._modules, f", got: {name}")
        self._modules[name] = _through(_call._global_module_registration_hooks, self, name, module)

    def register_module(self, name, module):
        """`add_module`."""
        self.add_module(name, module)

    # Finding

    def get_submodule(self, target):
        """The module at a dotted path."""
        found = self
        for part in target.split(".") if target else ():
            if not hasattr(found, part):
                raise AttributeError(f"{found._get_name()} has no attribute `{part}`")
            found = getattr(found, part)
            if not isinstance(found, Module):
                raise AttributeError(f"`{part}` is not an nn.Module")
        return found

    def set_submodule(self, target, module, strict=False):
        """Put a module at a dotted path; strict: only where there is one."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        path, _, name = target.rpartition(".")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target):
        """The parameter at a dotted path."""
        _, name, found = _member(self, target)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return found

    def get_buffer(self, target):
        """The buffer at a dotted path."""
        owner, name, found = _member(self, target)
        if name not in owner._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return found

    # Attributes

    def __getattr__(self, name):
        own = self.__dict__
        table = own.get("_parameters")
        if table is not None and name in table:
            return table[name]
        table = own.get("_modules")
        if table is not None and name in table:
            return table[name]
        table = own.get("_buffers")
        if table is not None and name in table:
            return table[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self)

    def __setattr__(self, name, value):
        own = self.__dict__
        if isinstance(value, Tensor):
            return _set_tensor(self, own, name, value)
        modules = own.get("_modules")
        if isinstance(value, Module) and not (own.get("_parameters") and name in own["_parameters"]):
            if modules is None:
                raise AttributeError("cannot assign module before Module.__init__() call")
            _forget(self, name, ("_parameters", "_buffers"))
            modules[name] = _through(_call._global_module_registration_hooks, self, name, value)
            return None
        if own.get("_parameters") and name in own["_parameters"]:
            _expect_none("parameter", name, value, "torch.nn.Parameter")
            return self.register_parameter(name, None)
        if modules and name in modules:
            _expect_none("child module", name, value, "torch.nn.Module")
            modules[name] = _through(_call._global_module_registration_hooks, self, name, value)
        elif own.get("_buffers") and name in own["_buffers"]:
            if not hasattr(value, "__torch_function__"):
                _expect_none("buffer", name, value, "torch.nn.Buffer, torch.Tensor")
            _set_buffer(self, name, value, name not in self._non_persistent_buffers_set)
        else:
            object.__setattr__(self, name, value)
        return None

    def __delattr__(self, name):
        if name in self._parameters:
            del self._parameters[name]
        elif name in self._buffers:
            del self._buffers[name]
            self._non_persistent_buffers_set.discard(name)
        elif name in self._modules:
            del self._modules[name]
        else:
            object.__delattr__(self, name)

    def __dir__(self):
        names = [*dir(type(self)), *self.__dict__, *self._parameters, *self._modules, *self._buffers]
        return sorted({n for n in names if not n[:1].isdigit()})

    # Going through

    def _named_members(self, get_members_fn, prefix="", recurse=True, remove_duplicate=True):
        seen = set()
        for path, module in self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]:
            for name, found in get_members_fn(module):
                if found is None or found in seen:
                    continue
                if remove_duplicate:
                    seen.add(found)
                yield (f"{path}.{name}" if path else name), found

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        """(name, parameter) of this module and, unless told otherwise, of all below."""
        yield from self._named_members(_parameters_of, prefix, recurse, remove_duplicate)

    def parameters(self, recurse=True):
        """All parameters, each once."""
        for _, found in self.named_parameters(recurse=recurse):
            yield found

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        """(name, buffer) of this module and, unless told otherwise, of all below."""
        yield from self._named_members(_buffers_of, prefix, recurse, remove_duplicate)

    def buffers(self, recurse=True):
        """All buffers, each once."""
        for _, found in self.named_buffers(recurse=recurse):
            yield found

    def named_children(self):
        """(name, module) of the modules directly below, each module once."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self):
        """The modules directly below."""
        for _, module in self.named_children():
            yield module

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        """(name, module) of this module and of all below."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self, remove_duplicate=True):
        """This module and all below."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    # Changing

    def apply(self, fn):
        """Call fn(module) for all modules below, then for this one; returns self."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self, mode=True):
        """Set training mode here and below."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        """Set evaluation mode here and below."""
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        """Ask for gradients of all parameters (or stop asking)."""
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        """Forget the gradients of all parameters, or make them zero."""
        for p in self.parameters():
            g = p.grad
            if g is None:
                continue
            if set_to_none:
                p.grad = None
            else:
                g.detach_() if g.grad_fn is not None else g.requires_grad_(False)
                g.zero_()

    # Printing

    def _get_name(self):
        return self.__class__.__name__

    def extra_repr(self):
        """What stands in the brackets of the repr."""
        return ""

    def __repr__(self):
        extra = self.extra_repr()
        said = extra.split("\n") if extra else []
        below = [f"({name}): {_addindent(repr(module), 2)}" for name, module in self._modules.items()]
        if not below and len(said) < 2:
            return f"{self._get_name()}({''.join(said)})"
        return f"{self._get_name()}(\n  " + "\n  ".join(said + below) + "\n)"

    # Copies

    def __getstate__(self):
        state = self.__dict__.copy()
        state.pop("_compiled_call_impl", None)
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        for name in _ORDERED:
            if name not in self.__dict__:
                self.__dict__[name] = None if name == "_is_full_backward_hook" else OrderedDict()
        self.__dict__.setdefault("_non_persistent_buffers_set", set())

    def compile(self, *args, **kwargs):
        """Accepted with the arguments of `torch.compile`: calls are compiled here in any case."""
        self._compiled_call_impl = compile(self._call_impl, *args, **kwargs)

    def _replicate_for_data_parallel(self):
        """A shallow copy whose tensors may be replaced."""
        other = self.__new__(type(self))
        other.__dict__ = {**self.__dict__, "_parameters": {}, "_buffers": self._buffers.copy(), "_modules": self._modules.copy(), "_is_replica": True}
        return other


def _parameters_of(module):
    return module._parameters.items()


def _buffers_of(module):
    return module._buffers.items()


for _part in (_call, _state, _convert):
    for _function in _part.METHODS:
        _function.__qualname__ = f"Module.{_function.__name__}"
        setattr(Module, _function.__name__, _function)
Module.__call__ = Module._wrapped_call_impl = Module._call_impl
del _part, _function
