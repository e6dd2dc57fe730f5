"""torch.nn.utils.fusion (layer 8): a batch norm in evaluation taken into the layer before it."""

from __future__ import annotations

import copy

from ..._functions.create import ones_like, zeros_like
from ..parameter import Parameter

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]


def _check(*modules):
    if any(m.training for m in modules):
        raise AssertionError("Fusion only for eval!")


def fuse_conv_bn_eval(conv, bn, transpose=False):
    """A copy of a convolution that does what it and the norm do."""
    _check(conv, bn)
    out = copy.deepcopy(conv)
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")
    out.weight, out.bias = fuse_conv_bn_weights(out.weight, out.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose)
    return out


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False):
    """(weight, bias) of the convolution and the norm together."""
    conv_b = zeros_like(bn_rm) if conv_b is None else conv_b
    bn_w = ones_like(bn_rm) if bn_w is None else bn_w
    bn_b = zeros_like(bn_rm) if bn_b is None else bn_b
    factor = bn_w * (bn_rv + bn_eps).rsqrt()
    shape = [1, -1] if transpose else [-1, 1]
    weight = (conv_w * factor.reshape(shape + [1] * (conv_w.ndim - 2))).to(conv_w.dtype)
    return Parameter(weight, conv_w.requires_grad), Parameter(((conv_b - bn_rm) * factor + bn_b).to(conv_b.dtype), conv_b.requires_grad)


def fuse_linear_bn_eval(linear, bn):
    """A copy of a linear layer that does what it and the norm do."""
    _check(linear, bn)
    out = copy.deepcopy(linear)
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1")
    out.weight, out.bias = fuse_linear_bn_weights(out.weight, out.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias)
    return out


def fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    """(weight, bias) of the linear layer and the norm together."""
    linear_b = zeros_like(bn_rm) if linear_b is None else linear_b
    factor = bn_w * (bn_rv + bn_eps).rsqrt()
    weight = linear_w * factor.unsqueeze(-1)
    bias = (linear_b - bn_rm) * factor + bn_b
    return Parameter(weight.to(linear_w.dtype), linear_w.requires_grad), Parameter(bias.to(linear_b.dtype), linear_b.requires_grad)
