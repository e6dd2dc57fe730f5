"""torch._C._nn (layer 8): the functions below those of torch.nn.functional; operators of the table, with torch's schemas, where there is one."""

from __future__ import annotations

import functools

from .. import ops
from .._core import bind
from .._core.dispatch import check_inplace, inplace
from .._core.publish import load_all
from .._functions.pointwise import twin_of
from .._ops.registry import BY_NAME
from .._utils import _flatten_dense_tensors, _unflatten_dense_tensors
from ..nn import functional as F
from . import _functions, _parse_to  # noqa: F401

_test_warn_in_autograd = _functions._TestWarnInAutograd.apply
globals().update({p.rpartition(".")[2]: f for p, f in load_all().items() if p.startswith("torch._C._nn.")})
# The same objects in both places, as in torch.
avg_pool2d, avg_pool3d, elu_, gelu, hardtanh_, leaky_relu_ = F.avg_pool2d, F.avg_pool3d, F.elu_, F.gelu, F.hardtanh_, F.leaky_relu_
logsigmoid, one_hot, softplus, softshrink = F.logsigmoid, F.one_hot, F.softplus, F.softshrink
adaptive_avg_pool2d, adaptive_avg_pool3d, pad, relu6 = F.adaptive_avg_pool2d, F.adaptive_avg_pool3d, F.pad, F.relu6


def _written(name):
    """The twin that writes into its argument, of a function with a flag for it."""
    plain = getattr(F, name)

    @functools.wraps(plain)
    def twin(input):
        return plain(input, inplace=True)

    twin.__name__ = twin.__qualname__ = name + "_"
    return twin


hardsigmoid_, hardswish_, mish_, relu6_, silu_ = map(_written, ("hardsigmoid", "hardswish", "mish", "relu6", "silu"))


def gelu_(input, *, approximate="none"):
    """`gelu` in place."""
    spec, flat = bind.resolve("gelu_", BY_NAME["gelu"], (input,), {"approximate": approximate})
    check_inplace(input)
    return inplace(spec, flat, input)


rrelu_with_noise_ = twin_of("rrelu_with_noise")
flatten_dense_tensors, unflatten_dense_tensors = _flatten_dense_tensors, _unflatten_dense_tensors


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """One tensor of several sequences; see `torch.nn.utils.rnn`."""
    from ..nn.utils.rnn import pad_sequence as pad_sequence_of

    return pad_sequence_of(sequences, batch_first, padding_value, padding_side)


# Losses, whose reduction is a number here: 0 none (where it is not given), 1 mean, 2 sum

_REDUCTIONS = ("none", "mean", "sum")
_LOSSES = {"binary_cross_entropy": 3, "huber_loss": 2, "mse_loss": 2, "multi_margin_loss": 5, "smooth_l1_loss": 2, "soft_margin_loss": 2}  # where it stands


def _by_number(operator, place):
    def loss(*args, **kwargs):
        if len(args) <= place and "reduction" not in kwargs:
            kwargs["reduction"] = 0
        return operator(*args, **kwargs)

    return loss


def l1_loss(input, target, reduction=0):
    """The absolute difference."""
    return F.l1_loss(input, target, reduction=_REDUCTIONS[reduction])


def multilabel_margin_loss(input, target, reduction=0):
    """The margin between labels and the rest."""
    return F.multilabel_margin_loss(input, target, reduction=_REDUCTIONS[reduction])


def nll_loss(input, target, weight=None, reduction=0, ignore_index=-100):
    """The negative log-likelihood of classes."""
    return F.nll_loss(input, target, weight, ignore_index=ignore_index, reduction=_REDUCTIONS[reduction])


def nll_loss2d(input, target, weight=None, reduction=0, ignore_index=-100):
    """`nll_loss` of images (N, C, H, W) and targets (N, H, W)."""
    if target.dim() != 3:
        raise RuntimeError(f"only batches of spatial targets supported (3D tensors) but got targets of dimension: {target.dim()}")
    if input.dim() != 4:
        raise RuntimeError(f"only batches of spatial inputs supported (4D tensors), but got input of dimension: {input.dim()}")
    return nll_loss(input, target, weight, reduction, ignore_index)


nll_loss_nd = nll_loss


def cross_entropy_loss(input, target, weight=None, reduction=0, ignore_index=-100, label_smoothing=0.0):
    """The cross entropy of classes or of their probabilities."""
    return F.cross_entropy(input, target, weight, ignore_index=ignore_index, reduction=_REDUCTIONS[reduction], label_smoothing=label_smoothing)


_OPERATORS = frozenset((
    "_upsample_bicubic2d_aa", "_upsample_bilinear2d_aa", "_upsample_lanczos2d_aa", "_upsample_nearest_exact1d", "_upsample_nearest_exact2d",
    "_upsample_nearest_exact3d",
    "adaptive_max_pool2d", "adaptive_max_pool3d", "binary_cross_entropy", "col2im", "elu", "fractional_max_pool2d", "fractional_max_pool3d", "glu",
    "hardsigmoid", "hardswish", "hardtanh", "huber_loss", "im2col", "leaky_relu", "log_sigmoid", "max_pool2d_with_indices", "max_pool3d_with_indices",
    "max_unpool2d", "max_unpool3d", "mish", "mse_loss", "multi_margin_loss", "reflection_pad1d", "reflection_pad2d", "reflection_pad3d",
    "replication_pad1d", "replication_pad2d", "replication_pad3d", "rrelu_with_noise", "silu", "smooth_l1_loss", "soft_margin_loss",
    "upsample_bicubic2d", "upsample_bilinear2d", "upsample_linear1d", "upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d",
    "upsample_trilinear3d"))


def __getattr__(name):
    if name not in _OPERATORS:
        raise AttributeError(f"module 'torch._C._nn' has no attribute '{name}'")
    found = getattr(ops.aten, name)
    found = globals()[name] = _by_number(found, _LOSSES[name]) if name in _LOSSES else found
    return found


def __dir__():
    return sorted({*globals(), *_OPERATORS})
