"""Jacobians of functions of tuples column by column (layer 7): forward mode over unit vectors of the inputs, all at once."""

from __future__ import annotations

from .._core import levels
from .._functions.create import zeros_like
from . import forward_ad
from ._transforms import _units
from ._vmap import vmap


def columns(func, xs):
    """[[d output / d input for each input] for each output]."""
    def push(*units):
        with forward_ad.dual_level():
            outs = func(*map(forward_ad.make_dual, xs, units))
            return tuple([zeros_like(p) if t is None else t for p, t in map(forward_ad.unpack_dual, outs)])

    found = vmap(push, randomness=levels.OLD)(*_units(xs))
    sizes = [x.numel() for x in xs]
    return [[part.movedim(0, -1).reshape(whole.shape[1:] + x.shape) for part, x in zip(whole.split(sizes, 0), xs)] for whole in found]
