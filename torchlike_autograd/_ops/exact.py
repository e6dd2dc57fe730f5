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

from .conv_windows import suited
from .rewriting import called, rewritten
from .running import looped

CONSTANT, SPREAD = "constant", "spread"
_JOINED = {"log": {"exp", "exp2", "pow", "integer_pow"}, "mul": {"exp"}, "pow": {"pow", "integer_pow", "square", "mul", "sqrt", "exp"},
           "sqrt": {"mul", "integer_pow", "square", "pow"}}     # an operator -> what its operands (of `pow` the first) are made by where it is joined with it
_MOVING, _REDUCING = {"reshape", "squeeze", "expand_dims", "transpose", "copy", "stop_gradient"}, {"reduce_sum", "reduce_max", "reduce_min", "reduce_prod"}
_WRITTEN_ANEW = {"div", "sqrt", "rsqrt", "exp", "pow", "integer_pow"}    # what XLA joins a division with
_SPREADING = {"add", "sub", "mul", "div", "neg", "abs", "max", "min", "sqrt", "exp", "pow", "convert_element_type", "select_n", "integer_pow", "rev", "slice"}


def exact(closed):
    """A traced program that XLA compiles to what PyTorch computes; itself where XLA leaves it alone."""
    found = {}
    _look(closed.jaxpr, found, {v: {CONSTANT} for v in closed.jaxpr.constvars})
    return rewritten(closed, lambda eqn: found.get(id(eqn))) if found else closed


def alone(closed):
    """An operator by itself as XLA is to compile it for the host."""
    return looped(exact(suited(closed)))


def _look(jaxpr, found, known):
    """Put a rule in `found` for each equation of a program, by its id, that XLA would write anew; what is known of the program's results.

    known: variables -> the operator that they are made by, with SPREAD where numbers are repeated; CONSTANT.
    """
    for eqn in jaxpr.eqns:
        made = called(eqn, lambda jaxpr, inputs: _look(jaxpr, found, inputs), lambda v: _known(v, known))
        rule = _rule(eqn, known)
        if rule is not None:
            found[id(eqn)] = rule
        if made is None:
            made = [_made_by(eqn, known)] * len(eqn.outvars)
        known.update(zip(eqn.outvars, made))
    return [_known(v, known) for v in jaxpr.outvars]


def _made_by(eqn, known):
    """What is known of the result of an equation."""
    name, x = eqn.primitive.name, eqn.invars[0] if eqn.invars else None
    if name in _MOVING or (name in _REDUCING and all(x.aval.shape[d] == 1 for d in eqn.params["axes"])):
        return _known(x, known)
    if name == "broadcast_in_dim":
        return _known(x, known) if x.aval.size == eqn.outvars[0].aval.size else {name, SPREAD}
    if name in _SPREADING and eqn.outvars[0].aval.shape and all(not v.aval.shape or _known(v, known) & {SPREAD, CONSTANT} for v in eqn.invars):
        return {name, SPREAD}
    return {name}


def _known(v, known):
    return {CONSTANT} if isinstance(v, Literal) else known.get(v, set())


def _rule(eqn, known):
    """The function that stands for an equation that XLA would write anew."""
    name, out = eqn.primitive.name, eqn.outvars[0].aval if eqn.outvars else None
    if name in FUNCTIONS:
        return FUNCTIONS[name] if out.dtype in (np.float32, np.float64) else None
    if not (name == "div" or name in _JOINED) or not jnp.issubdtype(out.dtype, jnp.floating):
        return None
    if name != "div":
        joined = all(_known(v, known) & _JOINED[name] for v in eqn.invars[:1 + (name == "mul")])
        return functools.partial(_hidden, eqn) if joined else None
    x, y = eqn.invars
    of_quotient = "div" in _known(x, known)
    if _is_power_of_two(y) or not (of_quotient or y.aval.shape != out.shape or _known(y, known) & (_WRITTEN_ANEW | {SPREAD, CONSTANT})):
        return None
    return _both if of_quotient else _quotient


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

__all__ = ["alone", "exact"]
