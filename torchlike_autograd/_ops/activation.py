"""Activation functions (layer 2)."""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
from jax import lax

from .._core.shapes import wrap_dim
from . import held
from .blocks import AVX2, AVX512, in_blocks, where_nan
from .conventions import always, only, partials, wide
from .error_functions import error_function
from .memory import channels_last, elementwise, like_first
from .registry import SMOOTH, at, call, fails, op, real

_INF, _NAN = float("inf"), float("nan")
_SELF, _RESULT = {"self": ("self",)}, {"self": ("result",)}
_ANY = [call(real(3)), call(real(2, 3))]
_FAR = at(0.0, -0.0, 800.0, -800.0, _INF, -_INF, _NAN)


def _activation(schema, *, node, saves=_SELF, public=None, twin_node=None, twin_of=(), twin=None, **fields):
    """An entry of an activation: no promotion, half precision computed in float32, with a twin; some twins save the result, in a node of their own.

    twin: further fields of such a twin.
    """
    fields = {"inplace": twin_node is None, "opmath": True, "samples": _ANY, "kinks": [call(_FAR)], "lies": elementwise, **fields}

    def declare(body):
        op(schema, node=node, saves=saves, names=public, **fields)(body)
        if twin_node is not None:
            name, _, rest = schema.partition("(")
            op(f"{name}.twin({rest}", node=twin_node, names=twin_of, **{**fields, "saves": _RESULT, "inplace": True, "out": False, **(twin or {})})(body)
        return body

    return declare


def _from_result(what, more, slope):
    """Fields of a twin that saves its result, from which nothing follows where `slope(statics)` is negative; such numbers are part of the program."""

    def refuses(types, result, wanted, **statics):
        if slope(statics) < 0:
            raise RuntimeError(
                f"In-place {what} backward calculation is triggered with a negative slope which is not supported. This is caused by calling in-place forward function "
                f"with a negative slope, please call out-of-place version instead.{more}")

    refuses.forward = True  # torch's tangent is its gradient
    return {"refuses": refuses}


def _baked(name):
    """(bake, a slope) for `_from_result`: the number `name` where it is negative."""
    return {"bake": {name: lambda x, flat: x < 0}}, lambda statics: statics[name] if isinstance(statics.get(name), (int, float)) else 0


_LEAKY = "leakyReLu", (" File an issue at https://github.com/pytorch/pytorch if you do require supporting in-place leakRelu backward calculation with negative slope")
_BAKED_SLOPE, _BAKED_ALPHA = _baked("negative_slope"), _baked("alpha")


def _functional(name):
    return (f"torch.nn.functional.{name}",)


# Piecewise linear

@_activation("relu(Tensor self) -> Tensor", out=False, node="ReluBackward0", zero_second=True, saves=_RESULT, opmath=False, errors=[
    fails(call(at(1j, dtype="complex128")), NotImplementedError, "clamp is not supported for complex types")])
def relu(self):
    """The positive part; the gradient at 0 is 0."""
    if self.dtype == bool:
        raise RuntimeError("Boolean inputs not supported for relu")
    if jnp.iscomplexobj(self):
        raise NotImplementedError("clamp is not supported for complex types")
    only("clamp_min_scalar_cpu", self, "if")
    return jnp.where(self <= 0, lax.stop_gradient(jnp.where(self < 0, 0, self)), self)


@_activation("threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor", node="ThresholdBackward0", zero_second=True, twin_node="ThresholdBackward1",
             twin_of=("torch.threshold",), twin={"saves": _SELF}, lift=("threshold", "value"), holds={"threshold": held.wide_whole, "value": held.own_whole}, method=False, opmath=False,
             wide=("threshold",),
             samples=[call(real(4), 0.3, 7.0)], kinks=[call(at(0.0, 1.0, 2.0, _NAN), 1.0, 7.0)])
def threshold(self, *, threshold, value):
    """value where self is not above the threshold."""
    only("threshold_cpu", self, "if")
    whole = wide(self)
    return jnp.where(whole <= jnp.real(threshold).astype(whole.dtype), jnp.real(value).astype(self.dtype), self)


@_activation("leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor", node="LeakyReluBackward0", zero_second=True, twin_node="LeakyReluBackward1",
             twin={**_from_result(*_LEAKY, _BAKED_SLOPE[1]), **_BAKED_SLOPE[0]}, lift=("negative_slope",), public=(), holds={"negative_slope": held.wide},
             samples=[call(real(4)), call(real(4), 0.3)])
def leaky_relu(self, *, negative_slope):
    """Negative values by a slope; 0 belongs to them."""
    only("leaky_relu_cpu", self, "f")
    return jnp.where(self > 0, self, self * negative_slope)


def _prelu_tangent(out, primals, tangents):
    """In forward mode the slope at 0 is 1, the gradient's is the weight."""
    (x, w), (t, v) = primals, tangents
    return jnp.where(x >= 0, t, w * t + x * v)


@_activation("_prelu_kernel(Tensor self, Tensor weight) -> Tensor", node="PreluKernelBackward0", lies=like_first, zero_second=always, public=(), inplace=False,
             saves={"self": ("self", "weight"), "weight": ("self", "weight")}, samples=[call(real(2, 3), real(1, 3))], kinks=[call(at(0.0, 1.0, -1.0),
             at(0.25))], tangent=_prelu_tangent)
def _prelu_kernel(self, weight):
    """Negative values by a learned slope."""
    return _prelu(only("prelu_cpu", self, "f"), weight)


@partials(lambda t, out, x, w: t * jnp.where(x > 0, 1, jnp.where(x >= 0, lax.stop_gradient(w), w)),
          lambda t, out, x, w: jnp.where(x > 0, 0, t * jnp.where(x >= 0, lax.stop_gradient(x), x)))
def _prelu(x, w):
    return jnp.where(x > 0, x, w * x)


@_activation("hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor", node="HardtanhBackward0", lies=like_first, zero_second=True, lift=("min_val", "max_val"),
             holds={"min_val": held.whole, "max_val": held.whole},
             public=(), opmath=False,
             samples=[call(real(4)), call(real(4), -0.3, 0.4)], kinks=[call(at(-1.0, 1.0, 0.0, 2.0, _NAN))])
def hardtanh(self, *, min_val, max_val):
    """self between two bounds; at the bounds the gradient is 0."""
    if self.dtype == bool:
        raise RuntimeError("Bool inputs not supported for hardtanh")
    if jnp.iscomplexobj(self):
        raise NotImplementedError("clamp is not supported for complex types")
    only("clamp_scalar_cpu", self, "if")
    lo, hi = min_val.astype(self.dtype), max_val.astype(self.dtype)
    edge = jnp.where(self < lo, lo, self)
    edge = jnp.where(edge > hi, hi, edge)  # also where the bounds cross
    edge = jnp.where(jnp.isnan(lo), lo, jnp.where(jnp.isnan(hi), hi, edge))
    kept = where_nan(self, AVX2, False, jnp.isnan(self)) if jnp.issubdtype(self.dtype, jnp.floating) else False
    return jnp.where((self > lo) & (self < hi) | kept, self, lax.stop_gradient(edge))


@_activation("hardsigmoid(Tensor self) -> Tensor", node="HardsigmoidBackward0", second="hardsigmoid_backward", public=(), kinks=[call(at(-3.0, 3.0, 0.0, 5.0, _NAN))])
def hardsigmoid(self):
    """A line from 0 at -3 to 1 at 3; torch has no second derivative of it."""
    return _hardsigmoid(only("hardsigmoid_cpu", self, "f"))


@partials(lambda t, out, x: jnp.where((x > -3) & (x < 3), t * _SIXTH, 0).astype(x.dtype))
def _hardsigmoid(x):
    return jnp.minimum(jnp.maximum(x + 3, 0), 6) / 6


_SIXTH = float(np.float32(1 / 6))  # torch 2.13: 1/6 in single precision also for double


@_activation("hardswish(Tensor self) -> Tensor", node="HardswishBackward0", zero_second=lambda *_, **__: True, public=(), kinks=[
    call(at(-3.0, 3.0, 0.0, 5.0, _NAN)), call(at(-5.0, -_INF, _INF))])
def hardswish(self):
    """self * hardsigmoid(self)."""
    return _hardswish(only("hardswish_cpu", self, "f"))


@partials(lambda t, out, x: jnp.where(x <= -3, 0, t * jnp.where(x <= -3, 0, jnp.where(x < 3, x / 3 + 0.5, _beyond(x)))))  # no product at -inf, forward or backward
def _hardswish(x):
    return x * jnp.minimum(jnp.maximum(x + 3, 0), 6) / 6


def _beyond(x):
    return where_nan(x, AVX512, lax.stop_gradient(x), jnp.ones((), x.dtype))


_SHRINK_KINKS = [call(at(0.5, -0.5, 0.0, 1.0, _NAN))]


@_activation("hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor", node="HardshrinkBackward0", zero_second=True, lift=("lambd",), inplace=False, opmath=False,
             holds={"lambd": held.own},
             public=("torch.hardshrink", "Tensor.hardshrink", "torch.nn.functional.hardshrink"), samples=[call(real(4)), call(real(4), 0.2)],
             kinks=_SHRINK_KINKS)
def hardshrink(self, *, lambd):
    """0 within lambd of 0."""
    only("hardshrink_cpu", self, "f")
    lambd = lambd.astype(self.dtype)
    return jnp.where((self >= -lambd) & (self <= lambd), 0, where_nan(self, AVX2, lax.stop_gradient(self), self))


@_activation("softshrink(Tensor self, Scalar lambd=0.5) -> Tensor", node="SoftshrinkBackward0", zero_second=True, lift=("lambd",), inplace=False,
             public=_functional("softshrink"),
             samples=[call(real(4)), call(real(4), 0.2)], kinks=_SHRINK_KINKS, bake={"lambd": lambda x, flat: not x >= 0}, errors=[
                 fails(call(at(1.0, dtype="float32"), -1), RuntimeError, "lambda must be in range [0, 3.40282e+38] for input dtype Float, but found -1")])
def softshrink(self, *, lambd):
    """0 within lambd of 0, elsewhere nearer to 0 by lambd."""
    only("softshrink_check", self, "f")
    if not hasattr(lambd, "dtype"):
        limit, name = ("1.79769e+308", "Double") if self.dtype == jnp.float64 else ("3.40282e+38", "Float")
        raise RuntimeError(f"lambda must be in range [0, {limit}] for input dtype {name}, but found {lambd:g}")
    within = jnp.where(in_blocks(self, AVX2), 0, lax.stop_gradient(0 * self))
    beyond = where_nan(self, AVX2, lax.stop_gradient(self), jnp.where(self > lambd, self - lambd, self + lambd))
    return jnp.where((self >= -lambd) & (self <= lambd), within, beyond)


# Smooth

@_activation("elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor", node="EluBackward0", twin_node="EluBackward1", lift=("alpha",
             "scale", "input_scale"), public=(),
             holds=dict.fromkeys(("alpha", "scale", "input_scale"), held.wide), twin={**_from_result("elu", "", _BAKED_ALPHA[1]), **_BAKED_ALPHA[0]},
             samples=[call(real(4)), call(real(4), 0.7, 1.2, 0.9)])
def elu(self, *, alpha, scale, input_scale):
    """Negative values by an exponential that saturates at -alpha."""
    return _elu(only("elu_cpu", self, "f"), alpha * scale, scale, input_scale)


@partials(lambda t, out, x, low, high, inner: t * _elu_slope(x, low, high, inner), None, None, None)
def _elu(x, low, high, inner):
    return jnp.where(x < 0, jnp.expm1(x * inner) * low, x * high)


def _elu_slope(x, low, high, inner):
    """At 0 that of the lower side, but its own derivative there is 0."""
    below = jnp.where(x < 0, x, 0)
    bad = where_nan(x, AVX512, True, False)
    above = jnp.where(bad, jnp.where(bad, x, 0) ** 2, high)  # NaN, and so is its derivative, which reaches nothing else
    return jnp.where(x <= 0, inner * low * jnp.exp(below * inner), above)


@_activation("celu(Tensor self, Scalar alpha=1.) -> Tensor", out=False,
    node="CeluBackward0", twin_node="CeluBackward1", twin_of=("torch.celu",), lift=("alpha",), holds={"alpha": held.wide},
             public=("torch.celu",), twin={**_from_result("elu", "", _BAKED_ALPHA[1]), "bake": {"alpha": lambda x, flat: x <= 0}},
             samples=[call(real(4)), call(real(4), 0.7)],
             bake={"alpha": lambda x, flat: x == 0}, errors=[fails(call(at(1.0), 0), RuntimeError, "ZeroDivisionError: alpha cannot be 0 for CELU")])
def celu(self, *, alpha):
    """`elu` with the slope 1 at 0 whatever alpha."""
    if not hasattr(alpha, "dtype") and alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return _celu(only("elu_cpu", self, "f"), alpha)


@partials(lambda t, out, x, alpha: t * _elu_slope(x, alpha, 1, 1 / alpha.astype(jnp.float32).astype(x.dtype)), None)
def _celu(x, alpha):
    """torch 2.13 takes 1 / alpha in the gradient from alpha in single precision."""
    return jnp.where(x <= 0, jnp.expm1(x * (1 / alpha)) * alpha, x)


@_activation("gelu(Tensor self, *, str approximate=\"none\") -> Tensor", node="GeluBackward0", public=_functional("gelu"), inplace=False,
             samples=[call(real(4)), call(real(4), approximate="tanh")],
             errors=[fails(call(real(2), approximate="x"), RuntimeError, "approximate argument must be either none or tanh.")])
def gelu(self, *, approximate):
    """self times the normal distribution function, or its approximation by tanh."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    only("GeluKernelImpl", self, "f")
    if approximate == "none":
        return 0.5 * self * (1 + error_function(self * math.sqrt(0.5)))
    return 0.5 * self * (1 + jnp.tanh(math.sqrt(2 / math.pi) * (self + 0.044715 * (self * self * self))))


@_activation("softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor", node="SoftplusBackward0", lift=("beta", "threshold"), inplace=False,
             holds={"beta": held.wide, "threshold": held.wide},
             public=_functional("softplus"), samples=[call(real(4)), call(real(4), 2.0, 1.0)], kinks=[call(at(20.0, 21.0, 800.0, -800.0, _NAN)), call(at(0.5,
             1.0), 2.0, 1.0)])
def softplus(self, *, beta, threshold):
    """log(1 + exp(beta x)) / beta; above the threshold the identity, gradient 1."""
    only("softplus_cpu", self, "f")
    return _softplus(self, beta, threshold)


@partials(lambda t, out, x, beta, threshold: t * _softplus_slope(x * beta, threshold), None, None)
def _softplus(x, beta, threshold):
    z = x * beta
    return jnp.where(z > threshold, x, jnp.log1p(jnp.exp(jnp.where(z > threshold, 0, z))) / beta)


def _softplus_slope(z, threshold):
    """1 above the threshold; its own derivative is 0 also at the threshold."""
    e = jnp.exp(jnp.where(z >= threshold, threshold, z))
    return jnp.where(z > threshold, 1, e / (e + 1))


@_activation("silu(Tensor self) -> Tensor", node="SiluBackward0", public=(), real_only=True)
def silu(self):
    """self * sigmoid(self)."""
    return _silu(only("silu_cpu", self, "fc"))


@partials(lambda t, out, x: t * (lax.logistic(x) * (1 + x * (1 - lax.logistic(x)))))
def _silu(x):
    return x / (1 + jnp.exp(-x))


@_activation("mish(Tensor self) -> Tensor", node="MishBackward0", public=())
def mish(self):
    """self * tanh(softplus(self))."""
    return _mish(only("mish_cpu", self, "f"))


@partials(lambda t, out, x: t * (_tanh_softplus(x) + x * lax.logistic(x) * (1 - _tanh_softplus(x) * _tanh_softplus(x))))
def _mish(x):
    return x * _tanh_softplus(x)


def _tanh_softplus(x):
    return jnp.tanh(jnp.log1p(jnp.exp(x)))


@_activation("log_sigmoid(Tensor self) -> Tensor", node="LogSigmoidBackward0", public=_functional("logsigmoid"), inplace=False, lies=None)
def log_sigmoid(self):
    """log(sigmoid(self)), finite also where sigmoid is 0."""
    return _log_sigmoid(only("log_sigmoid_cpu", self, "f"))


@partials(lambda t, out, x: t * lax.logistic(-x))
def _log_sigmoid(x):
    return jnp.minimum(x, 0) - jnp.log1p(jnp.exp(-jnp.abs(x)))


@_activation("glu(Tensor self, int dim=-1) -> Tensor", node="GluBackward0", public=(), inplace=False, lies=channels_last, samples=[call(real(4)), call(real(2, 3), 0)],
             kinks=SMOOTH,
             errors=[fails(call(real(3)), RuntimeError, "Halving dimension must be even, but dimension 0 is size 3")])
def glu(self, *, dim):
    """The first half of a dim times the sigmoid of the second."""
    if self.ndim == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    d = wrap_dim(dim, self.ndim)
    if self.shape[d] % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {d} is size {self.shape[d]}")
    only("glu_cpu", self, "f")
    a, b = jnp.split(self, 2, axis=d)
    return a * lax.logistic(b)


# Over a dim

_SOFT = {"saves": _RESULT, "lies": None, "public": (), "inplace": False, "samples": [call(real(2, 3), 1), call(real(2, 3), -2), call(real(()), 0)],
         "kinks": [call(at([[_INF, 0.0], [-_INF, -_INF], [-_INF, 0.0], [800.0, -800.0]]), 1)]}


def _over_dim(name, x, dim):
    d = wrap_dim(dim, x.ndim)
    if x.size:
        only(f"{name}_lastdim_kernel_impl" if d == max(x.ndim - 1, 0) else f"{name}_kernel_impl", x, "f")
    return d


@_activation("_softmax(Tensor self, int dim) -> Tensor", node="SoftmaxBackward0", **_SOFT)
def _softmax(self, *, dim):
    """Exponentials over a dim, divided by their sum."""
    d = _over_dim("softmax", self, dim)
    if not self.size:
        return self
    return _soft(self, d) if self.ndim else _soft(self[None], 0)[0]


def _soft(x, axis):
    @partials(lambda t, out, x: (t - jnp.sum(t * out, axis=axis, keepdims=True)) * out)
    def f(x):
        e = jnp.exp(x - jnp.max(x, axis=axis, keepdims=True, initial=-_INF))
        return e / jnp.sum(e, axis=axis, keepdims=True)

    return f(x)


@_activation("_log_softmax(Tensor self, int dim) -> Tensor", node="LogSoftmaxBackward0", opmath=False, **_SOFT)
def _log_softmax(self, *, dim):
    """The logarithm of the softmax, without its rounding."""
    d = _over_dim("log_softmax", self, dim)
    if not self.size:
        return self
    return _log_soft(self, d) if self.ndim else _log_soft(self[None], 0)[0]


def _log_soft(x, axis):
    """Half precision is computed in float32, but over the last dim torch 2.13 rounds the sum and its logarithm."""
    own = x.dtype if axis == x.ndim - 1 else jnp.dtype(jnp.float32)

    def narrow(x):
        return wide(x.astype(own)) if own in (jnp.float16, jnp.bfloat16) else x

    @partials(lambda t, out, x: t - jnp.sum(t * jnp.exp(out), axis=axis, keepdims=True))
    def f(x):
        x = x - jnp.max(x, axis=axis, keepdims=True, initial=-_INF)
        return x - narrow(jnp.log(narrow(jnp.sum(jnp.exp(x), axis=axis, keepdims=True))))

    return f(x)


def _rrelu(x, noise, lower, upper, training):
    return jnp.where(x <= 0, x * noise, x) if training else jnp.where(x > 0, x, x * ((lower + upper) / 2))


def _check_rrelu(types, result, statics):
    if statics.get("training") and types["self"].dtype.name == "float16":
        raise NotImplementedError("\"rrelu_with_noise_out_cpu\" not implemented for 'Half'")


@_activation("rrelu_with_noise(Tensor self, Tensor noise, float lower=0.125, float upper=0.3333333333333333, bool training=False) -> Tensor",
    zero_second=always, lies=None, node="RreluWithNoiseBackward0", twin_node="RreluWithNoiseBackward1", twin_of=(),
    public=(), saves={"self": ("self", "noise")}, nondiff=("noise",), out=False, check=_check_rrelu,
    twin={**_from_result(*_LEAKY, lambda statics: 0 if statics.get("training") else statics.get("lower", 0.125) + statics.get("upper", 1 / 3)),
          "saves": {"self": ("noise", "result")}, "forward": False},
    samples=[call(real(3), real(3, grad=False), 0.1, 0.3, t) for t in (False, True)], kinks=[call(at(-1.0, 0.0, 1.0), at(1.0, grad=False), 0.1, 0.3, False)])
def rrelu_with_noise(self, noise, *, lower=0.125, upper=0.3333333333333333, training=False):
    """self where positive; elsewhere times the noise in training, times the mean slope otherwise."""
    only("rrelu_with_noise_out_cpu" if training else "leaky_relu_cpu", self, "f")
    return _rrelu(self, noise.astype(self.dtype), lower, upper, training)
