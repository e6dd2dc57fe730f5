"""Methods and properties of Tensor subclasses that override `__torch_function__` (layer 6): they stand in a class of their own, before Tensor in the order of
such a class, so that Tensor's own stay as they are and `super().size()` finds what asks."""

from __future__ import annotations

import functools
import sys
from types import FunctionType

import numpy as np

from .._tensor import Tensor
from .hot import PLAIN
from .overriding import (
    FORGET,
    OPERATORS,
    OPERATORS_IN_PYTHON,
    RELEVANT,
    UNWRAPPED,
    WAITING,
    activate,
    asked,
    asked_operator,
    checking,
    disabled_impl,
    here,
    overrides,
    python_call,
    swapped_code,
)
from .shown import ORDERS

BINARY = frozenset(("add", "sub", "mul", "truediv", "pow", "mod", "matmul", "floordiv", "and", "or", "xor", "lshift", "rshift"))
TWO = frozenset(f"__{p}{n}__" for n in BINARY for p in ("", "r", "i") if f"{p}{n}" != "imatmul") | {"__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"}
LEFT = frozenset(("as_subclass", "__new__", "__init__", "__init_subclass__", "__class_getitem__", "__getattribute__", "__setattr__", "__delattr__", "__hash__",
                  "__torch_function__", "__iter__", "__reduce_ex__", "__reduce__", "__getstate__", "__setstate__", "__copy__", "__sizeof__", "__dir__",
                  "__subclasshook__", "__class__", "__dict__", "__weakref__", "__slots__", "__doc__", "__module__", "__getattr__", "__str__"))
IN_PYTHON = frozenset(("backward", "norm", "split", "unique", "unique_consecutive", "stft", "istft", "lu", "__repr__", "__len__", "__contains__",
                       "__reversed__", "__array__", "__format__"))
_AS_THEY_ARE = ("grad", "_base")  # properties that give a tensor of its own class
PRIVATE = frozenset(("_version", "_base", "_grad", "_grad_fn", "_backward_hooks"))


def _table():
    """{name: attribute} of what a subclass gets its own of."""
    out = {}
    for c in reversed(Tensor.__mro__):
        if c is object:
            continue
        for name, x in vars(c).items():
            x = getattr(x, "own", x)
            if name in LEFT or (name.startswith("_") and not name.startswith("__") and name not in PRIVATE):
                continue
            if isinstance(x, (property, FunctionType)) or _is_field(x) or (callable(x) and not isinstance(x, (type, classmethod, staticmethod))):
                out[name] = x
    return out


def _is_field(x):
    return hasattr(type(x), "__set__")


def _takes(x):
    return isinstance(x, (Tensor, int, float, complex, np.number, np.bool_)) or overrides(type(x))


def _method(name, x):
    if name in TWO:
        return _operator(name)
    func = Tensor.__dict__.get(OPERATORS.get(name, name), x)
    if name in IN_PYTHON:
        return checking(func, func, f"Tensor.{name}")

    @functools.wraps(x)
    def method(self, *args, **kwargs):
        done, out = asked(func, (self, *args), kwargs, f"torch.Tensor.{func.__name__}")
        return out if done else func(self, *args, **kwargs)

    return method


def _operator(name):
    """A binary operator; its reflected form with a tensor on the left is that tensor's own."""
    forward = f"__{name[3:]}" if name.startswith("__r") and name[3:-2] in BINARY else None

    def method(self, other):
        called, pair = (forward, (other, self)) if forward is not None and isinstance(other, Tensor) else (name, (self, other))
        if called is forward and name in OPERATORS_IN_PYTHON and not issubclass(type(self), type(other)):
            called, pair = name, (self, other)  # the other one had its turn
        if _takes(other) and not (called == "__matmul__" and not isinstance(other, Tensor) and not overrides(type(other))):
            done, out = asked_operator(called, pair)
            if done:
                return out
        return getattr(Tensor, called)(*pair)

    method.__name__ = getattr(Tensor, name).__name__
    return method


def _property(name, x):
    if name in _AS_THEY_ARE:
        UNWRAPPED.add(x.__get__)

    def read(self):
        done, out = asked(x.__get__, (self,), {}, f"torch.Tensor.{name}.__get__")
        return out if done else x.__get__(self)

    def write(self, value):
        done, _ = asked(x.__set__, (self, value), {}, f"torch.Tensor.{name}.__set__")
        if not done:
            x.__set__(self, value)

    fixed = isinstance(x, property) and x.fset is None
    return property(read, None if fixed else write, getattr(x, "fdel", None), x.__doc__)


class Asking:
    """What a class that is asked has before Tensor's own: filled when the first such class is made, and where Tensor has got more since."""

    __slots__ = ()


_filled: dict = {}  # {name: Tensor's own attribute, for which there is one}


def _fill():
    for name, x in _table().items():
        if _filled.get(name) is not x:
            _filled[name] = x
            setattr(Asking, name, _property(name, x) if _is_field(x) else _method(name, x))
    Asking.__hash__ = Tensor.__hash__


def _order(cls, order):
    """The order of a subclass of Tensor, with `Asking` in it unless it overrides nothing."""
    module = vars(cls).get("__module__", "")
    inside = module.startswith(_HOME) and not module.startswith(f"{_HOME}testing.") and not vars(cls).get("_tl_asked")
    impl = next((vars(c)["__torch_function__"] for c in order if "__torch_function__" in vars(c)), disabled_impl)
    if inside or Tensor not in order or impl is disabled_impl:
        return order
    if cls.__mro__ is not None:  # no class that is being made: calls of it may be remembered from when it overrode nothing
        for table in FORGET:
            table.clear()
    if Asking in order:
        return order
    activate()
    _fill()
    at = order.index(Tensor)
    return [*order[:at], Asking, *order[at:]]


_HOME = __package__.partition(".")[0] + "."
# Tensor's own that look at nothing but the tensor. What the package asks by them on the way is not told.
_BY_NAME = ("detach", "detach_", "dim", "element_size", "is_complex", "is_contiguous", "is_floating_point", "is_signed", "numel", "numpy",
            "requires_grad_", "size", "storage_offset", "stride", "tolist", "__len__", "__contains__", "__reversed__", "__format__", "__repr__")


def _asking(name, f, body):
    """`body` behind a look at the tensor: it is called by its name on Tensor, as `Tensor.size(x)` or `super().size()`, where a subclass has its own."""

    @functools.wraps(body)
    def checked(*args, **kwargs):
        if args and type(args[0]) not in PLAIN and not here.off and overrides(type(args[0])) and not _calls_inside():
            done, out = python_call(f, body, args, kwargs) if name in IN_PYTHON else asked(f, args, kwargs, f"torch.Tensor.{name}")
            if done:
                return out
        return body(*args, **kwargs)

    return checked


def _calls_inside():
    """Whether the package calls what `checked` stands before: over it is the function that got other code, over that one of a mode may have got it too."""
    frame = sys._getframe(3)
    if frame.f_globals.get("__name__", "").endswith(".overriding_modes"):
        frame = frame.f_back.f_back
    return frame.f_globals.get("__name__", "").startswith(_HOME)


def _ask_by_name():
    for name in _BY_NAME:
        f = getattr(Tensor, name)
        f.__code__ = swapped_code(f, f"_asking_{name}", functools.partial(_asking, name, f))


def prepare():
    """Tensor has its methods now: see to every class that is made from it."""
    ORDERS.append(_order)
    WAITING.append(_ask_by_name)
    RELEVANT[Tensor.__array__] = (1, (), ("copy",))
    RELEVANT[Tensor.backward] = (1, (), ())
