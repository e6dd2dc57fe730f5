"""Sums, products, moments and counts over dims (layer 2)."""

from __future__ import annotations

import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from .._core import dtypes
from .._core.shapes import reduce_dims
from .casts import convert
from .conventions import of_one, only, partials, straight, wide
from .opened import TANGENTS
from .quotients import quotient
from .registry import BODY, NONE, SMOOTH, Promote, at, call, fails, op, real

_DIMS = [call(real(2, 3), 1), call(real(2, 3, 2), (0, -1), True), call(real(()), 0), call(real(2, 0), 1)]
_TWICE = fails(call(real(2, 3), (0, -2)), RuntimeError, "dim 0 appears multiple times in the list of dims")
_OUTSIDE = fails(call(real(2, 3), 2), IndexError, "Dimension out of range (expected to be in range of [-2, 1], but got 2)")


def type_of(x):
    """The dtype object of an array."""
    return dtypes.from_numpy_dtype(x.dtype)


def total(x, axes, keepdims=False):
    """The sum in the type of x (of bool: any)."""
    if x.dtype == bool:
        return jnp.any(x, axis=axes, keepdims=keepdims)
    return jnp.sum(wide(x), axis=axes, keepdims=keepdims, dtype=wide(x).dtype).astype(x.dtype)


def count(shape, axes):
    """How many elements a reduction over `axes` takes together."""
    out = 1
    for axis in axes:
        out *= shape[axis]
    return out


def average(x, axes, keepdims=False):
    """The sum over the count (NaN where there is nothing, in forward mode its tangent too if the operator's tangent is BODY)."""
    n = count(x.shape, axes)
    nothing = complex(float("nan"), float("nan")) if jnp.iscomplexobj(x) else float("nan")
    return total(x, axes, keepdims) / n if n else of_empty(total(x, axes, keepdims) + nothing, x)


def of_empty(out, x):
    """What is made of no elements of `x`: torch's tangent of it is 0 / 0, its gradient has nowhere to go."""
    return _undefined(out, x) if TANGENTS[0] and jnp.issubdtype(x.dtype, jnp.inexact) else out


@jax.custom_jvp
def _undefined(out, x):
    return out


@_undefined.defjvp
def _(primals, tangents):
    out = _undefined(*primals)
    return out, jnp.full_like(out, complex("nan+nanj") if jnp.iscomplexobj(out) else float("nan"))


# Sums

@op("sum(Tensor self, *, ScalarType? dtype=None) -> Tensor", node="SumBackward0", promote=Promote.SUM, opmath=True, out=False,
    samples=[call(real(2, 3)), call(real(())), call(real(0)), call(at(200, 100, dtype="uint8", grad=False))], kinks=SMOOTH)
def sum(self, *, dtype=None):
    """The sum of all elements."""
    return total(self, None)


@op("sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", node="SumBackward1", promote=Promote.SUM,
    opmath=True, samples=[*_DIMS, call(real(2, 3), ())], kinks=SMOOTH, errors=[_TWICE, _OUTSIDE])
def sum_dim(self, *, dim, keepdim=False, dtype=None):
    """The sum over dims."""
    return total(self, reduce_dims(dim, self.ndim), keepdim)


@op("nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", node="NansumBackward0", saves={"self": ("self",)},
    samples=[call(real(2, 3)), *_DIMS], kinks=[call(at(1.0, float("nan"), 2.0)), call(at([[float("nan"), float("nan")], [1.0, 2.0]]), 1)],
    errors=[_TWICE, fails(call(real(2, dtype="complex128")), RuntimeError, "nansum on CPU does not support complex inputs")])
def nansum(self, *, dim=None, keepdim=False, dtype=None):
    """The sum of what is not NaN."""
    return _without_nan(self, reduce_dims(dim, self.ndim), keepdim, dtype)


@partials(lambda t, out, x: t * jnp.logical_not(jnp.isnan(x)).astype(t.dtype))
def _zero_for_nan(x):
    return jnp.where(jnp.isnan(x), jnp.zeros_like(x), x)


def _without_nan(x, axes, keepdims, dtype):
    if jnp.iscomplexobj(x):
        raise RuntimeError("nansum on CPU does not support complex inputs")
    own = type_of(x)
    if dtype is None:
        dtype = own if own.is_floating_point else dtypes.int64
    if dtype.is_complex and own.is_floating_point:  # integers have no nan: their sum is asked for
        raise NotImplementedError(f"\"nansum_cpu\" not implemented for '{dtype.char_name}'")
    if own.is_floating_point:
        x = _zero_for_nan(x)
    return convert(total(wide(convert(x, dtype)), axes, keepdims), dtype)


@op("mean(Tensor self, *, ScalarType? dtype=None) -> Tensor", node="MeanBackward0",
    tangent=lambda out, primals, tangents, **asked: mean(*tangents, **asked), samples=[call(real(2, 3)), call(real(())), call(real(0))], kinks=SMOOTH,
    errors=[fails(call(at(1, 2, dtype="int64", grad=False)), RuntimeError,
                  "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: Long")])
def mean(self, *, dtype=None):
    """The mean of all elements."""
    return _mean(self, tuple(range(self.ndim)), False, _mean_type(self, dtype))


@op("mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", node="MeanBackward1",
    tangent=lambda out, primals, tangents, **asked: mean_dim(*tangents, **asked), samples=_DIMS, kinks=SMOOTH,
    errors=[_TWICE, _OUTSIDE])
def mean_dim(self, *, dim, keepdim=False, dtype=None):
    """The mean over dims."""
    asked = _mean_type(self, dtype)  # looked at before the dims
    return _mean(self, reduce_dims(dim, self.ndim), keepdim, asked)


def _mean_type(x, dtype):
    asked = dtype or type_of(x)
    if asked.category < dtypes.FLOAT:
        word = "Input" if dtype is None else "Optional"
        raise RuntimeError(
            f"mean(): could not infer output dtype. {word} dtype must be either a floating point or complex dtype. Got: {asked.char_name}")
    return asked


def _mean(x, axes, keepdims, asked):
    return convert(average(wide(convert(x, asked)), axes, keepdims), asked)


# Hashes

@op("hash_tensor(Tensor self, int[1]? dim=None, *, bool keepdim=False, int mode=0) -> Tensor", derivative=NONE,
    samples=[call(real(2, 3)), call(real(2, 3), 1), call(real(2, 3, 2), (0, 2), keepdim=True), call(at(1, -2, 3, dtype="int64", grad=False)),
             call(at(1.5, 2.0, dtype="float16", grad=False)), call(at(200, 7, dtype="uint8", grad=False)), call(at(3, -7, dtype="int32", grad=False))],
    kinks=[call(at(0.0, -0.0, float("inf")))], errors=[fails(call(real(2), mode=1), RuntimeError, "Unknown hash_tensor mode: 1"), fails(
        call(real(0)), RuntimeError, "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument."),
        fails(call(real(0, 3), 0), IndexError, "hash_tensor: Expected reduction dim 0 to have non-zero size."),
        fails(call(at(1j, dtype="complex64")), NotImplementedError, "\"xor_sum_cpu\" not implemented for 'ComplexFloat'")])
def hash_tensor(self, *, dim=None, keepdim=False, mode=0):
    """The bits of the elements, as numbers of 64 bits, all xored."""
    if mode != 0:
        raise RuntimeError(f"Unknown hash_tensor mode: {mode}")
    axes = reduce_dims(dim, self.ndim)
    if self.size == 0 and dim in (None, ()):
        raise RuntimeError("hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.")
    for a in axes:
        if self.shape[a] == 0:
            raise IndexError(f"hash_tensor: Expected reduction dim {a} to have non-zero size.")
    only("xor_sum_cpu", self, "bif")
    bits = self.astype(jnp.float64).view(jnp.uint64) if jnp.issubdtype(self.dtype, jnp.floating) else self.astype(jnp.int64).view(jnp.uint64)
    out = jax.lax.reduce(bits, np.uint64(0), jax.lax.bitwise_xor, axes)
    return jnp.expand_dims(out, axes) if keepdim else out


# Products

_ZEROS = [call(at(2.0, 0.0, 3.0)), call(at(0.0, 0.0, 3.0)), call(at(0.0))]


def _product(x, axes, keepdims=False):
    if x.dtype == bool:
        return jnp.all(x, axis=axes, keepdims=keepdims)
    if not jnp.issubdtype(x.dtype, jnp.inexact) or not x.size or not axes:
        return jnp.prod(x, axis=axes, keepdims=keepdims, dtype=x.dtype)
    out = (_plain_product if TANGENTS[0] else _inexact_product)(x, axes)
    return out if keepdims else jnp.squeeze(out, axes)


@partial(jax.custom_jvp, nondiff_argnums=(1,))
def _inexact_product(x, axes):
    return _plain_product(x, axes)


def _plain_product(x, axes):
    """The product; of many factors in double precision, because the errors of all steps add up however they are ordered."""
    many = math.prod(x.shape[a] for a in axes) >= 1024
    return jnp.prod(x, axis=axes, keepdims=True, dtype=dtypes.DOUBLED.get(x.dtype.name, x.dtype) if many else x.dtype).astype(x.dtype)


@_inexact_product.defjvp
def _(axes, primals, tangents):
    """PyTorch's slope is product / x where no element of the whole is 0, whatever becomes of infinities; its forward mode never divides."""
    (x,), (t,) = primals, tangents
    out = _inexact_product(x, axes)
    return out, product_tangent(lambda x, t: total(t * _others(x, axes), axes, True), lambda x, t: total(t * quotient(out, x), axes, True), x, t)


def _others(x, axes):
    """For each element the product of the others along `axes`: of those before it times of those behind it."""
    last = tuple(range(x.ndim - len(axes), x.ndim))
    moved = jnp.moveaxis(x, axes, last)
    flat = moved.reshape(*moved.shape[:x.ndim - len(axes)], -1)

    def before(flat):
        rows = jnp.concatenate([jnp.ones_like(flat[..., :1]), flat[..., :-1]], -1)
        return jnp.cumprod(rows.astype(dtypes.DOUBLED.get(x.dtype.name, x.dtype)), -1).astype(x.dtype)  # as PyTorch accumulates

    return jnp.moveaxis((before(flat) * before(flat[..., ::-1])[..., ::-1]).reshape(moved.shape), last, axes)


@jax.custom_batching.custom_vmap
def _any_zero(x):
    return jnp.any(x == 0)


@_any_zero.def_vmap
def _(size, mapped, x):
    """One answer for all: a choice of its own for each would go by a selection, of which JAX knows no transpose."""
    return _any_zero(x), False


def product_tangent(exact, divided, x, t):
    """The tangent of products of `x`: `exact(x, t)` where an element is 0, elsewhere `divided(x, t)`, which divides by the elements."""
    return jax.lax.cond(_any_zero(jax.lax.stop_gradient(x)), exact, divided, x, t)


@op("prod(Tensor self, *, ScalarType? dtype=None) -> Tensor", node="ProdBackward0", tangent=BODY, zero_second=of_one, promote=Promote.SUM, opmath=True, out=False,
    saves={"self": ("self", "result")}, samples=[call(real(2, 3)), call(real(())), call(real(0))], kinks=_ZEROS)
def prod(self, *, dtype=None):
    """The product of all elements; exact derivatives where some are zero."""
    return _product(self, tuple(range(self.ndim)))


@op("prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", node="ProdBackward1", tangent=BODY, zero_second=of_one, promote=Promote.SUM, opmath=True,
    saves={"self": ("self", "result")}, samples=[call(real(2, 3), 1), call(real(2, 3), 0, True), call(real(()), 0), call(real(2, 0), 1)],
    kinks=[call(at([[2.0, 0.0, 3.0], [0.0, 1.0, 0.0]]), 1)], errors=[_OUTSIDE])
def prod_dim(self, *, dim, keepdim=False, dtype=None):
    """The product over a dim."""
    return _product(self, reduce_dims(dim, self.ndim), keepdim)


# Moments

_MOMENTS = [call(real(2, 3)), call(real(2, 3), False), call(real(4, dtype="complex128"))]
_MOMENTS_DIM = [call(real(2, 3), 1), call(real(2, 3, 2), (0, 2), False, True), call(real(2, 3), None)]
_MOMENTS_CORRECTION = [call(real(2, 3), correction=0), call(real(2, 3), 1, correction=1.5, keepdim=True)]
_FLAT = [call(at(1.0, 1.0, 1.0)), call(at(1.0))]
_FLAT_DIM = [call(at([[1.0, 1.0, 1.0], [1.0, 2.0, 4.0]]), 1)]
_FLAT_CORRECTION = [call(at(1.0), correction=0), call(at(1.0, 2.0), correction=5), call(at(1 + 2j), correction=1)]
_FLOATS_ONLY = [fails(call(at(1, 2, dtype="int64", grad=False)), RuntimeError, "std and var only support floating point and complex dtypes")]
_FLOATS_ONLY_DIM = [fails(call(at(1, 2, dtype="int64", grad=False), 0), RuntimeError, "std and var only support floating point and complex dtypes")]


def _squares(x):
    return jnp.real(x) ** 2 + jnp.imag(x) ** 2 if jnp.iscomplexobj(x) else x * x


@partial(jax.custom_jvp, nondiff_argnums=(3, 4, 5))
def _variance(x, freedom, steep, axes, keepdims, rooted):
    """The squares over `freedom`, or their root; their gradient is over `steep`."""
    freedom = jnp.maximum(freedom, jnp.zeros_like(freedom))
    out = _spread(x, freedom, axes, keepdims)
    if x.dtype != jnp.float32:
        return jnp.sqrt(out) if rooted else out
    # torch 2.13 adds up in double precision, where squares neither overflow nor vanish; that is slow, and nearly always the same
    def double():
        wider = _spread(x.astype(jnp.float64), freedom.astype(jnp.float64), axes, keepdims)
        return (jnp.sqrt(wider) if rooted else wider).astype(out.dtype)

    lost = jnp.logical_not(jnp.all((out > 1e-30) & (out < 1e30)))
    return jax.lax.cond(lost, double, lambda: jnp.sqrt(out) if rooted else out)


def _spread(x, freedom, axes, keepdims):
    return total(_squares(x - average(x, axes, True)), axes, keepdims) / freedom


@_variance.defjvp
def _(axes, keepdims, rooted, primals, tangents):
    x, _, steep = primals
    step = jnp.conj(x - average(x, axes, True)) * tangents[0]
    out, t = _variance(*primals, axes, keepdims, rooted), total((2 / steep) * jnp.real(step), axes, keepdims)
    return out, _root_tangent(out, t) if rooted else t


@partial(jax.custom_jvp, nondiff_argnums=(1, 2))
def _hopeless_variance(x, axes, keepdims):
    """All elements with no degree of freedom: the gradient is NaN at the mean and infinite elsewhere, and no function of x."""
    return total(_squares(x - average(x, axes, True)), axes, keepdims) / jnp.zeros((), jnp.finfo(x.dtype).dtype)


@_hopeless_variance.defjvp
def _(axes, keepdims, primals, tangents):
    (x,) = primals
    fixed = jax.lax.stop_gradient(x)
    slope = jnp.where(fixed == average(fixed, axes, True), jnp.nan, jnp.inf)
    return _hopeless_variance(x, axes, keepdims), total(jnp.real(tangents[0]) * slope.astype(jnp.real(x).dtype), axes, keepdims)


def _always(x, flat):
    return True


def _of_all(*, dim=None, **_):
    """Of all elements torch's formula looks at their count first."""
    return "constant" if dim is None else None


def _few(name):
    """What torch says where the correction is as large as the count of elements: of a complex tensor for each of its parts."""
    text = (f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor (input numel divided by output "
            "numel). (Triggered internally at /pytorch/aten/src/ATen/native/ReduceOps.cpp:1861.)")

    def says(x, statics):
        correction = statics.get("correction", int(statics.get("unbiased", True)))
        size, each = count(x.shape, range(len(x.shape))), count(x.shape, reduce_dims(statics.get("dim"), len(x.shape)))
        freedom = (each if size else 0) - (1 if correction is None else correction).real
        return () if freedom > 0 else (text,) * (2 if x.dtype.is_complex else 1)

    return says


@jax.custom_jvp
def _root(v):
    return jnp.sqrt(v)


@_root.defjvp
def _(primals, tangents):
    out = _root(primals[0])
    return out, _root_tangent(out, tangents[0])


def _root_tangent(out, t):
    flat = out == 0
    slope = t / (2 * jnp.where(flat, jnp.ones_like(out), out))
    return jnp.where(flat, jnp.zeros_like(slope), slope)


def _var(x, dim, keepdim, correction, name="std and var", rooted=False):
    if type_of(x).category < dtypes.FLOAT:
        raise RuntimeError(f"{name} only support floating point and complex dtypes")
    axes = reduce_dims(dim, x.ndim)
    scale = jnp.finfo(x.dtype).dtype
    correction = 1 if correction is None else correction
    if not count(x.shape, axes) and not hasattr(correction, "dtype") and correction.real < 0:
        return _hopeless_variance(x, axes, keepdim)      # of nothing: NaN, whatever the correction
    if (dim is None or not x.ndim) and not hasattr(correction, "dtype") and count(x.shape, axes) - correction.real <= 0:
        return _root(_hopeless_variance(x, axes, keepdim)) if rooted else _hopeless_variance(x, axes, keepdim)
    lost = jnp.real(jnp.asarray(correction)).astype(scale)
    counted = 1 if dim == () and x.ndim else count(x.shape, axes)            # no dims mean all, but torch 2.13 counts none of them for the gradient
    return _variance(x, count(x.shape, axes) - lost, counted - lost, axes, keepdim, rooted)


def _std(x, dim, keepdim, correction, name="std and var"):
    return _var(x, dim, keepdim, correction, name, rooted=True)


@op("var(Tensor self, bool unbiased=True) -> Tensor", out=False,
    says=_few("var"), node="VarBackward0", empty="constant", opmath=True, saves={"self": ("self",)}, samples=_MOMENTS, kinks=_FLAT,
    errors=_FLOATS_ONLY)
def var(self, *, unbiased=True):
    """The variance of all elements."""
    return _var(self, None, False, int(unbiased))


@op("var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",
    says=_few("var"), node="VarBackward0", empty=_of_all, opmath=True, saves={"self": ("self",)},
    samples=_MOMENTS_DIM, kinks=_FLAT_DIM, errors=_FLOATS_ONLY_DIM)
def var_dim(self, *, dim, unbiased=True, keepdim=False):
    """The variance over dims."""
    return _var(self, dim, keepdim, int(unbiased))


@op("var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
    says=_few("var"), bake={"correction": _always}, node="VarBackward0", empty=_of_all, opmath=True,
    lift=("correction",), saves={"self": ("self",)}, samples=_MOMENTS_CORRECTION, kinks=_FLAT_CORRECTION)
def var_correction(self, *, dim=None, correction=None, keepdim=False):
    """The variance over dims, divided by n - correction."""
    return _var(self, dim, keepdim, correction)


@op("std(Tensor self, bool unbiased=True) -> Tensor", out=False,
    says=_few("std"), node="StdBackward0", opmath=True, saves={"self": ("self", "result")}, samples=_MOMENTS, kinks=_FLAT,
    errors=_FLOATS_ONLY)
def std(self, *, unbiased=True):
    """The standard deviation of all elements; no gradient where it is 0."""
    return _std(self, None, False, int(unbiased))


@op("std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor", says=_few("std"), node="StdBackward0", opmath=True,
    saves={"self": ("self", "result")}, samples=_MOMENTS_DIM, kinks=_FLAT_DIM, errors=_FLOATS_ONLY_DIM)
def std_dim(self, *, dim, unbiased=True, keepdim=False):
    """The standard deviation over dims."""
    return _std(self, dim, keepdim, int(unbiased))


@op("std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
    says=_few("std"), bake={"correction": _always}, node="StdBackward0", opmath=True,
    lift=("correction",), saves={"self": ("self", "result")}, samples=_MOMENTS_CORRECTION, kinks=_FLAT_CORRECTION)
def std_correction(self, *, dim=None, correction=None, keepdim=False):
    """The standard deviation over dims, from the variance divided by n - correction."""
    return _std(self, dim, keepdim, correction)


def _with_mean(spread, x, dim, keepdim, correction, name):
    spreads, axes = spread(x, dim, keepdim, correction, name), reduce_dims(dim, x.ndim)
    if not jnp.iscomplexobj(x):
        return spreads, _running_mean(x, axes, keepdim)
    return spreads, jax.lax.complex(_running_mean(jnp.real(x), axes, keepdim), _running_mean(jnp.imag(x), axes, keepdim))


def _running_mean(x, axes, keepdims):
    """The mean as torch 2.13 has it beside a variance, moved by each element in turn: NaN where an infinite one is not the last, finite where only the sum is not."""
    mean, n = average(x, axes, keepdims), count(x.shape, axes)
    if n < 2:
        return mean
    endless, last = jnp.isinf(x), True
    for axis in axes:
        last = last & (jax.lax.broadcasted_iota(int, x.shape, axis) == x.shape[axis] - 1)
    level = jnp.where(jnp.any(endless, axes, keepdims=keepdims), mean, total(x / n, axes, keepdims))
    return straight(jnp.where(jnp.any(endless & ~last, axes, keepdims=keepdims), jnp.nan, jnp.where(jnp.isinf(mean), level, mean)), mean)


@op("var_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)",
    says=_few("var_mean"), out=False, node="VarMeanBackward0", tangent=BODY, opmath=True, method=False, saves={"self": ("self",)},
    samples=_MOMENTS, kinks=_FLAT)
def var_mean(self, *, unbiased=True):
    """Variance and mean of all elements."""
    return _with_mean(_var, self, None, False, int(unbiased), "var_mean")


@op("var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)",
    says=_few("var_mean"), out=False, node="VarMeanBackward0", tangent=BODY, opmath=True, method=False,
    saves={"self": ("self",)}, samples=_MOMENTS_DIM, kinks=_FLAT_DIM)
def var_mean_dim(self, *, dim, unbiased=True, keepdim=False):
    """Variance and mean over dims."""
    return _with_mean(_var, self, dim, keepdim, int(unbiased), "var_mean")


@op("var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)",
    says=_few("var_mean"), bake={"correction": _always}, out=False, node="VarMeanBackward0", tangent=BODY,
    opmath=True, method=False, lift=("correction",), saves={"self": ("self",)}, samples=_MOMENTS_CORRECTION, kinks=_FLAT_CORRECTION)
def var_mean_correction(self, *, dim=None, correction=None, keepdim=False):
    """Variance with a correction, and mean, over dims."""
    return _with_mean(_var, self, dim, keepdim, correction, "var_mean")


@op("std_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)",
    says=_few("std_mean"), out=False, node="StdMeanBackward0", tangent=BODY, opmath=True, method=False,
    saves={"self": ("self", "result0")}, samples=_MOMENTS, kinks=_FLAT)
def std_mean(self, *, unbiased=True):
    """Standard deviation and mean of all elements."""
    return _with_mean(_std, self, None, False, int(unbiased), "std_mean")


@op("std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)",
    says=_few("std_mean"), out=False, node="StdMeanBackward0", tangent=BODY, opmath=True, method=False,
    saves={"self": ("self", "result0")}, samples=_MOMENTS_DIM, kinks=_FLAT_DIM)
def std_mean_dim(self, *, dim, unbiased=True, keepdim=False):
    """Standard deviation and mean over dims."""
    return _with_mean(_std, self, dim, keepdim, int(unbiased), "std_mean")


@op("std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)",
    says=_few("std_mean"), bake={"correction": _always}, out=False, node="StdMeanBackward0", tangent=BODY,
    opmath=True, method=False, lift=("correction",), saves={"self": ("self", "result0")}, samples=_MOMENTS_CORRECTION, kinks=_FLAT_CORRECTION)
def std_mean_correction(self, *, dim=None, correction=None, keepdim=False):
    """Standard deviation with a correction, and mean, over dims."""
    return _with_mean(_std, self, dim, keepdim, correction, "std_mean")


# Logarithms of sums

@partial(jax.custom_jvp, nondiff_argnums=(1, 2))
def _logsumexp(x, axes, keepdims):
    top = jnp.max(jnp.real(x), axis=axes, keepdims=True)
    top = jnp.where(jnp.isinf(top), jnp.zeros_like(top), top)
    out = jnp.log(total(jnp.exp(x - top.astype(x.dtype)), axes, True)) + top.astype(x.dtype)
    return out if keepdims else jnp.squeeze(out, axes)


@_logsumexp.defjvp
def _(axes, keepdims, primals, tangents):
    x = primals[0]
    out = _logsumexp(x, axes, True)
    step = total(tangents[0] * jnp.exp(x - out), axes, keepdims)
    return out if keepdims else jnp.squeeze(out, axes), step


def _logsumexp_of_nothing(x, axes, keepdims):
    """Nowhere to go for its gradient, which does not ask for 1 / 0 either."""
    return of_empty(jnp.log(total(jnp.exp(jax.lax.stop_gradient(x)), axes, keepdims)) + total(x, axes, keepdims), x)


@op("logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", node="LogsumexpBackward0", lies=None, tangent=BODY, promote=Promote.FLOAT, opmath=False, inplace=False,
    saves={"self": ("self", "result")}, aliases=("special.logsumexp",),
    samples=[call(real(2, 3), 1), call(real(2, 3, 2), (0, 2), True), call(real(()), 0), call(real(2, 0), 1), call(at(1, 2, dtype="int64", grad=False), 0)],
    kinks=[call(at(-float("inf"), -float("inf")), 0), call(at(float("inf"), 0.0), 0), call(at(1000.0, 1000.0), 0)], errors=[_TWICE, _OUTSIDE])
def logsumexp(self, *, dim, keepdim=False):
    """log of the sum of exponentials, without overflow; half precision is rounded at each step."""
    if len(dim) == 0 and self.size and self.ndim and not keepdim:
        raise RuntimeError(f"output with shape [] doesn't match the broadcast shape {[1] * self.ndim}")
    axes = reduce_dims(dim, self.ndim)
    return _logsumexp(self, axes, keepdim) if count(self.shape, axes) else _logsumexp_of_nothing(self, axes, keepdim)


# Counts and tests

def _true(x):
    return x if x.dtype == bool else x != 0


@op("count_nonzero(Tensor self, int? dim=None) -> Tensor", out=False, derivative=NONE, samples=[call(real(2, 3)), call(real(2, 3), 1)],
    kinks=[call(at(0.0, -0.0, float("nan"), 1.0))])
def count_nonzero(self, *, dim=None):
    """How many elements are not zero."""
    return jnp.sum(_true(self), axis=reduce_dims(dim, self.ndim), dtype=jnp.int64)


@op("count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor", out=False, varargs="dim", derivative=NONE, samples=[call(real(2, 3), (0, 1))], kinks=SMOOTH)
def count_nonzero_dims(self, *, dim):
    """How many elements over dims are not zero."""
    return jnp.sum(_true(self), axis=reduce_dims(dim, self.ndim), dtype=jnp.int64)


def _holds(test, x, axes, keepdims):
    """all or any over axes: uint8 for uint8, otherwise bool."""
    out = test(_true(x), axis=axes, keepdims=keepdims)
    return out.astype(jnp.uint8) if x.dtype == jnp.uint8 else out


def _listed(dim, ndim):
    """The axes of a list of dims where an empty list means no dim."""
    return reduce_dims(dim, ndim) if dim is None or dim else ()


@op("all(Tensor self) -> Tensor", derivative=NONE, samples=[call(real(2, 3)), call(at(1, 2, dtype="uint8", grad=False))], kinks=[call(at(0.0, float("nan")))])
def all(self):
    """Whether no element is zero."""
    return _holds(jnp.all, self, None, False)


@op("all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", derivative=NONE, samples=[call(real(2, 3), 1), call(real(2, 3), 0, True)], kinks=SMOOTH,
    errors=[_OUTSIDE])
def all_dim(self, *, dim, keepdim=False):
    """Whether no element along a dim is zero."""
    return _holds(jnp.all, self, reduce_dims(dim, self.ndim), keepdim)


@op("all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", derivative=NONE, samples=[call(real(2, 3), (0, 1)), call(real(2, 3), ())],
    kinks=SMOOTH)
def all_dims(self, *, dim=None, keepdim=False):
    """Whether no element over dims is zero."""
    return _holds(jnp.all, self, _listed(dim, self.ndim), keepdim)


@op("any(Tensor self) -> Tensor", derivative=NONE, samples=[call(real(2, 3)), call(at(0, 2, dtype="uint8", grad=False))], kinks=[call(at(0.0, float("nan")))])
def any(self):
    """Whether some element is not zero."""
    return _holds(jnp.any, self, None, False)


@op("any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", derivative=NONE, samples=[call(real(2, 3), 1), call(real(2, 3), 0, True)], kinks=SMOOTH,
    errors=[_OUTSIDE])
def any_dim(self, *, dim, keepdim=False):
    """Whether some element along a dim is not zero."""
    return _holds(jnp.any, self, reduce_dims(dim, self.ndim), keepdim)


@op("any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", derivative=NONE, samples=[call(real(2, 3), (0, 1)), call(real(2, 3), ())],
    kinks=SMOOTH)
def any_dims(self, *, dim=None, keepdim=False):
    """Whether some element over dims is not zero."""
    return _holds(jnp.any, self, _listed(dim, self.ndim), keepdim)


@op("trace(Tensor self) -> Tensor", out=False, node="TraceBackward0", opmath=True, samples=[call(real(3, 3)), call(real(2, 4)), call(real(0, 3))],
    kinks=SMOOTH, errors=[fails(call(real(3)), RuntimeError, "trace: expected a matrix, but got tensor with dim 1")])
def trace(self):
    """The sum of the diagonal."""
    if self.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {self.ndim}")
    line = jnp.diagonal(only("trace", self, "ifuc"))
    return total(line if type_of(line).category >= dtypes.FLOAT else line.astype(jnp.int64), (0,))

