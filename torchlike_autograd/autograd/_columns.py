"""Jacobians of functions of tuples column by column (layer 7): forward mode over unit vectors of the inputs, all at once."""

from __future__ import annotations

from ._transforms import _units, jvp
from ._vmap import vmap


def columns(func, xs):
    """[[d output / d input for each input] for each output]."""
    def push(*units):
        return jvp(func, tuple(xs), tuple(units))[1]

    found = vmap(push)(*_units(xs))
    sizes = [x.numel() for x in xs]
    return [[part.movedim(0, -1).reshape(whole.shape[1:] + x.shape) for part, x in zip(whole.split(sizes, 0), xs)] for whole in found]
