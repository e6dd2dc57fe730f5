"""Gradients that torch refuses after looking at the cotangents (layer 6): losses that depend on the free phase of complex vectors.

A stage with such a step runs step by step, and the cotangents are looked at, as torch does, before the gradient is computed.
"""

from __future__ import annotations

import weakref
from operator import itemgetter

import jax
import numpy as np

from .._ops.lift import DUAL, levels_of
from .._ops.no_gradient import refused_by_data
from .levels import transforming
from .record import NOGRAD, Value, record_op


def _levels(x):
    return levels_of(x.aval) if isinstance(x, Value) else ()


def _array(x):
    if not isinstance(x, Value):
        return x
    if x.array is None:
        x.tape.resolve(x)
    return x.array


def _seen(x, maps):
    """The array of a Value with the primals of dual numbers alone, and a leading dim for each of some maps (of size 1: it is not under that one)."""
    own, x = _levels(x), _array(x)
    for i, level in reversed(list(enumerate(own))):
        if level[2] == DUAL:
            x = x[(slice(None),) * i + (0,)]
    own = [lv for lv in own if lv[2] != DUAL]
    return x.reshape(*[lv[1] if lv in own else 1 for lv in maps], *x.shape[len(own):]) if maps else x


_differentiated = weakref.WeakKeyDictionary()  # tape -> the nodes, by what they read, of which a backward pass made a graph that passes their results by


def look(tape, pull, gs, ins, create_graph):
    """Raise what the operator of a pullback has to say about these cotangents.

    Second derivatives of a pullback that reads no results go to the operator's input directly: later the cotangents are only a part of what torch sees.
    """
    if refused_by_data(pull.inner) is not None:
        return _look_again(pull, ins)
    if getattr(pull.inner.op.refuse, "outside", False) and transforming(older=True):
        return
    form, saved = pull.inner, getattr(pull, "own", ())  # the results among what it reads, after the inputs
    whole, node = len(saved) == len(form.out_avals), tuple([id(v) if v.tape is None else (v.tape.serial, v.slot) for v in ins if hasattr(v, "aval")])
    if not (whole or len(ins) == len(form.avals)) or form.out_avals[0].device == "meta" or node in _differentiated.get(tape, ()):  # "meta": nothing is read
        return
    if whole:
        outs = [x for _, x in sorted(zip(saved, ins[-len(saved):]), key=itemgetter(0))]
    elif any(map(_levels, ins)):
        outs = record_op(form.spec, ins, NOGRAD)
    else:
        outs = None
    with jax.enable_x64(True):
        if outs is None:
            outs = form.call(*map(_array, ins))
        maps = sorted({lv for x in (*gs, *outs) for lv in _levels(x) if lv[2] != DUAL})
        form.op.refuse({i: _seen(g, maps) for i, g in zip(pull.given, gs)}, [_seen(x, maps) for x in outs])
    if create_graph and not whole:
        _differentiated.setdefault(tape, set()).add(node)


def _look_again(pull, ins):
    """The same for the derivative of a gradient, by what that was computed of."""
    form, op = pull.inner, pull.inner.inner
    owners = [form.owners[i] for i in pull.keep]
    arrays = {op.owners[int(owner[1:])]: x for owner, x in zip(owners, ins) if owner[0] == "x"}
    if op.avals[0].device != "meta":
        op.op.refuses_data[1]({name: np.asarray(_array(x)) for name, x in arrays.items()}, op.avals[0].shape, **op.spec.statics)


__all__ = ["look"]
