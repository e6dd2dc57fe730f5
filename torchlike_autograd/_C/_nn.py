"""torch._C._nn (layer 8): the functions below those of torch.nn.functional; operators of the table, with torch's schemas, where there is one."""

from __future__ import annotations

import functools

from .. import ops
from .._core.publish import load_all
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
    found = globals()[name] = getattr(ops.aten, name)
    return found


def __dir__():
    return sorted({*globals(), *_OPERATORS})
