"""torch.masked.maskedtensor.binary (layer 8): functions of two tensors, element by element.  Two masked tensors have the same mask, or are refused."""

from __future__ import annotations

from ..._core import layouts
from ..._core.composite import named
from ..._core.overriding import On
from ..._core.shapes import broadcast
from ..._tensor import Tensor
from ...sparse import is_sparse
from ...sparse._tensor import places
from ._tables import functions, packets
from .core import CALLS, _masks_match, _tensors_match, calls, has_places, is_masked_tensor, over, refused

__all__ = []  # as torch's

BINARY_NAMES = [
    "add", "arctan2", "atan2", "bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "div", "divide", "eq",
    "floor_divide", "fmax", "fmin", "fmod", "ge", "greater", "greater_equal", "gt", "le", "less", "less_equal", "logaddexp", "logaddexp2", "lt",
    "maximum", "minimum", "mul", "multiply", "ne", "nextafter", "not_equal", "remainder", "sub", "subtract", "true_divide"]
INPLACE_BINARY_NAMES = [f"{name}_" for name in BINARY_NAMES if name not in ("fmax", "fmin", "logaddexp", "logaddexp2", "maximum", "minimum")]
NATIVE_BINARY_FNS, NATIVE_INPLACE_BINARY_FNS = packets(BINARY_NAMES), packets(INPLACE_BINARY_NAMES)


def _both(f, inplace):
    def call(*args, alpha=1, **kwargs):
        given = [*args, *(kwargs.pop(name) for name in ("input", "other") if name in kwargs)]
        if kwargs or alpha != 1:
            raise ValueError("len(kwargs) must equal 0")
        if len(given) != 2:
            if any(isinstance(y, Tensor) for y in given[2:]):
                raise TypeError("MaskedTensor binary ops do not support Tensor arguments aside from the lhs and rhs")
            return f(*given)  # says what is wrong
        a, b = given
        if not _masks_match(a, b):
            raise ValueError("Input masks must match. If you need support for this, please open an issue on Github.")
        x = a if is_masked_tensor(a) else b
        if not isinstance(a, Tensor):
            raise AttributeError(f"'{type(a).__name__}' object has no attribute 'layout'")
        if inplace and a is not x:
            raise AttributeError(f"'{type(a).__name__}' object has no attribute '_set_data_mask'")
        if has_places(x):
            return _sparse(f, a, b, x, inplace)
        out = f(_entering(a, x), _entering(b, x))
        return x if inplace else over(out, x._masked_mask.expand_as(out), x)

    return call


def _entering(y, x):
    """An operand beside x: what x leaves out has no part in the gradient of an ordinary one."""
    if not isinstance(y, Tensor) or is_masked_tensor(y) or not y.requires_grad:
        return y
    shape, mask = broadcast(y.shape, x._masked_mask.shape), x._masked_mask
    return named("_masked_made")(y.expand(shape), mask.expand(shape))


def _sparse(f, a, b, x, inplace):
    """The same for values at places: of two operands at the same ones, of a number, or of what goes with the values as they are."""
    if not has_places(a):
        raise NotImplementedError("torchlike_autograd: a dense tensor and a MaskedTensor of sparse data, in this order")
    if isinstance(b, Tensor) and has_places(b) and places(a).layout == places(b).layout:
        _check_places(a, b)
    elif is_sparse(b) or (isinstance(b, Tensor) and has_places(b)):
        raise NotImplementedError("torchlike_autograd: MaskedTensors of sparse data in two layouts")
    out = f(_values(a), _values(b))
    return x if inplace else over(out, x._masked_mask, x)


def _values(y):
    return named("_coo_values")(y) if is_sparse(y) else y


def _check_places(a, b):
    coo = places(a).layout == layouts.sparse_coo.name
    with On():
        if not _tensors_match(places(a).indices, places(b).indices):
            raise ValueError(f"{'sparse_coo' if coo else 'sparse_csr'} indices must match. If you need support for this, please open an issue on Github.")
    if coo and places(a).size != places(b).size:
        raise ValueError("input1 and input2 must have the same size for binary functions.")


for _names, _inplace in ((BINARY_NAMES, False), (INPLACE_BINARY_NAMES, True)):
    for _name in _names:
        for _f in functions(_name) | set(packets([_name])):
            calls(_f)(_both(_f, _inplace))


# Python's operators that are told as themselves

for _operator, _name in (("__and__", "bitwise_and"), ("__or__", "bitwise_or"), ("__xor__", "bitwise_xor"), ("__lshift__", "bitwise_left_shift"),
                         ("__rshift__", "bitwise_right_shift"), ("__eq__", "eq"), ("__floordiv__", "floor_divide"), ("__iand__", "bitwise_and_"),
                         ("__ior__", "bitwise_or_"), ("__ixor__", "bitwise_xor_")):
    CALLS[getattr(Tensor, _operator)] = CALLS[getattr(Tensor, _name)]


@calls(Tensor.__rfloordiv__)
def _rfloordiv(x, other):
    return CALLS[Tensor.floor_divide](other, x)


@calls(Tensor.__rmod__)
def _rmod(x, other):
    return CALLS[Tensor.remainder](other, x)


@calls(Tensor.__rdiv__, Tensor.__rtruediv__)
def _rdiv(x, other):
    return CALLS[Tensor.mul](CALLS[Tensor.reciprocal](x), other)


for _name, _of_two in (("max", "maximum"), ("min", "minimum")):
    for _f in functions(_name):
        def _larger(*args, _f=_f, _name=_name, _both=CALLS[getattr(Tensor, _of_two)], **kwargs):
            if len(args) != 2 or kwargs or not isinstance(args[1], Tensor):
                raise refused(_name)
            return _both(*args)

        calls(_f)(_larger)
