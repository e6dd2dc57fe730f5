"""Tensors over several devices (layer 6): how a value is spread, and gradients that are spread as what they are the gradients of."""

from __future__ import annotations

import jax
from jax.sharding import NamedSharding

from .._ops.registry import OPS
from .._ops.spec import spec_of
from .._tensor import wrap
from . import devices
from .nodes import Leaf
from .placed import adopt
from .placed import target as on_all
from .record import GRAD, NOGRAD, data, record_op
from .storage import peek


def spread_value(v, sharding, mode=None, own=False):
    """A Value as a jax Sharding says, recorded; own: as a DTensor's."""
    if isinstance(sharding, NamedSharding):
        key = devices.spread_key(sharding.mesh.devices.flat, own)
    else:
        key = devices.spread_key(sorted(sharding.device_set, key=lambda d: d.id), own)
    return record_op(spec_of(OPS["_spread"], (("device", key), ("sharding", sharding)), ("T",)), [v], mode)[0]


def spread_as(v, other):
    """Fresh values over the devices of another Value of this shape, as it is spread."""
    return record_op(spec_of(OPS["_spread_as"], (), ("T", "T")), [v, other], NOGRAD)[0]


def beside(t, other):
    """A fresh tensor of the host's where another is: on its device, or over all of its devices, as it is spread where they have one shape, otherwise whole."""
    own, a = t._tl_v.aval, other._tl_v.aval
    if own.device == "cpu" and a.device != "cpu" and devices.is_single(a.device):
        return wrap(data(adopt(t._tl_array(), a.device), own.dtype, device=a.device))
    if "@" not in a.device or "@" in own.device:
        return t
    v = t._tl_value()
    return wrap(spread_as(v, other._tl_value()) if own.shape == a.shape else spread_value(v, on_all(a.device), NOGRAD, devices.is_own(a.device)))


def as_leaves(tape, stage, made, create_graph):
    """Gradients that a stage of a tape that has run gives for leaves, spread as the leaves are."""
    return [_as_leaf(_leaf(tape, slot), v, create_graph) for slot, v in zip(stage.outs, made)]


def _leaf(tape, slot):
    leaf = tape.leaves.get(slot) if slot >= 0 else tape.edges[-slot - 1] if not tape.open else None
    return leaf if type(leaf) is Leaf else None


def _as_leaf(leaf, v, create_graph):
    t = leaf.tensor() if leaf is not None else None
    if t is None:
        return v
    own = peek(t)
    array = own.array
    if not isinstance(array, jax.Array) or not isinstance(array.sharding, NamedSharding) or array.shape != v.aval.shape:
        return v
    return spread_value(v, array.sharding, GRAD if create_graph else NOGRAD, devices.is_own(own.aval.device))


__all__ = ["as_leaves", "beside", "spread_as", "spread_value"]
