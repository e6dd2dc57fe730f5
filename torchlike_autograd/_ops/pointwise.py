"""Arithmetic with two or more operands (layer 2)."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import lax

from .._core import config, dtypes
from . import held
from .casts import convert
from .complex_sums import complex_itself, complex_minus, complex_plus
from .conventions import aligned, along_log, check_scale, cxx_of, fixed_power, only, partials, power, refuse_bools, wide
from .memory import elementwise, like_first, swapped, with_number
from .opened import TANGENTS
from .quotients import quotient, quotient_forward, ratio
from .registry import BODY, OPS, SMOOTH, UNIMPLEMENTED, Promote, at, call, fails, op, real

_BINARY = [call(real(3), real(3)), call(real(2, 3), real(3)), call(real(2, 3), 1.5), call(real(()), real(2))]
_TWO = [call(real(3), real(3)), call(real(2, 3), real(3)), call(real(()), real(2))]
_POSITIVE = [call(real(3, low=0.1), real(3, low=0.1)), call(real(2, 3, low=0.1), real(3, low=0.1)), call(real((), low=0.1), real(2, low=0.1))]
_SIZES = "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0"
_ARITHMETIC = {"promote": Promote.RESULT, "scalars": ("self", "other")}


def _check_alpha(types, result, statics):
    check_scale(types, result, "alpha")


def _check_difference(types, result, statics):
    refuse_bools(types)
    check_scale(types, result, "alpha")


_INF, _NAN = float("inf"), float("nan")
_BOTH = {"self": ("self", "other"), "other": ("self", "other")}
_TAKEN = {"alpha": held.minus}


def _scaled(x, alpha):
    return x if alpha is None else x * alpha


def _valued(x, value):
    return complex_itself(x) if value is None and jnp.iscomplexobj(x) else _scaled(x, value)


@op("add.Tensor(Tensor self, Tensor other, *, Scalar? alpha=None) -> Tensor", node="AddBackward0", **_ARITHMETIC, lift=("alpha",), check=_check_alpha,
    holds={"alpha": held.own},
    samples=[*_BINARY, call(real(3), real(3), alpha=2.5)], kinks=SMOOTH, errors=[fails(call(real(2), real(3)), RuntimeError, _SIZES)])
def add(self, other, *, alpha=None):
    """self + alpha * other."""
    if self.dtype == bool:
        return jnp.logical_or(self, other if alpha is None else jnp.logical_and(other, alpha))
    return _plus(only("add_stub", self, "ifc"), other) if alpha is None else self + _scaled(other, alpha)


def _plus(a, b):
    return complex_plus(a, b) if jnp.iscomplexobj(a) else a + b


def _difference(self, other, alpha):
    only("add_stub", self, "ifc")
    return complex_minus(self, other) if alpha is None and jnp.iscomplexobj(self) else self - _scaled(other, alpha)


@op("sub.Tensor(Tensor self, Tensor other, *, Scalar? alpha=None) -> Tensor",
    node="SubBackward0", **_ARITHMETIC, lift=("alpha",), check=_check_difference, aliases=("subtract",), holds=_TAKEN,
    samples=[*_BINARY, call(real(3), real(3), alpha=2.5)], kinks=SMOOTH, errors=[fails(call(real(2), real(3)), RuntimeError, _SIZES)])
def sub(self, other, *, alpha=None):
    """self - alpha * other."""
    return _difference(self, other, alpha)


@op("sub.Scalar(Tensor self, Scalar other, Scalar? alpha=None) -> Tensor", out=False, lies=with_number, node="SubBackward1", promote=Promote.RESULT, lift=("other", "alpha"),
    holds=_TAKEN,
    promote_with=("self", "other"), names=("torch.subtract", "Tensor.subtract"), samples=[call(real(3), 1.5, 2), call(real(2, 3), 1, 0.5)], kinks=SMOOTH, check=_check_difference)
def sub_scalar(self, *, other, alpha=None):
    """self - alpha * other for a number, alpha by its place."""
    return _difference(self, other, alpha)


@op("rsub.Tensor(Tensor self, Tensor other, *, Scalar? alpha=None) -> Tensor",
    out=False, lies=swapped, node="RsubBackward0", promote=Promote.RESULT, lift=("alpha",), inplace=False, holds=_TAKEN,
    samples=[*_TWO, call(real(3), real(3), alpha=2.5)], kinks=SMOOTH, method=False, check=_check_difference)
def rsub(self, other, *, alpha=None):
    """other - alpha * self."""
    return _difference(other, self, alpha)


@op("rsub.Scalar(Tensor self, Scalar other, Scalar? alpha=None) -> Tensor", out=False, lies=with_number, node="RsubBackward1", promote=Promote.RESULT, lift=("other", "alpha"),
    holds=_TAKEN,
    promote_with=("self", "other"), inplace=False, samples=[call(real(3), 1.5), call(real(3), 1, 2)], kinks=SMOOTH, method=False,
    check=_check_difference)
def rsub_scalar(self, *, other, alpha=None):
    """other - alpha * self for a number."""
    return _difference(other, self, alpha)


@op("mul.Tensor(Tensor self, Tensor other) -> Tensor", wide=("other",), node="MulBackward0", **_ARITHMETIC, saves={"self": ("other",), "other": ("self",)},
    aliases=("multiply",), samples=_BINARY, kinks=SMOOTH, errors=[fails(call(real(2), real(3)), RuntimeError, _SIZES)])
def mul(self, other):
    """self * other."""
    return jnp.logical_and(self, other) if self.dtype == bool else self * other


# Division

def _divides_by_zero(self, other, **_):
    return jnp.any(other == 0) if jnp.issubdtype(other.dtype, jnp.integer) and self.size and other.size else 0


_WHOLE = {"guard": _divides_by_zero, "guard_error": lambda code, *shapes, **_: RuntimeError("ZeroDivisionError")}

_DIVISION = {"self": ("other",), "other": ("self", "other")}


@op("div.Tensor(Tensor self, Tensor other) -> Tensor", wide=("other",), node="DivBackward0", tangent=BODY, promote=Promote.FLOAT, scalars=("self", "other"), saves=_DIVISION,
    aliases=("divide", "true_divide"), samples=[call(real(3), real(3, low=0.5)), call(real(2, 3), real(3, low=0.5)), call(real(2, 3), 1.5)],
    kinks=[call(at(0.0, 1.0, -1.0, 2.0), at(0.0, 0.0, 0.0, _INF))], errors=[fails(call(real(2), real(3)), RuntimeError, _SIZES)])
def div(self, other):
    """self / other, in floating point."""
    return (quotient_forward if TANGENTS[0] else quotient)(self, other)


def _floor_quotient(x, y, kernel="div_floor_cpu"):
    """The floor of x / y; of floats it is exact also where x / y rounds up to the next integer."""
    only(kernel, x, "if")
    if jnp.issubdtype(x.dtype, jnp.integer):
        return jnp.floor_divide(x, y)
    rest = lax.rem(*jnp.broadcast_arrays(x, y))
    q = (x - rest) / y
    q = jnp.where((rest != 0) & ((y < 0) != (rest < 0)), q - 1, q)
    floor = jnp.floor(q)
    floor = jnp.where(q - floor > 0.5, floor + 1, floor)
    return jnp.where(y == 0, x / y, jnp.where(q == 0, jnp.copysign(jnp.zeros_like(q), x / y), floor))


def _half_steps(f, x, y):
    """f(x, y); torch 2.13 rounds each step of it to half precision, but for a single divisor: there only the result."""
    if x.dtype in (jnp.float16, jnp.bfloat16) and y.size == 1:
        return f(wide(x), wide(y)).astype(x.dtype)
    return f(x, y)


def _truncated_quotient(x, y):
    only("div_trunc_cpu", x, "if")
    if jnp.issubdtype(x.dtype, jnp.integer):
        return lax.div(*jnp.broadcast_arrays(x, y))
    return jnp.trunc(x / y)


@op("div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
    wide=("other",), opmath=False, node="DivBackward2", promote=Promote.RESULT, scalars=("self", "other"),
    saves=_DIVISION, aliases=("divide",), guard=lambda self, other, *, rounding_mode: rounding_mode is not None and _divides_by_zero(self, other),
    guard_error=_WHOLE["guard_error"], samples=[call(real(3), real(3), rounding_mode=m) for m in ("floor", "trunc", None)],
    kinks=[call(at(1.0, -1.0, 0.0, -7.0), at(0.0, _INF, 0.0, 2.0), rounding_mode=m) for m in ("floor", "trunc")],
    errors=[fails(call(real(2), 2, rounding_mode="up"), RuntimeError, "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found 'up'")])
def div_mode(self, other, *, rounding_mode):
    """self / other, rounded down or towards zero; rounded, its gradients are 0."""
    if rounding_mode is None:
        d = config.default_dtype().np
        return _half_steps(quotient, self, other) if jnp.issubdtype(self.dtype, jnp.inexact) else quotient(self.astype(d), other.astype(d))
    if rounding_mode not in ("floor", "trunc"):
        raise RuntimeError(f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'")
    self, other = lax.stop_gradient(self), lax.stop_gradient(other)
    return _half_steps(_floor_quotient if rounding_mode == "floor" else _truncated_quotient, self, other)


@op("floor_divide(Tensor self, Tensor other) -> Tensor",
    wide=("other",), opmath=False, node="torch::autograd::NotImplemented", derivative=UNIMPLEMENTED, promote=Promote.RESULT,
    scalars=("self", "other"), samples=[call(real(3), real(3)), call(real(2, 3), 1.5)], kinks=[call(at(1.0, -1.0, 0.0), at(0.0, _INF, 0.0))], **_WHOLE)
def floor_divide(self, other):
    """The floor of self / other."""
    return _half_steps(_floor_quotient, self, other)


def _floor_rest(x, y):
    only("remainder_cpu", x, "if")
    if jnp.issubdtype(x.dtype, jnp.integer):
        return jnp.remainder(x, y)
    return _float_floor_rest(x, y)


@partials(lambda t, out, x, y: t, lambda t, out, x, y: -(t * lax.stop_gradient(_floor_quotient(x, y))))
def _float_floor_rest(x, y):
    rest = lax.rem(*jnp.broadcast_arrays(x, y))
    return jnp.where((rest != 0) & ((y < 0) != (rest < 0)), rest + y, rest)


def _trunc_rest(x, y):
    only("fmod_cpu", x, "if")
    if jnp.issubdtype(x.dtype, jnp.integer):
        return lax.rem(*jnp.broadcast_arrays(x, y))
    return _float_trunc_rest(x, y)


@partials(lambda t, out, x, y: t, lambda t, out, x, y: -(t * lax.stop_gradient(_truncated_quotient(x, y))))
def _float_trunc_rest(x, y):
    return lax.rem(*jnp.broadcast_arrays(x, y))


_REST_SAVES = {"other": ("self", "other")}
_REST = {"promote": Promote.RESULT, "kinks": [call(at(1.0, -1.0, -1.0, 5.5), at(0.0, _INF, 2.0, -2.0))], **_WHOLE}
_REST_NUMBER = {**_WHOLE, "promote": Promote.RESULT, "kinks": [call(at(1.0, -1.0, 5.5, _INF), 2.0)], "lift": ("other",), "promote_with": ("self", "other")}


@op("remainder.Tensor(Tensor self, Tensor other) -> Tensor", node="RemainderBackward1", saves=_REST_SAVES, samples=_TWO, **_REST)
def remainder(self, other):
    """What is left of self after whole multiples of other; it has the sign of other."""
    return _floor_rest(self, other)


@op("remainder.Scalar(Tensor self, Scalar other) -> Tensor", lies=with_number, node="RemainderBackward0", samples=[call(real(3), 0.7)], **_REST_NUMBER)
def remainder_scalar(self, *, other):
    """`remainder` by a number."""
    return _floor_rest(self, other)


@op("remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", lies=with_number, node="torch::autograd::NotImplemented", derivative=UNIMPLEMENTED, lift=("self",),
    promote=Promote.RESULT, promote_with=("self", "other"), samples=[call(2.0, real(3))], kinks=SMOOTH, inplace=False, method=False, out=False,
    guard=lambda other, *, self: _divides_by_zero(self, other), guard_error=_WHOLE["guard_error"])
def remainder_of_scalar(other, *, self):
    """`remainder` of a number."""
    return _floor_rest(self, other)


@op("fmod.Tensor(Tensor self, Tensor other) -> Tensor", node="FmodBackward1", saves=_REST_SAVES, samples=_TWO, **_REST)
def fmod(self, other):
    """What is left of self after whole multiples of other; it has the sign of self."""
    return _trunc_rest(self, other)


@op("fmod.Scalar(Tensor self, Scalar other) -> Tensor", lies=with_number, node="FmodBackward0", samples=[call(real(3), 0.7)], **_REST_NUMBER)
def fmod_scalar(self, *, other):
    """`fmod` by a number."""
    return _trunc_rest(self, other)


# Powers

def _direct_exponent(x, flat):
    """Exponents that change the program: those computed without pow, and those that integers do not take.  Of any dtype: how a call is bound is remembered."""
    return x in (0, 1, 2, 3, 0.5, -0.5, -1, -2) or (type(x) is int and x < 0)


_POW_KINKS = [call(at(0.0, 0.0, 0.0, 0.0, -2.0, -2.0), at(0.0, 2.0, 0.5, -1.0, 2.0, 0.5)), call(at(_INF, _NAN, 1.0), at(0.0, 0.0, _NAN))]


@op("pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor", node="PowBackward1", promote=Promote.RESULT, samples=_POSITIVE, kinks=_POW_KINKS,
    saves={"self": ("self", "exponent", "result"), "exponent": ("self", "exponent", "result")})
def pow_tensor(self, exponent):
    """self to the power exponent."""
    return _power(self, exponent)


@op("pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor", node="PowBackward0", promote=Promote.RESULT, promote_with=("self", "exponent"),
    lift=("exponent",), holds={"exponent": held.exponent}, bake={"exponent": _direct_exponent}, saves={"self": ("self",)},
    samples=[call(real(3), e) for e in (2, 3, 2.0, 1, 0)] + [call(real(3, low=0.1), e) for e in (0.5, -0.5, -1, -2, 1.7)],
    kinks=[call(at(0.0, -1.0, _INF, _NAN), e) for e in (0, 0.0, 1, 2, 0.5, -1, 2.5)],
    errors=[fails(call(at(1, 2, dtype="int64", grad=False), -1), RuntimeError, "Integers to negative integer powers are not allowed.")])
def pow_number(self, *, exponent):
    """self to the power of a number."""
    if hasattr(exponent, "dtype"):
        return _power(self, exponent)
    if type(exponent) is bool:
        return jnp.ones_like(self) if not exponent else fixed_power(self, 1)
    if type(exponent) is int and exponent < 0 and not jnp.issubdtype(self.dtype, jnp.inexact):
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    if not jnp.issubdtype(self.dtype, jnp.inexact) and type(exponent) is float:
        self = self.astype(config.default_dtype().np)
    if exponent not in (0, 1):
        only("pow", _counted(self), "ifc")
    return fixed_power(_counted(self), exponent)


@op("pow.Scalar(Scalar self, Tensor exponent) -> Tensor", lies=None, node="PowBackward2", promote=Promote.RESULT, promote_with=("self", "exponent"), lift=("self",),
    saves={"exponent": ("exponent", "result")}, samples=[call(2.0, real(3))], kinks=[call(0.0, at(0.0, 1.0, -1.0)), call(-2.0, at(2.0, 0.5))],
    inplace=False, method=False)
def pow_of_number(exponent, *, self):
    """A number to the power exponent."""
    return _power(self, exponent)


def _counted(x):
    return x.astype(jnp.int64) if x.dtype == bool else x


def _whole_power(x, y):
    """x to the power y of integers, which wrap around; negative powers count as 0.  (jnp.power looks at six bits of y only.)"""
    x, y = jnp.broadcast_arrays(x, jnp.maximum(y, 0))

    def squared(state):
        out, base, left = state
        return jnp.where(left & 1, out * base, out), base * base, left >> 1

    return lax.while_loop(lambda state: jnp.any(state[2] > 0), squared, (jnp.ones_like(x), x, y))[0]


def _power(x, y):
    if x.dtype == bool:
        raise NotImplementedError("\"pow\" not implemented for 'Bool'")
    if jnp.issubdtype(x.dtype, jnp.inexact):
        return power(x, y)
    only("pow", x, "i")
    out = _whole_power(x, y)
    odd = (y & 1) != 0
    return jnp.where(y >= 0, out, jnp.where(x == 1, 1, jnp.where(x == -1, jnp.where(odd, -1, 1), 0)).astype(x.dtype))


# Mixtures

def _mixture(start, end, weight):
    """From the nearer end, as torch computes it; the derivative does not depend on the choice."""
    near = (jnp.abs(weight) if jnp.iscomplexobj(weight) else lax.abs(weight)) < 0.5
    return _mixed(start, end, weight, near)


def _times(t, factor, out):
    return t.astype(out.dtype) * factor.astype(out.dtype)


@partials(lambda t, out, a, b, w, near: _times(t, 1 - w, out), lambda t, out, a, b, w, near: _times(t, w, out),
          lambda t, out, a, b, w, near: _times(t, b - a, out), None)  # differences in their own dtype, where the weight has another
def _mixed(a, b, w, near):
    dtype = np.promote_types(a.dtype, w.dtype)
    a, b, w = a.astype(dtype), b.astype(dtype), w.astype(dtype)
    return jnp.where(near, a + w * (b - a), b - (b - a) * (1 - w))


def _check_same(types, result, statics):
    own = types["self"].dtype
    for name in ("end", "weight"):
        other = types[name]
        if other.dtype is not own and (name == "end" or (other.ndim and other.device != "number")):
            raise RuntimeError(f"expected dtype {cxx_of(own)} for `{name}` but got dtype {cxx_of(other.dtype)}")


@op("lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor", node="LerpBackward1", inplace=True, lies=elementwise, check=_check_same,
    saves={"self": ("weight",), "end": ("weight",), "weight": ("self", "end", "weight")}, samples=[call(real(3), real(3), real(3)), call(real(2, 3), real(3),
    real(2, 1))],
    kinks=SMOOTH, errors=[fails(call(at(1.0), at(1.0, dtype="float32"), at(1.0)), RuntimeError, "expected dtype double for `end` but got dtype float")])
def lerp_tensor(self, end, weight):
    """self + weight * (end - self)."""
    only("lerp_kernel_tensor", self, "fc")
    if self.ndim == end.ndim == weight.ndim == 0:  # none but a weight without dims may have a dtype of its own, which counts beside others without
        return _mixture(self, end, weight if weight.dtype == self.dtype else wide(weight))
    weight = weight.astype(self.dtype)
    return _mixture(*aligned(self, end, weight))


@op("lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor", node="LerpBackward0", opmath=True, inplace=True, lies=elementwise, check=_check_same, lift=("weight",),
    holds={"weight": held.wide},
    samples=[call(real(3), real(3), 0.3), call(real(2, 3), real(3), 0.7)], kinks=SMOOTH)
def lerp(self, end, *, weight):
    """self + weight * (end - self) for a number."""
    only("lerp_kernel_scalar", self, "fc")
    self, end = aligned(self, end)
    return _mixture(self, end, weight.astype(self.dtype))


@op("addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar? value=None) -> Tensor",
    node="AddcmulBackward0", promote=Promote.RESULT, holds={"value": held.wide},
    lift=("value",), saves={"tensor1": ("tensor2",), "tensor2": ("tensor1",)}, kinks=SMOOTH,
    samples=[call(real(3), real(3), real(3)), call(real(2, 3), real(3), real(2, 1), value=0.5)])
def addcmul(self, tensor1, tensor2, *, value=None):
    """self + value * tensor1 * tensor2."""
    only("addcmul_cpu_out", self, "ifc")
    return self + _in_result(_valued(tensor1, value), self, tensor2) * tensor2


def _in_result(x, *others):
    """`x` in the shape of the result, as torch multiplies gradients before it adds them up: infinities of both signs are not a number then."""
    return jnp.broadcast_to(x, jnp.broadcast_shapes(x.shape, *(o.shape for o in others)))


def _check_quotient(types, result, statics):
    if all(types[k].dtype.category in (dtypes.INT, dtypes.BOOL) for k in ("tensor1", "tensor2")):
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true division of tensor1 and tensor2. The "
            "historic addcdiv behavior can be implemented as (input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as "
            "(input + value * tensor1 / tensor2) for float inputs. The future addcdiv behavior is just the latter implementation: (input + value * tensor1 / "
            "tensor2), for all dtypes.")


@op("addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar? value=None) -> Tensor",
    node="AddcdivBackward0", promote=Promote.RESULT, holds={"value": held.wide},
    lift=("value",), saves={"self": ("tensor2",), "tensor1": ("tensor2",), "tensor2": ("tensor1", "tensor2")},
    samples=[call(real(3), real(3), real(3, low=0.5)), call(real(2, 3), real(3), real(2, 1, low=0.5), value=0.5)],
    kinks=[call(at(1.0, 1.0), at(0.0, 1.0), at(0.0, 0.0))], check=_check_quotient)
def addcdiv(self, tensor1, tensor2, *, value=None):
    """self + value * tensor1 / tensor2."""
    return self + ratio(_in_result(_valued(tensor1, value), self, tensor2), tensor2)


# Signs and exponents

@partials(lambda t, out, x, y: t * jnp.where(x == 0, 0, out / x), lambda t, out, x, y: jnp.zeros_like(out))
def _with_sign(x, y):
    return jnp.copysign(x, y)


_SIGN_OF = {"promote": Promote.FLOAT, "opmath": False, "kinks": [call(at(0.0, -0.0, 1.0, -2.0), at(-1.0, 1.0, -0.0, 0.0))]}


@op("copysign.Tensor(Tensor self, Tensor other) -> Tensor", node="CopysignBackward0", samples=_TWO, saves={"self": ("self", "result"), "other": ("result",)},
    **_SIGN_OF)
def copysign(self, other):
    """The magnitude of self with the sign of other."""
    return _with_sign(only("copysign_cpu", self, "f"), other)


@op("copysign.Scalar(Tensor self, Scalar other) -> Tensor", lies=with_number, node="CopysignBackward1", promote=Promote.FLOAT, promote_with=("self", "other"), lift=("other",),
    opmath=False,
    saves={"self": ("self", "result")}, samples=[call(real(3), -2.0)], kinks=[call(at(0.0, -0.0, 1.0, -2.0), -1.0)])
def copysign_scalar(self, *, other):
    """The magnitude of self with the sign of a number."""
    return _with_sign(only("copysign_cpu", self, "f"), other)


# Planes and logarithms

@partials(lambda t, out, y, x: t * _share(x, y, x), lambda t, out, y, x: -t * _share(y, y, x))
def _direction(y, x):
    return jnp.arctan2(y, x)


def _share(part, y, x):
    square = y * y + x * x
    return jnp.where(square == 0, 0, part / square)


_FLOAT_PAIR = {"promote": Promote.FLOAT, "saves": _BOTH}


def _direction_tangent(out, primals, tangents):
    """NaN at the origin in forward mode."""
    (y, x), (t, u) = primals, tangents
    return (t * x - u * y) / (x * x + y * y)


@op("atan2(Tensor self, Tensor other) -> Tensor", node="Atan2Backward0", samples=_TWO, tangent=_direction_tangent, aliases=("arctan2",), **_FLOAT_PAIR,
    kinks=[call(at(0.0, 0.0, 1.0, -0.0), at(0.0, -1.0, 0.0, -1.0))])
def atan2(self, other):
    """The angle of the point (other, self)."""
    return _direction(only("atan2_cpu", self, "f"), other)


@partials(lambda t, out, x, y: t * quotient(x, out), lambda t, out, x, y: t * quotient(y, out))
def _length(x, y):
    return jnp.hypot(x, y)


@op("hypot(Tensor self, Tensor other) -> Tensor", node="HypotBackward0", promote=Promote.RESULT, samples=_TWO, kinks=[call(at(0.0, 0.0, _INF), at(0.0, -2.0,
    _NAN))],
    saves={"self": ("self", "result"), "other": ("other", "result")})
def hypot(self, other):
    """The length of the vector (self, other)."""
    return _length(only("hypot_cpu", self, "f"), other)


@partials(lambda t, out, x, y: t / (1 + jnp.exp(y - x)), lambda t, out, x, y: t / (1 + jnp.exp(x - y)))
def _log_sum(x, y):
    if jnp.iscomplexobj(x):
        return _complex_log_sum(x, y)
    top = jnp.maximum(x, y)
    return jnp.where(jnp.isinf(x) & (x == y), x, top + jnp.log1p(jnp.exp(-jnp.abs(x - y))))


def _complex_log_sum(x, y):
    first = jnp.isnan(jnp.real(x)) | (jnp.real(x) >= jnp.real(y))  # of equals too: which one says on which branch the result is
    top, low = jnp.where(first, x, y), jnp.where(first, y, x)
    real = jnp.real(top)
    same = jnp.isinf(real) & (real == jnp.real(low))
    endless = jnp.where(real < 0, low, _log_of_endless(top, low))
    return jnp.where(same, endless, top + jnp.log1p(jnp.exp(jnp.where(same, 0, low - top))))


def _log_of_endless(x, y):
    """log(exp(x) + exp(y)) where both real parts are +inf: only the directions of the two exponentials are left."""
    def parts(v):
        along = jnp.imag(v)
        endless = jnp.full_like(along, _INF)
        return endless * jnp.cos(along), jnp.where(along == 0, along, endless * jnp.sin(along))

    (a, b), (c, d) = parts(x), parts(y)
    return lax.complex(jnp.full_like(a, _INF), jnp.arctan2(b + d, a + c))


@partials(lambda t, out, x, y: t / (1 + jnp.exp2(y - x)), lambda t, out, x, y: t / (1 + jnp.exp2(x - y)))
def _log2_sum(x, y):
    top = jnp.maximum(x, y)
    return jnp.where(jnp.isinf(x) & (x == y), x, top + jnp.log1p(jnp.exp2(-jnp.abs(x - y))) * 1.4426950408889634)


_LOG_PAIR = {"promote": Promote.RESULT, "saves": _BOTH, "inplace": False, "samples": _TWO,
             "kinks": [call(at(_INF, -_INF, -_INF, _INF, _NAN), at(_INF, -_INF, 0.0, -_INF, 0.0))]}


@op("logaddexp(Tensor self, Tensor other) -> Tensor", node="LogaddexpBackward0", **_LOG_PAIR)
def logaddexp(self, other):
    """log(exp(self) + exp(other))."""
    return _log_sum(only("logaddexp_cpu", self, "fc"), other)


@op("logaddexp2(Tensor self, Tensor other) -> Tensor", node="Logaddexp2Backward0", **_LOG_PAIR)
def logaddexp2(self, other):
    """log2(2 ** self + 2 ** other)."""
    return _log2_sum(only("logaddexp2_cpu", self, "f"), other)


def _x_log_y_value(x, y):
    return jnp.where(jnp.isnan(y), _NAN, jnp.where(x == 0, 0, x * jnp.log(y)))


def _x_log_y_slope(t, x, y, zero):
    return jnp.where(zero, 0, along_log(jnp.where(zero, 0, t), jnp.log(y), y < 0))


@partials(lambda t, out, x, y: _x_log_y_slope(t, x, y, (x == 0) & ~(y > 0)), None)
def _x_log_number(x, y):
    return _x_log_y_value(x, y)


@partials(lambda t, out, x, y: _x_log_y_slope(t, x, y, (x == 0) & (y <= 0)), lambda t, out, x, y: x * quotient(jnp.broadcast_to(t, out.shape), y))
def _x_log_y(x, y):
    return _x_log_y_value(x, y)


_XLOGY_KINKS = [call(at(0.0, 0.0, 0.0, 0.0, 1.0), at(0.0, -1.0, _NAN, _INF, 0.0))]


@op("xlogy.Tensor(Tensor self, Tensor other) -> Tensor", node="XlogyBackward0", aliases=("special.xlogy",), samples=_POSITIVE, kinks=_XLOGY_KINKS,
    **_FLOAT_PAIR)
def xlogy(self, other):
    """self * log(other), 0 where self is 0."""
    return _x_log_y(only("xlogy_cpu", self, "f"), other)


@op("xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor", lies=with_number, node="XlogyBackward1", promote=Promote.FLOAT, promote_with=("self", "other"), lift=("self",),
    saves={"other": ("other",)}, aliases=("special.xlogy",), samples=[call(2.0, real(3, low=0.1))], kinks=[call(0.0, at(0.0, -1.0, _NAN))], inplace=False,
    method=False)
def xlogy_of_number(other, *, self):
    """`xlogy` of a number."""
    return _x_log_y(only("xlogy_cpu", self, "f"), other)


@op("xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor", lies=with_number, node="XlogyBackward2", promote=Promote.FLOAT, promote_with=("self", "other"), lift=("other",),
    saves={"self": ("self",)}, aliases=("special.xlogy",), samples=[call(real(3), 2.0)], kinks=[call(at(0.0, 1.0), 0.0)])
def xlogy_number(self, *, other):
    """`xlogy` with a number."""
    return _x_log_number(only("xlogy_cpu", self, "f"), other)


# Conversion

@op("_to_copy(Tensor self, *, ScalarType dtype) -> Tensor", node="ToCopyBackward0", names=(), lies=like_first, samples=[call(real(2), dtype="float32")], kinks=SMOOTH)
def _to_copy(self, *, dtype):
    """Conversion to another dtype."""
    return convert(self, dtype)


@op("_to_device(Tensor self, *, str device) -> Tensor", node="ToCopyBackward0", names=(), lies=like_first, samples=[call(real(2), device="cpu")], kinks=SMOOTH)
def _to_device(self, *, device):
    """The same values elsewhere: the type of the result says where (`devices.key_of`)."""
    return self


@op("_spread(Tensor self, *, str device, str? sharding=None) -> Tensor", node="RedistributeBackward", names=(), samples=[call(real(2), device="cpu")], kinks=SMOOTH)
def _spread(self, *, device, sharding=None):
    """The same values over several devices, as a jax Sharding says."""
    return self if sharding is None else lax.with_sharding_constraint(self, sharding)


@op("_spread_as(Tensor self, Tensor other) -> Tensor", node="RedistributeBackward", names=(), nondiff=("other",), samples=[call(real(2), real(2))], kinks=SMOOTH)
def _spread_as(self, other):
    """The same values over the devices of another of this shape, spread as it is."""
    return self


OPS["_spread_as"].updates = {0: 1}
