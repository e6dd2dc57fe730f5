"""torch.nn.functional's losses: legacy arguments, checks, and the losses made of other operators (layer 7)."""

from __future__ import annotations

import math

from .._core import dtypes, levels, shapes
from .._core.composite import COMPOSITES, composite, named
from .._core.dispatch import run
from .._core.dtypes import FLOAT
from .._core.ranges import settle_classes
from .._core.record import thread
from .._core.saying import warn
from .._core.words import check_flags, type_name
from .._ops import activation as _activation_ops
from .._ops import loss as _loss_ops
from .._ops.conventions import cxx_of
from .._ops.registry import OPS
from .._ops.spec import spec_of
from .._tensor import Tensor
from .arguments import handed, no_tensor
from .create import broadcast_shapes, full_like

_ops = _activation_ops, _loss_ops
_mul, _add, _sub, _div, _neg, _exp, _log = (named(n) for n in ("mul", "add", "sub", "div", "neg", "exp", "log"))
_sum, _mean, _masked_fill = named("sum"), named("mean"), named("masked_fill")
CODES = {"none": 0, "mean": 1, "sum": 2}


def _reduction_of(reduction, size_average, reduce):
    return reduction if size_average is None and reduce is None else legacy_reduction(size_average, reduce)


def code_of(reduction, size_average=None, reduce=None):
    """The number of a reduction; the legacy flags, if given, decide."""
    reduction = _reduction_of(reduction, size_average, reduce)
    if reduction == "elementwise_mean":
        warn("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.")
        return 1
    code = CODES.get(reduction) if isinstance(reduction, str) else None
    if code is None:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return code


def legacy_reduction(size_average, reduce, emit_warning=True):
    """The name of the reduction that two flags of old mean."""
    size_average = True if size_average is None else size_average
    reduce = True if reduce is None else reduce
    name = "none" if not reduce else "mean" if size_average else "sum"
    if emit_warning:
        warn(f"size_average and reduce args will be deprecated, please use reduction='{name}' instead.")
    return name


def reduce_by(loss, code):
    """The loss itself, its mean or its sum, by number."""
    return _mean(loss) if code == 1 else _sum(loss) if code == 2 else loss


def fixed(function, **inputs):
    """Refuse inputs that cannot have a gradient."""
    if thread.state.grad:
        for name, x in inputs.items():
            if isinstance(x, Tensor) and x._tl_needs:
                raise RuntimeError(
                    f"The function '{function}' is not differentiable with respect to argument '{name}'. This input cannot have requires_grad True.")


def _one_tangent(input, **inputs):
    """Refuse tangents of inputs that have no formula beside that of `input`, as PyTorch does."""
    if any(isinstance(x, Tensor) and levels.dual(x._tl_value()) for x in inputs.values()) and levels.dual(input._tl_value()):
        raise RuntimeError("Setting a forward grad that itself has a forward gradient at the same level0 is not supported.")


def shown(t):
    """A shape as torch prints it."""
    return f"torch.Size({list(t.shape)})"


def _broadcast_pair(input, target):
    """Both with their common shape; warns where they differ."""
    if input.size() == target.size():
        return input, target
    warn(f"Using a target size ({shown(target)}) that is different to the input size ({shown(input)}). This will likely lead to incorrect results "
         "due to broadcasting. Please ensure they have the same size.")
    size = shapes.broadcast(tuple(input.shape), tuple(target.shape))
    return tuple(t if t.shape == size else named("expand")(t, size) for t in (input, target))


def _weighted(loss, weight, input, reduction, by_weight=True):
    if weight.shape != input.shape:
        raise ValueError("Weights and input must have the same size.")
    if reduction not in CODES:
        raise ValueError(f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'.")
    loss, code = _mul(loss, weight), CODES[reduction]
    if code != 1:
        return reduce_by(loss, code)
    return _div(_sum(loss), _sum(weight)) if by_weight else _mean(loss)


# Distances

@composite("torch.nn.functional.mse_loss")
def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """The squared difference."""
    reduction = _reduction_of(reduction, size_average, reduce)
    a, b = _broadcast_pair(input, target)
    if weight is not None:
        return _weighted(named("pow")(_sub(a, b), 2), weight, input, reduction)
    return named("mse_loss")(a, b, code_of(reduction))


def _l1(a, b, code):
    return reduce_by(named("abs")(_sub(a, b)), code)


@composite("torch.nn.functional.l1_loss")
def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """The absolute difference."""
    reduction = _reduction_of(reduction, size_average, reduce)
    a, b = _broadcast_pair(input, target)
    if weight is not None:
        return _weighted(_l1(a, b, 0), weight, input, reduction)
    return _l1(a, b, code_of(reduction))


@composite("torch.nn.functional.smooth_l1_loss")
def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """Quadratic for differences below beta, linear above."""
    code = code_of(reduction, size_average, reduce)
    a, b = _broadcast_pair(input, target)
    if beta == 0.0:
        return _l1(a, b, code)
    *_, beta = handed("torch._C._nn.smooth_l1_loss", a, b, code, beta)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    return named("smooth_l1_loss")(a, b, code, float(beta))


@composite("torch.nn.functional.huber_loss")
def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    """Half the square for differences below delta, linear above."""
    a, b = _broadcast_pair(input, target)
    code = code_of(reduction) if weight is None else 0
    if weight is not None and weight.shape != input.shape:
        raise ValueError("Weights and input must have the same size.")
    *_, delta = handed("torch._C._nn.huber_loss", a, b, code, delta)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    loss = named("huber_loss")(a, b, code, float(delta))
    return loss if weight is None else _weighted(loss, weight, input, reduction, by_weight=False)


@composite("torch.nn.functional.soft_margin_loss")
def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """log(1 + exp(-target * input))."""
    code = code_of(reduction, size_average, reduce)
    fixed("soft_margin_loss", target=target)
    return named("soft_margin_loss")(input, target, code)


# Classes

def _nll(input, target, weight, code, ignore_index):
    """nll_loss of an input of any rank, classes in dim 1 (or 0)."""
    rank = input.ndim
    if rank < 1:
        raise ValueError(f"Expected 1 or more dimensions (got {rank})")
    if rank != 1 and input.shape[0] != target.shape[0]:
        raise ValueError(f"Expected input batch_size ({input.shape[0]}) to match target batch_size ({target.shape[0]}).")
    fixed("nll_loss_forward" if rank <= 2 else "nll_loss2d_forward", weight=weight)
    if rank <= 2:
        _check_flat(input, target)
        return _of_classes("nll_loss_forward", input, target, weight, code, ignore_index)
    size = (input.shape[0], *input.shape[2:])
    if target.shape[1:] != size[1:]:
        raise RuntimeError(f"Expected target size {list(size)}, got {list(target.shape)}")
    if rank != 4:
        n, c = input.shape[:2]
        rest = math.prod(size[1:])
        input = named("view")(input, (n, c, 1, rest)) if input.is_contiguous() else named("_unsafe_view")(named("clone")(input), (n, c, 1, rest))
        target = named("_unsafe_view")(target, (n, 1, rest))
    out = _of_classes("nll_loss2d_forward", input, target, weight, code, ignore_index)
    return named("view")(out, size) if code == 0 and rank != 4 else out


def _of_classes(key, input, target, weight, code, ignore_index):
    flat = (input, target) if weight is None else (input, target, weight)
    statics = (("reduction", code), ("ignore_index", ignore_index))
    spec = spec_of(OPS[key], statics, ("T", "T", "N" if weight is None else "T"))
    return run(settle_classes(spec, flat, ignore_index), flat)[0]


def _log_softmax(input, axis):
    return run(spec_of(OPS["_log_softmax"], (("dim", axis),), ("T",)), (input,))


def _check_flat(input, target):
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if input.ndim == 1 and target.ndim == 1 and target.shape[0] != 1 and target.dtype in (dtypes.int64, dtypes.uint8):
        raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {target.shape[0]}")


@composite("torch.nn.functional.nll_loss")
def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    """Minus the log-probabilities of the targets."""
    if not (isinstance(input, Tensor) and isinstance(target, Tensor)):
        raise no_tensor("nll_loss_nd", input=input, target=target)
    _tensor_weight("nll_loss_nd", weight)
    return _nll(input, target, weight, code_of(reduction, size_average, reduce), ignore_index)


def _tensor_weight(name, weight):
    if weight is not None and not isinstance(weight, Tensor):
        raise no_tensor(name, 3, weight=weight)


def _of_probabilities(input, target, weight, code, smoothing):
    axis = 0 if input.ndim == 1 else 1
    if not input.ndim:
        raise IndexError("Dimension specified as 1 but tensor has no dimensions")
    classes = input.shape[axis]
    if weight is not None:
        _check_weight(weight, classes)
    logp = _log_softmax(input, axis)
    if smoothing > 0:
        target = _add(_mul(target, 1 - smoothing), smoothing / classes)
    loss = _mul(logp, target)
    if weight is not None:
        loss = _mul(loss, named("view")(weight, tuple(-1 if i == axis else 1 for i in range(input.ndim))))
    if code == 0:
        return _neg(_sum(loss, axis))
    loss = _neg(_sum(loss))
    return loss if code == 2 else named("_div_number")(loss, float(max(input.numel() // classes, 0) if classes else 0))


def _check_weight(weight, classes):
    if weight.ndim != 1 or weight.numel() != classes:
        raise RuntimeError(f"cross_entropy: weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of shape: "
                           f"{list(weight.shape)}")


@composite("torch.nn.functional.cross_entropy")
def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0):
    """nll_loss of the log-softmax; targets are classes, or probabilities of the input's shape."""
    code = code_of(reduction, size_average, reduce)
    if not (isinstance(input, Tensor) and isinstance(target, Tensor)):
        raise no_tensor("cross_entropy_loss", input=input, target=target)
    _tensor_weight("cross_entropy_loss", weight)
    if label_smoothing > 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    if input.size() == target.size():
        if not target.is_floating_point():
            raise RuntimeError(f"Expected floating point type for target with class probabilities, got {target.dtype.char_name}")
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        return _of_probabilities(input, target, weight, code, label_smoothing)
    axis = 0 if input.ndim == 1 else 1
    logp = _log_softmax(input, axis)
    if label_smoothing > 0.0:
        return _smoothed(logp, target, weight, code, ignore_index, label_smoothing)
    return _nll(logp, target, weight, code, ignore_index)


def _check_linear(input, weight, target, bias, ignore_index):
    if input.ndim not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.ndim}")
    if weight.ndim < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {weight.ndim}")
    if input.shape[-1] != weight.shape[-1]:
        raise RuntimeError(f"expected equal input and linear_weight last dimensions (in_features), got {input.shape[-1]} and {weight.shape[-1]}, respectively")
    if weight.ndim > 2 and input.ndim == 1:
        raise RuntimeError(f"K-dimensional loss defined by linear_weight shape {tuple(weight.shape)} requires batched input, (N, {weight.shape[-1]}), got "
                           f"unbatched input with shape {tuple(input.shape)}")
    if bias is not None and bias.shape != weight.shape[:-1]:
        raise RuntimeError(f"expected linear_bias shape {tuple(weight.shape[:-1])}, got {tuple(bias.shape)}")
    if ignore_index is not None and target.dtype.category >= FLOAT:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")


@composite("torch.nn.functional.linear_cross_entropy")
def linear_cross_entropy(input, linear_weight, target, *, linear_bias=None, weight=None, reduction="mean", ignore_index=None,
                         label_smoothing=0.0, options=None):
    """The cross entropy of a linear layer's results, which are computed as a whole: `options`, by which torch divides the work, change nothing."""
    _check_linear(input, linear_weight, target, linear_bias, ignore_index)
    rest = linear_weight.shape[1:-1]
    if rest:  # classes and further dims of the loss
        linear_weight = linear_weight.flatten(0, -2)
        linear_bias = linear_bias if linear_bias is None else linear_bias.flatten()
    logits = COMPOSITES["torch.nn.functional.linear"](input, linear_weight, linear_bias)
    logits = logits.unflatten(-1, (-1, *rest)) if rest else logits
    ignored = -100 if ignore_index is None else ignore_index
    return cross_entropy(logits, target, weight, None, ignored, None, reduction, label_smoothing)


def _smoothed(logp, target, weight, code, ignore_index, smoothing):
    if logp.ndim > 1 and logp.shape[0] != target.shape[0]:
        raise ValueError(f"Expected input batch_size ({logp.shape[0]}) to match target batch_size ({target.shape[0]}).")
    fixed("nll_loss_forward" if logp.ndim <= 2 else "nll_loss2d_forward", weight=weight)
    return named("_smoothed_nll")(logp, target, weight, code, ignore_index, float(smoothing))


# Probabilities

@composite("torch.nn.functional.binary_cross_entropy")
def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """The binary cross entropy of probabilities."""
    code = code_of(reduction, size_average, reduce)
    if target.shape != input.shape:
        raise ValueError(f"Using a target size ({shown(target)}) that is different to the input size ({shown(input)}) is deprecated. "
                         "Please ensure they have the same size.")
    fixed("binary_cross_entropy", weight=weight)
    _one_tangent(input, weight=weight)
    if weight is not None and weight.size() != target.shape:
        weight = named("expand")(weight, broadcast_shapes(target.shape, weight.shape))
    return named("binary_cross_entropy")(input, target, weight, code)


@composite("torch.nn.functional.binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None):
    """The binary cross entropy of sigmoid(input)."""
    code = code_of(reduction, size_average, reduce)
    if target.shape != input.shape:
        raise ValueError(f"Target size ({shown(target)}) must be the same as input size ({shown(input)})")
    if target.dtype.category < FLOAT <= input.dtype.category:
        raise RuntimeError(f"result type {input.dtype.char_name} can't be cast to the desired output type {target.dtype.char_name}")
    return _of_logits(input, target, weight, pos_weight, code)


@composite("torch.binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits_(input, target, weight=None, pos_weight=None, reduction=0):
    """The binary cross entropy of sigmoid(input); nothing is reduced unless asked, and shapes broadcast."""
    return _of_logits(input, target, weight, pos_weight, reduction)


def _of_logits(input, target, weight, pos_weight, code):
    if isinstance(input, Tensor) and isinstance(target, Tensor):
        if levels.transforming():
            return _taken_apart(input, target, weight, pos_weight, code)
        fixed("binary_cross_entropy_with_logits", weight=weight, pos_weight=pos_weight)
        _one_tangent(input, weight=weight, pos_weight=pos_weight)
    return named("binary_cross_entropy_with_logits")(input, target, weight, pos_weight, code)


def _taken_apart(input, target, weight, pos_weight, code):
    """What PyTorch computes inside torch.func's transformations: of ordinary operators, with derivatives in the weights too."""
    minus = _neg(input)
    most = named("clamp_min")(minus, 0)
    softplus = _add(_log(_add(_exp(_neg(most)), _exp(_sub(minus, most)))), most)
    if pos_weight is not None:
        softplus = _mul(softplus, _add(_mul(target, _sub(pos_weight, 1)), 1))
    loss = _add(_mul(_neg(_sub(target, 1)), input), softplus)
    return reduce_by(loss if weight is None else _mul(loss, weight), code)


@composite("torch.kl_div")
def kl_div_(input, target, reduction=0, *, log_target=False):
    """target * (log target - input); without a word about it nothing is reduced, though torch's parser shows 1."""
    if not (isinstance(input, Tensor) and isinstance(target, Tensor)):
        raise no_tensor("kl_div", input=input, target=target)
    check_flags("kl_div", log_target=log_target)
    if input.is_complex() or target.is_complex():
        raise RuntimeError("kl_div: Complex inputs not supported.")
    if min(input.dtype.category, target.dtype.category) < dtypes.FLOAT:
        raise RuntimeError("kl_div: Integral inputs not supported.")
    if log_target:
        return reduce_by(_mul(_exp(target), _sub(target, input)), reduction)
    return reduce_by(_sub(named("xlogy")(target, target), _mul(target, input)), reduction)


@composite("torch.nn.functional.kl_div")
def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """The Kullback-Leibler divergence; "batchmean" divides by the batch size only."""
    if size_average is None and reduce is None:
        if reduction == "mean":
            warn("reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides only by the "
                 "batch size, and aligns with the KL div math definition.'mean' will be changed to behave the same as 'batchmean' in the next "
                 "major release.")
        if reduction == "batchmean":
            loss = kl_div_(input, target, 2, log_target=log_target)
            return _div(loss, input.shape[0]) if input.ndim else loss
    return kl_div_(input, target, code_of(reduction, size_average, reduce), log_target=log_target)


@composite("torch.poisson_nll_loss")
def poisson_nll_loss_(input, target, log_input, full, eps, reduction):
    """The negative log-likelihood of a Poisson distribution."""
    if not (isinstance(input, Tensor) and isinstance(target, Tensor)):
        raise no_tensor("poisson_nll_loss", input=input, target=target)
    for place, (name, flag) in enumerate((("log_input", log_input), ("full", full)), 3):
        if not isinstance(flag, bool):
            raise TypeError(f"poisson_nll_loss(): argument '{name}' (position {place}) must be bool, not {type_name(flag)}")
    loss = _sub(_exp(input), _mul(target, input)) if log_input else _sub(input, _mul(target, _log(_add(input, eps))))
    if full:
        stirling = _add(_sub(_mul(target, _log(target)), target), _mul(_log(_mul(target, 2 * math.pi)), 0.5))
        loss = loss.add_(_masked_fill(stirling, named("le")(target, 1), 0))  # in its own dtype
    return reduce_by(loss, reduction)


@composite("torch.nn.functional.poisson_nll_loss")
def poisson_nll_loss(input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean"):
    """The negative log-likelihood of a Poisson distribution."""
    if size_average is None and reduce is None and reduction not in CODES:
        input + target
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return poisson_nll_loss_(input, target, log_input, full, eps, code_of(reduction, size_average, reduce))


def _check_variance(own):
    if own.is_complex:
        raise NotImplementedError(f"\"lt_cpu\" not implemented for '{own.char_name}'")
    if not own.is_floating_point:
        raise RuntimeError(f"result type Float can't be cast to the desired output type {cxx_of(own)}")


@composite("torch.nn.functional.gaussian_nll_loss")
def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """The negative log-likelihood of a Gaussian; var is at least eps, which changes no gradient."""
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = full_like(input, var) if input.is_floating_point() else _mul(full_like(input, 1), var)
    elif var.shape != input.shape:
        if input.shape[:-1] == var.shape:
            var = named("unsqueeze")(var, -1)
        elif input.ndim != var.ndim or not all(a == b or b == 1 for a, b in zip(input.shape, var.shape)):
            raise ValueError("var is of incorrect size")
    if reduction not in CODES:
        raise ValueError(f"{reduction} is not valid")
    _check_variance(var.dtype)
    bounded = named("_at_least")(var, float(eps))
    loss = _mul(_add(_log(bounded), _div(named("pow")(_sub(input, target), 2), bounded)), 0.5)
    if full:
        loss = _add(loss, 0.5 * math.log(2 * math.pi))
    return reduce_by(loss, CODES[reduction])
