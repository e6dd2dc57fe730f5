"""Special functions: Bessel, normal distribution, entropy (layer 2)."""

from __future__ import annotations

import math

import jax.numpy as jnp
from jax.scipy import special as js

from .casts import HALVES
from .conventions import along_log, only, partials, signum
from .quotients import quotient
from .registry import Promote, at, call, op, real
from .tracing import looping

_INF, _NAN = float("inf"), float("nan")
_ROOT2 = math.sqrt(2)
_SELF, _RESULT, _BOTH = {"self": ("self",)}, {"self": ("result",)}, {"self": ("self", "result")}


def _function(name, *, node, saves, kernel, samples=None, kinks=(), names=None, inplace=False, kinds="f", refuses=None):
    """An entry of a function of one floating number."""

    def declare(f):
        public = names or (f"torch.special.{name.removeprefix('special_')}",)

        @op(f"{name}(Tensor self) -> Tensor", node=node, saves=saves, promote=Promote.FLOAT, opmath=False, inplace=inplace, names=public,
            method=False, refuses=refuses, samples=samples or [call(real(3)), call(real(2, 3))], kinks=[call(at(0.0, -0.0, 1.0, -1.0, 30.0, _INF, _NAN)), *kinks])
        def body(self):
            return f(only(kernel, self, kinds))

        body.op.doc = f.__doc__
        return f

    return declare


@_function("i0", node="I0Backward0", saves=_SELF, kernel="i0_vml_cpu", names=("torch.i0", "Tensor.i0", "torch.special.i0"), inplace=True)
@partials(lambda t, out, x: t * _i1(x))
def _i0(x):
    """The modified Bessel function of order 0."""
    return js.i0(x)


def _slope(x, out, formula):
    """The derivative, which torch takes from the result too, where x is far enough from 0 to divide by (which NaN is not), 1/2 elsewhere."""
    apart = jnp.abs(x) > jnp.finfo(x.dtype).eps
    return jnp.where(apart, formula(jnp.where(apart, x, 1), jnp.where(apart, out, 0)), 0.5)


def _no_halves(kernel):
    """Raises for half precision, for which PyTorch has the function but not the kernel of its gradient."""
    def refuses(types, result, wanted):
        if result.dtype in HALVES:
            raise NotImplementedError(f"\"{kernel}\" not implemented for '{result.dtype.char_name}'")

    return refuses


@_function("special_i1", node="SpecialI1Backward0", saves=_BOTH, kernel="i1_cpu", refuses=_no_halves("i1_backward"))
@partials(lambda t, out, x: t * _slope(x, out, lambda x, out: _i0(x) - out / x))
def _i1(x):
    """The modified Bessel function of order 1."""
    return jnp.where(x == 0, 0, js.i1(x))  # of -0 too


@_function("special_i0e", node="SpecialI0EBackward0", saves=_BOTH, kernel="i0e_cpu")
@partials(lambda t, out, x: t * (_i1e(x) - signum(x) * out))
def _i0e(x):
    """exp(-|x|) i0(x)."""
    return jnp.minimum(js.i0e(x), 1)  # above 1 by rounding near 0


@_function("special_i1e", node="SpecialI1EBackward0", saves=_BOTH, kernel="i1e_cpu", refuses=_no_halves("i1e_backward"))
@partials(lambda t, out, x: t * _slope(x, out, lambda x, out: _i0e(x) - out * (signum(x) + 1 / x)))
def _i1e(x):
    """exp(-|x|) i1(x)."""
    return jnp.where(x == 0, 0, js.i1e(x))


@_function("special_entr", node="SpecialEntrBackward0", saves=_SELF, kernel="entr_cpu")
@partials(lambda t, out, x: t * -(jnp.log(x) + 1))
def _entr(x):
    """-x log(x), 0 at 0 and -inf below."""
    return jnp.where(jnp.isnan(x), x, jnp.where(x > 0, -x * jnp.log(jnp.where(x > 0, x, 1)), jnp.where(x == 0, 0, -_INF)))


@_function("special_erfcx", node="SpecialErfcxBackward0", saves=_BOTH, kernel="erfcx_cpu", kinds="d")
@partials(lambda t, out, x: t * (2 * x * _erfcx(x) - 2 / math.sqrt(math.pi)))
def _erfcx(x):
    """exp(x * x) erfc(x): far out by the asymptotic series."""
    far = x > 9
    near = jnp.where(far, 0, x)
    z = 1 / (2 * jnp.where(far, x, 10) ** 2)
    series = jnp.ones_like(x)
    for k in range(9, 0, -1):
        series = 1 - (2 * k - 1) * z * series
    return jnp.where(far, series * (1 / math.sqrt(math.pi)) / jnp.where(far, x, 10), jnp.exp(near * near) * js.erfc(near))


@_function("special_log_ndtr", node="SpecialLogNdtrBackward0", saves=_BOTH, kernel="log_ndtr_cpu", kinds="d")
@partials(lambda t, out, x: t / math.sqrt(2 * math.pi) * jnp.exp(-(out + x * x / 2)))  # far below 0 as inexact as torch 2.13's
def _log_ndtr(x):
    """The logarithm of the normal distribution function."""
    t = x * math.sqrt(0.5)
    low = x < 1
    return jnp.where(low, jnp.log(_erfcx(jnp.where(low, -t, 0)) / 2) - jnp.where(low, t, 0) ** 2, jnp.log1p(-js.erfc(jnp.where(low, 0, t)) / 2))


@_function("special_ndtri", node="SpecialNdtriBackward0", saves=_RESULT, kernel="ndtri_cpu", kinds="d", samples=[call(real(3, low=0.1, high=0.9))],
           kinks=[call(at(0.0, 1.0, 0.5, 2.0, -1.0))])
@partials(lambda t, out, x: t * math.sqrt(2 * math.pi) * jnp.exp(out ** 2 / 2))
def _ndtri(x):
    """The inverse of the normal distribution function."""
    return looping(js.ndtri)(x)


# x log(1 + y)

def _x_log1p(x, y):
    return jnp.where(jnp.isnan(y), _NAN, jnp.where(x == 0, 0, x * jnp.log1p(y)))


def _x_log1p_slope(t, x, y, zero):
    return jnp.where(zero, 0, along_log(jnp.where(zero, 0, t), jnp.log1p(y), y < -1))


@partials(lambda t, out, x, y: _x_log1p_slope(t, x, y, (x == 0) & (y <= -1)), lambda t, out, x, y: t * quotient(x, y + 1))
def _x_log1p_y(x, y):
    return _x_log1p(x, y)


@partials(lambda t, out, x, y: _x_log1p_slope(t, x, y, (x == 0) & ~(y > -1)), None)
def _x_log1p_number(x, y):
    return _x_log1p(x, y)


_XLOG1PY = {"promote": Promote.FLOAT, "names": ("torch.special.xlog1py",), "inplace": False, "method": False}
_EDGES = [call(at(0.0, 0.0, 0.0, 1.0), at(-1.0, -2.0, _NAN, 0.0))]


@op("special_xlog1py(Tensor self, Tensor other) -> Tensor", node="SpecialXlog1PyBackward0", saves={"self": ("self", "other"), "other": ("self", "other")},
    samples=[call(real(3, low=0.1), real(3, low=-0.5))], kinks=_EDGES, **_XLOG1PY)
def xlog1py(self, other):
    """self * log1p(other), 0 where self is 0."""
    return _x_log1p_y(only("xlog1py_cpu", self, "f"), other)


@op("special_xlog1py.self_scalar(Scalar self, Tensor other) -> Tensor", node="SpecialXlog1PyBackward1", saves={"other": ("other",)}, lift=("self",),
    promote_with=("self", "other"), samples=[call(2.0, real(3, low=-0.5))], kinks=[call(0.0, at(-1.0, 0.0))], **_XLOG1PY)
def xlog1py_of_number(other, *, self):
    """`xlog1py` of a number."""
    return _x_log1p_y(only("xlog1py_cpu", self, "f"), other)


@op("special_xlog1py.other_scalar(Tensor self, Scalar other) -> Tensor", node="SpecialXlog1PyBackward2", saves={"self": ("self",)}, lift=("other",),
    promote_with=("self", "other"), samples=[call(real(3), 2.0)], kinks=[call(at(0.0, 1.0), -1.0)], **_XLOG1PY)
def xlog1py_number(self, *, other):
    """`xlog1py` with a number."""
    return _x_log1p_number(only("xlog1py_cpu", self, "f"), other)
