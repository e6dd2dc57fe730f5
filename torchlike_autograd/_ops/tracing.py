"""Tracing operators (layer 2): what jax.make_jaxpr gives, in about half of its time for a shape that is new.

The functions of jax.numpy are jitted: for a new shape JAX traces each of them by itself, and writes a call of it.  Here their primitives are written where they
are called, which computes the same.  JAX unrolls loops of known length then, so operators loop with the functions below, and call those of JAX that loop
through `looping`.
"""

from __future__ import annotations

import functools

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr
from jax.interpreters.partial_eval import dce_jaxpr

try:
    from jax.api_util import shaped_abstractify
    from jax.extend import linear_util
    from jax.extend.core import DebugInfo
    from jax.interpreters import partial_eval
except ImportError:  # see _can_at_once
    partial_eval = None


def traced(f, *types, return_shape=False):
    """`jaxpr_of`, in 64-bit mode."""
    with jax.enable_x64(True), jax.disable_jit():
        return jaxpr_of(f, *types, return_shape=return_shape)


def abstract(a):
    """What JAX traces for a type, with the dims of its levels."""
    return jax.ShapeDtypeStruct(getattr(a, "full", a.shape), a.dtype.np)


def pruned(closed, stay):
    """(a program without unused inputs, whether it has each); stay: whether an input remains though it is not used."""
    jaxpr, used = dce_jaxpr(closed.jaxpr, [True] * len(closed.jaxpr.outvars), instantiate=stay)
    return ClosedJaxpr(jaxpr, closed.consts), used


def jaxpr_of(f, *types, return_shape=False):
    """jax.make_jaxpr(f, return_shape=return_shape)(*types), without the binding of arguments that a jitted call needs: a third of its time, of small functions."""
    closed, out = (_at_once if _can_at_once() else _made)(f, types)
    return (closed, out) if return_shape else closed


def _made(f, types):
    return jax.make_jaxpr(f, return_shape=True)(*types)


def _at_once(f, types):
    """What `_made` gives, by the function of JAX that does it."""
    leaves, tree = jax.tree.flatten(types)
    result = []

    def flat(*xs):
        outs, result_tree = jax.tree.flatten(f(*jax.tree.unflatten(tree, xs)))
        result.append(result_tree)
        return outs

    named = DebugInfo("make_jaxpr", getattr(f, "__name__", "f"), None, None)
    jaxpr, avals, consts = partial_eval.trace_to_jaxpr_dynamic(linear_util.wrap_init(flat, debug_info=named), [shaped_abstractify(x) for x in leaves])
    return ClosedJaxpr(jaxpr, consts), jax.tree.unflatten(result[-1], [jax.ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in avals])


@functools.cache
def _can_at_once():
    """Whether this JAX has what `_at_once` calls, whose names are not promised, and it gives the same as in JAX 0.10."""

    def probe(x, pair):
        return {"sum": x + pair[0], "table": pair[1] * np.arange(3.0)}

    types = jax.ShapeDtypeStruct((2, 1), np.float32), (jax.ShapeDtypeStruct((), np.float64), jax.ShapeDtypeStruct((3,), np.int32))
    try:
        (closed, out), (want, want_out) = _at_once(probe, types), _made(probe, types)
    except (AttributeError, TypeError, ValueError):
        return False
    return str(closed) == str(want) and out == want_out


def iota(n, dtype=np.int64):
    """0, 1, ... n - 1: jnp.arange, which writes more of them where n is symbolic (see symbolic.py)."""
    return jax.lax.iota(np.dtype(dtype), n)


def looping(f):
    """A function that loops, as it is traced elsewhere: its loops stay loops."""

    @functools.wraps(f)
    def call(*args, **kwargs):
        with jax.disable_jit(False):
            return f(*args, **kwargs)

    return call


scan, fori_loop, map_ = looping(jax.lax.scan), looping(jax.lax.fori_loop), looping(jax.lax.map)
