"""torch.nn.init (layer 8): values for parameters, in place, from the generator; each returns its tensor."""

from __future__ import annotations

import functools
import inspect
import math

from .._core.composite import named
from .._core.overriding import hand_over, here, overrides
from .._core.saying import warn
from .._functions.create import empty_like
from .._functions.pointwise import where
from ..autograd.grad_mode import no_grad

__all__ = ["calculate_gain", "constant", "constant_", "dirac", "dirac_", "eye", "eye_", "kaiming_normal", "kaiming_normal_", "kaiming_uniform",
           "kaiming_uniform_", "normal", "normal_", "ones_", "orthogonal", "orthogonal_", "sparse", "sparse_", "trunc_normal_", "uniform", "uniform_",
           "xavier_normal", "xavier_normal_", "xavier_uniform", "xavier_uniform_", "zeros_"]

_ONE = ("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "sigmoid")
_GAINS = {**dict.fromkeys(_ONE, 1), "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}
_NOTHING = "Initializing zero-element tensors is a no-op"


def calculate_gain(nonlinearity, param=None):
    """The factor that keeps the variance of activations."""
    if nonlinearity in _GAINS:
        return _GAINS[nonlinearity]
    if nonlinearity != "leaky_relu":
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    if param is None:
        slope = 0.01
    elif isinstance(param, bool) or not isinstance(param, (int, float)):
        raise ValueError(f"negative_slope {param} not a valid number")
    else:
        slope = param
    return math.sqrt(2.0 / (1 + slope**2))


def _asking(f):
    """A function of which what overrides functions is asked first, and told all arguments by keyword."""
    signature = inspect.signature(f)

    @functools.wraps(f)
    def told(tensor, *args, **kwargs):
        if (here.modes and not here.all_off) or (not here.off and overrides(type(tensor))):
            bound = signature.bind(tensor, *args, **kwargs)
            bound.apply_defaults()
            return hand_over(told, (tensor,), (), dict(bound.arguments))
        return f(tensor, *args, **kwargs)

    return told


@_asking
def uniform_(tensor, a=0.0, b=1.0, generator=None):
    """Values uniform between a and b."""
    return _no_grad_uniform_(tensor, a, b, generator)


@_asking
def normal_(tensor, mean=0.0, std=1.0, generator=None):
    """Normal values."""
    return _no_grad_normal_(tensor, mean, std, generator)


# Names that programs took over from PyTorch's own code.

def _no_grad_uniform_(tensor, a, b, generator=None):
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def _no_grad_normal_(tensor, mean, std, generator=None):
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def _no_grad_trunc_normal_(tensor, mean, std, a, b, generator=None):
    return trunc_normal_(tensor, mean, std, a, b, generator)


def _no_grad_fill_(tensor, val):
    with no_grad():
        return tensor.fill_(val)


def _no_grad_zero_(tensor):
    return zeros_(tensor)


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """Normal values between a and b, by drawing again what falls outside."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warn("mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be incorrect.")
    if tensor.is_meta:
        return tensor
    mass = _below((b - mean) / std) - _below((a - mean) / std)
    with no_grad():
        if mass > 0.3:
            return _until(tensor, lambda t: t.normal_(mean, std, generator=generator), lambda t: ~((t < a) | (t > b)))
        peak = (max(a, min(mean, b)) - mean) / std

        def likely(t):
            z = (t - mean) / std
            return empty_like(tensor).uniform_(generator=generator) <= ((peak * peak - z * z) / 2).exp()

        return _until(tensor, lambda t: t.uniform_(a, b, generator=generator), likely)


def _until(tensor, draw, good):
    """Draw for the whole tensor until every element was good once; the first good draw of each stays."""
    left = None
    while left is None or bool(left.any()):
        drawn = draw(tensor if left is None else empty_like(tensor))
        fits = good(drawn)
        if left is None:
            left = ~fits
        else:
            tensor.copy_(where(left & fits, drawn, tensor))
            left = left & ~fits
    return tensor


def _below(x):
    """The normal distribution function."""
    return math.erfc(-x / math.sqrt(2.0)) / 2.0


@_asking
def constant_(tensor, val):
    """One value everywhere."""
    return _no_grad_fill_(tensor, val)


def ones_(tensor):
    """Ones."""
    return _no_grad_fill_(tensor, 1.0)


def zeros_(tensor):
    """Zeros."""
    with no_grad():
        return tensor.zero_()


def eye_(tensor):
    """A matrix with ones on the diagonal."""
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with no_grad():
        return tensor.copy_(_eye(tensor))


def _eye(tensor):
    from .._functions.create import eye as made

    return made(*tensor.shape, dtype=tensor.dtype, device="cpu")


def dirac_(tensor, groups=1):
    """Kernels that hand their channels through."""
    n = tensor.ndimension()
    if n not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    shape = tuple(tensor.shape)
    if shape[0] % groups:
        raise ValueError("dim 0 must be divisible by groups")
    each = shape[0] // groups
    if tensor.is_meta:
        return tensor
    with no_grad():
        tensor.zero_()
        for g in range(groups):
            for d in range(min(each, shape[1])):
                tensor[(g * each + d, d, *(s // 2 for s in shape[2:]))] = 1
    return tensor


def _calculate_fan_in_and_fan_out(tensor):
    """How many inputs and outputs one unit has."""
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    area = math.prod(tensor.shape[2:])
    return tensor.shape[1] * area, tensor.shape[0] * area


def _calculate_correct_fan(tensor, mode):
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of {['fan_in', 'fan_out']}")
    return _calculate_fan_in_and_fan_out(tensor)[mode == "fan_out"]


def xavier_uniform_(tensor, gain=1.0, generator=None):
    """Uniform values by fan in and fan out."""
    std = gain * math.sqrt(2.0 / float(sum(_calculate_fan_in_and_fan_out(tensor))))
    bound = math.sqrt(3.0) * std
    return _no_grad_uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    """Normal values by fan in and fan out."""
    return _no_grad_normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(sum(_calculate_fan_in_and_fan_out(tensor)))), generator)


def _kaiming(tensor, a, mode, nonlinearity):
    """The standard deviation, or None for a tensor without elements."""
    if 0 in tuple(tensor.shape):
        warn(_NOTHING)
        return None
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


@_asking
def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Uniform values by one fan and a nonlinearity."""
    std = _kaiming(tensor, a, mode, nonlinearity)
    if std is None:
        return tensor
    bound = math.sqrt(3.0) * std
    return _no_grad_uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Normal values by one fan and a nonlinearity."""
    std = _kaiming(tensor, a, mode, nonlinearity)
    return tensor if std is None else _no_grad_normal_(tensor, 0, std, generator)


def orthogonal_(tensor, gain=1, generator=None):
    """A (semi) orthogonal matrix, in the tensor's shape flattened from dim 1."""
    if tensor.ndimension() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0 or tensor.is_meta:
        return tensor
    rows = tensor.shape[0]
    cols = tensor.numel() // rows
    with no_grad():
        flat = tensor.new_empty((rows, cols)).normal_(0, 1, generator=generator)
        q, r = named("linalg_qr")(flat.t() if rows < cols else flat)
        q = q * r.diagonal().sign()
        q = q.t() if rows < cols else q
        tensor.copy_(q.reshape(tensor.shape)).mul_(gain)
    return tensor


def sparse_(tensor, sparsity, std=0.01, generator=None):
    """Normal values, of which a fraction of each column is zero."""
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, cols = tensor.shape
    zeros = math.ceil(sparsity * rows)
    if tensor.is_meta:
        return tensor
    from .._functions.random import randperm

    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for c in range(cols):
            tensor[randperm(rows)[:zeros], c] = 0
    return tensor


def _old(function):
    name = function.__name__[:-1]

    def deprecated(*args, **kwargs):
        warn(f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`.", FutureWarning)
        return function(*args, **kwargs)

    deprecated.__name__ = name
    deprecated.__doc__ = f"`{name}_` by its old name."
    return deprecated


uniform, normal, constant, eye, dirac = map(_old, (uniform_, normal_, constant_, eye_, dirac_))
xavier_uniform, xavier_normal, kaiming_uniform, kaiming_normal = map(_old, (xavier_uniform_, xavier_normal_, kaiming_uniform_, kaiming_normal_))
orthogonal, sparse = map(_old, (orthogonal_, sparse_))
