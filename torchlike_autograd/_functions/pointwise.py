"""Pointwise functions made of others (layer 7)."""

from __future__ import annotations

import numbers

import numpy as np

from .._core import bind, config, dtypes, levels
from .._core.composite import composite, named
from .._core.dispatch import check_inplace
from .._core.errors import mapped_unsupported, mapped_without_rule
from .._core.nothing import wanting
from .._core.numeric import check_stored, say_once
from .._core.words import type_name
from .._ops.out_types import refuse_as
from .._ops.registry import BY_NAME
from .._tensor import Tensor
from .convert import cast
from .typed import published

_not = named("bitwise_not")
_mul, _pow, _rsub, _reciprocal = named("mul"), named("pow"), named("rsub"), named("reciprocal")
_select, _view_as_real, _view_as_complex, _conj = named("select"), named("view_as_real"), named("view_as_complex"), named("_conj")


def twin_of(name):
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
    if out is not None and out.dtype is not dtype:
        refuse_as("float_power", "float_power", dtype, out.dtype, False, {})
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
def _swapped_sub(self, other):
    return _rsub(self, other) if _operand(other) else NotImplemented


@composite("Tensor.__rtruediv__", "Tensor.__rdiv__")
def _swapped_div(self, other):
    if isinstance(other, np.ndarray):
        return _reciprocal(self) * other
    return _mul(_reciprocal(self), other) if _operand(other) else NotImplemented


@composite("Tensor.__invert__")
def _inverted(self):
    if self.dtype.category > dtypes.INT:
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return _not(self)


@composite("Tensor.polygamma")
def polygamma(self, n):
    """The n-th derivative of digamma."""
    return named("polygamma")(n, self)


@composite("torch.abs_", "Tensor.abs_", "Tensor.absolute_")
def abs_(self):
    """`abs` in place; the magnitudes of complex numbers are not complex."""
    if self.is_complex():
        check_inplace(self)
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    return _abs_twin(self)


_abs_twin, _conj_physical_twin = twin_of("abs"), twin_of("conj_physical")


# Choice and agreement

_where = named("where")


def _said_of(condition):
    """torch's word about a condition of 0 and 1."""
    if condition._tl_v.aval.dtype is dtypes.uint8:
        say_once("where received a uint8 condition tensor. This behavior is deprecated and will be removed in a future version of PyTorch. Use a boolean "
                 "condition instead. (Triggered internally at /pytorch/aten/src/ATen/native/TensorCompare.cpp:621.)")


@composite("torch.where")
def where(condition, *args, **kwargs):
    """input where the condition holds, other elsewhere; with a condition alone, the indices where it holds."""
    if not args and not kwargs:
        levels.refuse_dynamic(condition, "where")
        return condition.nonzero(as_tuple=True)
    if len(args) == 2:
        _check_beside(*args)
    if isinstance(condition, Tensor):
        _said_of(condition)
    return _where(condition, *args, **kwargs)


def _check_beside(x, y):
    """Refuse a number that the dtype of the tensor beside it cannot hold, where the result has that dtype."""
    if isinstance(y, Tensor):
        x, y = y, x
    if not isinstance(x, Tensor) and not isinstance(y, Tensor):
        for n in (x, y):
            if type(n) is float:
                check_stored(n, config.default_dtype())
    if isinstance(x, Tensor) and (type(y) is int or (type(y) is float and x._tl_v.aval.dtype.is_floating_point)):
        check_stored(y, x._tl_v.aval.dtype)


@composite("Tensor.where")
def tensor_where(self, condition, other):
    """self where the condition holds, other elsewhere."""
    _check_beside(self, other)
    if isinstance(condition, Tensor):
        _said_of(condition)
    return _where(condition, self, other)


def _check_tensor(name, position, label, x):
    if not isinstance(x, Tensor):
        raise TypeError(f"{name}(): argument '{label}' (position {position}) must be Tensor, not {type_name(x)}")


@composite("torch.equal")
def equal(input, other):
    """Whether two tensors have the same shape and elements: a Python bool."""
    _check_tensor("equal", 1, "input", input)
    _check_tensor("equal", 2, "other", other)
    wanting("equal", input, other)
    if levels.hidden_among((input, other)):
        raise mapped_without_rule("equal", ". We could not generate a fallback.")
    return input.shape == other.shape and bool(named("_equal")(input, other).item())


@composite("Tensor.equal")
def tensor_equal(self, other):
    """Whether two tensors have the same shape and elements: a Python bool."""
    _check_tensor("equal", 1, "other", other)
    return equal(self, other)


@composite("torch.allclose", "Tensor.allclose")
def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether two tensors agree within a tolerance everywhere: a Python bool."""
    if levels.hidden_among((input, other)):
        raise mapped_unsupported("torch.allclose")
    return bool(named("_allclose")(input, other, rtol, atol, equal_nan).item())


# Complex numbers

@published("real(Tensor self)", paths=("torch.real",))
def real(input):
    """The real parts, as a view; a real tensor itself."""
    return _select(_view_as_real(input), -1, 0) if input.is_complex() else input


@published("view_as_real(Tensor self)", paths=("torch.view_as_real",))
def view_as_real(input):
    """Real and imaginary parts in a last dim of 2, as a view; RuntimeError for a conjugate view, as the memory behind it holds other numbers."""
    if is_conj(input):
        raise RuntimeError("view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so you can view it as real, use "
                           "self.resolve_conj(); however, be warned that the resulting tensor will NOT alias the original.")
    return _view_as_real(input)


@published("imag(Tensor self)", paths=("torch.imag",))
def imag(input):
    """The imaginary parts, as a view."""
    if not input.is_complex():
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return _select(_view_as_real(input), -1, 1)


composite("Tensor.real")(property(real, lambda self, value: real(self).copy_(value), doc=real.__doc__))
composite("Tensor.imag")(property(imag, lambda self, value: imag(self).copy_(value), doc=imag.__doc__))


@published("conj(Tensor self)")
def conj(input):
    """The complex conjugate, as a view; a real tensor itself."""
    return _conj(input) if input.is_complex() else input


@composite("torch.conj_physical", "Tensor.conj_physical")
def conj_physical(input, *, out=None):
    """The complex conjugate, as a new tensor; a real tensor itself."""
    if out is not None:
        return named("conj_physical")(input, out=out)
    return named("conj_physical")(input) if input.is_complex() else input


@composite("torch.conj_physical_", "Tensor.conj_physical_")
def conj_physical_(self):
    """`conj_physical` in place."""
    return _conj_physical_twin(self)


@composite("torch.is_conj", "Tensor.is_conj")
def is_conj(input):
    """Whether this is the conjugate view of another tensor."""
    return input.is_complex() and _bits(input)[0]


def _bits(t):
    """(whether a tensor shows conjugates, whether it shows negatives) of what lies in its memory."""
    view = t._tl_view
    conjugate = negative = parts = False
    for link, scalars in () if view is None else view.chain:
        key = link.op.key
        if key == "_conj":
            conjugate = not conjugate
        elif key == "_neg_view":
            negative = not negative
        elif key == "view_as_real":
            parts, conjugate = conjugate, False
        elif parts and key == "select.int":  # the part of a conjugate: the imaginary one is a negative
            parts, negative = False, negative != (scalars[0] in (1, -1))
    return conjugate, negative


@composite("torch.resolve_conj", "Tensor.resolve_conj")
def resolve_conj(input):
    """The values of a conjugate view in a tensor of their own; any other tensor itself."""
    return input.clone() if is_conj(input) else input


@composite("torch.is_neg", "Tensor.is_neg")
def is_neg(input):
    """Whether this is the negative view of another tensor."""
    return _bits(input)[1]


@composite("torch.resolve_neg", "Tensor.resolve_neg")
def resolve_neg(input):
    """The values of a negative view in a tensor of their own; any other tensor itself."""
    return input.clone() if is_neg(input) else input


@composite("torch.view_as_complex")
def view_as_complex(input):
    """A last dim of 2 as complex numbers: a view, so strides must suit."""
    if isinstance(input, Tensor) and (input._tl_laid is not None or input._tl_view is not None) and input.ndim and input.shape[-1] == 2 \
            and input.dtype.is_floating_point:
        steps = input.stride()
        if steps[-1] != 1:
            raise RuntimeError("Tensor must have a last dimension with stride 1")
        if any(s % 2 and n != 1 for n, s in zip(input.shape[:-1], steps)):
            raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
        if input.storage_offset() % 2:
            raise RuntimeError("Tensor must have a storage_offset divisible by 2")
    return _view_as_complex(input)
