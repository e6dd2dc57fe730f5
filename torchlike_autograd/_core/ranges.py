"""Index values that are known when a call is recorded are checked there and then (layer 6).

An operator with a `guard` checks its index in the program, and the next look raises.  Where the index tensor already has its values, they are
checked here instead, as torch does, and the call is recorded without the guard.
"""

from __future__ import annotations

import copy
import math
import weakref

import numpy as np

from .._ops.index import first_of_several, indexed_shape
from .._ops.places import offence
from .._ops.spec import NUMBERS, spec_of
from .._tensor import Tensor
from .record import Step, number_kind

_extents: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # Value -> (least, greatest)


def known(t):
    """The NumPy values of a tensor where they are there without running anything; None otherwise."""
    return _held(t._tl_value())


def _held(v):
    return None if v.array is None or v.aval.device != "cpu" else np.asarray(v.array)


def extent(t):
    """(least, greatest) value of an index tensor, (0, -1) if it is empty, None if its values are not known yet."""
    v = _source(t._tl_value())
    out = _extents.get(v)
    if out is None:
        a = _held(v)
        if a is None:
            return None
        out = _extents[v] = (a.min(), a.max()) if a.size else (0, -1)
    return out


def _elements(t):
    """The NumPy values that an index tensor has, where `extent` knows them; an expanded one's once."""
    return _held(_source(t._tl_value()))


_VIEWS, _FAR = {"expand", "unsqueeze", "squeeze", "view", "reshape", "_unsafe_view", "alias"}, 6  # which have all elements in their order; calls looked back


def _source(v):
    """A computed Value whose elements, in their order, are those of a pending one, each perhaps several times (an expanded index); else the Value itself."""
    if v.tape is None or v.array is not None or not math.prod(v.aval.shape):
        return v
    slot, node = v.slot, v.tape.prefix
    for _ in range(_FAR):
        step = node.step
        if type(step) is Step and step.first <= slot:
            if step.kind != "op" or step.form.op.name not in _VIEWS:
                return v
            slot = step.ins[0]
            if slot < 0:
                return v.tape.inputs[-slot - 1]
        node = node.parent
        if node is None or node.step is None:
            break
    return v


_free_ops: dict = {}
_free_specs: dict = {}


def unguarded(spec):
    """The same call without its check."""
    out = _free_specs.get(spec)
    if out is None:
        op = _free_ops.get(spec.op)
        if op is None:
            op = _free_ops[spec.op] = copy.copy(spec.op)
            op.guard, op.specs = None, {}
        out = _free_specs[spec] = spec_of(op, tuple(spec.statics.items()), spec.pattern, spec.into)
    return out


def settle(spec, flat):
    """`spec` without its guard where the values of the index flat[1] are known and in range; torch's error where they are not in range."""
    op = spec.op
    if op.guard is None:
        return spec
    bounds = extent(flat[1])
    if bounds is None:
        return spec
    if bounds[0] <= bounds[1]:
        form = spec.form(types(flat))  # errors of shape and dtype come first
        size, lowest = op.guard.bounds(flat[0]._tl_v.aval.shape, **spec.statics)
        if bounds[0] < lowest or bounds[1] >= size:
            raise form.guard_error(int(offence(_elements(flat[1]), size, lowest)))
    return unguarded(spec)


def settle_several(spec, flat, dims, every=None):
    """`settle` for one index tensor per dim, flat[1:]; `every` are all of the call's inputs."""
    shape, unknown = flat[0]._tl_v.aval.shape, False
    for index, d in zip(flat[1:], dims):
        bounds = extent(index)
        if bounds is None:
            unknown = True
        elif bounds[0] <= bounds[1] and (bounds[0] < -shape[d] or bounds[1] >= shape[d]):
            form = spec.form(types(every or flat))
            if 0 in indexed_shape(shape, [i._tl_v.aval.shape for i in flat[1:]], dims):
                return unguarded(spec)
            raise form.guard_error(int(first_of_several(shape, [i._tl_numpy() for i in flat[1:]], dims)))
    return spec if unknown else unguarded(spec)


def settle_classes(spec, flat, ignored):
    """`settle` for targets flat[1] that are classes, places in dim 1 (or 0) of flat[0]; one number may stand anywhere and is ignored."""
    bounds = extent(flat[1])
    if bounds is None:
        return spec
    shape = flat[0]._tl_v.aval.shape
    size = shape[1 if len(shape) > 1 else 0]
    if bounds[0] <= bounds[1] and (bounds[0] < 0 or bounds[1] >= size):
        form = spec.form(types(flat))  # errors of shape and dtype come first
        a = _elements(flat[1]).astype(np.int64)
        bad = a[((a < 0) | (a >= size)) & (a != ignored)]
        if bad.size:
            raise form.guard_error(int(bad[0]) + (bad[0] >= 0))
    return unguarded(spec)


def types(flat):
    """The input types of a call."""
    return tuple([x._tl_v.aval if isinstance(x, Tensor) else NUMBERS[number_kind(x)] for x in flat])


__all__ = ["extent", "known", "settle", "settle_classes", "settle_several", "types", "unguarded"]
