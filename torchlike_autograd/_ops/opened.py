"""Forms run by their bodies (layer 2): inside what JAX traces, where widths and mapped axes are those in force there."""

from __future__ import annotations

import jax
import numpy as np

TANGENTS = [0]  # under how many dual levels operators take the tangents that they declare for forward mode
OPEN = [False]  # whether bodies are run where a Form is called, and not the programs that were traced from them


def is_int64(x):
    """Whether an array is of this type, or was before JAX's 32-bit mode (types are checked when a call is recorded)."""
    return x.dtype == np.int64 or (OPEN[0] and x.dtype == np.int32)


def calling(form):
    """What runs a Form: its program; its body while OPEN says so."""
    return _opened(form) if OPEN[0] else form.call


def forward(form, duals):
    """What runs a Form in forward mode, under so many dual levels: its body with the tangent that its operator declares, or what runs it anywhere."""
    from .spec import Form, _RealForm  # cycle: forms call one another through this

    if type(form) not in (Form, _RealForm) or getattr(form.op, "tangent", None) is None:
        return calling(form)
    run = _opened(form)

    def with_tangents(*flat):
        before, TANGENTS[0] = TANGENTS[0], duals
        try:
            return run(*flat)
        finally:
            TANGENTS[0] = before

    return with_tangents


def _opened(form):
    """f(*arrays) -> list of results, by the body itself."""
    from .spec import Form, Pullback  # cycle: forms call one another through this

    if type(form) is Pullback:
        return lambda *flat: list(form.apply(*_whole(form, flat)))
    if isinstance(form, Pullback) or (type(form).apply is Form.apply and getattr(form, "layout", None) is None):
        return form.call  # with inputs of its own, or nothing but a program
    return lambda *flat: list(out) if isinstance(out := form.apply(*flat), (tuple, list)) else [out]


def varying(array):
    """The axes of the mesh inside shard_map along which an array may differ."""
    t = jax.typeof(array)
    return getattr(t, "vma", None) or getattr(getattr(t, "manual_axis_type", None), "varying", None) or frozenset()


def _vary(array, axes):
    """An array as one that may differ along these axes too; JAX has called this by two names."""
    axes = tuple(sorted(axes - varying(array)))
    return array if not axes else jax.lax.pcast(array, axes, to="varying") if hasattr(jax.lax, "pcast") else jax.lax.pvary(array, axes)


def alike_everywhere(arrays):
    """Arrays inside shard_map that differ along the same axes: a gradient differs where what it comes from does."""
    axes = frozenset().union(*map(varying, arrays))
    return [_vary(a, axes) for a in arrays] if axes else arrays


def _whole(form, flat):
    """All inputs of a pullback from those that it keeps; the others are not read."""
    flat, n = alike_everywhere(flat), len(form.given)
    ins = [np.zeros(getattr(a, "full", a.shape), a.dtype.np) for a in form.inner.avals]
    for i, x in zip(form.keep, flat[n:]):
        ins[i] = x
    return (*flat[:n], *([_vary(x, axes) for x in ins] if (axes := varying(flat[0])) else ins))


__all__ = ["OPEN", "TANGENTS", "alike_everywhere", "calling", "forward", "is_int64"]
