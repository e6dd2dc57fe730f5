"""New contents under an old history (layer 2): what is left of a tensor's graph when its data are replaced."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp

from .no_gradient import real_gradient_wanted
from .opened import TANGENTS
from .registry import BODY, SMOOTH, call, op, real


@op("_graft(Tensor self, Tensor history) -> Tensor", node="GraftBackward0", samples=[call(real(2), real(2))], kinks=SMOOTH, nondiff=("self",),
    names=(), tangent=BODY)
def _graft(self, history):
    """The values of `self`, and its tangent, with the gradient of `history` (after a write through `.data`, or where no graph is made)."""
    return (partial(_written, TANGENTS[0]) if TANGENTS[0] else _grafted)(self, history)


@jax.custom_jvp
def _grafted(values, history):
    return values


@_grafted.defjvp
def _(primals, tangents):
    values, tangent = primals[0], tangents[1]
    if values.shape == tangent.shape and values.dtype == tangent.dtype:
        return _grafted(*primals), tangent
    return _grafted(*primals), _fitted(tangent, values)


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _written(duals, values, history):
    return _grafted(values, history)


@_written.defjvp
def _(duals, primals, tangents):
    """In forward mode, under so many dual levels: a tangent is contents too, and is written under the history that the old one had."""
    f = _grafted if duals == 1 else partial(_written, duals - 1)
    return f(*primals), f(*tangents)


@op("_merged(Tensor self, Tensor history) -> Tensor", node="GraftBackward0", samples=[call(real(2), real(2))], kinks=SMOOTH, names=(), tangent=BODY)
def _merged(self, history):
    """The values of `self`, and its tangent, with the gradients of both: what two graphs say of one tensor."""
    return (partial(_both_written, TANGENTS[0]) if TANGENTS[0] else _both)(self, history)


@jax.custom_jvp
def _both(values, history):
    return values


@_both.defjvp
def _(primals, tangents):
    return _both(*primals), tangents[0] + tangents[1]


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _both_written(duals, values, history):
    return _both(values, history)


@_both_written.defjvp
def _(duals, primals, tangents):
    f = _both if duals == 1 else partial(_both_written, duals - 1)
    return f(*primals), f(*tangents)


def reaches(small, large):
    """Whether the first shape can be expanded to the second."""
    lead = len(large) - len(small)
    return lead >= 0 and all(a in (1, b) for a, b in zip(small, large[lead:]))


def does_not_fit(shape, wanted, index=0, whose=""):
    """The error for a gradient that cannot be summed to the shape that it should have; whose: what torch's words say of who gave it."""
    return RuntimeError(f"{whose}invalid gradient at index {index} - got {list(shape)} but expected shape compatible with {list(wanted)}")


def _fitted(tangent, values):
    """A tangent of the history's type as one of other data: the gradient, transposed, is cast and summed to what the history has."""
    if not reaches(tangent.shape, values.shape):
        raise does_not_fit(values.shape, tangent.shape)
    if jnp.iscomplexobj(values) and not jnp.iscomplexobj(tangent):
        raise real_gradient_wanted()
    return jnp.broadcast_to(tangent, values.shape).astype(values.dtype)
