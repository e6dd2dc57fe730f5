"""Programs as XLA is to compile them, so that they round as PyTorch does (layer 2).

Divisions: XLA writes x / c as x * (1 / c) where c is constant or spread over the elements of x, (x / b) / c as x / (b * c), and x / sqrt(y) as x * rsqrt(y).  The last digit
is another one then, and `floor(x / 41)` of 41 is 0.  PyTorch divides; so does what runs on the host.  In a program that is compiled, an operand of such a division
is chosen by a condition that XLA does not see through: x / (x if never else c).

Identities: it takes log(exp(x)) for x, exp(x) * exp(y) for exp(x + y), (x ** a) ** b for x ** (a * b) and sqrt(x * x) for abs(x), also where what stands
between is infinite, which PyTorch's result shows.  What they are taken from is hidden in the same way.

Functions: XLA takes exp2(x) for exp(x * log(2)), sinh and cosh for exponentials of x - log(2), and atanh for a difference of logarithms, whose last digits are lost
(2 ** -3 is not 0.125).  They are written with those that lose none.  What runs on the host is NumPy's own function.
"""

from __future__ import annotations

import functools
import math

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import Literal

from .rewriting import inner_programs, rewritten

CONSTANT, SPREAD = "constant", "spread"
_JOINED = {"log": {"exp", "exp2", "pow", "integer_pow"}, "mul": {"exp"}, "pow": {"pow", "integer_pow", "square", "mul", "sqrt", "exp"},
           "sqrt": {"mul", "integer_pow", "square", "pow"}}     # an operator -> what its operands (of `pow` the first) are made by where it is joined with it
_CALLS = {"jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call", "remat2", "checkpoint"}
_WRITTEN_ANEW = {"div", "sqrt", "rsqrt", "exp", "pow", "integer_pow"}    # what XLA joins a division with
_SPREADING = {"add", "sub", "mul", "div", "neg", "abs", "max", "min", "sqrt", "exp", "pow", "convert_element_type", "reshape", "transpose", "select_n", "squeeze",
              "expand_dims", "integer_pow", "stop_gradient", "copy", "rev", "slice"}


def exact(closed):
    """A traced program whose divisions are those of PyTorch; itself where XLA leaves them alone."""
    found = {}
    _look(closed.jaxpr, found, dict.fromkeys(closed.jaxpr.constvars, CONSTANT))
    return rewritten(closed, lambda eqn: found.get(id(eqn))) if found else closed


def _look(jaxpr, found, known):
    """Put a rule in `found` for each division of a program, by the id of its equation, that XLA would write anew; what its results are.

    known: variables -> the operator that they are made by, SPREAD if that repeats numbers, CONSTANT.
    """
    for eqn in jaxpr.eqns:
        name, made = eqn.primitive.name, None
        for value in eqn.params.values():
            for j in inner_programs(value):
                called = name in _CALLS and len(j.invars) == len(eqn.invars)
                made = _look(j, found, {v: known.get(w) for v, w in zip(j.invars, eqn.invars) if not isinstance(w, Literal)} if called else {})
                made = made if called else None
        if name in _JOINED and jnp.issubdtype(eqn.outvars[0].aval.dtype, jnp.floating) and all(_is(v, _JOINED[name], known) for v in eqn.invars[:1 + (name == "mul")]):
            found[id(eqn)] = functools.partial(_hidden, eqn)
        if name in FUNCTIONS and eqn.outvars[0].aval.dtype in (np.float32, np.float64):
            found[id(eqn)] = FUNCTIONS[name]
        if name == "div" and jnp.issubdtype(eqn.outvars[0].aval.dtype, jnp.floating):
            x, y = eqn.invars
            first, second = _is(x, ("div",), known), _is_spread(y, eqn.outvars[0], known) or _is(y, _WRITTEN_ANEW, known)
            if (first or second) and not _is_power_of_two(y):
                found[id(eqn)] = _both if first else _quotient
        if name == "broadcast_in_dim" or (name in _SPREADING and all(_spreads(v, known) for v in eqn.invars)):
            name = SPREAD
        known.update((v, SPREAD if name == SPREAD and v.aval.shape else m) for v, m in zip(eqn.outvars, made or [name] * len(eqn.outvars)))
    return [None if isinstance(v, Literal) else known.get(v) for v in jaxpr.outvars]


def _is(v, names, known):
    return not isinstance(v, Literal) and known.get(v) in names


def _spreads(v, known):
    return isinstance(v, Literal) or not v.aval.shape or known.get(v) in (SPREAD, CONSTANT)


def _is_spread(y, out, known):
    """Whether a divisor is a constant, or has fewer numbers than it stands for."""
    return isinstance(y, Literal) or known.get(y) in (SPREAD, CONSTANT) or y.aval.shape != out.aval.shape


def _is_power_of_two(y):
    """Whether dividing by y is multiplying by its reciprocal."""
    return isinstance(y, Literal) and math.frexp(abs(float(y.val)))[0] == 0.5


def _operands(x, y):
    """Both of one shape, and a condition that is never true."""
    shape = np.broadcast_shapes(x.shape, y.shape)
    return jnp.broadcast_to(x, shape), jnp.broadcast_to(y, shape), lax.optimization_barrier(np.False_)


def _quotient(x, y):
    x, y, never = _operands(x, y)
    return lax.div(x, lax.select_n(never, y, x))


def _both(x, y):
    x, y, never = _operands(x, y)
    always = lax.optimization_barrier(np.True_)     # another one: a condition that both operands had would be drawn out of the division
    return lax.div(lax.select_n(always, y, x), lax.select_n(never, y, x))


def _hidden(eqn, x, *others):
    return eqn.primitive.bind(lax.select_n(lax.optimization_barrier(np.False_), x, jnp.ones_like(x)), *others, **eqn.params)


def _exp2(x):
    return lax.pow(jnp.full_like(x, 2), x)


_FAR = 40.0  # beyond it the exponential of -x is no part of sinh(x) and cosh(x), and that of x may be infinite where these are not


def _half_exp(x):
    half = jnp.exp(x * 0.5)
    return 0.5 * half * half


def _sinh(x):
    size = jnp.abs(x)
    more = jnp.expm1(size)
    return jnp.copysign(jnp.where(size < _FAR, 0.5 * (more + more / (more + 1)), _half_exp(size)), x)


def _cosh(x):
    size = jnp.abs(x)
    whole = jnp.exp(size)
    return jnp.where(size < _FAR, 0.5 * (whole + 1 / whole), _half_exp(size))


def _atanh(x):
    size = jnp.abs(x)
    twice = size + size
    return jnp.copysign(0.5 * jnp.log1p(jnp.where(size < 0.5, twice + twice * size / (1 - size), twice / (1 - size))), x)


FUNCTIONS = {"exp2": _exp2, "sinh": _sinh, "cosh": _cosh, "atanh": _atanh}

__all__ = ["exact"]
