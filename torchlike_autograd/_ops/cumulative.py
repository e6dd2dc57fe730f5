"""Running sums, products and extremes (layer 2)."""

from __future__ import annotations

import math
from functools import partial

import jax
import jax.numpy as jnp

from .._core.dtypes import DOUBLED
from .._core.shapes import wrap_dim
from .conventions import of_nothing, only, partials, wide
from .ranks import ordered, pick
from .reduce import product_tangent
from .registry import Promote, at, call, fails, op, real
from .tracing import scan

_NAN, _INF = float("nan"), float("inf")
_DIMS = [call(real(2, 3), 1), call(real(2, 3), -2), call(real(()), 0), call(real(0), 0)]
_OUTSIDE = fails(call(real(2, 3), 2), IndexError, "Dimension out of range (expected to be in range of [-2, 1], but got 2)")


def _along(f, x, dim):
    axis = wrap_dim(dim, x.ndim)
    return f(x, axis) if x.ndim and x.size else x


def _no_bools(kernel, x):
    """`x`; torch's kernel is not asked where there is nothing to go along."""
    return only(kernel, x, "ifuc") if x.ndim and x.size else x


@op("cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", node="CumsumBackward0", promote=Promote.SUM, inplace=True, opmath=True,
    samples=[*_DIMS, call(at(1, 2, dtype="int32", grad=False), 0)], kinks=[call(at(1.0, _INF, -_INF), 0)], errors=[_OUTSIDE])
def cumsum(self, *, dim, dtype=None):
    """The sums of the elements so far."""
    return _along(lambda x, axis: jnp.cumsum(x, axis, dtype=x.dtype), _no_bools("cumsum_out_cpu", self), dim)


@op("cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", node="CumprodBackward0", empty="constant", promote=Promote.SUM, inplace=True, opmath=True,
    saves={"self": ("self", "result")}, samples=[*_DIMS, call(at(1, 2, dtype="int32", grad=False), 0)],
    kinks=[call(at(2.0, 0.0, 3.0), 0), call(at(2.0, 0.0, 3.0, 0.0, 5.0), 0)], errors=[_OUTSIDE])
def cumprod(self, *, dim, dtype=None):
    """The products of the elements so far; exact derivatives where some are zero."""
    return _along(_running_product, _no_bools("cumprod_out_cpu", self), dim)


def _running_product(x, axis):
    return _inexact_products(x, axis) if jnp.issubdtype(x.dtype, jnp.inexact) and x.shape[axis] > 1 else jnp.cumprod(x, axis, dtype=x.dtype)


def _plain_products(x, axis):
    """PyTorch accumulates in double precision: each rounding would stay in all products that follow."""
    return jnp.cumprod(x.astype(DOUBLED.get(x.dtype.name, x.dtype)), axis).astype(x.dtype)


@partials(lambda t, out, x: -(t * out) * out)
def _inverted(x):
    return 1 / x


def _divided(t, x):
    """t / x, whose derivative divides twice where the square of x would be 0 or infinite."""
    square = jax.lax.stop_gradient(jnp.abs(x) * jnp.abs(x))
    out_of_range = (square == 0) | jnp.isinf(square)
    return jnp.where(out_of_range, t * _inverted(jnp.where(out_of_range, x, 1)), t / jnp.where(out_of_range, 1, x))


def _products_in_turn(x, t, axis):
    """The tangent of the products so far, by multiplications alone; the derivative of JAX's tree of products would be compiled for seconds."""
    kind = DOUBLED.get(x.dtype.name, x.dtype)
    rows, tangents = (jnp.moveaxis(v.astype(kind), axis, 0) for v in (x, t))

    def step(so_far, at):
        (out, change), (row, tangent) = so_far, at
        change = change * row + out * tangent
        return (out * row, change), change

    others = scan(step, (rows[0], tangents[0]), (rows[1:], tangents[1:]))[1]
    return jnp.moveaxis(jnp.concatenate([tangents[:1], others]), 0, axis).astype(x.dtype)


@partial(jax.custom_jvp, nondiff_argnums=(1,))
def _inexact_products(x, axis):
    return _plain_products(x, axis)


@_inexact_products.defjvp
def _(axis, primals, tangents):
    """Where no element is 0 the tangents are sums of t / x times the product, as in PyTorch, whatever becomes of infinities."""
    (x,), (t,) = primals, tangents
    out = _inexact_products(x, axis)
    return out, product_tangent(lambda x, t: _products_in_turn(x, t, axis), lambda x, t: out * jnp.cumsum(_divided(t, x), axis), x, t)


def _log_add(a, b):
    """log(exp(a) + exp(b)) of complex numbers without overflow: the imaginary part is not wrapped, it stays beside that of the greater."""
    larger, smaller = jnp.where(jnp.real(a) > jnp.real(b), a, b), jnp.where(jnp.real(a) > jnp.real(b), b, a)
    size = jnp.real(larger)
    same = jnp.isinf(size) & (size == jnp.real(smaller))
    both = jnp.exp(larger) + jnp.exp(smaller)
    without = jnp.where(jnp.isinf(jnp.real(both)) | jnp.isinf(jnp.imag(both)), jnp.abs(size), _NAN)
    endless = jnp.where(size > 0, jax.lax.complex(without, jnp.imag(jnp.log(both))), larger)
    one = jnp.where(jnp.isinf(jnp.real(smaller - larger)), larger, larger + jnp.log1p(jnp.exp(jnp.where(same, -jnp.inf, smaller - larger))))
    return jnp.where(same, endless, jnp.where(jnp.isnan(smaller), smaller, one))


def _first_of_sum(z):
    """A complex number after log(0): what is not a number is so in both parts, and what is -inf in one is real."""
    none = jax.lax.complex(jnp.full_like(jnp.real(z), _NAN), jnp.full_like(jnp.real(z), _NAN))
    return jnp.where(jnp.isnan(z), none, jnp.where(jnp.real(z) == -jnp.inf, jnp.asarray(-_INF, z.dtype), z))


def _scaled_add(a, b):
    """Sums of exponentials as (greatest exponent, sum over its exponential): rounded beside 1, not beside the exponent."""
    less = jnp.exp(jnp.where(a[0] == b[0], 0, -jnp.abs(a[0] - b[0]))).astype(a[1].dtype)
    return jnp.maximum(a[0], b[0]), jnp.where(b[0] > a[0], a[1] * less + b[1], a[1] + b[1] * less)


_BESIDE, _SHORT = 256, 32  # elements that lie beside each other, from which on a loop takes them at once; those along the dim that it takes one by one anyway


def _running_shares(x):
    """`_scaled_add` of x (n, m) so far, along its first dim.  Long columns are cut: a loop goes through all parts at once, and what comes before each is added.

    JAX's `associative_scan` would be compiled for seconds.
    """
    n, m = x.shape
    if m >= _BESIDE or n <= _SHORT:
        start = x[0], jnp.ones(m, DOUBLED.get(x.dtype.name, x.dtype))
        step = scan(lambda so_far, row: ((new := _scaled_add(so_far, (row, jnp.ones_like(so_far[1])))), new), start, x[1:])[1]
        return [jnp.concatenate([first[None], others]) for first, others in zip(start, step)]
    length = math.isqrt(n - 1) + 1
    parts = -(-n // length)
    own = jnp.pad(x, ((0, parts * length - n), (0, 0)), constant_values=-_INF).reshape(parts, length, m)
    top, share = (jnp.swapaxes(v.reshape(length, parts, m), 0, 1) for v in _running_shares(jnp.swapaxes(own, 0, 1).reshape(length, parts * m)))
    before = _running_sums(top[:-1, -1], share[:-1, -1])
    later = _scaled_add([v[:, None] for v in before], (top[1:], share[1:]))
    return [jnp.concatenate([first[:1], others]).reshape(parts * length, m)[:n] for first, others in zip((top, share), later)]


def _running_sums(top, share):
    """`_scaled_add` of given sums so far."""
    start = top[0], share[0]
    step = scan(lambda so_far, row: ((new := _scaled_add(so_far, row)), new), start, (top[1:], share[1:]))[1]
    return [jnp.concatenate([first[None], others]) for first, others in zip(start, step)]


@partial(jax.custom_jvp, nondiff_argnums=(1,))
def _running_logsumexp(x, axis):
    if jnp.iscomplexobj(x):
        return jax.lax.associative_scan(_log_add, _first_of_sum(x), axis=axis)
    rows = jnp.moveaxis(x, axis, 0)
    top, share = _running_shares(rows.reshape(rows.shape[0], -1))
    return jnp.moveaxis((top + jnp.log(share).astype(x.dtype)).reshape(rows.shape), 0, axis)


@_running_logsumexp.defjvp
def _(axis, primals, tangents):
    out = _running_logsumexp(primals[0], axis)
    return out, _weighted_so_far(out, jnp.exp(primals[0] - out) * tangents[0], axis)


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def _summed_exponents(x, axis):
    """`_running_logsumexp` of reals with the gradient that torch writes in logarithms, of its positive and of its negative part: where the cotangent is
    NaN it has neither, and its derivative by a cotangent of 0 is NaN."""
    return _running_logsumexp(x, axis)


def _summed_forward(x, axis):
    out = _running_logsumexp(x, axis)
    return out, (x, out)


def _summed_back(axis, kept, g):
    x, out = kept
    log, least = jnp.log(jnp.abs(g)), jnp.finfo(g.dtype).min

    def part(there):
        steps = jnp.flip(jnp.where(there, log, least) - out, axis)
        return jnp.exp(jnp.flip(_running_logsumexp(steps, axis), axis) + x)

    return part(g > 0) - part(g < 0),


_summed_exponents.defvjp(_summed_forward, _summed_back)


def _weighted_so_far(out, steps, axis):
    """The recurrence s_i = exp(out_(i-1) - out_i) s_(i-1) + steps_i, whose factors never exceed 1.

    A stretch carries the sum at its end, not the product of its factors: each of these is rounded close to 1, and a million of them lose digits.
    """
    def join(a, b):
        decay = jnp.exp(jnp.where(a[0] == b[0], 0, a[0] - b[0]))
        return b[0], a[1] * decay + b[1]

    return jax.lax.associative_scan(join, (out, steps), axis=axis)[1]


def _logsumexp_tangent(out, primals, tangents, *, dim):
    """torch 2.13's forward mode: weights beside the greatest of the whole, added to 1e-13; of complex numbers beside nothing."""
    axis = wrap_dim(dim, out.ndim)
    if not (out.ndim and out.size):
        return tangents[0]
    x = primals[0]
    weights = jnp.exp(x if jnp.iscomplexobj(x) else x - jnp.max(x, axis, keepdims=True))
    return jnp.cumsum(weights * tangents[0], axis) / (jnp.cumsum(weights, axis) + 1e-13)


@op("logcumsumexp(Tensor self, int dim) -> Tensor", node="LogcumsumexpBackward0", empty="constant", opmath=True, saves={"self": ("self", "result")}, samples=_DIMS,
    tangent=_logsumexp_tangent, kinks=[call(at(1000.0, 1000.0, 0.0), 0), call(at(-_INF, 1.0), 0), call(at(1.0, -_INF, 3.0), 0)],
    errors=[_OUTSIDE, fails(call(at(1, 2, dtype="int64", grad=False), 0), NotImplementedError, "\"logcumsumexp_out_cpu\" not implemented for 'Long'")])
def logcumsumexp(self, *, dim):
    """log of the sums of the exponentials so far."""
    wrap_dim(dim, self.ndim)
    return _along(_running_logsumexp if jnp.iscomplexobj(self) else _summed_exponents, only("logcumsumexp_out_cpu", self, "fc"), dim)


def _last_place(x, axis, running):
    """Where the best so far is: the last of equals, and a NaN beats all before it."""
    x = jax.lax.stop_gradient(ordered(x))
    found = x == running(x, axis)  # of what comes after a NaN nothing but a NaN
    if jnp.issubdtype(x.dtype, jnp.floating):
        found = found | jnp.isnan(x)
    return jax.lax.cummax(jnp.where(found, jax.lax.broadcasted_iota(jnp.int64, x.shape, axis), 0), axis)


def _cumulative_extreme(name, x, dim, running):
    if x.ndim == 0 and dim not in (0, -1):
        raise IndexError(f"{name}(): Expected reduction dim -1 or 0 for scalar but got {dim}")
    if x.ndim == 0 or x.size == 0:  # torch 2.13 looks at no dim of nothing
        return only(f"{name}_cpu", x, "bif"), jnp.zeros(x.shape, jnp.int64)
    axis = wrap_dim(dim, x.ndim)
    only(f"{name}_cpu", x, "bif")
    indices = _last_place(x, axis, running)
    return pick(wide(x), indices, axis).astype(x.dtype), indices  # its gradient is added up in float32


_TIES = [call(at(1.0, 1.0, 0.0, 2.0, 2.0), 0), call(at(1.0, _NAN, 2.0, _NAN, 3.0), 0)]


@op("cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)", node="CummaxBackward0", zero_second=of_nothing, fields=("values", "indices"),
    saves={"self": ("self", "result1")}, samples=_DIMS, kinks=_TIES, errors=[_OUTSIDE])
def cummax(self, *, dim):
    """The greatest so far and its last index."""
    return _cumulative_extreme("cummax", self, dim, jax.lax.cummax)


@op("cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)", node="CumminBackward0", zero_second=of_nothing, fields=("values", "indices"),
    saves={"self": ("self", "result1")}, samples=_DIMS, kinks=_TIES, errors=[_OUTSIDE])
def cummin(self, *, dim):
    """The smallest so far and its last index."""
    return _cumulative_extreme("cummin", self, dim, jax.lax.cummin)


