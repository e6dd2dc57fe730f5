"""Checks of parameters and values (layer 8): what is not valid raises where the data is looked at, so that a training step stays one program.

    require(valid, words, x)    valid: bools, recorded.  Now where their values are wanted: under a map, a level, a mode, or in a `try` that catches ValueError.
                                Otherwise the check is a guarded operator of the program, and the next look raises.
"""

from __future__ import annotations

import weakref
from copy import copy

from .._core import guards, levels
from .._core.overriding import here
from .._core.record import IMMEDIATE, record_op, thread
from .._core.storage import as_detached
from .._ops.registry import OPS
from .._ops.spec import spec_of
from .._tensor import Tensor, wrap
from . import _names as torch
from .constraints import Constraint

_REQUIRED = spec_of(OPS["_required"], (), ("T",))


def require(valid, words, *given):
    """Raise ValueError(words(*given)) unless all of `valid` is True, now or when the program runs.

    given: what the words show: tensors, constraints, distributions.
    """
    if type(valid) is not Tensor or here.modes or levels.running() or thread.state.extra.get("selective") or valid.is_meta or IMMEDIATE[0]:
        if not torch._is_all_true(valid):  # over the examples of a map too: the check branches
            raise ValueError(words(*given))
        return
    seen = [_seen(x) for x in given]
    guards.note(record_op(_REQUIRED, [valid._tl_value()])[0], lambda: ValueError(words(*[x.shown() for x in seen])))


def _seen(x):
    if isinstance(x, Tensor):
        return _Tensor(x)
    if isinstance(x, Constraint):
        return _Constraint(x)
    from .distribution import Distribution  # cycle: that module begins with this one

    return _Distribution(x) if type(x).__repr__ is Distribution.__repr__ else _Weak(x)


class _Tensor:
    """A tensor as it was at a check, without its graph."""

    def __init__(self, x):
        self.own, self.version, self.value = weakref.ref(x), _writes(x), as_detached(x._tl_value())

    def shown(self):
        """The tensor itself, with its graph, where it is there as it was."""
        own = self.own()
        return wrap(self.value) if own is None or _writes(own) != self.version else own


def _writes(x):
    """The version of a tensor, or of an inference tensor, which tells it nobody."""
    return 0 if x._tl_counter is None else x._tl_counter.n


class _Constraint:
    """A constraint, whose bounds may be tensors."""

    def __init__(self, x):
        self.own, self.parts = x, {k: _seen(v) for k, v in vars(x).items() if isinstance(v, (Tensor, Constraint))}
        if self.parts:
            self.own = copy(x)
            vars(self.own).update(dict.fromkeys(self.parts))

    def shown(self):
        """A constraint that prints as it did."""
        vars(self.own).update({k: v.shown() for k, v in self.parts.items()})
        return self.own


class _Distribution:
    """A distribution as it was at a check: what is printed of it."""

    def __init__(self, x):
        self.name = type(x).__name__
        self.params = {k: _Tensor(v) if isinstance(v, Tensor) else v for k, v in shown(x).items()}

    def shown(self):
        """What prints as the distribution did."""
        return _Text(described(self.name, {k: v.shown() if isinstance(v, _Tensor) else v for k, v in self.params.items()}))


class _Weak:
    """A distribution that prints in its own way; only its class, where it is gone."""

    def __init__(self, x):
        self.own, self.name = weakref.ref(x), type(x).__name__

    def shown(self):
        """The distribution itself, where it is there."""
        return self.own() or _Text(f"{self.name}()")


class _Text:
    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


def shown(distribution):
    """What is printed of a distribution's parameters: one element, or the sizes."""
    given = {k: distribution.__dict__[k] for k in distribution.arg_constraints if k in distribution.__dict__}
    return {k: v if v.numel() == 1 else v.size() for k, v in given.items()}


def described(name, params):
    """The text of a distribution; params: tensors of one element, or sizes."""
    return f"{name}({', '.join(f'{k}: {v}' for k, v in params.items())})"


__all__ = ["described", "require", "shown"]
