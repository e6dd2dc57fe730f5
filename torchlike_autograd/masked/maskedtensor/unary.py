"""torch.masked.maskedtensor.unary (layer 8): functions of one tensor, element by element.  Data that are left out are computed too, and stay unseen."""

from __future__ import annotations

from ..._tensor import Tensor
from ._tables import functions, packets
from .core import CALLS, calls, over

__all__ = []  # as torch's

UNARY_NAMES = [
    "abs", "absolute", "acos", "acosh", "angle", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "asin", "asinh", "atan", "atanh",
    "bitwise_not", "ceil", "clamp", "clip", "conj_physical", "cos", "cosh", "deg2rad", "digamma", "erf", "erfc", "erfinv", "exp", "exp2", "expm1", "fix",
    "floor", "frac", "i0", "isnan", "lgamma", "log", "log10", "log1p", "log2", "logit", "nan_to_num", "neg", "negative", "positive", "pow", "rad2deg",
    "reciprocal", "round", "rsqrt", "sgn", "sigmoid", "sign", "signbit", "sin", "sinc", "sinh", "sqrt", "square", "tan", "tanh", "trunc"]
INPLACE_UNARY_NAMES = [f"{name}_" for name in UNARY_NAMES if name not in ("angle", "isnan", "positive", "signbit")]
_COMPOSED = ["expit", "float_power", "gammaln", "isfinite", "isreal", "ndtr", "psi", "softsign", "tanhshrink"]  # which torch has as functions of these
NATIVE_UNARY_FNS, NATIVE_INPLACE_UNARY_FNS = packets(UNARY_NAMES), packets(INPLACE_UNARY_NAMES)
_BY_KEYWORD_ALONE = ("decimals", "out")


def _each(f, inplace):
    def call(*args, **kwargs):
        x, *rest = (kwargs.pop("input"), *args) if "input" in kwargs else args
        if any(name in kwargs for name in _BY_KEYWORD_ALONE):
            raise ValueError("MaskedTensor unary ops require that len(kwargs) == 0. If you need support for this, please open an issue on Github.")
        if any(isinstance(y, Tensor) for y in (*rest, *kwargs.values())):
            raise TypeError("MaskedTensor unary ops do not support additional Tensor arguments")
        out = f(x, *rest, **kwargs)
        return x if inplace or out is x else over(out, x._masked_mask, x)

    return call


for _names, _inplace in ((UNARY_NAMES + _COMPOSED, False), (INPLACE_UNARY_NAMES, True)):
    for _name in _names:
        for _f in functions(_name) | set(packets([_name])):
            calls(_f)(_each(_f, _inplace))
CALLS[Tensor.__pow__], CALLS[Tensor.__ipow__] = CALLS[Tensor.pow], CALLS[Tensor.pow_]
CALLS[Tensor.__abs__], CALLS[Tensor.__neg__], CALLS[Tensor.__pos__], CALLS[Tensor.__invert__] = (
    CALLS[Tensor.abs], CALLS[Tensor.neg], CALLS[Tensor.positive], CALLS[Tensor.bitwise_not])
