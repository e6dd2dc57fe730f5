"""Traced programs with some of their equations written anew, at any depth (layer 2)."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal, jaxpr_as_fun

from .tracing import jaxpr_of

_CALLS = {"jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call", "remat2", "checkpoint"}
_HALVES = (jnp.float16, jnp.bfloat16)


def rewritten(closed, ruled):
    """A program in which functions stand for equations: `ruled(eqn)` is one of the operands, or None; itself where there are none."""
    return _anew(closed, ruled) if _concerned(closed.jaxpr, ruled) else closed


def holds(closed, wanted):
    """Whether a program has an equation, at any depth, of which `wanted(eqn)` is true."""
    return _concerned(closed.jaxpr, lambda eqn: wanted(eqn) or None)


def called(eqn, look, known):
    """What is known of the results of an equation that calls another program; None for others.

    look(jaxpr, {variable that comes in: what is known of it}) looks at a program; known(variable) says what is known outside.
    """
    made = None
    for inner in (j for value in eqn.params.values() for j in inner_programs(value)):
        if eqn.primitive.name in _CALLS and len(inner.invars) == len(eqn.invars):
            made = look(inner, {v: known(w) for v, w in zip(inner.invars, eqn.invars)})
        else:
            look(inner, {})
    return made


def inner_programs(value):
    """The programs in a parameter of an equation."""
    if isinstance(value, ClosedJaxpr):
        return [value.jaxpr]
    if isinstance(value, Jaxpr):
        return [value]
    return [j for v in value for j in inner_programs(v)] if isinstance(value, (tuple, list)) else []


def _concerned(jaxpr, ruled):
    return any(ruled(e) is not None or any(_concerned(j, ruled) for v in e.params.values() for j in inner_programs(v)) for e in jaxpr.eqns)


def _anew(closed, ruled):
    eqns, consts = [], dict(zip(closed.jaxpr.constvars, closed.consts))
    for eqn in closed.jaxpr.eqns:
        rule = ruled(eqn)
        if rule is None:
            eqns.append(eqn.replace(params={k: _renewed(v, ruled) for k, v in eqn.params.items()}))
        else:
            eqns += _written(eqn, rule, consts)
    return ClosedJaxpr(closed.jaxpr.replace(eqns=eqns, constvars=list(consts)), list(consts.values()))


def _written(eqn, rule, consts):
    """The equations that stand for one; what they hold as constants is added to `consts`."""
    types = [jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype) for v in eqn.invars]
    new = jaxpr_of(rule, *types)
    names = {**dict(zip(new.jaxpr.invars, eqn.invars)), **dict(zip(new.jaxpr.outvars, eqn.outvars))}
    consts.update(zip(new.jaxpr.constvars, new.consts))

    def named(v):
        return v if isinstance(v, Literal) else names.get(v, v)

    return [e.replace(invars=list(map(named, e.invars)), outvars=list(map(named, e.outvars))) for e in new.jaxpr.eqns]


def _renewed(value, ruled):
    if isinstance(value, ClosedJaxpr):
        return _anew(value, ruled)
    if isinstance(value, Jaxpr):
        new = _anew(ClosedJaxpr(value, ()), ruled)
        return value if new.consts else new.jaxpr
    return type(value)(_renewed(v, ruled) for v in value) if type(value) in (tuple, list) and inner_programs(value) else value


# Sums of half precision

def summed_wide(pull, gs):
    """pull(gs), in which sums of half precision are rounded once, as torch's are: those that JAX makes of broadcasts round at each element."""
    if not any(g.dtype in _HALVES for g in gs):
        return pull(gs)
    return jaxpr_as_fun(rewritten(jaxpr_of(pull, gs), _half_sum))(*gs)


def _half_sum(eqn):
    if eqn.primitive.name != "reduce_sum" or eqn.invars[0].aval.dtype not in _HALVES:
        return None

    def wide(x):
        return eqn.primitive.bind(x.astype(jnp.float32), **eqn.params).astype(x.dtype)

    return wide


__all__ = ["called", "holds", "inner_programs", "rewritten", "summed_wide"]
