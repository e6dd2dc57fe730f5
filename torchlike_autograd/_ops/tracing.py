"""Tracing operators (layer 2): what jax.make_jaxpr gives, in about half of its time for a shape that is new.

The functions of jax.numpy are jitted: for a new shape JAX traces each of them by itself, and writes a call of it.  Here their primitives are written where they
are called, which computes the same.  JAX unrolls loops of known length then, so operators loop with the functions below, and call those of JAX that loop
through `looping`.
"""

from __future__ import annotations

import functools

import jax


def traced(f, *types, **options):
    """jax.make_jaxpr(f, **options)(*types), in 64-bit mode."""
    with jax.enable_x64(True), jax.disable_jit():
        return jax.make_jaxpr(f, **options)(*types)


def looping(f):
    """A function that loops, as it is traced elsewhere: its loops stay loops."""

    @functools.wraps(f)
    def call(*args, **kwargs):
        with jax.disable_jit(False):
            return f(*args, **kwargs)

    return call


scan, fori_loop, map_ = looping(jax.lax.scan), looping(jax.lax.fori_loop), looping(jax.lax.map)
