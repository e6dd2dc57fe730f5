"""Losses that are operators of their own (layer 2); `reduction` is 0 for none, 1 for mean, 2 for sum."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from .._core import dtypes, shapes
from .._core.config import default_dtype
from .casts import convert
from .conventions import always, magnitude, only, partials, refuse_bools, straight, taking, wide
from .memory import elementwise, like_first
from .norm import norm_gradient, norm_of
from .opened import TANGENTS, is_int64
from .reduce import average, total, type_of
from .registry import BODY, SMOOTH, Promote, at, call, fails, op, real

_NONE, _MEAN = 0, 1
_PAIR = [call(real(3), real(3)), call(real(2, 3), real(2, 3), 2), call(real(3), real(3), 0), call(real(0), real(0), 2)]
_BOTH = {"self": ("self", "target"), "target": ("self", "target")}
_FULL = dict.fromkeys(("self", "target"), ("self", "target", "weight"))


def reduced(loss, reduction):
    """The loss itself, its mean or its sum."""
    if reduction == _NONE:
        return loss
    axes = tuple(range(loss.ndim))
    return (average if reduction == _MEAN else total)(wide(loss), axes).astype(loss.dtype)


# Distances of elements

@op("mse_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor", node="MseLossBackward0", tangent=BODY, promote=Promote.RESULT, inplace=False, names=(),
    saves=_BOTH, samples=_PAIR, kinks=SMOOTH,
    errors=[fails(call(at(1, 2, dtype="int64", grad=False), at(1, 2, dtype="int64", grad=False)), NotImplementedError,
                  "\"mse_cpu\" not implemented for 'Long'")])
def mse_loss(self, target, *, reduction=1):
    """The squared difference."""
    d = only("mse_cpu", self, "f") - target
    return reduced(d * d, reduction)


def _held(d, bound):
    """d within the bound, the bound itself outside; what is not a number counts as outside (torch 2.13: its second derivative is 0)."""
    return jnp.where(jnp.abs(jax.lax.stop_gradient(d)) < bound, d, jnp.where(d >= bound, bound, jnp.where(d <= -bound, -bound, jax.lax.stop_gradient(d))))


@partials(lambda t, out, d, beta: t * _held(d, beta) / beta, None)
def _smooth(d, beta):
    size = magnitude(d)
    return jnp.where(size < beta, 0.5 * size * size / beta, size - 0.5 * beta)


@op("smooth_l1_loss(Tensor self, Tensor target, int reduction=Mean, float beta=1.0) -> Tensor", node="SmoothL1LossBackward0", tangent=BODY, promote=Promote.RESULT,
    inplace=False, names=(), lift=("beta",), saves=_BOTH, samples=[*_PAIR, call(real(4), real(4), 1, 0.5)],
    kinks=[call(at(0.0, 1.0, -1.0, 0.5), at(0.0, 0.0, 0.0, 0.0), 2)])
def smooth_l1_loss(self, target, *, reduction=1, beta=1.0):
    """Quadratic within beta, linear outside (and at beta)."""
    return reduced(_smooth(only("smooth_l1_cpu", self, "f") - target, beta), reduction)


def _refuse_mixed(types, result, wanted, **statics):
    """torch's gradient, not the loss, asks for operands of one dtype."""
    own, other = types["self"].dtype, types["target"].dtype
    if own is not other:
        found, expected = (other, own) if "self" in wanted else (own, other)
        raise RuntimeError(f"Found dtype {found.char_name} but expected {expected.char_name}")


@partials(lambda t, out, d, delta: t * _held(d, delta), None)
def _huber(d, delta):
    size = magnitude(d)
    return jnp.where(size < delta, 0.5 * size * size, delta * (size - 0.5 * delta))


def _check_huber(types, result, statics):
    sides = types["self"], types["target"]
    found = dtypes.result_type([t.dtype for t in sides if t.shape], [t.dtype for t in sides if not t.shape], (), dtypes.float32)
    if not dtypes.can_cast(found, sides[0].dtype):
        raise RuntimeError(f"result type {found.char_name} can't be cast to the desired output type {sides[0].dtype.char_name}")
    if found.category != dtypes.FLOAT:
        raise NotImplementedError(f"\"huber_cpu\" not implemented for '{found.char_name}'")


@op("huber_loss(Tensor self, Tensor target, int reduction=Mean, float delta=1.0) -> Tensor", node="HuberLossBackward0", tangent=BODY, promote=Promote.RESULT,
    promote_with=("self",), inplace=False, names=(), lift=("delta",), saves=_BOTH, refuses=_refuse_mixed, check=_check_huber, samples=[*_PAIR, call(real(4), real(4), 1, 0.5)],
    kinks=[call(at(0.0, 1.0, -1.0, 0.5), at(0.0, 0.0, 0.0, 0.0), 2)])
def huber_loss(self, target, *, reduction=1, delta=1.0):
    """Half the square within delta, linear outside (and at delta)."""
    if TANGENTS[0] and wide(self).dtype != wide(target).dtype:
        raise RuntimeError(f"Found dtype {type_of(self).char_name} but expected {type_of(target).char_name}")
    return reduced(_huber(only("huber_cpu", self, "f") - target.astype(self.dtype), delta), reduction)


def _check_soft_margin(types, result, statics):
    own, other = types["self"].dtype, types["target"].dtype
    if own is dtypes.bool_:
        raise RuntimeError("Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` "
                           "operator instead.")
    if own.category < dtypes.FLOAT:
        found = other if other.category >= dtypes.FLOAT else dtypes.float32
        raise RuntimeError(f"result type {found.char_name} can't be cast to the desired output type {own.char_name}")
    if other.is_complex and not own.is_complex:
        raise RuntimeError(f"result type {dtypes.promote_types(own, other).char_name} can't be cast to the desired output type {own.char_name}")
    _check_written(types["self"].shape, types["target"].shape)


@op("soft_margin_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor", node="SoftMarginLossBackward0", tangent=BODY, promote=Promote.RESULT,
    promote_with=("self",), inplace=False, opmath=False, names=(), nondiff=("target",), real_only=True, check=_check_soft_margin, saves={"self": ("self", "target")},
    samples=[call(real(4), at(1.0, -1.0, 1.0, -1.0, grad=False))], kinks=SMOOTH)
def soft_margin_loss(self, target, *, reduction=1):
    """log(1 + exp(-target * self)), by that formula."""
    return reduced(_soft_margin(self, target.astype(self.dtype)), reduction)


@jax.custom_jvp
def _soft_margin(x, y):
    """Step by step in the dtype of the input, as torch's gradient and its derivative are: those of the formula would lose digits."""
    return jnp.log1p(jnp.exp(-y * x))


@jax.custom_jvp
def _soft_margin_slope(x, y):
    z = jnp.exp(-y * x)
    return -y * z / (1 + z)


@_soft_margin.defjvp
def _(primals, tangents):
    return _soft_margin(*primals), tangents[0] * _soft_margin_slope(*primals)


@_soft_margin_slope.defjvp
def _(primals, tangents):
    x, y = primals
    z = jnp.exp(-y * x)
    return _soft_margin_slope(x, y), tangents[0] * (y * y * z / ((1 + z) * (1 + z)))


# Probabilities

_TINY = float(np.float32(1e-12))  # torch 2.13: single precision also for double


def _check_probabilities(types, result, statics):
    own, other, weight = types["self"].dtype, types["target"].dtype, types.get("weight")
    if other is not own:
        raise RuntimeError(f"Found dtype {other.char_name} but expected {own.char_name}")
    if own.category != dtypes.FLOAT:
        raise NotImplementedError(f"\"binary_cross_entropy\" not implemented for '{own.char_name}'")
    if weight is None:
        return
    if weight.dtype.is_complex:
        raise RuntimeError(f"result type {dtypes.promote_types(own, weight.dtype).char_name} can't be cast to the desired output type {own.char_name}")
    _check_written(types["self"].shape, weight.shape)


def _check_written(own, other):
    """torch's error where what is written in place would have to grow."""
    size = shapes.broadcast(own, other)
    if tuple(size) != tuple(own):
        raise RuntimeError(f"output with shape {list(own)} doesn't match the broadcast shape {list(size)}")


@partials(lambda t, out, x, y: t * (x * x - 2 * x * y + y) / ((x + 1e-12) ** 2 * (1 - x + 1e-12) ** 2),
          lambda t, out, x, y: -t / jnp.maximum((1 - x) * x, jnp.asarray(_TINY, x.dtype)))
def _bce_slope(x, y):
    return (x - y) / jnp.maximum((1 - x) * x, jnp.asarray(_TINY, x.dtype))


@partials(lambda t, out, x, y: t * _bce_slope(x, y), lambda t, out, x, y: t * (jnp.log1p(-x) - jnp.log(x)))
def _bce(x, y):
    floor = jnp.asarray(-100, x.dtype)
    return (y - 1) * jnp.maximum(jnp.log1p(-x), floor) - y * jnp.maximum(jnp.log(x), floor)


def _outside_unit(self, target, weight, *, reduction):
    """1 where an element of the input is no probability before one of the target is none, 2 where one of the target."""
    if self.size == 0:
        return 0
    bad = [jnp.logical_not((x >= 0) & (x <= 1)).reshape(-1) for x in (self, target)]

    def which(a, b):
        first = [jnp.where(jnp.any(x), jnp.argmax(x), self.size) for x in (a, b)]
        return jnp.where(first[0] <= first[1], 1, 2)

    return jax.lax.cond(jnp.any(bad[0] | bad[1]), which, lambda a, b: jnp.where(a[0], 0, 0), *bad)


@op("binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean) -> Tensor", node="BinaryCrossEntropyBackward0", lies=elementwise, tangent=BODY, names=(),
    opmath=True, nondiff=("weight",), saves=_FULL, check=_check_probabilities,
    samples=[call(real(3, low=0.1, high=0.9), real(3, low=0.0, high=1.0)),
             call(real(2, 3, low=0.1, high=0.9), real(2, 3, low=0.0, high=1.0), real(2, 3, low=0.0, grad=False), 0)],
    guard=_outside_unit, guard_error=lambda code, *_, **__: RuntimeError(f"all elements of {('input', 'target')[code - 1]} should be between 0 and 1"),
    kinks=[call(at(0.0, 1.0, 0.0, 1.0, 0.5), at(0.0, 1.0, 1.0, 0.0, 0.5))])
def binary_cross_entropy(self, target, weight, *, reduction=1):
    """-target log(self) - (1 - target) log(1 - self); logarithms are at least -100, the gradient's denominator at least 1e-12."""
    loss = _bce(self, target)
    if weight is not None:
        joint = dtypes.promote_types(type_of(loss), type_of(weight))
        loss = convert(convert(loss, joint) * convert(weight, joint), type_of(loss))
    return reduced(loss, reduction)


# Classes

def _check_classes(logp, target, weight):
    if not is_int64(target) and type_of(target) is not dtypes.uint8:
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {type_of(target).char_name}")
    if logp.ndim > 2 and not is_int64(target):
        raise RuntimeError(f"expected scalar type Long but found {type_of(target).char_name}")
    classes = logp.shape[1 if logp.ndim > 1 else 0]
    if weight is None:
        return
    if weight.ndim != 1 or weight.shape[0] != classes:
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of shape: {list(weight.shape)}")
    if weight.dtype != logp.dtype:
        raise RuntimeError(f"expected scalar type {type_of(logp).char_name} but found {type_of(weight).char_name}")


def _along(weight, ndim, axis):
    """Weights of classes laid along an axis."""
    return weight.reshape([-1 if i == axis else 1 for i in range(ndim)])


def _of_target(logp, target, weight, ignore_index):
    """(-logp at the targets, weights of the targets), both 0 where ignored; classes along axis 1."""
    target = jnp.expand_dims(target.astype(jnp.int64), 1)
    classes = jax.lax.broadcasted_iota(jnp.int64, logp.shape, 1)
    chosen = (classes == target) & (target != ignore_index)
    scale = jnp.ones((1,) * logp.ndim, logp.dtype) if weight is None else _along(weight, logp.ndim, 1)
    scale = jnp.where(chosen, jnp.broadcast_to(scale, logp.shape), 0)  # the gradient too multiplies by no other class's weight, which may be infinite
    return total(jnp.where(chosen, -logp * scale, 0), (1,)), total(scale, (1,))


def _nll(logp, target, weight, reduction, ignore_index):
    losses, weights = _of_target(logp, target, weight, ignore_index)
    whole = total(weights, tuple(range(weights.ndim)))
    if reduction == _NONE:
        return losses, whole
    out = total(losses, tuple(range(losses.ndim)))
    return (out / whole if reduction == _MEAN else out), whole


def _first_bad(target, classes, allowed):
    """A code for the first target that is no class (0: all are): one more than it, or itself where it is negative."""
    target = target.reshape(-1).astype(jnp.int64)
    bad = ((target < 0) | (target >= classes)) & (target != allowed)
    if not target.size:
        return 0
    first = target[jnp.argmax(bad)]
    return jnp.where(jnp.any(bad), jnp.where(first < 0, first, first + 1), 0)


def _targets_exist(self, target, weight, *, ignore_index, **keywords):
    return _first_bad(target, self.shape[1 if self.ndim > 1 else 0], ignore_index)


_TARGETS = {"guard": _targets_exist, "guard_error": lambda code, *_, **__: IndexError(f"Target {code - 1 if code > 0 else code} is out of bounds.")}
_TARGET = at(1, 0, 3, dtype="int64", grad=False)


@op("nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, int ignore_index) -> (Tensor output, Tensor total_weight)",
    node="NllLossBackward0", names=(), opmath=True, check=taking("nll_loss_out_frame", "self", "f"), zero_second=always, nondiff=("target", "weight"), nondiff_out=(1,),
    saves={"self": ("self", "target", "weight", "result1")},
    samples=[call(real(3, 4), _TARGET, None, 1, -100), call(real(3, 4), _TARGET, real(4, low=0.0, grad=False), 0, 0)],
    **_TARGETS, kinks=[call(real(2, 4), at(-100, -100, dtype="int64", grad=False), None, 1, -100)])
def nll_loss_forward(self, target, weight, *, reduction, ignore_index):
    """Minus the entries of the target classes, and the sum of their weights."""
    _check_classes(self, target, weight)
    if self.ndim == 2:
        return _nll(self, target, weight, reduction, ignore_index)
    out, whole = _nll(self[None], target.reshape(1), weight, reduction, ignore_index)
    return out.reshape(()), whole


@op("nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, int reduction, int ignore_index) -> (Tensor output, Tensor total_weight)",
    node="NllLoss2DBackward0", names=(), opmath=True, check=taking("nll_loss2d_forward_out_frame", "self", "f"), zero_second=always, nondiff=("target", "weight"), nondiff_out=(1,),
    saves={"self": ("self", "target", "weight", "result1")},
    samples=[call(real(1, 4, 1, 3), at([[[1, 0, 3]]], dtype="int64", grad=False), None, 1, -100)], **_TARGETS, kinks=SMOOTH)
def nll_loss2d_forward(self, target, weight, *, reduction, ignore_index):
    """Minus the entries of the target classes of every pixel, and the sum of their weights."""
    _check_classes(self, target, weight)
    return _nll(self, target, weight, reduction, ignore_index)


@op("_smoothed_nll(Tensor self, Tensor target, Tensor? weight, int reduction, int ignore_index, float label_smoothing) -> Tensor", node="AddBackward0",
    names=(), opmath=True, lift=("label_smoothing",), nondiff=("target",),
    samples=[call(real(3, 4), _TARGET, None, 1, -100, 0.1), call(real(3, 4), _TARGET, real(4, low=0.0, grad=False), 2, 0, 0.1)], **_TARGETS, kinks=SMOOTH)
def _smoothed_nll(self, target, weight, *, reduction, ignore_index, label_smoothing):
    """(1 - s) times the loss of the targets, of which weights have no derivative, plus s times the mean loss over all classes."""
    _check_classes(self, target, weight)
    if reduction == _MEAN and weight is not None and not is_int64(target):
        raise RuntimeError("gather(): Expected dtype int32/int64 for index")
    flat = self.ndim == 1
    logp, target = (self[None], target.reshape(1)) if flat else (self, target)
    hard, whole = _nll(logp, target, None if weight is None else jax.lax.stop_gradient(weight), reduction, ignore_index)
    spread = -total(logp if weight is None else logp * _along(weight, logp.ndim, 1), (1,))
    spread = jnp.where(target != ignore_index, spread, 0)
    if reduction != _NONE:
        spread = total(spread, tuple(range(spread.ndim)))
    if reduction == _MEAN:
        spread = spread / (whole if weight is None else total(_of_target(logp, target, weight, ignore_index)[1], tuple(range(target.ndim))))
    out = (1 - label_smoothing) * hard + spread * (label_smoothing / logp.shape[1])
    return out.reshape(()) if flat else out


def _rows(x, target, matching):
    """x as a matrix of samples and classes, with torch's checks."""
    if x.ndim > 2 or (x.ndim > 0 and x.shape[-1] == 0):
        raise RuntimeError(f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(x.shape)}")
    rows = x.reshape((1, -1)) if x.ndim < 2 else x
    matching(rows)
    return rows


def _reduced_rows(losses, reduction, flat):
    return losses.reshape(()) if flat else reduced(losses, reduction)


@op("multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, int reduction=Mean) -> Tensor",
    check=taking("multi_margin_loss_cpu_kernel", "self", "d"), forward=False, node="MultiMarginLossBackward0", second="multi_margin_loss_backward", names=(), opmath=True, lift=("margin",), nondiff=("target", "weight"), saves={"self": ("self", "target", "weight")},
    samples=[call(real(3, 4), _TARGET), call(real(3, 4), _TARGET, 2, 0.5, real(4, low=0.0, grad=False))],
    guard=lambda self, target, weight, **_: _first_bad(target, self.shape[-1] if self.ndim else 1, 0),
    guard_error=lambda code, *_, **__: RuntimeError("target out of range"),
    kinks=[call(at([[1.0, 0.0, 0.0], [2.0, 1.0, 3.0]]), at(0, 1, dtype="int64", grad=False))],
    errors=[fails(call(real(3, 4), _TARGET, 3), RuntimeError, "only p == 1 and p == 2 supported")])
def multi_margin_loss(self, target, weight, *, p=1, margin=1, reduction=1):
    """max(0, margin - x[target] + x[i])^p over the other classes i, divided by the number of classes."""
    if p not in (1, 2):
        raise RuntimeError("only p == 1 and p == 2 supported")

    def matching(rows):
        if target.ndim > 1 or target.size != rows.shape[0]:
            raise RuntimeError("multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch size). "
                               f"Expected target size [{rows.shape[0]}], but got {list(target.shape)}. Input has shape {list(self.shape)}.")
        if weight is not None and (weight.ndim > 1 or weight.size != rows.shape[1]):
            raise RuntimeError(f"inconsistent weight size, expected {rows.shape[1]} but got {list(weight.shape)}")

    rows = _rows(self, target, matching)
    if not is_int64(target):
        raise RuntimeError(f"expected scalar type Long but found {type_of(target).char_name}")
    chosen = jax.lax.broadcasted_iota(jnp.int64, rows.shape, 1) == target.reshape((-1, 1))
    scale = 1 if weight is None else total(jnp.where(chosen, weight.reshape((1, -1)), 0), (1,), True)
    best = total(jnp.where(chosen, rows, 0), (1,), True)
    gap = jnp.asarray(margin).astype(rows.dtype) - best + rows
    gap = jnp.where((gap > 0) & jnp.logical_not(chosen), gap, 0)
    losses = total((gap if p == 1 else gap * gap) * scale, (1,)) / rows.shape[1]
    return losses.reshape(target.shape) if reduction == _NONE else reduced(losses, reduction)


@op("multilabel_margin_loss_forward(Tensor self, Tensor target, int reduction) -> (Tensor output, Tensor is_target)", forward=False, node="MultilabelMarginLossBackward0",
    check=taking("multilabel_margin_loss_forward_out_frame", "self", "d"),    second="multilabel_margin_loss_backward", names=(), opmath=True, nondiff=("target",), nondiff_out=(1,), saves={"self": ("self", "target", "result1")},
    samples=[call(real(2, 4), at([[3, 0, -1, 1], [1, -1, 0, 0]], dtype="int64", grad=False), 1)],
    guard=lambda self, target, *, reduction: jnp.any((target < -1) | (target >= (self.shape[-1] if self.ndim else 1))),
    guard_error=lambda code, *_, **__: RuntimeError("argument #2 'target' is out of range"),
    kinks=[call(at([[1.0, 0.0, 0.0, 2.0]]), at([[0, -1, -1, -1]], dtype="int64", grad=False), 1)])
def multilabel_margin_loss_forward(self, target, *, reduction):
    """max(0, 1 - x[j] + x[i]) over targets j (up to the first -1) and all other classes i, divided by the number of classes."""

    def matching(rows):
        if target.shape != self.shape and (max(target.ndim, self.ndim) > 1 or target.size != self.size):
            raise RuntimeError(f"inconsistent target size: {list(target.shape)} for input of size: {list(self.shape)}")

    rows = _rows(self, target, matching)
    if not is_int64(target):
        raise RuntimeError(f"expected scalar type Long but found {type_of(target).char_name}")
    wanted = target.reshape(rows.shape)
    live = jnp.cumsum((wanted < 0).astype(jnp.int32), axis=1) == 0
    classes = jnp.arange(rows.shape[1]).reshape((1, 1, -1))
    hit = (wanted[:, :, None] == classes) & live[:, :, None]
    is_target = jnp.any(hit, axis=1)
    best = total(jnp.where(hit, rows[:, None, :], 0), (2,))
    gap = 1 - best[:, :, None] + rows[:, None, :]
    counts = live[:, :, None] & jnp.logical_not(is_target)[:, None, :] & (gap > 0)
    losses = total(jnp.where(counts, gap, 0), (1, 2)) / rows.shape[1]
    return _reduced_rows(losses, reduction, self.ndim < 2), is_target.reshape(self.shape).astype(self.dtype)


# Angles and distances of rows

@op("_bounded_norm(Tensor self, float eps) -> Tensor", node="CloneBackward0", names=(), lift=("eps",), samples=[call(real(2, 1), 0.5)], kinks=SMOOTH)
def _bounded_norm(self, *, eps):
    """A copy that is at least eps, without effect on the gradient."""
    return straight(jnp.maximum(self, eps.astype(self.dtype)), self)


@op("_cosine_embedding(Tensor input1, Tensor input2, Tensor target, float margin) -> Tensor", node="AddBackward0", names=(), opmath=True, lift=("margin",),
    nondiff=("target",), saves=dict.fromkeys(("input1", "input2"), ("input1", "input2")), samples=[call(real(3, 4), real(3, 4), at(1, -1, 0, dtype="int64", grad=False), 0.2)],
    kinks=[call(at([[0.0, 0.0]]), at([[1.0, 2.0]]), at(-1, dtype="int64", grad=False), 0.0)])
def _cosine_embedding(input1, input2, target, *, margin):
    """1 - cosine where the target is 1, max(0, cosine - margin) where it is -1."""
    shown = f"but found inputs with sizes {list(input1.shape)} and {list(input2.shape)}."
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if target.ndim == 1 and (input1.ndim != 2 or input2.ndim != 2):
        raise RuntimeError(f"1D target tensor expects 2D input tensors, {shown}")
    if target.ndim == 0 and (input1.ndim != 1 or input2.ndim != 1):
        raise RuntimeError(f"0D target tensor expects 1D input tensors, {shown}")
    shapes.broadcast(input1.shape, input2.shape)
    if type_of(input1).category < dtypes.FLOAT:
        input1, input2 = (x.astype(default_dtype().np) for x in (input1, input2))
    axis = (target.ndim,)
    dots = total(input1 * input2, axis)
    sizes = [total(x * x, axis) + jnp.asarray(_TINY, x.dtype) for x in (input1, input2)]
    cosine = dots / jnp.sqrt(sizes[0] * sizes[1])
    shapes.broadcast(target.shape, cosine.shape)
    far = cosine - jnp.asarray(margin).astype(cosine.dtype)
    above = jnp.where(far >= 0, far, jnp.where(jnp.isnan(far), jax.lax.stop_gradient(far), 0))
    return jnp.where(target == 1, 1 - cosine, 0) + jnp.where(target == -1, above, 0)


def _among_integers(eps, flat):
    """Beside integers, whose type it would be given."""
    return all(t.dtype.category < dtypes.FLOAT for t in flat if hasattr(t, "dtype"))


@op("pairwise_distance(Tensor x1, Tensor x2, float p=2, float eps=1e-06, bool keepdim=False) -> Tensor", node="NormBackward1", lies=None, promote=Promote.RESULT,
    **norm_gradient("p"), saves={"x1": ("result",), "x2": ("result",)}, inplace=False, method=False, out=False, lift=("eps",), bake={"eps": _among_integers}, aliases=("nn.functional.pairwise_distance",),
    check=partial(refuse_bools, of=("x1", "x2")),
    samples=[call(real(2, 3), real(2, 3)), call(real(2, 3), real(3), 1.0), call(real(3), real(3), 3.0, 1e-3, True)],
    kinks=[call(at(1.0, 2.0), at(1.0, 2.0)), call(at(1.0, 2.0), at(1.0, 2.0), 1.0), call(at(1, 2, dtype="int64", grad=False), at(1, 2, dtype="int64", grad=False))],
    errors=[fails(call(at(1, 0, dtype="bool", grad=False), real(2)), RuntimeError, "Subtraction, the `-` operator, with a bool tensor is not supported. If")])
def pairwise_distance(x1, x2, *, p=2, eps=1e-06, keepdim=False):
    """The p-norm of x1 - x2 + eps over the last dim; integers are subtracted as such."""
    away = x1 - x2
    if type_of(away).category < dtypes.FLOAT:
        away = away.astype(default_dtype().np)
    away = away + jnp.asarray(eps).astype(away.dtype)
    if abs(p) == float("inf") and away.ndim and not away.shape[-1]:
        raise RuntimeError(f"linalg.vector_norm cannot compute the {p} norm on the dimension {away.ndim - 1}because this dimension is empty and the operation does "
                           "not have an identity")
    return norm_of(away, p, (away.ndim - 1,) if away.ndim else (), keepdim)



# Pieces of losses made of several operators

@op("_at_least(Tensor self, float bound) -> Tensor", lies=like_first, node="CloneBackward0", names=(), opmath=True, lift=("bound",), samples=[call(real(3), 0.5)],
    tangent=lambda out, primals, tangents, *, bound: jnp.where(primals[0] < bound, 0, tangents[0]),
    guard=lambda self, *, bound: jnp.any(self < 0),
    guard_error=lambda code, *_, **__: ValueError("var has negative entry/entries"), kinks=[call(at(0.0, 0.5, 1.0), 0.5)])
def _at_least(self, *, bound):
    """A copy that is raised to a bound without effect on the gradient."""
    return straight(jnp.where(self < bound, bound.astype(self.dtype), self), self)


@op("_div_number(Tensor self, Scalar other) -> Tensor", lies=elementwise, node="DivBackward1", names=(), opmath=True, lift=("other",), samples=[call(real(3), 2.0)], kinks=SMOOTH)
def _div_number(self, *, other):
    """Division by a number."""
    return self / other.astype(self.dtype)
