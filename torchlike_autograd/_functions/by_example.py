"""Functions that read their tensors on the host, under a map (layer 6): called for each example, their results stacked, as PyTorch does without a rule."""

from __future__ import annotations

import functools

from .._core import levels
from .._core.composite import named
from .._core.pytree import flatten, unflatten
from .._tensor import Tensor, wrap


def by_example(f):
    """A function that goes over the examples of the innermost map which one of its tensors is under."""

    @functools.wraps(f)
    def called(*args, **kwargs):
        level = _level(args, kwargs) if levels.running() and kwargs.get("out") is None else None
        return f(*args, **kwargs) if level is None else _stacked(called, level, args, kwargs)

    return called


def _level(args, kwargs):
    """The innermost running map of the tensors, or None."""
    values = [t._tl_value() for t in (*args, *kwargs.values()) if isinstance(t, Tensor)]
    maps = [lv for lv in levels.running() if lv.kind == levels.MAP and any(levels.has(v, lv) for v in values)]
    return maps[-1] if maps else None


def _stacked(f, level, args, kwargs):
    out = lambda x: wrap(levels.move("exit", level, [x._tl_value()], 0)) if isinstance(x, Tensor) and levels.has(x._tl_value(), level) else None  # noqa: E731
    whole, whole_kw = [out(x) for x in args], {k: out(x) for k, x in kwargs.items()}
    pick = lambda x, rows, i: x if rows is None else rows.select(0, i)  # noqa: E731
    found = [flatten(f(*(pick(x, rows, i) for x, rows in zip(args, whole)), **{k: pick(x, whole_kw[k], i) for k, x in kwargs.items()}))
             for i in range(level.size)]
    stacked = [named("stack")(list(same)) for same in zip(*(leaves for leaves, _ in found))]
    return unflatten([wrap(levels.move("enter", level, [t._tl_value()], 0)) for t in stacked], found[0][1])


__all__ = ["by_example"]
