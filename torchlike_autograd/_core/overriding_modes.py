"""Entering and leaving modes that see every call (layer 6): what was remembered of calls is forgotten, and a few methods of Tensor look first meanwhile."""

from __future__ import annotations

import functools

from .._tensor import Tensor
from . import overriding
from .overriding import MODES, activate, asked, here

_SHORT = ("__getitem__", "__setitem__", "__matmul__", "__rmatmul__",  # methods that remember by themselves
          "item", "tolist", "numpy", "detach", "requires_grad_", "register_hook", "retain_grad")  # and some that ask nobody
_kept: dict = {}


def enter(mode):
    """From now on calls of this thread go to `mode` first."""
    activate()
    if not MODES:
        for name in _SHORT:
            _kept[name] = Tensor.__dict__.get(name)
            setattr(Tensor, name, _looking(name, _kept[name] or getattr(Tensor, name)))
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
            setattr(Tensor, name, x) if x is not None else delattr(Tensor, name)
        _kept.clear()


def _looking(name, x):
    func = Tensor.__dict__["matmul"] if name == "__matmul__" else x

    @functools.wraps(x)
    def method(*args, **kwargs):
        if here.modes:
            done, out = asked(func, args, kwargs)
            if done:
                return out
        return x(*args, **kwargs)

    return method
