"""Results that a program need not compute (layer 3): what it takes in and gives back, gives twice, or fills with a constant, as `grad.zero_()` does.

Arrays are immutable, so such a result is one array for every run: no buffer is made and nothing is written.
"""

from __future__ import annotations

import jax
import numpy as np
from jax.extend.core import Literal, jaxpr_as_fun


def sources_of(closed):
    """Where each result of a traced program comes from, and which results are computed; (None, ()) where all of them are.

    A source is a place among the computed results, -1 - a place among the inputs, or an array.
    """
    jaxpr = closed.jaxpr
    given = {v: -1 - i for i, v in enumerate(jaxpr.invars)}
    filled = {e.outvars[0]: e for e in jaxpr.eqns
              if e.primitive.name == "broadcast_in_dim" and isinstance(e.invars[0], Literal) and e.invars[0].aval.shape == ()}
    sources, chosen, places = [], [], {}
    for i, v in enumerate(jaxpr.outvars):
        if isinstance(v, Literal):
            sources.append(_full((), v))
        elif v in given:
            sources.append(given[v])
        elif v in filled:
            sources.append(_full(v.aval.shape, filled[v].invars[0]))
        elif v in places:
            sources.append(places[v])
        else:
            sources.append(places.setdefault(v, len(chosen)))
            chosen.append(i)
    return (tuple(sources), tuple(chosen)) if len(chosen) < len(sources) else (None, ())


def _full(shape, literal):
    return jax.device_put(np.full(shape, literal.val, literal.aval.dtype))


def only(closed, chosen):
    """f(words, *arrays): the chosen results of a traced program."""
    whole = jaxpr_as_fun(closed)

    def f(words, *arrays):
        out = whole(*arrays) if words is None else whole(words, *arrays)
        return [out[i] for i in chosen]

    return f


def completed(sources, computed, inputs):
    """All results, in order."""
    return [(computed[s] if s >= 0 else inputs[-1 - s]) if type(s) is int else s for s in sources]


__all__ = ["completed", "only", "sources_of"]
