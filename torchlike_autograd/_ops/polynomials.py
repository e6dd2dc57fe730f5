"""Orthogonal polynomials of torch.special, by their three-term recurrences (layer 2).  torch knows no gradient of them."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from .conventions import needs_tensor, only
from .registry import NONE, Promote, at, call, op, real

_NAN, _INF = float("nan"), float("inf")
_LIMITS = {"float32": 128, "float64": 512}  # beyond these degrees torch answers NaN for Hermite polynomials


def _by_recurrence(x, n, first, step):
    """p_n(x) with p_0 = 1, p_1 = `first` and p_{k+1} = step(k, p_k, p_{k-1}); 0 for negative degrees."""
    known = n == n
    degree = jnp.where(known, n, -1).astype(jnp.int64)

    def more(state):
        return state[0] < jnp.max(degree, initial=0)

    def onward(state):
        k, p, before = state
        following = step(k.astype(x.dtype), p, before)
        return k + 1, jnp.where(k < degree, following, p), jnp.where(k < degree, p, before)

    _, p, _ = jax.lax.while_loop(more, onward, (jnp.ones((), jnp.int64), first, jnp.ones_like(x)))
    return jnp.where(degree < 0, jnp.zeros((), x.dtype), jnp.where(degree == 0, jnp.ones((), x.dtype), p))


def _chebyshev(first):
    return lambda x, n: _by_recurrence(x, n, first(x), lambda k, p, before: 2 * x * p - before)


def _shifted(first):
    plain = _chebyshev(first)
    return lambda x, n: plain(x + x - 1, n)


def _hermite(double):
    def compute(x, n):
        a = 2 if double else 1
        out = _by_recurrence(x, jnp.minimum(n, _LIMITS[str(x.dtype)]), a * x, lambda k, p, before: a * (x * p - k * before))
        return jnp.where(n > _LIMITS[str(x.dtype)], jnp.full((), _NAN, x.dtype), out)

    return compute


def _laguerre(x, n):
    return _by_recurrence(x, n, 1 - x, lambda k, p, before: ((k + k + (1 - x)) * p - k * before) / (k + 1))


def _legendre(x, n):
    return _by_recurrence(x, n, x, lambda k, p, before: ((k + k + 1) * x * p - k * before) / (k + 1))


_FIRST = {"t": lambda x: x, "u": lambda x: x + x, "v": lambda x: x + x - 1, "w": lambda x: x + x + 1}
_KINDS = {**{f"chebyshev_polynomial_{c}": _chebyshev(f) for c, f in _FIRST.items()},
          **{f"shifted_chebyshev_polynomial_{c}": _shifted(f) for c, f in _FIRST.items()},
          "hermite_polynomial_h": _hermite(True), "hermite_polynomial_he": _hermite(False),
          "laguerre_polynomial_l": _laguerre, "legendre_polynomial_p": _legendre}
_EDGES = [0.3, 1.0, -1.0, 2.0, _INF]  # what torch answers for NaN depends on its neighbours


_LISTS = " * (Tensor x, Tensor n, *, Tensor out = None)\n * (Number x, Tensor n, *, Tensor out = None)\n * (Tensor x, Number n, *, Tensor out = None)\n"


def _polynomial(name, compute):
    @op(f"special_{name}(Tensor x, Tensor n) -> Tensor", derivative=NONE, promote=Promote.FLOAT, check=needs_tensor(f"special_{name}", _LISTS), opmath=False, inplace=False, method=False, scalars=("x", "n"),
        names=(f"torch.special.{name}",), samples=[call(real(2, 3, grad=False), at(0.0, 3.0, 9.0, grad=False)), call(real(3, grad=False), 4), call(0.5, real(3, low=0.0, high=9.0, grad=False))],
        kinks=[call(at(*_EDGES, grad=False), n) for n in (-1, 2.7, 9, 600, _NAN)])
    def body(x, n):
        """A polynomial of degree n (cut to an integer) of each element; 0 for negative degrees."""
        x, n = jnp.broadcast_arrays(only(f"{name}_cpu", x, "d"), n)
        return compute(x, n)


for _name, _compute in _KINDS.items():
    _polynomial(_name, _compute)
