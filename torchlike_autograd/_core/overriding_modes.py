"""Entering and leaving modes that see every call (layer 6): what was remembered of calls is forgotten, and a few methods of Tensor look first meanwhile."""

from __future__ import annotations

import functools
import sys
from types import FunctionType

from .._tensor import Tensor
from . import overriding
from .devices import device
from .overriding import MODES, activate, ask, asked, asked_operator, hand_over, here, swapped_code
from .overriding_methods import PRIVATE

_SHORT = ("__getitem__", "__matmul__", "__rmatmul__")  # methods that remember by themselves
_PARSED = ("__setitem__", "numpy", "requires_grad_", "register_hook")  # methods that ask nobody: torch's parser tells of them,
_BY_SELF = ("item", "retain_grad", "tolist", "__bool__", "__int__", "__float__", "__complex__", "__index__", "__neg__", "__abs__",
            "__pos__")  # or only of self,
_IN_PYTHON = ("__len__", "__contains__", "__reversed__", "__format__", "__repr__", "backward")  # or it is written in Python
# Those that the package itself asks all the time; only what others ask is told.
_OF_OTHERS_PARSED = ("size", "stride", "is_contiguous", "type")
_OF_OTHERS = ("dim", "numel", "element_size", "is_floating_point", "is_complex", "storage_offset", "is_signed", "untyped_storage", "detach", "detach_",
              "_is_view")
_HOME = __package__.partition(".")[0] + "."
_kept: dict = {}
_rerouted: dict = {}  # function: (its own code, that which looks for modes)


def enter(mode):
    """From now on calls of this thread go to `mode` first."""
    activate()
    if not _rerouted:
        _reroute()
    if not MODES:
        for f, (_, looking) in _rerouted.items():
            f.__code__ = looking
        for name in _SHORT:
            _kept[name] = Tensor.__dict__.get(name)
            setattr(Tensor, name, _looking(name, _kept[name]))
        _kept["grad"] = Tensor.__dict__["grad"]
        Tensor.grad = _Attribute(_kept["grad"])
        device.__new__ = _new_device
    MODES.append(mode)
    for table in overriding.FORGET:
        table.clear()
    here.modes = (*here.modes, mode)


def leave():
    """The innermost mode of this thread is left."""
    MODES.remove(here.modes[-1])
    here.modes = here.modes[:-1]
    if not MODES:
        for name, x in _kept.items():
            setattr(Tensor, name, x)
        _kept.clear()
        device.__new__ = _own_device
        for f, (own, _) in _rerouted.items():
            f.__code__ = own


_own_device = device.__dict__["__new__"]


def _new_device(cls, *args, **kwargs):
    """A device that a program makes while there are modes; they are told of the class."""
    if here.modes and not here.all_off and not sys._getframe(1).f_globals.get("__name__", "").startswith(_HOME):
        out = ask(device, [], (), args, kwargs or None)
        if out is not NotImplemented:
            return out
    return _own_device(cls, *args, **kwargs)


class _Attribute:
    """What stands for a descriptor of C's while there are modes; by the class it is that one.  An outer mode does not hear what an inner one reads by it."""

    def __init__(self, own):
        self.own = own
        self._read = _checking(own.__get__, _if_elsewhere(_tell_self), own.__get__)
        self._write = _checking(own.__set__, _if_elsewhere(_tell_self), own.__set__)
        self._forget = _checking(own.__delete__, _if_elsewhere(_tell_self), own.__delete__)

    def __get__(self, t, owner=None):
        return self.own if t is None else self._read(t)

    def __set__(self, t, value):
        self._write(t, value)

    def __delete__(self, t):
        self._forget(t)


def _looking(name, x):
    """What stands for `x` while there are modes; it is what they are told, so that outer ones see the call of an inner one."""
    if id(x) not in overriding.PATHS:
        overriding.named(x, f"torch.Tensor.{name}")

    @functools.wraps(x)
    def method(*args, **kwargs):
        if here.modes and (name != "__matmul__" or isinstance(args[1], Tensor) or overriding.overrides(type(args[1]))):
            done, out = asked_operator(name, args) if name.endswith("matmul__") else asked(method, args, kwargs)
            if done:
                return out
        return x(*args, **kwargs)

    return method


def _reroute():
    """Make code for the methods that ask nobody, to look for modes while there are any; they stay the functions that they are."""
    for names, tell in ((_PARSED, _tell_parsed), (_BY_SELF, _tell_self), (_IN_PYTHON, _tell_python), (_OF_OTHERS_PARSED, _if_elsewhere(_tell_parsed)),
                        (_OF_OTHERS, _if_elsewhere(_tell_self))):
        for name in names:
            _reroute_one(getattr(Tensor, name), name, getattr(Tensor, overriding.OPERATORS.get(name, name)), tell)
    for name, p in {n: p for c in reversed(Tensor.__mro__) for n, p in vars(c).items() if isinstance(p, property)}.items():
        if not name.startswith("_") or name in PRIVATE:
            _reroute_one(p.fget, f"get_{name}", p.__get__, _if_elsewhere(_tell_self))
            _reroute_one(p.fset, f"set_{name}", p.__set__, _if_elsewhere(_tell_self))


def _reroute_one(f, name, told, tell):
    if type(f) is FunctionType and f not in _rerouted:
        _rerouted[f] = f.__code__, swapped_code(f, f"_mode_{name}", functools.partial(_checking, told, tell))  # which has no use for its defaults


def _checking(told, tell, body):
    @functools.wraps(body)
    def checked(*args, **kwargs):
        if (here.modes and not here.all_off) or (args and not here.off and overriding.overrides(type(args[0]))):  # a class has its turn after the modes
            out = tell(told, body, args, kwargs)
            if out is not NotImplemented:
                return out
        return body(*args, **kwargs)

    return checked


def _tell_parsed(told, body, args, kwargs):
    return asked(told, args, kwargs)[1]


def _tell_self(told, body, args, kwargs):
    found = [] if here.off else overriding.found_in(args[:1])
    return ask(told, found, (type(args[0]),), args, kwargs or None)


def _if_elsewhere(tell):
    """`tell` for calls that do not come from the package: what that reads of a tensor on the way, PyTorch reads where no mode sees it."""

    def told_of_others(told, body, args, kwargs):
        caller = sys._getframe(3).f_globals.get("__name__", "")  # over `checked` and the function that got its code
        return NotImplemented if caller.startswith(_HOME) else tell(told, body, args, kwargs)

    return told_of_others


def _tell_python(told, body, args, kwargs):
    args, kwargs = overriding.normal(body, args, kwargs)
    return hand_over(told, [x for x in overriding.arguments(args, {}) if isinstance(x, Tensor) or overriding.overrides(type(x))], args, kwargs)
