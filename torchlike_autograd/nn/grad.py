"""torch.nn.grad (layer 8): the gradients of convolutions by themselves."""

from __future__ import annotations

from .._functions.backward_names import convolution_backward


def _dims(value, n):
    return (value,) * n if isinstance(value, int) else tuple(value)


def _gradient(which, grad_output, input, weight, stride, padding, dilation, groups):
    """The first or second gradient of a convolution, itself differentiable."""
    n = grad_output.ndim - 2
    how = (_dims(stride, n), _dims(padding, n), _dims(dilation, n), False, (0,), groups)
    return convolution_backward(grad_output, input, weight, None, *how, (not which, bool(which), False))[which]


def _by_input(input_size, weight, grad_output, *how):
    return _gradient(0, grad_output, grad_output.new_empty(1).expand(tuple(input_size)), weight, *how)


def _by_weight(input, weight_size, grad_output, *how):
    return _gradient(1, grad_output, input, grad_output.new_empty(1).expand(tuple(weight_size)), *how)


def conv1d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of conv1d's input."""
    return _by_input(input_size, weight, grad_output, stride, padding, dilation, groups)


def conv1d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of conv1d's weight."""
    return _by_weight(input, weight_size, grad_output, stride, padding, dilation, groups)


def conv2d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of conv2d's input."""
    return _by_input(input_size, weight, grad_output, stride, padding, dilation, groups)


def conv2d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of conv2d's weight."""
    return _by_weight(input, weight_size, grad_output, stride, padding, dilation, groups)


def conv3d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of conv3d's input."""
    return _by_input(input_size, weight, grad_output, stride, padding, dilation, groups)


def conv3d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """The gradient of conv3d's weight."""
    return _by_weight(input, weight_size, grad_output, stride, padding, dilation, groups)
