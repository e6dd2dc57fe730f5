"""Comparison, logic, bits, and choice between values (layer 2)."""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax

from .._core import config, dtypes
from .._core.shapes import broadcast
from .._core.wrong_shapes import wrong_shape
from . import held
from .conventions import aligned, char_name, flat, larger_tangent, needs_tensor, only, partials, smaller_tangent, straight, wide
from .memory import elementwise
from .no_gradient import real_gradient_wanted
from .registry import NONE, Promote, at, call, fails, op, real

_INF, _NAN = float("inf"), float("nan")
_TWO = [call(real(3), real(3)), call(real(2, 3), real(3)), call(real(()), real(2))]
_BOTH = {"self": ("self", "other"), "other": ("self", "other")}
_EQUALS = [call(at(1.0, _NAN, 2.0, _INF), at(1.0, _NAN, 3.0, _INF))]


# Comparisons: the result is bool and takes no part in differentiation.  In place they do: what is overwritten gets a gradient of 0.

def _comparison(name, compare, aliases, kinds, node):
    """The entries of a comparison; the others serve the twin, which keeps self's dtype."""
    kernel = f"{name}_cpu"

    def body(self, other):
        return compare(only(kernel, self, kinds), other)

    body.__doc__ = f"self {SIGNS[name]} other, element by element."
    op(f"{name}.Tensor(Tensor self, Tensor other) -> Tensor", derivative=NONE, promote=Promote.RESULT, scalars=("other",), aliases=aliases, opmath=False,
       inplace=False, samples=[call(real(3), real(3)), call(real(2, 3), 0.5), call(real(2, 3), real(3))], kinks=_EQUALS,
       errors=[fails(call(real(2), real(3)), RuntimeError, "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0")])(body)

    def twin(self, other):
        sides = [(dtypes.from_numpy_dtype(x.dtype), x.ndim) for x in (self, other)]
        return compared(self, other, dtypes.result_type([d for d, n in sides if n], [d for d, n in sides if not n], [], config.default_dtype()).np)

    def number_twin(self, *, other):
        own = dtypes.from_numpy_dtype(self.dtype)
        if jnp.iscomplexobj(other):  # the number is no wider than the tensor
            return compared(self, other, dtypes.result_type([own], [], [dtypes.of_scalar(1j)], config.default_dtype()).np)
        return compared(self, other, self.dtype if jnp.issubdtype(self.dtype, jnp.inexact) else dtypes.promote_types(own, dtypes.from_numpy_dtype(other.dtype)).np)

    def compared(self, other, common):
        shape = broadcast(self.shape, other.shape)
        if shape != self.shape:
            raise wrong_shape(name, self.shape, shape, ())
        out = compare(*aligned(only(kernel, self.astype(common), kinds), other.astype(common)))
        return flat(out.astype(self.dtype), self) if jnp.issubdtype(self.dtype, jnp.inexact) else out

    twin.__doc__ = number_twin.__doc__ = f"`{name}` written over self."
    fields = {"names": [f"Tensor.{n}" for n in (name, *aliases)], "opmath": False, "inplace": True, "out": False, "kinks": _EQUALS}
    op(f"{name}.twin(Tensor self, Tensor other) -> Tensor", node=f"{node}1", samples=[call(real(3), real(3))], **fields)(twin)
    op(f"{name}.number_twin(Tensor self, Scalar other) -> Tensor", node=f"{node}0", lift=("other",), samples=[call(real(3), 0.5)],
       **{**fields, "kinks": [call(at(1.0, _NAN), 1.0)]})(number_twin)


SIGNS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
for _name, _compare, _aliases, _kinds, _node in (
        ("eq", jnp.equal, (), "bifuc", "EqBackward"), ("ne", jnp.not_equal, ("not_equal",), "bifuc", "NeBackward"),
        ("lt", jnp.less, ("less",), "bif", "LtBackward"), ("le", jnp.less_equal, ("less_equal",), "bif", "LeBackward"),
        ("gt", jnp.greater, ("greater",), "bif", "GtBackward"), ("ge", jnp.greater_equal, ("greater_equal",), "bif", "GeBackward")):
    _comparison(_name, _compare, _aliases, _kinds, _node)


_TEST = {"derivative": NONE, "lies": elementwise, "inplace": False, "samples": [call(real(3)), call(real(()))], "kinks": [call(at(_NAN, _INF, -_INF, 0.0))]}


@op("isnan(Tensor self) -> Tensor", out=False, **_TEST)
def isnan(self):
    """Where self is NaN."""
    return self != self


@op("isinf(Tensor self) -> Tensor", out=False, **_TEST)
def isinf(self):
    """Where self (or a part of it) is infinite."""
    if jnp.iscomplexobj(self):
        return jnp.isinf(jnp.real(self)) | jnp.isinf(jnp.imag(self))
    return jnp.isinf(self)


@op("isfinite(Tensor self) -> Tensor", out=False, **_TEST)
def isfinite(self):
    """Where self is a finite number."""
    return jnp.isfinite(self)


def _signed_infinity(name, self, which):
    if jnp.iscomplexobj(self):
        raise RuntimeError(f"{name} does not support complex inputs.")
    return self == which if jnp.issubdtype(self.dtype, jnp.floating) else jnp.zeros(self.shape, bool)


@op("isposinf(Tensor self) -> Tensor", **_TEST)
def isposinf(self):
    """Where self is +inf."""
    return _signed_infinity("isposinf", self, _INF)


@op("isneginf(Tensor self) -> Tensor", **_TEST)
def isneginf(self):
    """Where self is -inf."""
    return _signed_infinity("isneginf", self, -_INF)


@op("isreal(Tensor self) -> Tensor", out=False, **{**_TEST, "method": True})
def isreal(self):
    """Where the imaginary part is 0."""
    return jnp.imag(self) == 0 if jnp.iscomplexobj(self) else jnp.ones(self.shape, bool)


def _negative(number):
    return not hasattr(number, "dtype")


def _near(self, other, rtol, atol, equal_nan):
    """Whether |self - other| <= atol + rtol * |other|, equal infinities included."""
    if self.dtype != other.dtype:
        raise RuntimeError(f"{char_name(self)} did not match {char_name(other)}")
    for name, value in (("rtol", rtol), ("atol", atol)):
        if _negative(value):
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {value:g}")
    self, other = aligned(self, other)
    close = self == other
    if equal_nan:
        close |= (self != self) & (other != other)
    if not jnp.issubdtype(self.dtype, jnp.inexact):
        self, other = (x.astype(config.default_dtype().np) for x in (self, other))
    own, self, other = self.dtype, wide(self), wide(other)
    rounded = (lambda x: x) if own == self.dtype else (lambda x: wide(x.astype(own)))  # torch has no wider type for what lies between
    gap = rounded(jnp.abs(self - other))
    part = rounded(rtol.real.astype(gap.dtype) * jnp.abs(other))
    allowed = rounded(atol.real.astype(gap.dtype) + part)  # as complex numbers where the tensors are
    some = (rtol.real != 0) | (atol.real != 0)  # without a tolerance integers are not rounded
    return close | (some & jnp.isfinite(gap) & (gap <= allowed))


_TOLERANCES = "float rtol=1e-05, float atol=1e-08, bool equal_nan=False"
_CLOSE = {"derivative": NONE, "lies": elementwise, "lift": ("rtol", "atol"), "bake": {"rtol": lambda x, flat: x < 0, "atol": lambda x, flat: x < 0}, "opmath": False, "out": False,
          "samples": [call(at(1.0, 2.0), at(1.0, 2.00001)), call(at(1.0, 2.0), at(1.0, 2.1), 0.1, 0.1)],
          "kinks": [call(at(_INF, _INF, _NAN), at(_INF, -_INF, _NAN)), call(at(_NAN), at(_NAN), equal_nan=True)],
          "errors": [fails(call(at(1.0), at(1.0, dtype="float32")), RuntimeError, "Double did not match Float"),
                     fails(call(at(1.0), at(1.0), -1.0), RuntimeError, "rtol must be greater than or equal to zero, but got -1")]}


@op(f"isclose(Tensor self, Tensor other, {_TOLERANCES}) -> Tensor", **_CLOSE)
def isclose(self, other, *, rtol, atol, equal_nan):
    """Where two tensors agree within a tolerance."""
    return _near(self, other, rtol, atol, equal_nan)


@op(f"_allclose(Tensor self, Tensor other, {_TOLERANCES}) -> Tensor", names=(), **_CLOSE)
def _allclose(self, other, *, rtol, atol, equal_nan):
    """Whether two tensors agree within a tolerance everywhere."""
    return jnp.all(_near(self, other, rtol, atol, equal_nan))


@op("_equal(Tensor self, Tensor other) -> Tensor", promote=Promote.RESULT, derivative=NONE, names=(), opmath=False, inplace=False, samples=[call(real(2),
    real(2))],
    kinks=_EQUALS)
def _equal(self, other):
    """Whether two tensors of one shape have the same elements."""
    return jnp.all(self == other)


# Logic and bits

def _truth(x):
    return x if x.dtype == bool else x != 0


_LOGIC = {"derivative": NONE, "lies": elementwise, "inplace": True, "kinks": [call(at(0.0, _NAN, -0.0), at(0.0, 1.0, 2.0))], "samples": _TWO}


@op("logical_and(Tensor self, Tensor other) -> Tensor", **_LOGIC)
def logical_and(self, other):
    """Where both are nonzero."""
    self, other = aligned(only("logical_and_cpu", self, "bifc"), other)
    return _truth(self) & _truth(other)


@op("logical_or(Tensor self, Tensor other) -> Tensor", **_LOGIC)
def logical_or(self, other):
    """Where one or both are nonzero."""
    self, other = aligned(only("logical_or_cpu", self, "bifc"), other)
    return _truth(self) | _truth(other)


@op("logical_xor(Tensor self, Tensor other) -> Tensor", **_LOGIC)
def logical_xor(self, other):
    """Where exactly one is nonzero."""
    self, other = aligned(only("logical_xor_cpu", self, "bifc"), other)
    return _truth(self) ^ _truth(other)


@op("logical_not(Tensor self) -> Tensor", derivative=NONE, lies=elementwise, inplace=True, kinks=[call(at(0.0, _NAN, -0.0))], samples=[call(real(3))])
def logical_not(self):
    """Where self is 0."""
    return ~_truth(only("logical_not_cpu", self, "bifc"))


_INTS = [call(at(5, 3, 0, dtype="int64", grad=False), at(3, 1, 7, dtype="int64", grad=False)), call(at(5, 3, dtype="int32", grad=False), 2)]
_BIT_LISTS = (" * (Tensor input, Tensor other, *, Tensor out = None)\n * (Number self, Tensor other)\n"
              "      didn't match because some of the arguments have invalid types: {got}\n * (Tensor input, Number other, *, Tensor out = None)\n")
_BITS = {"derivative": NONE, "promote": Promote.RESULT, "opmath": False, "kinks": [call(at(True, False, dtype="bool", grad=False), True)], "samples": _INTS,
         "scalars": ("self", "other"), "errors": [fails(call(at(1.0), at(1.0)), NotImplementedError, "not implemented for 'Double'")]}


@op("bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor", check=needs_tensor("bitwise_and", _BIT_LISTS), **_BITS)
def bitwise_and(self, other):
    """The bits set in both."""
    return only("bitwise_and_cpu", self, "biu") & other


@op("bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor", check=needs_tensor("bitwise_or", _BIT_LISTS), **_BITS)
def bitwise_or(self, other):
    """The bits set in one or both."""
    return only("bitwise_or_cpu", self, "biu") | other


@op("bitwise_xor.Tensor(Tensor self, Tensor other) -> Tensor", check=needs_tensor("bitwise_xor", _BIT_LISTS), **_BITS)
def bitwise_xor(self, other):
    """The bits set in exactly one."""
    return only("bitwise_xor_cpu", self, "biu") ^ other


@op("bitwise_not(Tensor self) -> Tensor", derivative=NONE, lies=elementwise, inplace=True, samples=[call(at(5, 0, -1, dtype="int64", grad=False))],
    kinks=[call(at(True, False, dtype="bool", grad=False))])
def bitwise_not(self):
    """Every bit turned over."""
    return ~only("bitwise_not_cpu", self, "bi")


_SHIFTS = {**_BITS, "kinks": [call(at(1, -5, 1, dtype="int64", grad=False), at(65, 70, -1, dtype="int64", grad=False))],
           "errors": [fails(call(at(1.0), at(1.0)), NotImplementedError, "not implemented for 'Double'")]}


@op("bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor", check=needs_tensor("bitwise_left_shift", _BIT_LISTS), **_SHIFTS)
def bitwise_left_shift(self, other):
    """Bits moved to higher places; 0 for shifts that are negative or as wide as the type."""
    only("lshift_cpu", self, "i")
    width = jnp.iinfo(self.dtype).bits
    return jnp.where((other < 0) | (other >= width), 0, jnp.left_shift(self, jnp.clip(other, 0, width - 1)))


@op("bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor", check=needs_tensor("bitwise_right_shift", _BIT_LISTS), **_SHIFTS)
def bitwise_right_shift(self, other):
    """Bits moved to lower places; the sign fills up, completely for shifts that are negative or too wide."""
    only("rshift_cpu", self, "i")
    width = jnp.iinfo(self.dtype).bits
    return jnp.right_shift(self, jnp.where((other < 0) | (other >= width), width - 1, other)) if self.dtype != jnp.uint8 else jnp.where(
        (other < 0) | (other >= width), 0, jnp.right_shift(self, jnp.clip(other, 0, width - 1)))


# Ties and bounds

@partials(lambda t, out, x, y: jnp.where(x < y, 0, jnp.where(x == y, t / 2, t)), lambda t, out, x, y: jnp.where(x > y, 0, jnp.where(x == y, t / 2, t)))
def _larger(x, y):
    return jnp.maximum(x, y)


@partials(lambda t, out, x, y: jnp.where(x > y, 0, jnp.where(x == y, t / 2, t)), lambda t, out, x, y: jnp.where(x < y, 0, jnp.where(x == y, t / 2, t)))
def _smaller(x, y):
    return jnp.minimum(x, y)


@partials(lambda t, out, x, y: jnp.where((x >= y) | (y != y), t, 0), lambda t, out, x, y: jnp.where((x >= y) | (y != y), 0, t))
def _larger_number(x, y):
    return jnp.where((x >= y) | (y != y), x, y)      # the first of two zeros


@partials(lambda t, out, x, y: jnp.where((x <= y) | (y != y), t, 0), lambda t, out, x, y: jnp.where((x <= y) | (y != y), 0, t))
def _smaller_number(x, y):
    return jnp.where((x <= y) | (y != y), x, y)


def of_real(name):
    """A check that refuses complex numbers for an operator."""

    def check(types, result, statics):
        """torch refuses complex numbers before it looks at sizes."""
        if any(a.dtype.is_complex for a in types.values()):
            raise RuntimeError(f"{name} not implemented for complex tensors.")

    return check


_BOTH = {"self": ("self", "other"), "other": ("self", "other")}
_TIES = {"promote": Promote.RESULT, "saves": _BOTH, "samples": _TWO, "inplace": False, "opmath": False,
         "kinks": [call(at(1.0, _NAN, 1.0, _NAN, 2.0), at(1.0, 1.0, _NAN, _NAN, 1.0)), call(at(0.0, -0.0), at(-0.0, 0.0))]}


@op("maximum(Tensor self, Tensor other) -> Tensor", node="MaximumBackward0", tangent=larger_tangent, check=of_real("maximum"), **_TIES,
    errors=[fails(call(at(1j, dtype="complex128"), at(1j, dtype="complex128")), RuntimeError, "maximum not implemented for complex tensors.")])
def maximum(self, other):
    """The larger of two; a tie shares the gradient, NaN wins and sends it to both."""
    return _larger(only("maximum_cpu", self, "bif"), other)


@op("minimum(Tensor self, Tensor other) -> Tensor", node="MinimumBackward0", tangent=smaller_tangent, check=of_real("minimum"), **_TIES)
def minimum(self, other):
    """The smaller of two; a tie shares the gradient, NaN wins and sends it to both."""
    return _smaller(only("minimum_cpu", self, "bif"), other)


def _fmax_tangent(out, primals, tangents):
    """In forward mode the second operand takes a tie."""
    return jnp.where((primals[0] > primals[1]) | jnp.isnan(primals[1]), *tangents)


@op("fmax(Tensor self, Tensor other) -> Tensor", node="FmaxBackward0", tangent=_fmax_tangent, check=of_real("fmax"), **_TIES)
def fmax(self, other):
    """The larger of two; a number wins over NaN, the first operand takes a tie."""
    return _larger_number(only("maximum_cpu", self, "bif"), other)


@op("fmin(Tensor self, Tensor other) -> Tensor", node="FminBackward0", check=of_real("fmin"), **_TIES)
def fmin(self, other):
    """The smaller of two; a number wins over NaN, the first operand takes a tie."""
    return _smaller_number(only("minimum_cpu", self, "bif"), other)


def _inside(x, lo, hi):
    return (x >= lo if lo is not None else True) & (x <= hi if hi is not None else True)


def _clamp_numbers(x, lo, hi, kernel):
    if jnp.iscomplexobj(x):
        raise NotImplementedError("clamp is not supported for complex types")
    only(kernel, x, "if")
    bounded = x if lo is None else jnp.maximum(x, lo)  # one operation a bound: XLA splits kernels of many operations over threads, also small ones
    bounded = bounded if hi is None else jnp.minimum(bounded, hi)
    return jnp.where(_inside(x, lo, hi), x, lax.stop_gradient(bounded))


def _between(x, lo, hi):
    """NaN in any of the three is kept, and of two zeros that of the bound."""
    out = x if lo is None else jnp.where((x > lo) | (x != x), x, lo)
    return out if hi is None else jnp.where((out < hi) | (out != out), out, hi)


def _clamp_tensors(x, lo, hi):
    """The gradient goes to the one that is returned: x at a tie, the upper bound where the bounds cross, nobody if one is NaN or the bounds are equal."""
    out = lax.stop_gradient(x)
    if hi is not None:
        out = jnp.where(x > hi if lo is None else (x > hi) | (lo > hi), hi, out)
    if lo is not None:
        out = jnp.where(x < lo if hi is None else (x < lo) & (lo < hi), lo, out)
    return straight(_between(x, lo, hi), jnp.where(_inside(x, lo, hi), x, out))


def _clamp_tangent(out, primals, tangents):
    """In forward mode x counts where comparisons with NaN leave it, and the upper bound where the bounds cross."""
    (x, lo, hi), (t, low, high) = primals, tangents
    if hi is None:
        return jnp.where(x > lo, t, low)
    if lo is None:
        return jnp.where(x < hi, t, high)
    return jnp.where(lo > hi, high, jnp.where(x < lo, low, jnp.where(x > hi, high, t)))


def _check_clamped(types, result, statics):
    if "min" not in types and "max" not in types:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if types["self"].dtype.is_complex:
        raise NotImplementedError("clamp is not supported for complex types")


def _refuse_smaller(types, result, wanted, **statics):
    """torch's masks of two bounds are written to the comparison with one of them."""
    if {"min", "max"} <= types.keys():
        for name in ("self", "min", "max"):
            bound = types["max" if name == "max" else "min"].shape
            have = tuple(broadcast(types["self"].shape, bound))
            if name in wanted and have != result.shape:
                raise RuntimeError(f"output with shape {list(have)} doesn't match the broadcast shape {list(result.shape)}")


_BOUNDS = {"min": held.own, "max": held.own}
_EMPTY_CLAMP = [fails(call(real(2)), RuntimeError, "torch.clamp: At least one of 'min' or 'max' must not be None")]


@op("clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor", node="ClampBackward0", promote=Promote.RESULT, opmath=False,
    saves=dict.fromkeys(("self", "min", "max"), ("self", "min", "max")), aliases=("clip",),
    samples=[call(real(4), real(4), real(4)), call(real(2, 3), real(3), None), call(real(2, 3), None, real(2, 1)), call(real(2), real(()))],
    kinks=[call(at(1.0, 2.0, 3.0, 2.0), at(2.0, 2.0, 2.0, 3.0), at(2.0, 2.0, 4.0, 1.0)), call(at(_NAN, 1.0, 1.0), at(2.0, _NAN, 0.0), at(3.0, 2.0, _NAN))],
    errors=_EMPTY_CLAMP, tangent=_clamp_tangent, check=_check_clamped, refuses=_refuse_smaller)
def clamp_tensor(self, min=None, max=None):
    """self between two bounds, which win in the order lower, upper."""
    only("clamp_cpu" if None not in (min, max) else "maximum_cpu" if max is None else "minimum_cpu", self, "if" if None not in (min, max) else "bif")
    return _clamp_tensors(self, min, max)


@op("clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
    holds=_BOUNDS, node="ClampBackward1", promote=Promote.RESULT, promote_with=("self", "min", "max"),
    lift=("min", "max"), saves={"self": ("self",)}, aliases=("clip",), samples=[call(real(4), -0.3, 0.4), call(real(2, 3), None, 0.1)], opmath=False,
    kinks=[call(at(0.0, 0.5, 1.0, 2.0), 0.0, 1.0), call(at(0.0, 2.0, _NAN), 1.0, 0.0)], errors=_EMPTY_CLAMP)
def clamp(self, *, min=None, max=None):
    """Bounds are inclusive: the gradient is 1 at both."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    return _clamp_numbers(self, min, max, "clamp_scalar_cpu" if None not in (min, max) else "clamp_min_scalar_cpu" if max is None else "clamp_max_scalar_cpu")


_AT_BOUND = [call(at(0.0, 1.0, 2.0, _NAN), at(1.0, 1.0, 1.0, 1.0))]
_AT_NUMBER = [call(at(0.0, 1.0, 2.0, _NAN), 1.0)]


@op("clamp_min.Tensor(Tensor self, Tensor min) -> Tensor", node="ClampMinBackward1", promote=Promote.RESULT, saves=dict.fromkeys(("self", "min"), ("self",
    "min")),
    samples=_TWO, kinks=_AT_BOUND, opmath=False, tangent=lambda out, xs, ts: jnp.where(xs[0] >= xs[1], *ts))
def clamp_min_tensor(self, min):
    """self, at least min; at a tie the gradient goes to self."""
    return _clamp_tensors(only("maximum_cpu", self, "bif"), min, None)


@op("clamp_min(Tensor self, Scalar min) -> Tensor",
    holds=_BOUNDS, node="ClampMinBackward0", promote=Promote.RESULT, promote_with=("self", "min"), lift=("min",),
    saves={"self": ("self",)}, samples=[call(real(4), -0.3)], kinks=_AT_NUMBER, opmath=False)
def clamp_min(self, *, min):
    """self, at least a number."""
    return _clamp_numbers(self, min, None, "clamp_min_scalar_cpu")


@op("clamp_max.Tensor(Tensor self, Tensor max) -> Tensor", node="ClampMaxBackward1", promote=Promote.RESULT, saves=dict.fromkeys(("self", "max"), ("self",
    "max")),
    samples=_TWO, kinks=_AT_BOUND, opmath=False, tangent=lambda out, xs, ts: jnp.where(xs[0] <= xs[1], *ts))
def clamp_max_tensor(self, max):
    """self, at most max; at a tie the gradient goes to self."""
    return _clamp_tensors(only("minimum_cpu", self, "bif"), None, max)


@op("clamp_max(Tensor self, Scalar max) -> Tensor",
    holds=_BOUNDS, node="ClampMaxBackward0", promote=Promote.RESULT, promote_with=("self", "max"), lift=("max",),
    saves={"self": ("self",)}, samples=[call(real(4), 0.3)], kinks=_AT_NUMBER, opmath=False)
def clamp_max(self, *, max):
    """self, at most a number."""
    return _clamp_numbers(self, None, max, "clamp_max_scalar_cpu")


# Choice by a condition

def _where_refuses(types, result, wanted, **_):
    """torch hands the complex gradient of a mixed choice to its real operand, which is an error there."""
    if result.dtype.is_complex and any(not types[name].dtype.is_complex for name in wanted):
        raise real_gradient_wanted()


def _check_condition(types, result, statics):
    """torch looks at the type before it looks at sizes."""
    own = types["condition"].dtype
    if own not in (dtypes.bool_, dtypes.uint8):
        raise RuntimeError(f"where expected condition to be a boolean tensor, but got a tensor with dtype {own.char_name}")


@op("where.self(Tensor condition, Tensor self, Tensor other) -> Tensor", node="WhereBackward0", refuses=_where_refuses, promote=Promote.RESULT, promote_with=("self", "other"),
    scalars=("self", "other"), saves={"self": ("condition",), "other": ("condition",)}, names=(), inplace=False, opmath=False,
    samples=[call(at(True, False, True, dtype="bool", grad=False), real(3), real(3)), call(at(True, False, dtype="bool", grad=False), real(3, 2), 1.5)],
    kinks=[call(at(True, False, dtype="bool", grad=False), at(_NAN, _INF), at(_NAN, _INF))], check=_check_condition,
    errors=[fails(call(at(1.0), at(1.0), at(1.0)), RuntimeError, "where expected condition to be a boolean tensor, but got a tensor with dtype Double")])
def where(condition, self, other):
    """self where the condition holds, other elsewhere; what was not chosen gets a gradient of exactly 0."""
    return jnp.where(condition.astype(bool), self, other)
