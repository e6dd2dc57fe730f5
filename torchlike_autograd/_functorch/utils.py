"""torch._functorch.utils (layer 8)."""

from __future__ import annotations

import contextlib

from .._core import outlived
from .._core.storage import record_alias
from .._tensor import Tensor, wrap

argnums_t = int | tuple[int, ...]


def exposed_in(module):
    """A decorator: the function says that it comes from another module."""
    def decorate(fn):
        fn.__module__ = module
        return fn

    return decorate


def enable_single_level_autograd_function():
    """A context in which custom Functions may be recorded inside a transformation: they may here."""
    return contextlib.nullcontext()


def unwrap_dead_wrappers(args):
    """Arguments, a plain tensor in the place of each one that is held past the end of its transformation."""
    return tuple(_plain(a) if isinstance(a, Tensor) and a._tl_value() in outlived.DEAD else a for a in args)


def _plain(t):
    """The contents of a tensor, as a tensor of no transformation."""
    return wrap(record_alias(t._tl_value(), "detach"))
