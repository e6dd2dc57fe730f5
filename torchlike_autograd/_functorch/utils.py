"""torch._functorch.utils (layer 8)."""

from __future__ import annotations

import contextlib

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
    """Arguments as they are: a tensor that outlives its transformation is a plain one."""
    return tuple(args)
