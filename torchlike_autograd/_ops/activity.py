"""What the results of a program depend on (layer 2), as torch's formulas do: through arithmetic, not through comparisons and indices.

torch's formula for the gradient of `max` or `clamp` multiplies by a mask, so that it has no derivative with respect to the input; its formulas for
`addmm` or `copysign` give each input a gradient of its own, so that one that is a function of the cotangent alone does not require grad beside one that is not.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax.extend.core import Literal

from .registry import REFUSALS

CALLS = ("jit", "pjit")


def dependencies(jaxpr):
    """For each result the inputs that it depends on, as a mask of bits."""
    return _through(jaxpr, [1 << i if _floating(v) else 0 for i, v in enumerate(jaxpr.invars)])


def readings(jaxpr):
    """For each result the inputs that it is computed from, as a mask of bits: through comparisons and indices too."""
    return _through(jaxpr, [1 << i for i in range(len(jaxpr.invars))], lambda v: True)


def union(masks):
    """All bits of some masks."""
    out = 0
    for m in masks:
        out |= m
    return out


def _floating(v):
    return jnp.issubdtype(v.aval.dtype, jnp.inexact)


def _through(jaxpr, masks, counts=_floating):
    env = dict(zip(jaxpr.invars, masks))
    for eqn in jaxpr.eqns:
        ins = [0 if isinstance(v, Literal) else env.get(v, 0) for v in eqn.invars]
        inner = eqn.params.get("jaxpr") if eqn.primitive.name in CALLS else None
        outs = [union(ins)] * len(eqn.outvars) if inner is None else _through(inner.jaxpr, ins, counts)
        env.update((v, m) for v, m in zip(eqn.outvars, outs) if m and counts(v))
    return [0 if isinstance(v, Literal) else env.get(v, 0) for v in jaxpr.outvars]


def with_elements(form, wanted, given):
    """The same pullback at types without elements made ones with some: JAX leaves out what would be computed of nothing.  None where that is not so."""
    from .spec import PLAIN, aval  # cycle: a pullback asks this while it is made

    if type(form) not in PLAIN or not any(0 in a.shape for a in form.avals) or emptied(form) == "constant":
        return None
    try:
        return form.spec.form(tuple(aval(tuple(n or 1 for n in a.shape), a.dtype, a.device) if 0 in a.shape else a for a in form.avals)).pullback(wanted, given)
    except REFUSALS:  # keywords that hold for these shapes alone
        return None


def emptied(form):
    """What torch's gradient of a call does where an operand has no elements (`empty` of registry.op)."""
    said = getattr(form.op, "empty", None)
    return said(**form.spec.statics) if callable(said) else said


def as_elsewhere(pull, other):
    """`dependencies` of a pullback as those of another one, None where there is none."""
    if other is None or other.masks is None:
        return None
    bits = {owner: 1 << i for i, owner in enumerate(pull.owners)}
    return [union(bits[owner] for i, owner in enumerate(other.owners) if m >> i & 1) for m in other.masks]


__all__ = ["as_elsewhere", "dependencies", "emptied", "readings", "union", "with_elements"]
