"""`torch.nn.functional`'s activations with their flags, and the softmax functions (layer 7)."""

from __future__ import annotations

from .._core import dtypes
from .._core.composite import composite, named
from .._core.numeric import cannot_hold
from .._core.saying import warn
from .._tensor import Tensor
from .arguments import no_tensor
from .convert import cast
from .pointwise import twin_of

_sub, _div, _add = named("sub"), named("div"), named("add")
_softmax, _log_softmax, _leaky_relu, _elu, _celu = (named(n) for n in ("_softmax", "_log_softmax", "leaky_relu", "elu", "celu"))
_hardtanh, _prelu_kernel, _glu, _abs, _sigmoid, _tanh = (named(n) for n in ("hardtanh", "_prelu_kernel", "glu", "abs", "sigmoid", "tanh"))


def _check_real(x, input):
    """torch's error for a complex number that goes with real values."""
    if isinstance(x, complex) and not input.dtype.is_complex:
        raise cannot_hold(input.dtype, True)


def _check_double(x):
    """The same where torch takes a double, whatever the tensor."""
    if isinstance(x, complex):
        raise cannot_hold(dtypes.float64)


# Over a dim

@composite("torch.softmax", "Tensor.softmax", "torch.special.softmax")
def softmax(input, dim, dtype=None, *, out=None):
    """Exponentials over a dim, divided by their sum; `dtype` converts first."""
    x = input if dtype is None else cast(input, dtype)
    return _softmax(x, dim) if out is None else _softmax(x, dim, out=out)


@composite("torch.log_softmax", "Tensor.log_softmax", "torch.special.log_softmax")
def log_softmax(input, dim, dtype=None, *, out=None):
    """The logarithm of the softmax; `dtype` converts first."""
    x = input if dtype is None else cast(input, dtype)
    return _log_softmax(x, dim) if out is None else _log_softmax(x, dim, out=out)


def _get_softmax_dim(name, ndim, stacklevel):
    """The dim that PyTorch took before it had to be given."""
    dim = 0 if ndim in (0, 1, 3) else 1
    warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.")
    return dim


@composite("torch.nn.functional.softmax")
def f_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """Exponentials over a dim, divided by their sum."""
    return softmax(input, _get_softmax_dim("softmax", input.dim(), 3) if dim is None else dim, dtype)


@composite("torch.nn.functional.log_softmax")
def f_log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """The logarithm of the softmax."""
    return log_softmax(input, _get_softmax_dim("log_softmax", input.dim(), 3) if dim is None else dim, dtype)


@composite("torch.nn.functional.softmin")
def f_softmin(input, dim=None, _stacklevel=3, dtype=None):
    """The softmax of -input."""
    dim = _get_softmax_dim("softmin", input.dim(), 3) if dim is None else dim
    return softmax(-input, dim, dtype)


@composite("torch.nn.functional.glu")
def glu(input, dim=-1):
    """The first half of a dim times the sigmoid of the second."""
    if input.dim() == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    return _glu(input, dim)


# Activations

@composite("torch.prelu", "Tensor.prelu", "torch.nn.functional.prelu")
def prelu(input, weight):
    """Negative values by a learned slope: one for all, or one for each channel (dim 1)."""
    if input.dtype is not weight.dtype:
        raise RuntimeError(f"prelu: Type promoting not supported. Got {input.dtype.char_name} and {weight.dtype.char_name}")
    n, ndim = weight.numel(), input.dim()
    if n != 1:
        if ndim == 0:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = input.shape[1] if ndim > 1 else 1
        if channels != n:
            raise RuntimeError(f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {n} and channel size = {channels}.")
    if weight.dim() > 1:
        raise RuntimeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.dim()}")
    if weight.dim() != ndim:
        weight = weight.view([n if i == 1 else 1 for i in range(ndim)])
    return _prelu_kernel(input, weight)


def _flagged(name):
    """``nn.functional.X(input, inplace=False)`` of an operator without further parameters."""
    call, twin = named(name), twin_of(name)

    def function(input, inplace=False):
        return twin(input) if inplace else call(input)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`{name}`, in place if asked for."
    composite(f"torch.nn.functional.{name}")(function)


for _name in ("relu", "silu", "mish", "hardsigmoid", "hardswish"):
    _flagged(_name)


@composite("torch.nn.functional.leaky_relu")
def leaky_relu(input, negative_slope=0.01, inplace=False):
    """Negative values by a slope."""
    return leaky_relu_(input, negative_slope) if inplace else _leaky_relu(input, negative_slope)


@composite("torch.nn.functional.leaky_relu_")
def leaky_relu_(input, negative_slope=0.01):
    """`leaky_relu` in place."""
    _check_real(negative_slope, input)
    return _leaky_relu_twin(input, negative_slope)


@composite("torch.nn.functional.elu")
def elu(input, alpha=1.0, inplace=False):
    """Negative values by an exponential that saturates at -alpha."""
    return elu_(input, alpha) if inplace else _elu(input, alpha)


@composite("torch.nn.functional.elu_")
def elu_(input, alpha=1.0, scale=1, input_scale=1):
    """`elu` in place."""
    for x in (alpha, scale, input_scale):
        _check_real(x, input)
    return _elu_twin(input, alpha) if scale == 1 == input_scale else _elu_twin(input, alpha, scale, input_scale)


@composite("torch.nn.functional.celu")
def celu(input, alpha=1.0, inplace=False):
    """`elu` with the slope 1 at 0 whatever alpha."""
    _check_double(alpha)
    return (_celu_twin if inplace else _celu)(input, alpha)


@composite("torch.nn.functional.celu_")
def celu_(input, alpha=1.0):
    """`celu` in place."""
    _check_double(alpha)
    return _celu_twin(input, alpha)


_leaky_relu_twin, _elu_twin, _celu_twin, _hardtanh_twin, _relu_twin = (twin_of(n) for n in ("leaky_relu", "elu", "celu", "hardtanh", "relu"))
_threshold, _threshold_in_place = named("threshold"), twin_of("threshold")


@composite("torch.nn.functional.threshold", "torch.nn.functional._threshold")
def threshold(input, threshold, value, inplace=False):
    """value where input is not above the threshold."""
    return (_threshold_in_place if inplace else _threshold)(input, threshold, value)


@composite("torch.nn.functional.hardtanh")
def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """input between two bounds."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    if not isinstance(input, Tensor):
        raise no_tensor("hardtanh", input=input)
    return _bounded(input, min_val, max_val, inplace)


def _bounded(input, min_val, max_val, inplace):
    for x in (min_val, max_val):
        _check_double(x)
    if input.dtype is dtypes.uint8 and (min_val <= -1 or max_val <= -1):  # what counts is their whole part
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    return (_hardtanh_twin if inplace else _hardtanh)(input, min_val, max_val)


@composite("torch.nn.functional.relu6")
def relu6(input, inplace=False):
    """input between 0 and 6."""
    if not isinstance(input, Tensor):
        raise no_tensor("relu6_" if inplace else "relu6", input=input)
    return (_hardtanh_twin if inplace else _hardtanh)(input, 0, 6)


_SELU = (1.6732632423543772, 1.0507009873554805, 1)


@composite("torch.selu")
def selu(input):
    """`elu` with the constants that keep mean and variance."""
    if not isinstance(input, Tensor):
        raise no_tensor("selu", input=input)
    return _elu(input, *_SELU)


@composite("torch.selu_", "torch.nn.functional.selu_")
def selu_(input):
    """`selu` in place."""
    if not isinstance(input, Tensor):
        raise no_tensor("selu_", input=input)
    return _elu_twin(input, *_SELU)


@composite("torch.nn.functional.selu")
def f_selu(input, inplace=False):
    """`elu` with the constants that keep mean and variance."""
    return selu_(input) if inplace else selu(input)


@composite("torch.nn.functional.relu_")
def relu_(input):
    """`relu` in place."""
    return _relu_twin(input)


@composite("torch.nn.functional.hardtanh_")
def hardtanh_(input, min_val=-1.0, max_val=1.0):
    """`hardtanh` in place; the order of the bounds is not looked at."""
    return _bounded(input, min_val, max_val, True)


@composite("torch.nn.functional.threshold_")
def threshold_(input, threshold, value):
    """`threshold` in place."""
    return _threshold_in_place(input, threshold, value)


@composite("torch.nn.functional.tanhshrink")
def tanhshrink(input):
    """input - tanh(input)."""
    return _sub(input, _tanh(input))


@composite("torch.nn.functional.softsign")
def softsign(input):
    """input / (|input| + 1)."""
    return _div(input, _add(_abs(input), 1))


@composite("torch.nn.functional.sigmoid")
def sigmoid(input):
    """1 / (1 + exp(-input))."""
    return _sigmoid(input)


@composite("torch.nn.functional.tanh")
def tanh(input):
    """The hyperbolic tangent."""
    return _tanh(input)
