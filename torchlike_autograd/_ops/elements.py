"""Degrees, bits and integers: further functions element by element (layer 2)."""

from __future__ import annotations

import math

import jax.numpy as jnp
from jax import lax

from .conventions import aligned, only, partials
from .memory import elementwise, like_first
from .registry import NONE, SMOOTH, UNIMPLEMENTED, Promote, at, call, fails, op, real

_INF, _NAN = float("inf"), float("nan")
_ANY = [call(real(3)), call(real(2, 3))]
_PAIR = [call(real(3), real(3)), call(real(2, 3), real(3))]
_WHOLE = [call(at(4, -6, 0, 15, dtype="int64", grad=False), at(6, 4, 0, -10, dtype="int64", grad=False))]


def _degrees(name, node, factor):
    @op(f"{name}(Tensor self) -> Tensor", node=node, promote=Promote.FLOAT, samples=_ANY, kinks=[call(at(0.0, -0.0, _INF, _NAN))])
    def body(self):
        if jnp.iscomplexobj(self):
            raise RuntimeError(f"{name} is not supported for complex tensors.")
        return self * factor

    body.__doc__ = body.op.doc = f"self * {factor}."


_degrees("deg2rad", "Deg2RadBackward0", math.pi / 180)
_degrees("rad2deg", "Rad2DegBackward0", 180 / math.pi)


@op("signbit(Tensor self) -> Tensor", lies=elementwise, derivative=NONE, samples=[call(real(3, grad=False))], kinks=[call(at(0.0, -0.0, _INF, -_INF, _NAN, grad=False))])
def signbit(self):
    """Whether the sign bit is set; of an integer, whether it is negative."""
    if jnp.iscomplexobj(self):
        raise NotImplementedError("signbit is not implemented for complex tensors.")
    if self.dtype == bool:
        return jnp.zeros_like(self)
    return jnp.signbit(self) if jnp.issubdtype(self.dtype, jnp.floating) else self < 0


@op("heaviside(Tensor self, Tensor values) -> Tensor", lies=elementwise, node="torch::autograd::NotImplemented", derivative=UNIMPLEMENTED, inplace=True,
    samples=[call(real(3, grad=False), real(3, grad=False))], kinks=[call(at(-1.0, 0.0, -0.0, _NAN, grad=False), at(0.5, grad=False))],
    errors=[fails(call(at(1.0), at(1, dtype="int64", grad=False)), RuntimeError, "heaviside is not yet implemented for tensors with different dtypes.")])
def heaviside(self, values):
    """0 below 0, 1 above, `values` at 0."""
    if jnp.iscomplexobj(self) or jnp.iscomplexobj(values):
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    if self.dtype != values.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
    x, v = aligned(self, values)
    return x | v if x.dtype == bool else jnp.where(x == 0, v, (x > 0).astype(x.dtype))


@partials(None, lambda t, out, value, x, y: jnp.where(x == y, 0, t), lambda t, out, value, x, y: jnp.zeros_like(t))
def _following(value, x, y):
    return value


def _next(x, y):
    x, y = jnp.broadcast_arrays(x, y)
    return jnp.nextafter(x, y) if x.dtype.itemsize > 2 else _next_narrow(x, y)


def _next_narrow(x, y):
    """By the bits of 16-bit floats."""
    bits = lax.bitcast_convert_type(x, jnp.int16)
    least = lax.bitcast_convert_type(jnp.where(y < 0, jnp.int16(-0x7FFF), jnp.int16(1)), x.dtype)
    moved = lax.bitcast_convert_type(jnp.where((x < y) == (x > 0), bits + jnp.int16(1), bits - jnp.int16(1)), x.dtype)
    return jnp.where(jnp.isnan(x) | jnp.isnan(y), jnp.asarray(_NAN, x.dtype), jnp.where(x == y, y, jnp.where(x == 0, least, moved)))


@op("nextafter(Tensor self, Tensor other) -> Tensor", node="NextafterBackward0", promote=Promote.RESULT, opmath=False, samples=_PAIR,
    saves={"self": ("self", "other"), "other": ("self", "other")}, kinks=[call(at(0.0, 1.0, 1.0, _NAN), at(1.0, 1.0, -_INF, 1.0))])
def nextafter(self, other):
    """The next number after self towards other."""
    value = _next(lax.stop_gradient(only("nextafter_cpu", self, "f")), lax.stop_gradient(other))
    return _following(value, *jnp.broadcast_arrays(self, other))


@partials(lambda t, out, x: t * jnp.exp2(-_exponent(x).astype(t.dtype)))
def _mantissa(x):
    return jnp.frexp(x)[0]


def _exponent(x):
    return jnp.where(jnp.isfinite(x), jnp.frexp(lax.stop_gradient(x))[1], 0).astype(jnp.int32)


@op("frexp.Tensor(Tensor self) -> (Tensor, Tensor)", node="FrexpBackward0", lies=like_first, fields=("mantissa", "exponent"), nondiff_out=(1,), saves={"self": ("result1",)},
    samples=_ANY, kinks=[call(at(0.0, 1.0, -3.0, 0.3))])
def frexp(self):
    """The mantissa in [1/2, 1) and the exponent of 2."""
    if not jnp.issubdtype(self.dtype, jnp.floating):
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    return _mantissa(self), _exponent(self)


def _common_divisor(a, b):
    """Euclid's, of magnitudes: jnp.gcd never ends beside the lowest number, whose magnitude is negative."""

    def step(pair):
        a, b = pair
        done = a == 0
        return jnp.where(done, a, lax.rem(b, jnp.where(done, 1, a))), jnp.where(done, b, a)

    a, b = jnp.broadcast_arrays(jnp.abs(a), jnp.abs(b))
    return lax.while_loop(lambda pair: jnp.any(pair[0] != 0), step, (a, b))[1]


@op("gcd(Tensor self, Tensor other) -> Tensor", derivative=NONE, promote=Promote.RESULT, opmath=False, samples=_WHOLE, kinks=SMOOTH,
    errors=[fails(call(real(2, grad=False), real(2, grad=False)), NotImplementedError, "\"gcd_cpu\" not implemented for 'Double'")])
def gcd(self, other):
    """The greatest common divisor, not negative but beside the lowest number, which has no opposite."""
    return _common_divisor(only("gcd_cpu", self, "i"), other)


@op("lcm(Tensor self, Tensor other) -> Tensor", derivative=NONE, promote=Promote.RESULT, opmath=False, samples=_WHOLE, kinks=SMOOTH)
def lcm(self, other):
    """The least common multiple, not negative unless it is beyond the dtype."""
    only("lcm_cpu", self, "i")
    wide = jnp.int32 if self.dtype.itemsize < 4 else self.dtype  # short numbers are multiplied as C does
    a, b, divisor = self.astype(wide), other.astype(wide), _common_divisor(self, other).astype(wide)
    none = divisor == 0
    return jnp.where(none, 0, jnp.abs(lax.div(a, jnp.where(none, 1, divisor)) * b)).astype(self.dtype)
