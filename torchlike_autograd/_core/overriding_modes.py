"""Entering and leaving modes that see every call (layer 6): what was remembered of calls is forgotten, and a few methods of Tensor look first meanwhile."""

from __future__ import annotations

import functools
from types import FunctionType

from .._tensor import Tensor
from . import overriding
from .overriding import MODES, activate, ask, asked, asked_operator, hand_over, here, swapped_code

_SHORT = ("__getitem__", "__matmul__", "__rmatmul__")  # methods that remember by themselves
_PARSED = ("__setitem__", "numpy", "requires_grad_", "register_hook", "retain_grad")  # methods that ask nobody: torch's parser tells of them,
_BY_SELF = ("item", "tolist", "detach", "__bool__", "__int__", "__float__", "__complex__", "__index__", "__neg__", "__abs__", "__pos__")  # or only of self,
_IN_PYTHON = ("__len__", "__contains__", "__reversed__", "__format__", "backward")  # or it is written in Python
_kept: dict = {}
_rerouted: list = []


def enter(mode):
    """From now on calls of this thread go to `mode` first."""
    activate()
    if not _rerouted:
        _reroute()
    if not MODES:
        for name in _SHORT:
            _kept[name] = Tensor.__dict__.get(name)
            setattr(Tensor, name, _looking(name, _kept[name]))
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
    """Let the methods that ask nobody look for modes from now on; they stay the functions that they are."""
    for names, tell in ((_PARSED, _tell_parsed), (_BY_SELF, _tell_self), (_IN_PYTHON, _tell_python)):
        for name in names:
            f = getattr(Tensor, name)
            if type(f) is not FunctionType or f in _rerouted:
                continue
            _rerouted.append(f)
            told = getattr(Tensor, overriding.OPERATORS.get(name, name))
            f.__code__ = swapped_code(f, f"_mode_{name}", functools.partial(_checking, told, tell))
            f.__defaults__ = f.__kwdefaults__ = None


def _checking(told, tell, body):
    @functools.wraps(body)
    def checked(*args, **kwargs):
        if here.modes and not here.all_off:
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


def _tell_python(told, body, args, kwargs):
    args, kwargs = overriding.normal(body, args, kwargs)
    return hand_over(told, [x for x in overriding.arguments(args, {}) if isinstance(x, Tensor) or overriding.overrides(type(x))], args, kwargs)
