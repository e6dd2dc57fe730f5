"""What the modules of torch.backends are made of (layer 8): attributes that check what is written to them, and that can be frozen."""

from __future__ import annotations

import contextlib
import sys
import types

from .._core import precision

_frozen = [False]


def disable_global_flags():
    """From now on switches are set by the `flags()` contexts alone."""
    _frozen[0] = True


def flags_frozen():
    """Whether `disable_global_flags` was called."""
    return _frozen[0]


@contextlib.contextmanager
def unfrozen():
    """A context in which switches may be set."""
    before, _frozen[0] = _frozen[0], False
    try:
        yield
    finally:
        _frozen[0] = before


class ContextProp:
    """An attribute of a module that is read by one function and written by another; RuntimeError when it is written while switches are frozen."""

    def __init__(self, getter, setter):
        self.getter, self.setter = getter, setter

    def __get__(self, obj, objtype):
        return self.getter()

    def __set__(self, obj, val):
        if flags_frozen():
            raise RuntimeError(f"not allowed to set {obj.__name__.replace('torchlike_autograd', 'torch', 1)} flags after disable_global_flags; "
                               "please use flags() context manager instead")
        self.setter(val)


class PropModule(types.ModuleType):
    """A module with such attributes."""


class FP32Precision:
    """The attribute `fp32_precision` of one operator of one backend."""

    def __init__(self, backend, op):
        self.__dict__.update(backend=backend, op=op)

    def __setattr__(self, name, value):
        if name not in ("fp32_precision", "backend", "op"):
            raise AttributeError(f"Unknown attribute {name}")
        if name == "fp32_precision":
            precision.name(self.backend, self.op, value)
        else:
            self.__dict__[name] = value

    def __getattr__(self, name):
        if name == "fp32_precision":
            return precision.named(self.backend, self.op)
        raise AttributeError(f"Unknown attribute {name}")


FP32Precision.__name__ = FP32Precision.__qualname__ = "_FP32Precision"
FP32Precision.__module__ = "torch.backends"


def of_precision(backend, written=None):
    """The attribute `fp32_precision` of a backend; what is written goes to `written`."""
    return ContextProp(lambda: precision.named(backend, "all"), lambda name: precision.name(written or backend, "all", name))


def is_bool(value, setter):
    """The value; RuntimeError in the name of PyTorch's setter where it is no bool."""
    if not isinstance(value, bool):
        raise RuntimeError(f"{setter} expects a bool, but got {type(value).__name__}")
    return value


def switch(values, name, setter):
    """The attribute of a bool that is kept in `values` and changes nothing."""
    return ContextProp(lambda: values[name], lambda on: values.__setitem__(name, is_bool(on, setter)))


def written(module, names, values):
    """Set those attributes of a module for which a value is given; what they were before, as a tuple."""
    before = tuple(getattr(module, name) for name in names)
    for name, value in zip(names, values):
        if value is not None:
            setattr(module, name, value)
    return before


@contextlib.contextmanager
def for_a_while(set_flags, *values):
    """A context in which `set_flags(*values)` holds."""
    with unfrozen():
        before = set_flags(*values)
    try:
        yield
    finally:
        with unfrozen():
            set_flags(*before)


def become(name, cls, **attributes):
    """Give a module, while it is imported, a class with these attributes; the module."""
    module = sys.modules[name]
    module.__class__ = type(cls, (PropModule,), attributes)
    return module
