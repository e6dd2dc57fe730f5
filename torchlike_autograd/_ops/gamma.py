"""Relatives of the gamma function: multivariate, incomplete, Hurwitz's zeta (layer 2)."""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy import special as js

from . import incomplete
from .conventions import char_name, only, partials
from .registry import Promote, at, call, fails, op, real
from .unary import _lgamma

_INF, _NAN = float("inf"), float("nan")
_OTHER = {"self": ("self", "other"), "other": ("self", "other")}


def _refused(name):
    """The rule of an argument with respect to which torch has no derivative."""

    def rule(t, *_):
        raise NotImplementedError(f"the derivative for '{name}' is not implemented.")

    return rule


@op("mvlgamma(Tensor self, int p) -> Tensor", lies=None, node="MvlgammaBackward0", promote=Promote.FLOAT, aliases=("torch.special.multigammaln",),
    saves={"self": ("self",)}, samples=[call(real(3, low=1.0), 2), call(real(2, 3, low=2.0, high=4.0), 3)], kinks=[call(at(1.0, 0.5, 0.3, 0.25), 2)],
    check=lambda types, *_: _mvlgamma_types(types["self"].dtype),
    errors=[fails(call(real(2), 0), RuntimeError, "p has to be greater than or equal to 1"),
            fails(call(at(1, 0, dtype="bool", grad=False), 1), RuntimeError, "The input tensor may not be a boolean tensor.")])
def mvlgamma(self, *, p):
    """The logarithm of the multivariate gamma function."""
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    if jnp.iscomplexobj(self):
        raise NotImplementedError(f"\"arange_cpu\" not implemented for '{char_name(self)}'")
    steps = np.arange(1 - p, 1) / 2
    terms = _lgamma(self[..., None] + jnp.asarray(steps, self.dtype).reshape((1,) * self.ndim + (p,)))
    return jnp.sum(terms, axis=-1) + p * (p - 1) / 4 * math.log(math.pi)


def _mvlgamma_types(own):
    if own.name == "bool":
        raise RuntimeError("The input tensor may not be a boolean tensor.")


# Incomplete gamma functions

def _density(a, x):
    return jnp.exp((a - 1) * jnp.log(x) - x - _lgamma(a))


@partials(_refused("igamma: input"), lambda t, out, a, x: t * _density(a, x))
def _lower(a, x):
    return _at_edges(_in_two(js.gammainc, incomplete.near, incomplete.lower, a, x), a, x, 0)


@partials(_refused("igammac: input"), lambda t, out, a, x: -t * _density(a, x))
def _upper(a, x):
    return _at_edges(_in_two(_upper_of_any, incomplete.near, incomplete.upper, a, x), a, x, 1)


def _upper_of_any(a, x):
    return _in_two(js.gammaincc, incomplete.small, incomplete.upper_of_small, a, x)


def _in_two(usual, where, there, a, x):
    """`there` of the pairs of which `where` is true, `usual` of the others: it does not see those, of which its series may not end."""
    chosen = where(a, x)
    return jnp.where(chosen, there(a, x), usual(jnp.where(chosen, 1, a), jnp.where(chosen, 1, x)))


def _at_edges(value, a, x, at_zero):
    """Arguments that are 0, infinite or negative, as torch has them."""
    value = jnp.where(jnp.isnan(value), jnp.where(x > a, 1 - at_zero, at_zero), value)  # so far away that the fraction overflows
    value = jnp.where(jnp.isnan(a) | jnp.isnan(x), _NAN, value)
    value = jnp.where(jnp.isinf(a), jnp.where(jnp.isinf(x), _NAN, at_zero), jnp.where(jnp.isinf(x), 1 - at_zero, value))
    value = jnp.where(a == 0, jnp.where(x > 0, 1 - at_zero, _NAN), jnp.where(x == 0, at_zero, value))
    return jnp.where((a < 0) | (x < 0), _NAN, value)


_EDGES = [call(at(0.0, 0.0, 1.0, 1.0, 2.0, -1.0, 1.0, _INF, 1.0, _NAN, 5.0, 20.0, 0.5, _INF, grad=False),
               at(0.0, 1.0, 0.0, 2.0, _INF, 1.0, -1.0, 1.0, _NAN, 1.0, 20.0, 5.0, 0.0, _INF)), call(at(1.0, 2.0), at(1.0, 2.0, grad=False)),
          call(at(1e6, 1e5, 1e-3, 0.2, 0.6, grad=False), at(1.001e6, 1.01e5, 1e-8, 0.3, 0.7))]   # both near a or small
_INCOMPLETE = {"forward": False, "promote": Promote.RESULT, "saves": _OTHER, "samples": [call(real(3, low=0.5, grad=False), real(3, low=0.1))], "kinks": _EDGES,
               "errors": [fails(call(at(2, 3, dtype="int64", grad=False), at(2, 3, dtype="int64", grad=False)), NotImplementedError,
                                "\"igamma_cpu\" not implemented for 'Long'")]}


@op("igamma(Tensor self, Tensor other) -> Tensor", node="IgammaBackward0", aliases=("torch.special.gammainc",), **_INCOMPLETE)
def igamma(self, other):
    """The regularized lower incomplete gamma function; torch has no derivative in the first argument."""
    return _lower(only("igamma_cpu", self, "f"), other)


_INCOMPLETE["errors"] = [fails(call(at(2, 3, dtype="int64", grad=False), at(2, 3, dtype="int64", grad=False)), NotImplementedError,
                               "\"igammac_cpu\" not implemented for 'Long'")]


@op("igammac(Tensor self, Tensor other) -> Tensor", node="IgammacBackward0", aliases=("torch.special.gammaincc",), **_INCOMPLETE)
def igammac(self, other):
    """The regularized upper incomplete gamma function; torch has no derivative in the first argument."""
    return _upper(only("igammac_cpu", self, "f"), other)


# Hurwitz's zeta function

_MOST_BELOW = 1 << 20  # terms of negative numbers, from farther away than which no sum would end


def _terms_below(x, q):
    """The sum of the terms of negative numbers, which begin as large as those beside 0 and may cancel them, and the first number that is not negative."""
    steps = jnp.where(q < 0, jnp.minimum(jnp.ceil(-q), _MOST_BELOW), 0)

    def add(state):
        k, sofar = state
        return k + 1, sofar + jnp.where(k < steps, (q + k) ** -x, 0)

    most = jnp.max(steps, initial=0)
    first = jnp.zeros((), q.dtype), jnp.zeros(jnp.broadcast_shapes(x.shape, q.shape), q.dtype)
    return lax.while_loop(lambda state: state[0] < most, add, first)[1], q + steps

@partials(_refused("zeta"), lambda t, out, x, q: t * -x * _zeta(x + 1, q))
def _zeta(x, q):
    return _in_double(*jnp.broadcast_arrays(x.astype(jnp.float64), q.astype(jnp.float64))).astype(jnp.result_type(x, q))


def _in_double(x, q):
    below, above = _terms_below(x, q)
    far = (q > 1e8 * (1 + jnp.abs(x))) & (x > 1) & jnp.isfinite(q)  # the first terms of https://dlmf.nist.gov/25.11.E43: q ** -x may underflow before the sum does
    value = jnp.where(far, q ** (1 - x) * (1 / jnp.where(x == 1, 1, x - 1) + 0.5 / q), below + js.zeta(x, above))
    value = jnp.where(jnp.isnan(value) & jnp.isfinite(q), q ** -x + (q + 1) ** -x, value)      # so large an x that JAX's correction of the tail overflows
    pole = (q <= 0) & (q == jnp.floor(q))
    strange = (q <= 0) & (x != jnp.floor(x))
    value = jnp.where(q <= 0, jnp.where(pole, _INF, jnp.where(strange, _NAN, value)), value)
    value = jnp.where(x == _INF, jnp.where(q < 1, _INF, jnp.where(q == 1, 1, _NAN)), value)     # its sum adds a first term and a NaN
    value = jnp.where(jnp.isnan(q) | jnp.isnan(x) & ~pole & ~strange, _NAN, value)
    return jnp.where(x == 1, _INF, jnp.where(x < 1, _NAN, value))


_ZETA = {"promote": Promote.FLOAT, "opmath": False, "names": ("torch.special.zeta",), "inplace": False, "method": False, "forward": "special_zeta"}


def _zeta_types(x):
    if x.dtype.itemsize == 2 or jnp.iscomplexobj(x):
        raise NotImplementedError(f"\"zeta_cpu\" not implemented for '{char_name(x)}'")
    return x


@op("special_zeta(Tensor self, Tensor other) -> Tensor", node="SpecialZetaBackward0", saves=_OTHER, samples=[call(real(3, low=1.5, high=4.0, grad=False), real(3, low=0.5))],
    kinks=[call(at(2.0, 1.0, 0.5, 3.0, 2.0, 2.0, _NAN, 3.0, grad=False), at(1.0, 1.0, 1.0, -0.5, -1.0, 0.0, 1.0, _INF)),
           call(at(2.0, 3.0), at(1.0, 2.0, grad=False)), call(at(1e9, 1e9, 1e30, grad=False), at(1.0, 2.0, 0.5, grad=False))], **_ZETA)
def special_zeta(self, other):
    """The sum of 1 / (k + other) ** self; torch has no derivative in the first argument."""
    return _zeta(_zeta_types(self), other)


@op("special_zeta.self_scalar(Scalar self, Tensor other) -> Tensor", node="SpecialZetaBackward1", saves={"other": ("other",)}, lift=("self",),
    promote_with=("self", "other"), samples=[call(2.0, real(3, low=0.5))], kinks=[call(1.0, at(1.0, 2.0))], **_ZETA)
def special_zeta_of_number(other, *, self):
    """`zeta` of a number."""
    return _zeta(_zeta_types(self), other)


@op("special_zeta.other_scalar(Tensor self, Scalar other) -> Tensor", node="SpecialZetaBackward2", saves={"self": ("self",)}, lift=("other",),
    promote_with=("self", "other"), samples=[call(real(3, low=1.5, high=4.0), 2.0)], kinks=[call(at(1.0, 2.0), 1.0)], **_ZETA)
def special_zeta_number(self, *, other):
    """`zeta` with a number."""
    return _zeta(_zeta_types(self), other)
