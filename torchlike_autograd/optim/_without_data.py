"""Steps of parameters on device "meta" (layer 8): there is nothing to compute but the step counts, which are numbers of the host as everywhere."""

from __future__ import annotations

import numpy as np

from .._core.record import Counter
from .._tensor import from_array
from ._record import SCALARS

__all__ = ["stand_ins"]


def stand_ins(items):
    """Parameters of one element on the host in the place of each, with its step counts for their own: (parameter, Value, gradient, states, names)."""
    return [_stand_in(*item) for item in items]


def _stand_in(p, v, g, state, names):
    small = {name: t if name in SCALARS else _ones(t) for name, t in state.items()}
    for t in (p, *[state[n] for n in names if n not in SCALARS]):
        _written(t)
    own = _ones(p)
    return own, own._tl_v, _ones(g), small, names


def _ones(t):
    aval = t._tl_v.aval
    return from_array(np.ones((1,) * aval.ndim, aval.dtype.np), aval.dtype)


def _written(t):
    """Count a write to a tensor whose contents are nothing."""
    if t._tl_counter is None:
        t._tl_counter = Counter()
    t._tl_counter.n += 1
