"""Vector norms and distances between tensors (layer 2)."""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
from jax import lax

from .._core import dtypes, precision, shapes
from .._core.shapes import reduce_dims
from .conventions import always, char_name, fixed_power, magnitude, partials, refuse_bools, signum, straight, wide
from .quotients import quotient
from .ranks import extreme
from .reduce import total, type_of
from .registry import Promote, at, call, fails, op, real

_INF = float("inf")


def norm_gradient(order):
    """Fields of an operator that is a norm: its gradient requires grad whatever the order, and there is none where the order is 0."""
    return {"zero_second": lambda *_, **__: True, "silent": lambda *_, **statics: statics[order] == 0}


def norm_of(x, p, axes, keepdims=False):
    """The p-norm over axes with torch's derivative: 0 at the zero vector, ties of an infinite p share."""

    def tangent(t, out, x):
        full = out if keepdims else out.reshape([1 if i in _all(axes, x.ndim) else n for i, n in enumerate(x.shape)])
        return total(jnp.real(jnp.conj(_slope(x, full, p, axes)) * t), axes, keepdims)

    @partials(tangent)
    def value(x):
        return _value(x, p, axes, keepdims)

    return value(x)


def _all(axes, ndim):
    return range(ndim) if axes is None else [a % ndim for a in axes]


def _value(x, p, axes, keepdims, alone=True):
    if p == 0:
        return total((x != 0).astype(jnp.finfo(x.dtype).dtype), axes, keepdims)
    size = jnp.abs(x)
    if alone and all(x.shape[a] == 1 for a in _all(axes, x.ndim)):  # nothing to add up: no square that overflows or vanishes
        return total(size, axes, keepdims)
    if p != p:
        return total(size * p, axes, keepdims)
    if p == _INF:
        return extreme(size, axes, keepdims, True)
    if p == -_INF:
        return extreme(size, axes, keepdims, False)
    if p == 1:
        return total(size, axes, keepdims)
    if p == 2:
        squares = jnp.real(x) ** 2 + jnp.imag(x) ** 2 if jnp.iscomplexobj(x) else x * x
        return jnp.sqrt(total(squares, axes, keepdims))
    return _power(total(_power(size, p), axes, keepdims), 1 / p)


def _power(x, p):
    return fixed_power(x, p if p != int(p) else int(p)) if math.isfinite(p) else x


def _slope(x, norm, p, axes):
    """What a gradient of the norm is multiplied by to give that of x."""
    if p == 0:
        return jnp.zeros_like(x)
    if p == 1:
        return signum(x)
    wide_norm = norm.astype(x.dtype)
    if p == 2:
        return jnp.where(norm == 0, 0, quotient(x, wide_norm))
    size = magnitude(x)
    if math.isinf(p):
        mask = (size == norm) | jnp.isnan(size)
        share = mask.astype(size.dtype) / total(mask.astype(size.dtype), axes, True)
        return signum(x) * share.astype(x.dtype)
    if p < 1:
        scaled = jnp.where(x == 0, 0, _power(size, p - 1))
        return signum(x) * (scaled * _power(norm, 1 - p)).astype(x.dtype)
    safe = jnp.where(norm == 0, 1, norm)
    scale = jnp.where(norm == 0, 0, 1 / _power(safe, p - 1)).astype(x.dtype)
    if p < 2:
        return signum(x) * _power(size, p - 1).astype(x.dtype) * scale
    return x * _power(size, p - 2).astype(x.dtype) * scale


def _shown(p):
    return f"{p:g}" if isinstance(p, float) else str(p)


def _check_identity(x, p, dim):
    """inf and negative norms of nothing do not exist."""
    if p >= 0 and p != _INF:
        return
    name = "linalg.vector_norm cannot compute the"
    if x.size == 0 and (dim is None or len(dim) == 0):
        raise RuntimeError(f"{name} {_shown(p)} norm on an empty tensor because the operation does not have an identity")
    for d in dim if dim else reduce_dims(dim, x.ndim):
        if x.ndim and x.shape[d] == 0:
            raise RuntimeError(
                f"{name} {_shown(p)} norm on the dimension {d}because this dimension is empty and the operation does not have an identity")


def check_norm_type(name, own, dtype):
    """torch's rules for the input and the `dtype` argument of the linalg norms."""
    if own.category < dtypes.FLOAT:
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {own.char_name}")
    if dtype is None or dtype is own:
        return
    if dtype.category < dtypes.FLOAT:
        raise RuntimeError(f"{name}: dtype should be floating point or complex, but got {dtype.char_name}")
    if dtype.is_complex != own.is_complex:
        word = "complex" if own.is_complex else "real"
        raise RuntimeError(f"{name}: dtype should be {word} for {word} inputs, but got {dtype.char_name}")
    if dtypes.promote_types(own, dtype) is not dtype:
        raise RuntimeError(
            f"{name}: the dtype of the input ({own.char_name}) should be convertible without narrowing to the specified dtype ({dtype.char_name})")


@op("linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    node="LinalgVectorNormBackward0", **norm_gradient("ord"), names=("torch.linalg.vector_norm",), saves={"self": ("self", "result")},
    samples=[call(real(4)), call(real(2, 3), 3, 1), call(real(2, 3), 1.5, None, True), call(real(2, 3), float("inf")), call(real(3, dtype="complex128"), 1),
             call(real(2, 0), 2, 1), call(real(()), 2)],
    kinks=[call(at(0.0, 0.0), p) for p in (0, 0.5, 1, 1.5, 2, 2.5, 3, float("inf"), -float("inf"), -1)] + [
        call(at(3.0, 0.0, -3.0), p) for p in (0.5, 1, 3, float("inf"), -float("inf"), -1)],
    errors=[fails(call(at(1, 2, dtype="int64", grad=False)), RuntimeError,
                  "linalg.vector_norm: Expected a floating point or complex tensor as input. Got Long"),
            fails(call(real(0), float("inf")), RuntimeError,
                  "linalg.vector_norm cannot compute the inf norm on an empty tensor because the operation does not have an identity")])
def linalg_vector_norm(self, *, ord=2, dim=None, keepdim=False, dtype=None):
    """The norm of the elements over dims taken as one vector."""
    own = type_of(self)
    check_norm_type("linalg.vector_norm", own, dtype)
    if isinstance(ord, complex):
        raise RuntimeError("linalg.vector_norm: Expected a non-complex scalar as the order of norm.")
    x = wide(self.astype(dtype.np) if dtype is not None else self)
    axes = reduce_dims(dim, self.ndim)
    _check_identity(x, ord, dim)
    return norm_of(x, ord, axes, keepdim).astype((dtype or own).to_real().np)


_NAMED_NORM = {**norm_gradient("p"), "names": (), "out": False, "saves": {"self": ("self", "result")}, "kinks": [call(at(0.0, 0.0), 3)]}


def _named_norm(x, p, dim, keepdim, dtype=None):
    if type_of(x).category < dtypes.FLOAT:
        raise RuntimeError(f"norm(): input dtype should be either floating point or complex. Got {char_name(x)} instead.")
    return linalg_vector_norm(x, ord=2 if p is None else p, dim=dim, keepdim=keepdim, dtype=dtype)


@op("norm.ScalarOpt_dtype(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor", node="NormBackward2", samples=[call(real(3), 3, dtype="float64")], **_NAMED_NORM)
def norm_of_dtype(self, *, p, dtype):
    """The norm of all elements, in a dtype."""
    return _named_norm(self, p, None, False, dtype)


@op("norm.Scalar(Tensor self, Scalar p=2) -> Tensor", node="NormBackward0", samples=[call(real(3), 3)], **_NAMED_NORM)
def norm_of_all(self, *, p=2):
    """The norm of all elements, as torch's C++ calls it; `torch.norm` is made of vector norms."""
    return _named_norm(self, p, None, False)


@op("norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, ScalarType dtype) -> Tensor", node="NormBackward3",
    samples=[call(real(2, 3), 3, 1, True, dtype="float64")], **_NAMED_NORM)
def norm_over_dims_of_dtype(self, *, p, dim, keepdim, dtype):
    """The norm over dims, in a dtype."""
    return _named_norm(self, p, dim, keepdim, dtype)


@op("norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor", node="NormBackward1", samples=[call(real(2, 3), 3, 1)], **_NAMED_NORM)
def norm_over_dims(self, *, p, dim, keepdim=False):
    """The norm over dims."""
    return _named_norm(self, p, dim, keepdim)


def _refuse_of_other(types, result, wanted, *, p):
    """torch negates the gradient of `self` for `other`, also where there is none."""
    if p == 0 and "other" in wanted:
        raise RuntimeError("Expected a proper Tensor but got None (or an undefined Tensor in C++) for argument #0 'self'")


@op("dist(Tensor self, Tensor other, Scalar p=2) -> Tensor", node="DistBackward0", **norm_gradient("p"), refuses=_refuse_of_other, promote=Promote.RESULT, inplace=False, out=False,
    saves={"self": ("self", "other", "result"), "other": ("self", "other", "result")},
    samples=[call(real(3), real(3)), call(real(2, 3), real(3), 1), call(real(3), real(3), 2.5)],
    kinks=[call(at(1.0, 2.0), at(1.0, 2.0), p) for p in (1, 2, 3, float("inf"))], check=refuse_bools,
    errors=[fails(call(at(1, 0, dtype="bool", grad=False), real(2)), RuntimeError, "Subtraction, the `-` operator, with a bool tensor is not supported. If")])
def dist(self, other, *, p=2):
    """The p-norm of self - other."""
    if not jnp.issubdtype(self.dtype, jnp.inexact):
        raise RuntimeError(f"norm(): input dtype should be either floating point or complex. Got {char_name(self)} instead.")
    away = self - other
    return norm_of(away, p, tuple(range(away.ndim)))


# Pairs of rows

def _pair_slope(d, norm, p):
    """The slope for pairs: every coordinate that attains an infinite norm gets all of the gradient, and NaN is nobody's sign."""
    sign = jnp.where(jnp.isnan(d), d, signum(d))
    if p == _INF:
        return sign * (1 - jnp.minimum(jnp.ceil(magnitude(magnitude(d) - norm)), 1))  # NaN where both are infinite
    if p == 1:
        return sign
    slope = _slope(d, norm, p, (d.ndim - 1,))
    return jnp.where(d == 0, 0, slope) if p < 1 else slope  # beside an infinite norm too


def _pair_value(d, p, skip_nan):
    """torch 2.13: NaN counts as NaN in norm 0, and the greatest difference of `cdist` (not of `pdist`) passes NaN over."""
    if p == 0:
        return total(jnp.where(jnp.isnan(d), d, (d != 0).astype(d.dtype)), (d.ndim - 1,))
    return _value(jnp.where(jnp.isnan(d), 0, d) if skip_nan and p == _INF else d, p, (d.ndim - 1,), False, alone=False)


def _pairs(x1, x2, p):
    """Norms of all differences of rows."""

    @partials(lambda t, out, d: total(_pair_slope(d, out[..., None], p) * t, (d.ndim - 1,)))
    def norms(d):
        return _pair_value(d, p, True)

    left, right = x1[..., :, None, :], x2[..., None, :, :]
    if x1.shape[-1] == 0:
        return jnp.zeros((*jnp.broadcast_shapes(left.shape, right.shape)[:-1],), x1.dtype)
    return norms(left - right)


def _cdist_check(x1, x2, p):
    for x, word in ((x1, "X1"), (x2, "X2")):
        if x.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {word} got: {x.ndim}D")
    for x, word in ((x1, "X1"), (x2, "X2")):
        if type_of(x).category != dtypes.FLOAT:
            raise RuntimeError(f"cdist only supports floating-point dtypes, {word} got: {type_of(x).char_name}")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}")
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    if x1.dtype != x2.dtype:
        raise RuntimeError(f"expected scalar type {type_of(x1).char_name} but found {type_of(x2).char_name}")


@op("_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor", forward=False, node="CdistBackward0",
    second="_cdist_backward", zero_second=always, names=(), saves={"x1": ("x1", "x2", "result"), "x2": ("x1", "x2", "result")},
    samples=[call(real(3, 2), real(4, 2), 2.0, None), call(real(2, 3, 2), real(4, 2), 1.0, None)],
    kinks=[call(at([[1.0, 2.0], [3.0, 4.0]]), at([[1.0, 2.0], [4.0, 5.0]]), p, None) for p in (0.5, 1.0, 2.0, 3.0, _INF)],
    errors=[fails(call(real(3, 2), real(4, 3), 2.0, None), RuntimeError, "X1 and X2 must have the same number of columns. X1: 2 X2: 3")])
def _cdist_forward(x1, x2, *, p, compute_mode):
    """Distances of all pairs of rows."""
    _cdist_check(x1, x2, p)
    if x1.dtype.itemsize == 2 and x1.size and x2.size:
        raise NotImplementedError(f"\"cdist\" not implemented for '{type_of(x1).char_name}'")
    x1, x2 = aligned_batches(x1, x2)
    return _pairs(x1, x2, p)


@op("_pdist_forward(Tensor self, float p=2) -> Tensor", forward=False, node="PdistBackward0", second="_pdist_backward", zero_second=always, names=(),
    saves={"self": ("self", "result")},
    samples=[call(real(4, 2)), call(real(3, 0))],
    kinks=[call(at([[0.0, 0.0], [0.0, 0.0], [3.0, 4.0], [3.0, -3.0]]), p) for p in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, _INF)])
def _pdist_forward(self, *, p=2):
    """Distances of the rows that follow one another in any distance."""
    if type_of(self).category != dtypes.FLOAT:
        raise RuntimeError("pdist only supports floating-point dtypes")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    left, right = np.triu_indices(self.shape[0], 1)
    if not left.size or not self.shape[1]:
        return jnp.zeros(left.size, self.dtype) + total(self, None) * 0
    if self.dtype.itemsize == 2:
        raise NotImplementedError(f"\"pdist\" not implemented for '{type_of(self).char_name}'")

    @partials(lambda t, out, d: total(_pair_slope(d, out[..., None], p) * t, (1,)))
    def norms(d):
        return _pair_value(d, p, False)

    return norms(self[left] - self[right])


@op("renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor", node="RenormBackward0", inplace=True, lift=("maxnorm",), saves={"self": ("self",)},
    samples=[call(real(3, 2), 2, 0, 1.0), call(real(2, 3), 1.5, 1, 0.7), call(real(2, 2, dtype="complex128"), 2, 0, 1.0)],
    kinks=[call(at([[3.0, 4.0], [0.3, 0.4], [0.6, 0.8]]), p, 0, 1.0) for p in (1, 2, _INF)] + [call(at([[3.0, 4.0], [0.0, 0.0]]), 2, 0, 1.0)],
    errors=[fails(call(real(2), 2, 0, 1.0), RuntimeError, "renorm: input needs at least 2 dimensions, got 1 dimensions"),
            fails(call(real(2, 2), 0, 0, 1.0), RuntimeError, "renorm: non-positive-norm not supported"),
            fails(call(real(2, 2), 2, 2, 1.0), IndexError, "Dimension out of range (expected to be in range of [-2, 1], but got 2)"),
            fails(call(at([[1]], dtype="int64", grad=False), 2, 0, 1.0), RuntimeError,
                  "linalg.vector_norm: Expected a floating point or complex tensor as input. Got Long")])
def renorm(self, *, p, dim, maxnorm):
    """Sub-tensors along a dim whose norm is above maxnorm scaled down to it."""
    if isinstance(p, complex):
        raise RuntimeError("renorm: p must be real-valued")
    if not p > 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if self.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {self.ndim} dimensions")
    axis = shapes.wrap_dim(dim, self.ndim)
    check_norm_type("linalg.vector_norm", type_of(self), None)
    x = wide(self)
    out = _shortened(x, axis, p, maxnorm)
    if self.dtype.name in dtypes.DOUBLED:  # torch 2.13: the gradient is computed in double precision, the value is not
        out = straight(out, _shortened(self.astype(dtypes.DOUBLED[self.dtype.name]), axis, p, maxnorm).astype(x.dtype))
    return out.astype(self.dtype)


def _shortened(x, axis, p, maxnorm):
    axes = tuple(d for d in range(x.ndim) if d != axis)
    lost = jnp.isnan(_value(lax.stop_gradient(x), p, axes, True))            # a norm that is NaN is not above: its row passes, its gradient too
    norm = norm_of(jnp.where(lost, 0, x), p, axes, True)
    most = jnp.real(maxnorm).astype(norm.dtype)
    above = norm > most
    return jnp.where(above, x * (jnp.where(above, most, 0) / (norm + 1e-7)).astype(x.dtype), x)  # a bound of infinity is no part of a gradient


def aligned_batches(x1, x2):
    """Two stacks of matrices with one rank, their batch dims checked to broadcast."""
    shapes.broadcast(tuple(x1.shape[:-2]), tuple(x2.shape[:-2]))
    rank = max(x1.ndim, x2.ndim)
    return [x.reshape((1,) * (rank - x.ndim) + x.shape) for x in (x1, x2)]


@op("_euclidean_dist(Tensor x1, Tensor x2) -> Tensor", node="ViewBackward0", names=(),
    saves={"x1": ("x1", "x2", "result"), "x2": ("x1", "x2", "result")}, samples=[call(real(3, 2), real(4, 2)), call(real(2, 3, 2), real(4, 2))],
    kinks=[call(at([[1.0, 2.0], [3.0, 4.0]]), at([[1.0, 2.0], [4.0, 5.0]]))])
def _euclidean_dist(x1, x2):
    """Euclidean distances of all pairs of rows by one matrix product."""
    _cdist_check(x1, x2, 2)
    x1, x2 = aligned_batches(x1, x2)
    return _by_product(wide(x1), wide(x2)).astype(x1.dtype)


def _scale(t, out):
    zero = out == 0
    return jnp.where(zero, 0, t / jnp.where(zero, 1, out))  # the second choice is for the way back, which would divide 0 by 0


def _toward(t, out, x1, x2):
    """The tangent of the distances for a tangent of x1."""
    along = total(t * x1, (t.ndim - 1,))[..., :, None] - _rows_by_rows(t, x2)
    return _scale(along, out)


def _rows_by_rows(x1, x2):
    return jnp.matmul(x1, jnp.swapaxes(x2, -1, -2), precision=precision.of("matmul"))


@partials(lambda t, out, x1, x2: _toward(t, out, x1, x2),
          lambda t, out, x1, x2: jnp.swapaxes(_toward(t, jnp.swapaxes(out, -1, -2), x2, x1), -1, -2))
def _by_product(x1, x2):
    squares = total(x1 * x1, (x1.ndim - 1,))[..., :, None] + total(x2 * x2, (x2.ndim - 1,))[..., None, :]
    left = squares - 2 * _rows_by_rows(x1, x2)
    return jnp.sqrt(jnp.maximum(left, jnp.zeros_like(left)))


__all__ = ["aligned_batches", "check_norm_type", "norm_gradient", "norm_of"]
