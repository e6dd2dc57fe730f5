"""Orthogonal polynomials of torch.special, by their three-term recurrences (layer 2).  torch knows no gradient of them."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from .conventions import needs_tensor, only
from .registry import NONE, Promote, at, call, op, real

_NAN, _INF = float("nan"), float("inf")
_LIMITS = {"float32": 128, "float64": 512}  # beyond these degrees torch answers NaN for Hermite polynomials


def _whole(n):
    """Degrees as integers; what is none, or what none holds, is negative."""
    return jnp.where(n < 2.0**63, n, -1).astype(jnp.int64)


def _by_recurrence(x, n, first, step):
    """p_n(x) with p_0 = 1, p_1 = `first` and p_{k+1} = step(k, p_k, p_{k-1}); 0 for negative degrees.  What is NaN stays so: degrees beyond count for nothing."""
    degree = _whole(n)

    def more(state):
        k, p, _ = state
        return jnp.any((k < degree) & (p == p))

    def onward(state):
        k, p, before = state
        following = step(k.astype(x.dtype), p, before)
        return k + 1, jnp.where(k < degree, following, p), jnp.where(k < degree, p, before)

    _, p, _ = jax.lax.while_loop(more, onward, (jnp.ones((), jnp.int64), first, jnp.ones_like(x)))
    return jnp.where(degree < 0, jnp.zeros((), x.dtype), jnp.where(degree == 0, jnp.ones((), x.dtype), p))


def _chebyshev(letter, low):
    """Degrees above `low` by their cosines inside of (-1, 1), and what they are at both ends, as torch has them; all others by recurrence."""

    def compute(x, n):
        whole = _whole(n)
        degree = whole.astype(x.dtype)
        even, end = whole % 2 == 0, jnp.abs(x) == 1
        far = (jnp.abs(x) < 1) & (whole > low)
        at_end = _AT_ENDS[letter](degree, x > 0, even)
        at_end = jnp.where(whole < 0, jnp.zeros((), x.dtype), at_end)
        inner = jnp.where(jnp.abs(x) < 1, x, 0)
        out = _by_recurrence(x, jnp.where(end | far, 0, n), _FIRST[letter](x), lambda k, p, before: 2 * x * p - before)
        return jnp.where(end, at_end, jnp.where(far, _INSIDE[letter](degree, jnp.arccos(inner)), out))

    return compute


def _shifted(letter, low):
    plain = _chebyshev(letter, low)
    return lambda x, n: plain(x + x - 1, n)


def _signed(even, value):
    return jnp.where(even, value, -value)


def _hermite(double):
    def compute(x, n):
        a = 2 if double else 1
        out = _by_recurrence(x, jnp.minimum(n, _LIMITS[str(x.dtype)]), a * x, lambda k, p, before: a * (x * p - k * before))
        return jnp.where(n > _LIMITS[str(x.dtype)], jnp.full((), _NAN, x.dtype), out)

    return compute


def _laguerre(x, n):
    """1 at 0, which the recurrence would lose step by step."""
    return _by_recurrence(x, jnp.where(x == 0, jnp.minimum(n, 0), n), 1 - x, lambda k, p, before: ((k + k + (1 - x)) * p - k * before) / (k + 1))


def _legendre(x, n):
    """At both ends 1 or -1, which the recurrence would lose step by step."""
    end = jnp.abs(x) == 1
    out = _by_recurrence(x, jnp.where(end, jnp.minimum(n, 0), n), x, lambda k, p, before: ((k + k + 1) * x * p - k * before) / (k + 1))
    return jnp.where(end & (x < 0) & (_whole(n) % 2 != 0), -out, out)


_FIRST = {"t": lambda x: x, "u": lambda x: x + x, "v": lambda x: x + x - 1, "w": lambda x: x + x + 1}
_AT_ENDS = {  # of the degree, at 1 (or -1), whether it is even
    "t": lambda n, at_one, even: _signed(at_one | even, jnp.ones_like(n)),
    "u": lambda n, at_one, even: _signed(at_one | even, n + 1),
    "v": lambda n, at_one, even: jnp.where(at_one, jnp.ones_like(n), _signed(even, n + n + 1)),
    "w": lambda n, at_one, even: jnp.where(at_one, n + n + 1, _signed(even, jnp.ones_like(n)))}
_INSIDE = {  # of the degree and the angle
    "t": lambda n, a: jnp.cos(n * a), "u": lambda n, a: jnp.sin((n + 1) * a) / jnp.sin(a),
    "v": lambda n, a: jnp.cos((n + 0.5) * a) / jnp.cos(a / 2), "w": lambda n, a: jnp.sin((n + 0.5) * a) / jnp.sin(a / 2)}
_KINDS = {**{f"chebyshev_polynomial_{c}": _chebyshev(c, 6 if c == "t" else 8) for c in _FIRST},
          **{f"shifted_chebyshev_polynomial_{c}": _shifted(c, 4 if c == "w" else 6) for c in _FIRST},
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
