"""torch.nn.utils.parametrize (layer 8): parameters and buffers as functions of others."""

from __future__ import annotations

import collections
import contextlib
import copy
from contextlib import contextmanager

from ... import __future__
from ..._tensor import Tensor
from ...autograd.grad_mode import no_grad
from ...utils._python_dispatch import is_traceable_wrapper_subclass
from ...utils._swap import swap_tensors
from ..modules.container import ModuleDict, ModuleList
from ..parameter import Parameter

__all__ = ["ParametrizationList", "cached", "is_parametrized", "register_parametrization", "remove_parametrizations",
           "transfer_parametrizations_and_params", "type_before_parametrizations"]

_cache_enabled = 0
_cache: dict = {}


@contextmanager
def cached():
    """Inside, each parametrized tensor is computed once."""
    global _cache_enabled
    _cache_enabled += 1
    try:
        yield
    finally:
        _cache_enabled -= 1
        if not _cache_enabled:
            _cache.clear()


def _register_parameter_or_buffer(module, name, X):
    (module.register_parameter if isinstance(X, Parameter) else module.register_buffer)(name, X)


def _show(dest, src):
    """Let `dest` show what `src` shows; refused where the dtypes differ. It becomes what `src` is where `torch.__future__` or its class asks for that."""
    if not (__future__.get_swap_module_params_on_conversion() or is_traceable_wrapper_subclass(dest)):
        dest.set_(src)
        return
    if isinstance(dest, Parameter) and not isinstance(src, Parameter):
        src = Parameter(src, dest.requires_grad)
    swap_tensors(dest, src)


def _inverted(own, value):
    for module in reversed(list(own)):
        if hasattr(module, "right_inverse"):
            with contextlib.suppress(NotImplementedError):
                value = module.right_inverse(value)
    return value


def _checked_inverse(new):
    if not isinstance(new, Tensor) and not isinstance(new, collections.abc.Sequence):
        raise ValueError("'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                         f"Got {type(new).__name__}")


def _register_several(own, original, new):
    for i, value in enumerate(new):
        if not isinstance(value, Tensor):
            raise ValueError("'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                             f"Got element {i} of the sequence with type {type(value).__name__}.")
        if isinstance(original, Parameter):
            value = Parameter(value, original.requires_grad)
        value.requires_grad_(original.requires_grad)
        _register_parameter_or_buffer(own, f"original{i}", value)


def _check_forward(own, shape, dtype):
    """torch's errors for a parametrization that makes something of another type."""
    found = own()
    if not isinstance(found, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(found).__name__}.")
    if found.dtype is not dtype:
        raise ValueError("Registering a parametrization may not change the dtype of the tensor, unless `unsafe` flag is enabled.\n"
                         f"unparametrized dtype: {dtype}\nparametrized dtype: {found.dtype}")
    if found.shape != shape:
        raise ValueError("Registering a parametrization may not change the shape of the tensor, unless `unsafe` flag is enabled.\n"
                         f"unparametrized shape: {shape}\nparametrized shape: {found.shape}")


def _originals(own):
    return (own.original,) if own.is_tensor else tuple(getattr(own, f"original{i}") for i in range(own.ntensors))


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, with what they start from: `original`, or `original0`, `original1`, ..."""

    def __init__(self, modules, original, unsafe=False):
        modules = list(modules)
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        with no_grad():
            new = _inverted(self, original)
        _checked_inverse(new)
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            if original.dtype is not new.dtype:
                raise ValueError("When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                                 f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {new.dtype}")
            if original.device != new.device:
                raise ValueError("When `right_inverse` outputs one tensor, it may not change the device.\n"
                                 f"original.device: {original.device}\nright_inverse(original).device: {new.device}")
            with no_grad():
                _show(original, new)
            _register_parameter_or_buffer(self, "original", original)
        else:
            _register_several(self, original, new)
        if not unsafe:
            _check_forward(self, shape, dtype)

    def right_inverse(self, value):
        """Set what the parametrizations start from, so that they make `value`."""
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            if self.is_tensor:
                if not isinstance(value, Tensor):
                    raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
                if value.dtype is not self.original.dtype:
                    raise ValueError(f"The tensor returned by `right_inverse` has dtype {value.dtype} while `original` has dtype {self.original.dtype}")
                _show(self.original, value)
                return
            if not isinstance(value, collections.abc.Sequence):
                raise ValueError(f"'right_inverse' must return a sequence of tensors. Got {type(value).__name__}.")
            if len(value) != self.ntensors:
                raise ValueError(f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a sequence of length {len(value)}.")
            for own, new in zip(_originals(self), value):
                _show(own, new)

    def forward(self):
        """The tensor that the parametrizations make."""
        first, *rest = self
        x = first(*_originals(self))
        for module in rest:
            x = module(x)
        return x


# The class of a parametrized module

def _inject_new_class(module):
    """A class of its own for one module, so that properties can be put into it."""
    base = type(module)

    def __deepcopy__(self, memo):
        out = self.__new__(type(self))
        memo[id(self)] = out
        out.__dict__ = copy.deepcopy(self.__dict__, memo)
        return out

    def __getstate__(self):
        raise RuntimeError("Serialization of parametrized modules is only supported through state_dict(). See:\n"
                           "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
                           "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training")

    body = {"__getstate__": __getstate__, "__module__": "torch.nn.utils.parametrize"}
    if not hasattr(base, "__deepcopy__"):
        body["__deepcopy__"] = __deepcopy__
    module.__class__ = type(base)(f"Parametrized{base.__name__}", (base,), body)


def _inject_property(module, tensor_name):
    """A property that computes a parametrized tensor."""

    def getter(self):
        found = self.parametrizations[tensor_name]
        if not _cache_enabled:
            return found()
        key = (id(self), tensor_name)
        if key not in _cache:
            _cache[key] = found()
        return _cache[key]

    setattr(type(module), tensor_name, property(getter, lambda self, value: self.parametrizations[tensor_name].right_inverse(value)))


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    """Let a parameter or buffer of a module be computed by `parametrization`, from itself (or from what its right_inverse gives)."""
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_next(module, tensor_name, parametrization)
        module.parametrizations[tensor_name].append(parametrization)
        module.parametrizations[tensor_name].unsafe |= unsafe
        return module
    if tensor_name not in module._buffers and tensor_name not in module._parameters:
        raise ValueError(f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name '{tensor_name}'")
    original = getattr(module, tensor_name)
    made = ParametrizationList([parametrization], original, unsafe=unsafe)
    delattr(module, tensor_name)
    if not is_parametrized(module):
        _inject_new_class(module)
        module.parametrizations = ModuleDict()
    _inject_property(module, tensor_name)
    module.parametrizations[tensor_name] = made
    return module


def _check_next(module, tensor_name, parametrization):
    """torch's errors for a further parametrization that makes something of another type."""
    y = getattr(module, tensor_name)
    x = parametrization(y)
    if not isinstance(x, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(x).__name__}.")
    if x.dtype is not y.dtype:
        raise ValueError("Registering a parametrization may not change the dtype of the tensor, unless the `unsafe` flag is enabled.\n"
                         f"module.{tensor_name}.dtype: {y.dtype}\nparametrization(module.{tensor_name}).dtype: {x.dtype}")
    if x.shape != y.shape:
        raise ValueError("Registering a parametrization may not change the shape of the tensor, unless the `unsafe` flag is enabled.\n"
                         f"module.{tensor_name}.shape: {y.shape}\nparametrization(module.{tensor_name}).shape: {x.shape}")
    if hasattr(parametrization, "right_inverse"):
        with contextlib.suppress(NotImplementedError):
            _check_inverse_of_next(tensor_name, y, parametrization.right_inverse(x))


def _check_inverse_of_next(tensor_name, y, z):
    """torch's errors for a right_inverse that leads to something of another type."""
    if not isinstance(z, Tensor):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(z).__name__}")
    for what in ("dtype", "shape"):
        own, other = getattr(y, what), getattr(z, what)
        if own != other:
            raise ValueError(f"The tensor returned by parametrization.right_inverse must have the same {what} as module.{tensor_name}, unless the `unsafe` "
                             f"flag is enabled.\nmodule.{tensor_name}.{what}: {own}\nreturned {what}: {other}")


def is_parametrized(module, tensor_name=None):
    """Whether a module (or one tensor of it) has a parametrization."""
    found = getattr(module, "parametrizations", None)
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def _leave(original, value):
    """Let the original tensor show the parametrized value."""
    try:
        _show(original, value)
    except RuntimeError as problem:
        if type(original) is Tensor:
            raise
        raise RuntimeError(
            "Calling remove_parametrizations() with leave_parametrized=True for a parameter that is an instance of a tensor subclass requires "
            "set_() to be implemented correctly for the tensor subclass.Alternatively, one can opt into the swap_tensors pathEither set "
            "leave_parametrized=False or provide a working implementationfor set_() in the tensor subclass or set "
            "torch.__future__.set_swap_module_params_on_conversion(True).") from problem


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    """Undo `register_parametrization`; the tensor keeps the value that it had, or (leave_parametrized=False) the original one."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    found = module.parametrizations[tensor_name]
    if found.is_tensor:
        original = found.original
        if leave_parametrized:
            with no_grad():
                value = getattr(module, tensor_name)
                _leave(original, value)
    elif leave_parametrized:
        value = getattr(module, tensor_name).detach()
        original = Parameter(value) if found.original0.requires_grad else value
    else:
        raise ValueError("Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a sequence of tensors.")
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register_parameter_or_buffer(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module):
    """The class that a module had before it was parametrized."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module, to_module, tensor_name=None):
    """Give one module the parametrizations of another, and what they start from."""
    if not is_parametrized(from_module):
        return to_module
    if not isinstance(from_module.parametrizations, ModuleDict):
        raise AssertionError(f"Expected from_module.parametrizations to be a ModuleDict, got {type(from_module.parametrizations)}")
    for name in from_module.parametrizations if tensor_name is None else [tensor_name]:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        source = from_module.parametrizations[name]
        for p in source:
            register_parametrization(to_module, name, p)
        target = to_module.parametrizations[name]
        if hasattr(source, "original"):
            target.original = source.original
        else:
            for i in range(source.ntensors):
                setattr(target, f"original{i}", getattr(source, f"original{i}"))
    return to_module
