"""Normalization (layer 2): by layer, by batch, by group; running statistics; weights by direction and length."""

from __future__ import annotations

import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .conventions import magnitude, only, wide
from .memory import channels_or_rows, rows_or_channels_only
from .reduce import average, total
from .registry import NONE, SMOOTH, call, fails, op, real, rule

_HALVES = ("float16", "bfloat16")


def _check_types(types, result, statics):
    own = types["input"].dtype
    others = [t.dtype for n, t in types.items() if n != "input" and t.device != "number" and t.dtype is not own]
    if any(d.name != "float32" for d in others) and own.is_floating_point:
        raise RuntimeError("mixed dtype (CPU): expect parameter to have scalar type of Float")
    if others and own.name not in _HALVES:
        raise RuntimeError("mixed dtype (CPU): all inputs must share same datatype.")


def _check_batch_types(types, result, statics):
    if types["input"].dtype.is_floating_point:  # others are refused by what computes
        _check_types(types, result, statics)


def _mean(x, axes):
    """The mean, with a second sum that takes the rounding of the first away."""
    rough = lax.stop_gradient(average(x, axes, True))
    rough = jnp.where(jnp.isfinite(rough), rough, 0)
    return rough + average(x - rough, axes, True)


def _moments(x, axes):
    """(mean, mean square of the differences), keeping the axes."""
    mean = _mean(x, axes)
    d = x - mean
    return mean, average(d * d, axes, True)


def _inverse(variance, eps):
    return 1 / jnp.sqrt(variance + jnp.asarray(eps).astype(variance.dtype))


@partial(jax.custom_jvp, nondiff_argnums=(2,))
def _statistics(x, eps, axes):
    """(mean, inverse of the deviation, variance), keeping the axes."""
    mean, variance = _moments(x, axes)
    return mean, _inverse(variance, eps), variance


@_statistics.defjvp
def _(axes, primals, tangents):
    x, eps = primals
    out = mean, scale, _variance = _statistics(x, eps, axes)
    along = average((x - mean) * tangents[0], axes, True)
    return out, (average(tangents[0], axes, True), -scale**3 * along, 2 * along)


@partial(jax.custom_jvp, nondiff_argnums=(3,))
def _standard(x, mean, scale, axes):
    """(x - mean) * scale, of the statistics of x itself.

    Its derivative is torch's formula, which takes two sums and reads what a node saved: the input, the mean and the scale; differentiated again, those are the
    functions of x that they are.
    """
    return (x - mean) * scale


@_standard.defjvp
def _(axes, primals, tangents):
    x, mean, scale = primals
    out, t = _standard(x, mean, scale, axes), tangents[0]
    own = (x - mean) * scale
    return out, scale * (t - average(t, axes, True) - own * average(own * t, axes, True))


def _scaled(out, weight, bias, shape):
    out = out if weight is None else out * wide(weight).reshape(shape)
    return out if bias is None else out + wide(bias).reshape(shape)


def _kind(input, *parameters):
    """The dtype of the statistics that a node keeps: that of the parameters, where there are some."""
    return next((p.dtype for p in parameters if p is not None), input.dtype)


def _refuse_bias_alone(given, owners):
    """torch 2.13 multiplies the weight's share by the one of the bias, also where there is no weight."""
    if {"input", "bias"} <= given and "weight" not in owners:
        raise RuntimeError("Expected a proper Tensor but got None (or an undefined Tensor in C++) for argument #1 'other'")


# By layer

def check_layer(x, shape, weight, bias, space=", "):
    """torch's checks of the shapes that layer and root-mean-square normalization share."""
    n = len(shape)
    if n < 1:
        raise RuntimeError("Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got normalized_shape = []")
    for word, p in (("weight", weight), ("bias", bias)):
        if p is not None and tuple(p.shape) != tuple(shape):
            raise RuntimeError(f"Expected {word} to be of same shape as normalized_shape, but got {word} of shape {list(p.shape)} and normalized_shape = "
                               f"{list(shape)}")
    if x.ndim < n or tuple(x.shape[x.ndim - n:]) != tuple(shape):
        raise RuntimeError(f"Given normalized_shape={list(shape)}, expected input with shape [*{space}{', '.join(map(str, shape))}], but got input of "
                           f"size{list(x.shape)}")


_LAYER = dict.fromkeys(("input", "weight", "bias"), ("input", "weight", "bias", "result1", "result2"))


@op("native_layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)",
    node="NativeLayerNormBackward0", method=False, out=False, lift=("eps",), nondiff_out=(1, 2), zero_second=True, refuses_again=_refuse_bias_alone, saves=_LAYER,
    check=_check_types,
    samples=[call(real(2, 3, 2), (3, 2), real(3, 2), real(3, 2), 1e-5), call(real(4, 3), (3,), None, None, 1e-2)],
    errors=[fails(call(real(2, 3), (2,), None, None, 1e-5), RuntimeError,
                  "Given normalized_shape=[2], expected input with shape [*, 2], but got input of size[2, 3]")], kinks=SMOOTH)
def native_layer_norm(input, weight, bias, *, normalized_shape, eps):
    """The input less its mean over the last dims, divided by its deviation; the mean and the inverse of the deviation."""
    check_layer(input, normalized_shape, weight, bias)
    only("LayerNormKernelImpl", input, "f")
    axes = tuple(range(input.ndim - len(normalized_shape), input.ndim))
    x, kind = wide(input), _kind(input, weight, bias)
    mean, scale, _ = _statistics(x, eps, axes)
    out = _scaled(_standard(x, mean, scale, axes), weight, bias, (1,) * (input.ndim - len(normalized_shape)) + tuple(normalized_shape))
    return out.astype(input.dtype), mean.astype(kind), scale.astype(kind)


# By batch

_BATCH = dict.fromkeys(("input", "weight", "bias"), ("input", "weight", "running_mean", "running_var", "result1", "result2"))


def _check_channels(input, **others):
    for word, p in others.items():
        if p is not None and p.size != input.shape[1]:
            raise RuntimeError(f"{word} should contain {input.shape[1]} elements not {p.size}")


def _by_batch(name, node):
    return op(f"{name}(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float eps) -> "
              "(Tensor, Tensor, Tensor, Tensor, Tensor)", node=node, names=(), lift=("eps",), nondiff=("running_mean", "running_var"),
              nondiff_out=(1, 2, 3, 4), zero_second=True, refuses_again=_refuse_bias_alone, saves=_BATCH, check=_check_batch_types, lies=channels_or_rows,
              samples=[call(real(2, 3), None, None, None, None, True, 1e-5)], kinks=SMOOTH)


@_by_batch("native_batch_norm", "NativeBatchNormBackward0")
def native_batch_norm(input, weight, bias, running_mean, running_var, *, training, eps):
    """The input less the mean of its channel, divided by its deviation; mean and inverse deviation of each channel, of which nothing is kept where they are the
    running ones; mean and variance of each channel in double precision."""
    if input.ndim < 2:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-input.ndim}, {input.ndim - 1}], but got 1)")
    if not training:
        for word, p in (("running_mean", running_mean), ("running_var", running_var)):
            if p is None:
                raise RuntimeError(f"{word} must be defined in evaluation mode")
    _check_channels(input, running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    only("batch_norm", input, "f")
    axes, shape = tuple(i for i in range(input.ndim) if i != 1), [-1 if i == 1 else 1 for i in range(input.ndim)]
    x, kind = wide(input), _kind(input, weight, running_mean)
    if training:
        mean, scale, variance = _statistics(x, eps, axes)
        out = _standard(x, mean, scale, axes)
        kept = [s.reshape(-1).astype(kind) for s in (mean, scale)]
    else:
        mean, variance = (wide(p).reshape(shape) for p in (running_mean, running_var))
        out = (x - mean) * _inverse(variance, eps)
        kept = [jnp.zeros(0, kind)] * 2
    return _scaled(out, weight, bias, shape).astype(input.dtype), *kept, *(s.reshape(-1).astype(np.float64) for s in (mean, variance))


@_by_batch("_native_batch_norm_legit", "NativeBatchNormLegitBackward0")
def _with_running(input, weight, bias, running_mean, running_var, *, training, eps):
    """`native_batch_norm` under its newer name."""
    return native_batch_norm(input, weight, bias, running_mean, running_var, training=training, eps=eps)


@_by_batch("_batch_norm_updating", "BatchNormWithUpdateBackward0")
def _updating(input, weight, bias, running_mean, running_var, *, training, eps):
    """`native_batch_norm` under the name that it has where it writes the running statistics itself."""
    return native_batch_norm(input, weight, bias, running_mean, running_var, training=training, eps=eps)


@_by_batch("_native_batch_norm_alone", "NativeBatchNormLegitBackward1")
def _without_running(input, weight, bias, running_mean, running_var, *, training, eps):
    """The same where there are no running statistics."""
    return native_batch_norm(input, weight, bias, running_mean, running_var, training=training, eps=eps)


@op("_running(Tensor self, Tensor mean, float momentum, int of, bool variance) -> Tensor", names=(), derivative=NONE, lift=("momentum",),
    samples=[call(real(2), real(2), 0.1, 1, False)], kinks=SMOOTH)
def _running(self, mean, *, momentum, of, variance):
    """The running mean (or variance, without bias) after another batch of `of` elements a channel."""
    if variance:
        mean = mean * (of / (of - 1) if of > 1 else float("nan"))
    momentum = momentum.astype(np.float64)
    return ((1 - momentum) * self.astype(np.float64) + momentum * mean.astype(np.float64)).astype(self.dtype)


# By group

_GROUP = dict.fromkeys(("input", "weight", "bias"), ("input", "weight", "result1", "result2"))


@op("native_group_norm(Tensor input, Tensor? weight, Tensor? bias, int N, int C, int HxW, int group, float eps) -> (Tensor, Tensor, Tensor)",
    lies=rows_or_channels_only, node="NativeGroupNormBackward0", method=False, out=False, lift=("eps",), saves=_GROUP, check=_check_types,
    samples=[call(real(2, 4, 3), real(4), real(4), 2, 4, 3, 2, 1e-5), call(real(2, 4, 3), None, None, 2, 4, 3, 1, 1e-5)], kinks=SMOOTH)
def native_group_norm(input, weight, bias, *, N, C, HxW, group, eps):
    """The input less the mean of its group of channels, divided by its deviation; mean and inverse deviation of each group."""
    check_group(input, weight, bias, group)
    only("GroupNormKernelImpl", input, "f")
    x, kind = wide(input).reshape(N, group, math.prod(input.shape[1:]) // group), _kind(input, weight, bias)
    mean, scale, _ = _statistics(x, eps, (2,))
    out = _scaled(_standard(x, mean, scale, (2,)).reshape(input.shape), weight, bias, [-1 if i == 1 else 1 for i in range(input.ndim)])
    return out.astype(input.dtype), *(s.reshape(N, group).astype(kind) for s in (mean, scale))


def check_group(x, weight, bias, group):
    """torch's checks of groups and parameters."""
    if group <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {group}")
    if x.shape[1] % group:
        raise RuntimeError(f"Expected number of channels in input to be divisible by num_groups, but got input of shape {list(x.shape)} and num_groups={group}")
    for word, p in (("weight", weight), ("bias", bias)):
        if p is not None and (p.ndim != 1 or p.shape[0] != x.shape[1]):
            shown = p.shape if word == "weight" else (0,) if weight is None else weight.shape  # torch 2.13 prints the weight's shape for a wrong bias
            raise RuntimeError(f"Expected {word} to be a vector of size equal to the number of channels in input, but got {word} of shape {list(shown)} "
                               f"and input of shape {list(x.shape)}")


# Weights

def _lengths(v, dim):
    axes = tuple(i for i in range(v.ndim) if i != dim % v.ndim)
    return axes, jnp.sqrt(total(magnitude(v) ** 2, axes, True))


def _weight_tangent(out, primals, tangents, *, dim):
    """torch's gradient takes the lengths for constants when it is differentiated again."""
    v, g, tv, tg = map(wide, (*primals, *tangents))
    axes, lengths = _lengths(v, dim)
    lengths = lax.stop_gradient(lengths)
    along = total(v * tv, axes, True)
    return (g / lengths * (tv - v * (along / (lengths * lengths))) + v * (tg / lengths)).astype(out[0].dtype), along / lengths


@op("_weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor, Tensor)", forward=False, node="WeightNormInterfaceBackward0", method=False, out=False,
    derivative=rule(_weight_tangent), nondiff_out=(1,), saves=dict.fromkeys(("v", "g"), ("v", "g", "result1")),
    samples=[call(real(3, 2), real(3, 1), 0), call(real(3, 2), real(1, 2), 1)],
    kinks=SMOOTH)
def _weight_norm_interface(v, g, *, dim=0):
    """v with the lengths g along a dim (the first or the last); the lengths of v."""
    only("weight_norm_kernel", v, "f")
    lengths = _lengths(wide(v), dim)[1]
    return (wide(v) * (wide(g) / lengths)).astype(v.dtype), lengths


__all__ = ["check_group", "check_layer", "native_batch_norm", "native_group_norm", "native_layer_norm"]
