"""Functions of one operand, element by element (layer 2)."""

from __future__ import annotations

import math

import jax.numpy as jnp
from jax import lax
from jax.scipy import special

from .bases import logarithm
from .complex_sums import complex_minus, complex_negative, log_of_one_more
from .conventions import flat, magnitude, only, partials, principal_root, signum, unless
from .error_functions import complement, error_function, inverse
from .memory import elementwise
from .registry import SMOOTH, UNIMPLEMENTED, Promote, at, call, fails, op, real

_INF, _NAN = float("inf"), float("nan")
_ANY = [call(real(3)), call(real(2, 3)), call(real(()))]
_POSITIVE = [call(real(3, low=0.1)), call(real(2, 3, low=0.1))]
_UNIT = [call(real(3, low=-0.9, high=0.9))]
_SAVES_SELF, _SAVES_RESULT = {"self": ("self",)}, {"self": ("result",)}
_EDGES = [call(at(0.0, -0.0, 1.0, -1.0, _INF, -_INF, _NAN))]
_BITS_OF = {"promote": Promote.RESULT, "opmath": False}  # exact in any precision


def _float_op(name, *, node, saves, samples=_ANY, twin_node=None, aliases=(), **fields):
    """An entry of a smooth function of floating and complex numbers, to which integers are converted; a few twins have no derivative."""
    fields.update(saves=saves, promote=Promote.FLOAT, opmath=False, samples=samples, kinks=_EDGES)

    def declare(body):
        op(f"{name}(Tensor self) -> Tensor", node=node, aliases=aliases, inplace=twin_node is None, **fields)(body)
        if twin_node is not None:
            names = [f"{where}.{n}" for n in (name, *aliases) for where in ("torch", "Tensor")]
            op(f"{name}.twin(Tensor self) -> Tensor", node=twin_node, names=names, inplace=True, out=False, **{**fields, "derivative": UNIMPLEMENTED, "forward": f"{name}_"})(body)
            body.op.name = f"inplace version of {name}"  # as torch calls it when it refuses
        return body

    return declare


# Signs and rounding

@op("neg(Tensor self) -> Tensor", node="NegBackward0", aliases=("negative",), samples=_ANY, kinks=SMOOTH, **_BITS_OF)
def neg(self):
    """-self."""
    if self.dtype == bool:
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` operator "
            "instead.")
    only("neg_cpu", self, "ifc")
    return complex_negative(self) if jnp.iscomplexobj(self) else -self


@op("abs(Tensor self) -> Tensor", node="AbsBackward0", zero_second=True, saves=_SAVES_SELF, aliases=("absolute",), samples=_ANY, kinks=[call(at(0.0, -0.0,
    -2.0, _NAN))], **_BITS_OF)
def abs(self):
    """The magnitude; at 0 its gradient is 0."""
    only("abs_cpu", self, "ifc")
    return magnitude(self) if jnp.issubdtype(self.dtype, jnp.inexact) else jnp.abs(self)


@op("sign(Tensor self) -> Tensor", node="SignBackward0", samples=_ANY, kinks=_EDGES, **_BITS_OF,
    errors=[fails(call(at(1j, dtype="complex128")), NotImplementedError, "Unlike NumPy, torch.sign is not intended to support complex numbers.")])
def sign(self):
    """-1, 0 or 1; 0 for NaN."""
    if jnp.iscomplexobj(self):
        raise NotImplementedError("Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead.")
    return signum(only("sign_cpu", self, "bif"))


@op("sgn(Tensor self) -> Tensor", node="SgnBackward0", saves={"self": ("self", "result")}, samples=_ANY, kinks=[call(at(0.0, 1j, 0j, dtype="complex128"))],
    **_BITS_OF)
def sgn(self):
    """The sign; of a complex number its direction, 0 at 0."""
    only("sign_cpu", self, "bifc")
    return _direction(self) if jnp.iscomplexobj(self) else signum(self)


@partials(lambda t, s, z: _direction_tangent(t, s, z))
def _direction(z):
    return signum(z)


def _direction_tangent(t, s, z):
    """torch 2.13: 0 at 0, forwards and backwards, but NaN for the derivative of that.

    Linear in the result, as backwards in torch: so much of a second derivative goes by way of the result, where hooks see it, and the rest by way of `z`.
    """
    size = magnitude(z).astype(z.dtype)
    t = jnp.where(size == 0, 0, t)
    return jnp.where(size == 0, 0, 1j * s * (jnp.imag(jnp.conj(z / size) * t) / jnp.real(size)).astype(z.dtype))


_ROUNDED = {"samples": _ANY, "kinks": [call(at(0.0, -0.0, 1.0, -1.5, 2.5, _INF, _NAN))], **_BITS_OF}


def _roundable(name, x):
    if jnp.iscomplexobj(x):
        raise NotImplementedError(f"{name} is not supported for complex inputs")
    return only(f"{name}_vml_cpu", x, "ifu")


def _whole(f, x):
    return lax.stop_gradient(f(x)) if jnp.issubdtype(x.dtype, jnp.floating) else x


@op("floor(Tensor self) -> Tensor", node="FloorBackward0", **_ROUNDED)
def floor(self):
    """The greatest integer that is not above; the gradient is 0."""
    return flat(_whole(jnp.floor, _roundable("floor", self)), self)


@op("ceil(Tensor self) -> Tensor", node="CeilBackward0", **_ROUNDED)
def ceil(self):
    """The least integer that is not below; the gradient is 0."""
    return flat(_whole(jnp.ceil, _roundable("ceil", self)), self)


@op("trunc(Tensor self) -> Tensor", node="TruncBackward0", aliases=("fix",), **_ROUNDED)
def trunc(self):
    """The integer next to it towards 0; the gradient is 0."""
    return flat(_whole(jnp.trunc, _roundable("trunc", self)), self)


@op("round(Tensor self) -> Tensor", node="RoundBackward0", **_ROUNDED)
def round(self):
    """The nearest integer, the even one of two; the gradient is 0."""
    return flat(_whole(lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN), only("round_vml_cpu", self, "ifu")), self)


_NO_DECIMALS = {"decimals": lambda x, flat: x == 0}


@op("round.decimals(Tensor self, *, int decimals) -> Tensor", node="RoundBackward1", promote=Promote.RESULT, lift=("decimals",),
    bake=_NO_DECIMALS, samples=[call(real(3), decimals=2), call(real(3), decimals=-1)], kinks=[call(at(0.25, 0.35, 25.0, _INF), decimals=1), call(at(15.0, 25.0), decimals=-1)])
def round_decimals(self, *, decimals):
    """Rounded to a number of decimal places."""
    if type(decimals) is int:
        return round(only("round_vml_cpu", self, "f"))
    only("round_cpu", self, "f")
    x = lax.stop_gradient(self)
    scale = jnp.power(jnp.full((), 10, x.dtype), jnp.abs(decimals).astype(x.dtype))
    even = lax.RoundingMethod.TO_NEAREST_EVEN
    return flat(jnp.where(decimals < 0, lax.round(x / scale, even) * scale, lax.round(x * scale, even) / scale), self)


@op("special_round(Tensor self, *, int decimals=0) -> Tensor", node="RoundBackward1", promote=Promote.RESULT, lift=("decimals",), names=("torch.special.round",),
    bake=_NO_DECIMALS, samples=[call(real(3)), call(real(3), decimals=2)], kinks=[call(at(0.25, 0.35, 25.0, _INF), decimals=1), call(at(0.5, 1.5, -0.5))])
def special_round(self, *, decimals=0):
    """Rounded to a number of decimal places, by default to the nearest integer; integers are refused."""
    return round_decimals(self, decimals=decimals)


@op("frac(Tensor self) -> Tensor", node="FracBackward0", samples=_ANY, kinks=_EDGES, promote=Promote.RESULT)
def frac(self):
    """What follows the decimal point, with the sign of self."""
    return self - lax.stop_gradient(jnp.trunc(only("frac_cpu", self, "f")))


@op("nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor", node="NanToNumBackward0", lies=elementwise, saves=_SAVES_SELF, inplace=True, real_only=True,
    lift=("nan", "posinf", "neginf"), samples=[call(real(3)), call(real(3), 1.0, 2.0, -2.0)], kinks=_EDGES + [call(at(_NAN, _INF, -_INF), 0.5, 3.0)])
def nan_to_num(self, *, nan=None, posinf=None, neginf=None):
    """NaN and infinities replaced; there the gradient is 0."""
    if jnp.iscomplexobj(self):
        return lax.complex(_finite(jnp.real(self), nan, posinf, neginf), _finite(jnp.imag(self), nan, posinf, neginf))
    return _finite(self, nan, posinf, neginf) if jnp.issubdtype(self.dtype, jnp.floating) else self


def _finite(x, nan, posinf, neginf):
    limits = jnp.finfo(x.dtype)
    nan = jnp.zeros((), x.dtype) if nan is None else _real(nan, x)
    posinf = jnp.asarray(limits.max, x.dtype) if posinf is None else _real(posinf, x)
    neginf = jnp.asarray(limits.min, x.dtype) if neginf is None else _real(neginf, x)
    return jnp.where(x != x, nan, jnp.where(x == _INF, posinf, jnp.where(x == -_INF, neginf, x)))


def _real(number, x):
    return (jnp.real(number) if jnp.iscomplexobj(number) else number).astype(x.dtype)


# Roots

@_float_op("sqrt", node="SqrtBackward0", saves=_SAVES_RESULT, samples=_POSITIVE)
def sqrt(self):
    """The square root; at 0 its gradient is inf."""
    return _root(self)


@partials(lambda t, out, x: t / (2 * out))
def _root(x):
    return principal_root(x)


@_float_op("rsqrt", node="RsqrtBackward0", saves=_SAVES_RESULT, samples=_POSITIVE)
def rsqrt(self):
    """1 over the square root."""
    return _inverse_root(self)


@partials(lambda t, out, x: t * (-0.5 * (out * out * out)))
def _inverse_root(x):
    return 1 / principal_root(x)


@_float_op("reciprocal", node="ReciprocalBackward0", saves=_SAVES_RESULT, samples=_POSITIVE)
def reciprocal(self):
    """1 / self."""
    return _inverse(self)


@partials(lambda t, out, x: -t * (out * out))
def _inverse(x):
    return 1 / x


# Exponentials and logarithms

@_float_op("exp", node="ExpBackward0", saves=_SAVES_RESULT)
def exp(self):
    """e to the power of self."""
    return _exp(self)


@partials(lambda t, out, x: t * out)
def _exp(x):
    return jnp.exp(x)


@_float_op("exp2", node="Exp2Backward0", saves=_SAVES_RESULT, aliases=("special.exp2",))
def exp2(self):
    """2 to the power of self."""
    return _exp2(self)


@partials(lambda t, out, x: t * (out * math.log(2)))
def _exp2(x):
    return jnp.exp2(x)


@_float_op("expm1", node="Expm1Backward0", saves=_SAVES_RESULT, aliases=("special.expm1",))
def expm1(self):
    """exp(self) - 1, exact for small self."""
    return _exp_minus_1(self)


@partials(lambda t, out, x: t * (out + 1))
def _exp_minus_1(x):
    return jnp.expm1(x)


@_float_op("log", node="LogBackward0", saves=_SAVES_SELF, samples=_POSITIVE)
def log(self):
    """The natural logarithm."""
    return _log(self)


@partials(lambda t, out, x: t / x)
def _log(x):
    return jnp.log(x)


@partials(lambda t, out, x: t / (x * math.log(2)))
def _log2(x):
    return logarithm(x, 2)


@_float_op("log2", node="Log2Backward0", saves=_SAVES_SELF, samples=_POSITIVE)
def log2(self):
    """The logarithm to base 2."""
    return _log2(self)


@partials(lambda t, out, x: t / (x * math.log(10)))
def _log10(x):
    return logarithm(x, 10)


@_float_op("log10", node="Log10Backward0", saves=_SAVES_SELF, samples=_POSITIVE)
def log10(self):
    """The logarithm to base 10."""
    return _log10(self)


@_float_op("log1p", node="Log1PBackward0", saves=_SAVES_SELF, samples=_POSITIVE, aliases=("special.log1p",))
def log1p(self):
    """log(1 + self), exact for small self."""
    return _log1p(self)


@partials(lambda t, out, x: t / (x + 1))
def _log1p(x):
    return jnp.log1p(x) if not jnp.iscomplexobj(x) else log_of_one_more(x)


@op("logit(Tensor self, float? eps=None) -> Tensor", node="LogitBackward0", promote=Promote.FLOAT, opmath=False, lift=("eps",), bake={"eps": lambda x,
    flat: x < 0}, saves=_SAVES_SELF, aliases=("special.logit",), samples=[call(real(3, low=0.1, high=0.9)), call(real(3, low=-1.0), 0.1)], kinks=[call(at(0.0, 1.0, -1.0, 2.0, _NAN)), call(at(0.0, 0.25, 0.75, 1.0, _NAN),
    0.25)])
def logit(self, *, eps=None):
    """log(self / (1 - self)), self first clamped to [eps, 1 - eps]; clamped, the gradient is 0."""
    only("logit_cpu", self, "f")
    if eps is None:
        return _log_odds(self)
    return _clamped_log_odds(self, eps, 1 - eps) if hasattr(eps, "dtype") else _open_log_odds(self, eps, 1 - eps)


@partials(lambda t, out, x: t * jnp.where((x < 0) | (x > 1), _NAN, 1 / (x * (1 - x))))
def _log_odds(x):
    return jnp.log(x / (1 - x))


def _open_log_odds(x, lo, hi):
    """With an eps below 0 nothing is clamped, but the gradient asks for its bounds."""
    return partials(lambda t, out, x: unless(~((x >= lo) & (x <= hi)), t, 1 / (x * (1 - x))))(lambda x: jnp.log(x / (1 - x)))(x)


@partials(lambda t, out, x, lo, hi: unless(~((x >= lo) & (x <= hi)), t, 1 / (x * (1 - x))), None, None)
def _clamped_log_odds(x, lo, hi):
    x = jnp.where(x < lo, lo, jnp.where(x > hi, hi, x))
    return jnp.log(x / (1 - x))


@_float_op("sigmoid", node="SigmoidBackward0", saves=_SAVES_RESULT, aliases=("special.expit",))
def sigmoid(self):
    """1 / (1 + exp(-self))."""
    return _logistic(self)


@partials(lambda t, out, x: t * ((1 - out) * out))
def _logistic(x):
    return lax.logistic(x)


# Circular and hyperbolic functions

@_float_op("sin", node="SinBackward0", saves=_SAVES_SELF)
def sin(self):
    """The sine."""
    return _sin(self)


@partials(lambda t, out, x: t * _cos(x))
def _sin(x):
    return jnp.sin(x)


@_float_op("cos", node="CosBackward0", saves=_SAVES_SELF)
def cos(self):
    """The cosine."""
    return _cos(self)


@partials(lambda t, out, x: t * -_sin(x))
def _cos(x):
    return jnp.cos(x)


@_float_op("tan", node="TanBackward0", saves=_SAVES_RESULT)
def tan(self):
    """The tangent."""
    return _tan(self)


@partials(lambda t, out, x: t * (1 + out * out))
def _tan(x):
    return jnp.tan(x)


@_float_op("asin", node="AsinBackward0", saves=_SAVES_SELF, samples=_UNIT, aliases=("arcsin",))
def asin(self):
    """The inverse sine."""
    return _asin(self)


@partials(lambda t, out, x: t * _inverse_root(1 - x * x))
def _asin(x):
    return jnp.arcsin(x)


@_float_op("acos", node="AcosBackward0", saves=_SAVES_SELF, samples=_UNIT, aliases=("arccos",))
def acos(self):
    """The inverse cosine."""
    return _acos(self)


@partials(lambda t, out, x: t * -_inverse_root(1 - x * x))
def _acos(x):
    return jnp.arccos(x)


@_float_op("atan", node="AtanBackward0", saves=_SAVES_SELF, aliases=("arctan",))
def atan(self):
    """The inverse tangent."""
    return _atan(self)


@partials(lambda t, out, x: t / (x * x + 1))
def _atan(x):
    return jnp.arctan(x)


@_float_op("sinh", node="SinhBackward0", saves=_SAVES_SELF)
def sinh(self):
    """The hyperbolic sine."""
    return _sinh(self)


@partials(lambda t, out, x: t * _cosh(x))
def _sinh(x):
    return jnp.sinh(x)


@_float_op("cosh", node="CoshBackward0", saves=_SAVES_SELF)
def cosh(self):
    """The hyperbolic cosine."""
    return _cosh(self)


@partials(lambda t, out, x: t * _sinh(x))
def _cosh(x):
    return jnp.cosh(x)


@_float_op("tanh", node="TanhBackward0", saves=_SAVES_RESULT)
def tanh(self):
    """The hyperbolic tangent."""
    return _tanh(self)


@partials(lambda t, out, x: t * (1 - out * out))
def _tanh(x):
    return jnp.tanh(x)


@_float_op("asinh", node="AsinhBackward0", twin_node="AsinhBackward1", saves=_SAVES_SELF, aliases=("arcsinh",))
def asinh(self):
    """The inverse hyperbolic sine."""
    return _asinh(self)


@partials(lambda t, out, x: t * _inverse_root(x * x + 1))
def _asinh(x):
    out = jnp.arcsinh(x)
    return lax.complex(jnp.copysign(jnp.real(out), jnp.real(x)), jnp.imag(out)) if jnp.iscomplexobj(x) else out  # the branch cut knows the sign of 0


@_float_op("acosh", node="AcoshBackward0", twin_node="AcoshBackward1", saves=_SAVES_SELF, samples=[call(real(3, low=1.1))], aliases=("arccosh",))
def acosh(self):
    """The inverse hyperbolic cosine."""
    return _acosh(self)


@partials(lambda t, out, x: t * (_inverse_root(complex_minus(x, jnp.ones_like(x))) * _inverse_root(x + 1)) if jnp.iscomplexobj(x) else t * _inverse_root(x * x - 1))
def _acosh(x):
    return jnp.arccosh(x)


@_float_op("atanh", node="AtanhBackward0", twin_node="AtanhBackward1", saves=_SAVES_SELF, samples=_UNIT, aliases=("arctanh",))
def atanh(self):
    """The inverse hyperbolic tangent."""
    return _atanh(self)


@partials(lambda t, out, x: t / (1 - x * x))
def _atanh(x):
    return jnp.arctanh(x)


@_float_op("sinc", node="SincBackward0", saves=_SAVES_SELF, aliases=("special.sinc",))
def sinc(self):
    """sin(pi x) / (pi x), 1 at 0; the gradient at 0 is 0."""
    return _sinc(self)


@partials(lambda t, out, x: unless(x * x * math.pi == 0, t, ((x * math.pi) * jnp.cos(x * math.pi) - jnp.sin(x * math.pi)) / (x * x * math.pi)))
def _sinc(x):
    y = math.pi * x
    return jnp.where(x == 0, 1, jnp.sin(y) / y)


# The error and gamma functions

@_float_op("erf", node="ErfBackward0", saves=_SAVES_SELF, aliases=("special.erf",))
def erf(self):
    """The error function."""
    return error_function(only("erf_vml_cpu", self, "f"))


@_float_op("erfc", node="ErfcBackward0", saves=_SAVES_SELF, aliases=("special.erfc",))
def erfc(self):
    """1 - erf(self)."""
    return complement(only("erfc_vml_cpu", self, "f"))


@_float_op("erfinv", node="ErfinvBackward0", saves=_SAVES_SELF, samples=_UNIT, aliases=("special.erfinv",))
def erfinv(self):
    """The inverse of erf."""
    return inverse(only("erfinv_vml_cpu", self, "f"))


@_float_op("lgamma", node="LgammaBackward0", saves=_SAVES_SELF, samples=_POSITIVE, aliases=("special.gammaln",))
def lgamma(self):
    """The logarithm of the absolute value of the gamma function."""
    return _lgamma(only("lgamma_vml_cpu", self, "f"))


@partials(lambda t, out, x: t * _digamma(x))
def _lgamma(x):
    """float32 is computed in double: XLA's float32 values are some units in the last place off."""
    out = lax.lgamma(x.astype(jnp.float64)).astype(jnp.float32) if x.dtype == jnp.float32 else lax.lgamma(x)
    return jnp.where((x == 1) | (x == 2), 0, out)


@_float_op("digamma", node="DigammaBackward0", saves=_SAVES_SELF, samples=_POSITIVE, aliases=("special.digamma", "special.psi"))
def digamma(self):
    """The derivative of lgamma."""
    return _digamma(only("digamma", self, "f"))


@partials(lambda t, out, x: t * _polygamma(x, 1))
def _digamma(x):
    return jnp.where(x == 0, jnp.copysign(_INF, -x), lax.digamma(x))


@op("polygamma(int n, Tensor self) -> Tensor", node="PolygammaBackward0", promote=Promote.FLOAT, saves=_SAVES_SELF, aliases=("special.polygamma",),
    method=False, samples=[call(n, real(3, low=0.5)) for n in (0, 1, 2)], kinks=[call(20, real(3, low=0.5)), call(200, real(2, low=0.5))], inplace=False,
    errors=[fails(call(-1, real(2)), RuntimeError, "polygamma(n, x) does not support negative n.")])
def polygamma(self, *, n):
    """The n-th derivative of digamma."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    return _polygamma(only("digamma" if n == 0 else "trigamma" if n == 1 else "polygamma", self, "f"), n)


@op("polygamma.twin(Tensor self, int n) -> Tensor", node="PolygammaBackward1", promote=Promote.FLOAT, saves=_SAVES_SELF, names=("Tensor.polygamma",),
    inplace=True, out=False, samples=[call(real(3, low=0.5), 1)], kinks=SMOOTH)
def polygamma_twin(self, *, n):
    """`polygamma` written over self."""
    return polygamma(self, n=n)


def _polygamma(x, n):
    if n == 0:
        return _digamma(x)
    return _derivative_of_digamma(n)(x)


def _derivative_of_digamma(n):
    @partials(lambda t, out, x: t * _polygamma(x, n + 1))
    def f(x):
        if n == 1:
            return _trigamma(x)
        return (-1) ** (n + 1) * _factorial(n, x.dtype) * _hurwitz(n + 1, x)

    return f


def _factorial(n, dtype):
    """n! as a number of a dtype, infinite where that does not hold it."""
    out = float(math.factorial(n)) if n <= 170 else _INF
    return jnp.asarray(out if out <= float(jnp.finfo(dtype).max) else _INF, dtype)


def _trigamma(x):
    """By reflection below 1/2, six steps of the recurrence, and three terms of the asymptotic series."""
    low = x < 0.5
    reflected = -((math.pi * math.pi) / (jnp.sin(math.pi * x) * jnp.sin(math.pi * x)))
    y = jnp.where(low, 1 - x, x)
    total = jnp.where(low, reflected, 0)
    for _ in range(6):
        total, y = total + 1 / (y * y), y + 1
    z = 1 / (y * y)
    total = total + (1 + 1 / (2 * y) + z * (1 / 6 - z * (1 / 30 - z * (1 / 42)))) / y
    return jnp.where(low, -total, total)


def _hurwitz(s, x):
    """The sum of (x + k) ** -s over k >= 0, in double, as PyTorch's: those with a negative base, which are added one by one, may cancel the others."""
    x, kind = x.astype(jnp.float64), x.dtype
    below = (x < 0) & (x != jnp.floor(x)) & jnp.isfinite(x)

    def step(state):
        y, total = state
        more = below & (y < 0)
        return jnp.where(more, y + 1, y), jnp.where(more, total + 1 / y**s, total)

    y, total = lax.while_loop(lambda state: jnp.any(below & (state[0] < 0)), step, (x, jnp.zeros_like(x)))
    whole = (x <= 0) & (x == jnp.floor(x))
    return jnp.where(whole, _INF, total + special.zeta(jnp.full_like(y, s), jnp.where(whole, 1, y))).astype(kind)
