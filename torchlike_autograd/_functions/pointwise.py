"""Pointwise functions made of others, and `torch.nn.functional`'s activations with their flags (layer 7)."""

from __future__ import annotations

import numbers
import warnings

import numpy as np

from .._core import bind, dtypes
from .._core.composite import composite, named
from .._ops.registry import BY_NAME
from .._tensor import Tensor
from .convert import cast

_mul, _sub, _div, _add, _pow = named("mul"), named("sub"), named("div"), named("add"), named("pow")


def _twin(name):
    """The in-place form of an operator, made once."""
    made = []

    def function(self, *args, **kwargs):
        if not made:
            made.append(bind.make_inplace(name, BY_NAME[name]))
        return made[0](self, *args, **kwargs)

    return function


# Powers and arithmetic

@composite("torch.square", "Tensor.square")
def square(input, *, out=None):
    """input * input."""
    return _pow(input, 2) if out is None else _pow(input, 2, out=out)


@composite("torch.square_", "Tensor.square_")
def square_(self):
    """`square` in place."""
    return self.pow_(2)


def _power_dtype(*operands):
    wide = any(isinstance(x, complex) or (isinstance(x, Tensor) and x.is_complex()) for x in operands)
    return dtypes.complex128 if wide else dtypes.float64


def _as(x, dtype):
    return cast(x, dtype) if isinstance(x, Tensor) else x


@composite("torch.float_power", "Tensor.float_power")
def float_power(input, exponent, *, out=None):
    """A power in double precision."""
    dtype = _power_dtype(input, exponent)
    extra = {} if out is None else {"out": out}
    if not isinstance(input, Tensor):
        input = complex(input) if dtype.is_complex else float(input)
    return _pow(_as(input, dtype), _as(exponent, dtype), **extra)


@composite("Tensor.float_power_")
def float_power_(self, exponent):
    """`float_power` in place; self must already have the dtype of the result."""
    dtype = _power_dtype(self, exponent)
    if self.dtype is not dtype:
        raise RuntimeError(f"the base given to float_power_ has dtype {self.dtype.char_name} but the operation's result requires dtype {dtype.char_name}")
    return self.pow_(_as(exponent, dtype))


@composite("torch.positive", "Tensor.positive")
def positive(input):
    """input itself; bool has no unary plus."""
    if input.dtype is dtypes.bool_:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


def _operand(x):
    return isinstance(x, (Tensor, numbers.Number, np.bool_))


@composite("Tensor.__rsub__")
def _rsub(self, other):
    return named("rsub")(self, other) if _operand(other) else NotImplemented


@composite("Tensor.__rtruediv__", "Tensor.__rdiv__")
def _rdiv(self, other):
    return _mul(named("reciprocal")(self), other) if _operand(other) else NotImplemented


@composite("Tensor.polygamma")
def polygamma(self, n):
    """The n-th derivative of digamma."""
    return named("polygamma")(n, self)


@composite("torch.abs_", "Tensor.abs_", "Tensor.absolute_")
def abs_(self):
    """`abs` in place; the magnitudes of complex numbers are not complex."""
    if self.is_complex():
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    return _abs_twin(self)


_abs_twin = _twin("abs")


# Choice and agreement

_where = named("where")


@composite("torch.where")
def where(condition, *args, **kwargs):
    """input where the condition holds, other elsewhere; with a condition alone, the indices where it holds."""
    if not args and not kwargs:
        return condition.nonzero(as_tuple=True)
    return _where(condition, *args, **kwargs)


@composite("Tensor.where")
def tensor_where(self, condition, other):
    """self where the condition holds, other elsewhere."""
    return _where(condition, self, other)


def _check_tensor(name, position, label, x):
    if not isinstance(x, Tensor):
        raise TypeError(f"{name}(): argument '{label}' (position {position}) must be Tensor, not {type(x).__name__}")


@composite("torch.equal")
def equal(input, other):
    """Whether two tensors have the same shape and elements: a Python bool."""
    _check_tensor("equal", 1, "input", input)
    _check_tensor("equal", 2, "other", other)
    return input.shape == other.shape and bool(named("_equal")(input, other).item())


@composite("Tensor.equal")
def tensor_equal(self, other):
    """Whether two tensors have the same shape and elements: a Python bool."""
    _check_tensor("equal", 1, "other", other)
    return equal(self, other)


@composite("torch.allclose", "Tensor.allclose")
def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether two tensors agree within a tolerance everywhere: a Python bool."""
    return bool(named("_allclose")(input, other, rtol, atol, equal_nan).item())


# Complex numbers

@composite("torch.real")
def real(input):
    """The real parts, as a view; a real tensor itself."""
    return named("select")(named("view_as_real")(input), -1, 0) if input.is_complex() else input


@composite("torch.imag")
def imag(input):
    """The imaginary parts, as a view."""
    if not input.is_complex():
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return named("select")(named("view_as_real")(input), -1, 1)


composite("Tensor.real")(property(real, lambda self, value: real(self).copy_(value), doc=real.__doc__))
composite("Tensor.imag")(property(imag, lambda self, value: imag(self).copy_(value), doc=imag.__doc__))


@composite("torch.conj", "Tensor.conj")
def conj(input):
    """The complex conjugate, as a view; a real tensor itself."""
    return named("_conj")(input) if input.is_complex() else input


@composite("torch.conj_physical", "Tensor.conj_physical")
def conj_physical(input):
    """The complex conjugate, as a new tensor; a real tensor itself."""
    return named("conj_physical")(input) if input.is_complex() else input


@composite("torch.conj_physical_", "Tensor.conj_physical_")
def conj_physical_(self):
    """`conj_physical` in place."""
    return _twin("conj_physical")(self) if self.is_complex() else self


@composite("torch.is_conj", "Tensor.is_conj")
def is_conj(input):
    """Whether this is the conjugate view of another tensor."""
    view = input._view
    return view is not None and sum(link.op.key == "_conj" for link, _ in view.chain) % 2 == 1


@composite("torch.resolve_conj", "Tensor.resolve_conj")
def resolve_conj(input):
    """The values of a conjugate view in a tensor of their own; any other tensor itself."""
    return input.clone() if is_conj(input) else input


@composite("torch.is_neg", "Tensor.is_neg")
def is_neg(input):
    """Whether this is a negative view; there are none here."""
    return False


@composite("torch.resolve_neg", "Tensor.resolve_neg")
def resolve_neg(input):
    """The tensor itself."""
    return input


# Over a dim

@composite("torch.softmax", "Tensor.softmax", "torch.special.softmax")
def softmax(input, dim, dtype=None, *, out=None):
    """Exponentials over a dim, divided by their sum; `dtype` converts first."""
    x = input if dtype is None else cast(input, dtype)
    return named("_softmax")(x, dim) if out is None else named("_softmax")(x, dim, out=out)


@composite("torch.log_softmax", "Tensor.log_softmax", "torch.special.log_softmax")
def log_softmax(input, dim, dtype=None, *, out=None):
    """The logarithm of the softmax; `dtype` converts first."""
    x = input if dtype is None else cast(input, dtype)
    return named("_log_softmax")(x, dim) if out is None else named("_log_softmax")(x, dim, out=out)


def _implicit_dim(name, ndim, stacklevel):
    dim = 0 if ndim in (0, 1, 3) else 1
    warnings.warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.", stacklevel=stacklevel)
    return dim


@composite("torch.nn.functional.softmax")
def f_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """Exponentials over a dim, divided by their sum."""
    return softmax(input, _implicit_dim("softmax", input.dim(), _stacklevel) if dim is None else dim, dtype)


@composite("torch.nn.functional.log_softmax")
def f_log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """The logarithm of the softmax."""
    return log_softmax(input, _implicit_dim("log_softmax", input.dim(), _stacklevel) if dim is None else dim, dtype)


@composite("torch.nn.functional.softmin")
def f_softmin(input, dim=None, _stacklevel=3, dtype=None):
    """The softmax of -input."""
    return softmax(-input, _implicit_dim("softmin", input.dim(), _stacklevel) if dim is None else dim, dtype)


@composite("torch.nn.functional.glu")
def glu(input, dim=-1):
    """The first half of a dim times the sigmoid of the second."""
    if input.dim() == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    return named("glu")(input, dim)


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
    return named("_prelu_kernel")(input, weight)


def _flagged(name):
    """``nn.functional.X(input, inplace=False)`` of an operator without further parameters."""
    call, twin = named(name), _twin(name)

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
    return leaky_relu_(input, negative_slope) if inplace else named("leaky_relu")(input, negative_slope)


@composite("torch.nn.functional.leaky_relu_")
def leaky_relu_(input, negative_slope=0.01):
    """`leaky_relu` in place."""
    return _leaky_relu_twin(input, negative_slope)


@composite("torch.nn.functional.elu")
def elu(input, alpha=1.0, inplace=False):
    """Negative values by an exponential that saturates at -alpha."""
    return elu_(input, alpha) if inplace else named("elu")(input, alpha)


@composite("torch.nn.functional.elu_")
def elu_(input, alpha=1.0):
    """`elu` in place."""
    return _elu_twin(input, alpha)


@composite("torch.nn.functional.celu")
def celu(input, alpha=1.0, inplace=False):
    """`elu` with the slope 1 at 0 whatever alpha."""
    return celu_(input, alpha) if inplace else named("celu")(input, alpha)


@composite("torch.nn.functional.celu_")
def celu_(input, alpha=1.0):
    """`celu` in place."""
    return _celu_twin(input, alpha)


_leaky_relu_twin, _elu_twin, _celu_twin, _hardtanh_twin, _relu_twin = (_twin(n) for n in ("leaky_relu", "elu", "celu", "hardtanh", "relu"))
_threshold, _threshold_in_place = named("threshold"), _twin("threshold")


@composite("torch.nn.functional.threshold")
def threshold(input, threshold, value, inplace=False):
    """value where input is not above the threshold."""
    return (_threshold_in_place if inplace else _threshold)(input, threshold, value)


@composite("torch.nn.functional.hardtanh")
def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """input between two bounds."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    if input.dtype is dtypes.uint8 and (min_val < 0 or max_val < 0):
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    return (_hardtanh_twin if inplace else named("hardtanh"))(input, min_val, max_val)


@composite("torch.nn.functional.relu6")
def relu6(input, inplace=False):
    """input between 0 and 6."""
    return (_hardtanh_twin if inplace else named("hardtanh"))(input, 0, 6)


_SELU = (1.6732632423543772, 1.0507009873554805, 1)


@composite("torch.selu")
def selu(input):
    """`elu` with the constants that keep mean and variance."""
    return named("elu")(input, *_SELU)


@composite("torch.selu_", "torch.nn.functional.selu_")
def selu_(input):
    """`selu` in place."""
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
    """`hardtanh` in place."""
    return hardtanh(input, min_val, max_val, True)


@composite("torch.nn.functional.threshold_")
def threshold_(input, threshold, value):
    """`threshold` in place."""
    return _threshold_in_place(input, threshold, value)


@composite("torch.nn.functional.tanhshrink")
def tanhshrink(input):
    """input - tanh(input)."""
    return _sub(input, named("tanh")(input))


@composite("torch.nn.functional.softsign")
def softsign(input):
    """input / (|input| + 1)."""
    return _div(input, _add(named("abs")(input), 1))


@composite("torch.nn.functional.sigmoid")
def sigmoid(input):
    """1 / (1 + exp(-input))."""
    return named("sigmoid")(input)


@composite("torch.nn.functional.tanh")
def tanh(input):
    """The hyperbolic tangent."""
    return named("tanh")(input)
