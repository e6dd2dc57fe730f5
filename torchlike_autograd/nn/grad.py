"""torch.nn.grad (layer 8): the gradients of convolutions by themselves."""

from __future__ import annotations

from .._functions.create import zeros
from ..autograd import grad
from ..autograd.grad_mode import enable_grad
from . import functional as F


def _by_input(name, input_size, weight, grad_output, stride, padding, dilation, groups):
    with enable_grad():
        x = zeros(tuple(input_size), dtype=grad_output.dtype, device=grad_output.device, requires_grad=True)
        out = getattr(F, name)(x, weight.detach(), None, stride, padding, dilation, groups)
        return grad(out, x, grad_output.detach())[0]


def _by_weight(name, input, weight_size, grad_output, stride, padding, dilation, groups):
    with enable_grad():
        w = zeros(tuple(weight_size), dtype=grad_output.dtype, device=grad_output.device, requires_grad=True)
        out = getattr(F, name)(input.detach(), w, None, stride, padding, dilation, groups)
        return grad(out, w, grad_output.detach())[0]


def conv1d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of conv1d's input."""
    return _by_input("conv1d", input_size, weight, grad_output, stride, padding, dilation, groups)


def conv1d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of conv1d's weight."""
    return _by_weight("conv1d", input, weight_size, grad_output, stride, padding, dilation, groups)


def conv2d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of conv2d's input."""
    return _by_input("conv2d", input_size, weight, grad_output, stride, padding, dilation, groups)


def conv2d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of conv2d's weight."""
    return _by_weight("conv2d", input, weight_size, grad_output, stride, padding, dilation, groups)


def conv3d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of conv3d's input."""
    return _by_input("conv3d", input_size, weight, grad_output, stride, padding, dilation, groups)


def conv3d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of conv3d's weight."""
    return _by_weight("conv3d", input, weight_size, grad_output, stride, padding, dilation, groups)
