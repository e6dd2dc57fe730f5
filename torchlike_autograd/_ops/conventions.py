"""What operators share (layer 2): derivative rules at ties, kinks and zeros, and the check of input types.

A rule is written so that it may be differentiated again: it calls the function it belongs to, not its value.
"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.custom_derivatives import SymbolicZero

from .._core import dtypes, shapes

__all__ = ["BOOL_MINUS", "aligned", "char_name", "check_scale", "cxx_name", "cxx_of", "fixed_power", "flat", "fused", "larger_tangent", "magnitude", "needs_tensor", "no_tangent",
           "of_nothing", "of_one", "only", "partials", "power", "refuse_bools", "signum", "smaller_tangent", "straight", "taking", "unless", "wide"]


def partials(*rules):
    """Decorator: the derivative of a function by one rule for each argument, ``rule(t, out, *args) -> tangent of out`` (None: it has none).

    An argument that does not vary costs nothing and cannot spoil the others with a 0 * inf of its own.  Half precision is computed in float32,
    but rules see the rounded result, because that is what torch saves.
    """

    def attach(f):
        @jax.custom_jvp
        def g(*args):
            low = None if any(x.dtype in _ABOVE for x in args) else next((x.dtype for x in args if x.dtype in _HALVES), None)
            return f(*args) if low is None else _narrow(f(*map(wide, args)), low)

        def jvp(primals, tangents):
            out = g(*primals)
            args, result = [wide(x) for x in primals], wide(out)
            parts = [r(wide(t), result, *args) for r, t in zip(rules, tangents) if r is not None and type(t) is not SymbolicZero]
            if not out.size:  # JAX makes a constant of `where` without elements: mapped, the tangent would have a dim that the result lacks
                return out, jnp.zeros_like(out)
            total = functools.reduce(jnp.add, parts) if parts else jnp.zeros_like(out)
            return out, jnp.broadcast_to(total.astype(out.dtype), out.shape)

        g.defjvp(jvp, symbolic_zeros=True)
        return functools.wraps(f)(g)

    return attach


_HALVES, _ABOVE = (jnp.float16, jnp.bfloat16), (jnp.float32, jnp.float64)


def wide(x):
    """Half precision as float32, anything else as it is."""
    return x.astype(jnp.float32) if x.dtype in _HALVES else x


def _narrow(x, low):
    return x.astype(low) if x.dtype == jnp.float32 else x


def unless(mask, t, slope):
    """t * slope, exactly 0 where `mask` holds: forwards and backwards, even if the slope is not finite there."""
    return jnp.where(mask, 0, jnp.where(mask, 0, t) * slope)


@jax.custom_jvp
def _finite(log, lost):
    return jnp.where(lost, 0, log)


@_finite.defjvp
def _(primals, tangents):
    return _finite(*primals), tangents[0]  # that of the logarithm, also where it is lost


def along_log(t, log, below):
    """t * log, which is 0 for t = 0 also where the logarithm is infinite or, of numbers `below` its domain, not a number.

    It is linear in t, both ways: what is not finite comes about by products that overflow, and by 0 times these.
    """
    lost = below | jnp.isinf(log)
    top, none = jnp.where(lost, jnp.finfo(log.dtype).max, 1), jnp.where(below, 0, 1)
    ends = jnp.where(lost, t, 0) * top * top * none * jnp.where(log > 0, 1, -1)
    return t * _finite(log, lost) + ends + jnp.where(below, t, 0) * none * top * top


_KINDS = {"b": (dtypes.bool_,), "i": (dtypes.uint8, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64),
          "u": (dtypes.uint16, dtypes.uint32, dtypes.uint64), "f": (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64),
          "d": (dtypes.float32, dtypes.float64), "c": (dtypes.complex64, dtypes.complex128)}
_ALLOWED = {k: frozenset(d for letter in k for d in _KINDS[letter]) for k in ("f", "d", "bif", "if", "bifc", "bifu", "ifu", "fc", "ifc", "ifuc", "bi", "i", "biu",
    "bifuc")}


def char_name(x):
    """The word for an array's dtype in messages (Float, Long, ...)."""
    return dtypes.from_numpy_dtype(x.dtype).char_name


_CXX = {"float32": "float", "float64": "double", "int64": "long int", "int32": "int", "float16": "c10::Half", "bfloat16": "c10::BFloat16",
        "int16": "short int", "int8": "signed char", "uint8": "unsigned char", "uint16": "short unsigned int", "uint32": "unsigned int", "uint64": "long unsigned int", "complex64": "c10::complex<float>", "complex128": "c10::complex<double>"}


def cxx_name(x):
    """The C++ name of an array's dtype."""
    return cxx_of(dtypes.from_numpy_dtype(x.dtype))


_LEGACY = ("Byte", "Char", "Double", "Float", "Half", "Int", "Long", "Short")


def type_words(char_name):
    """What torch calls the type of tensors of a dtype, given as its C++ messages name it, in some messages: the types of old have names in Python."""
    return f"torch.{char_name}Tensor" if char_name in _LEGACY else f"CPU{char_name}Type"


def cxx_of(d):
    """The C++ name of a dtype."""
    return _CXX.get(d.name, d.name)


def only(kernel, x, kinds):
    """Refuse dtypes outside `kinds` (letters of bool, int, unsigned wider than 8 bits, float, float of 32 and 64 bits, complex) in torch's words; returns x."""
    d = dtypes.from_numpy_dtype(x.dtype)
    if d not in _ALLOWED[kinds]:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{d.char_name}'")
    return x


def taking(kernel, param, kinds):
    """A `check` of an operator: `only` for the dtype that is given, where the body sees half precision as float32."""

    def check(types, result, statics):
        d = types[param].dtype
        if d not in _ALLOWED[kinds]:
            raise NotImplementedError(f"\"{kernel}\" not implemented for '{d.char_name}'")

    return check


BOOL_MINUS = "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead."


def refuse_bools(types, *_, of=("self", "other")):
    """Differences have no bools (`check` of an entry)."""
    bools = [types[k].dtype.name == "bool" for k in of]
    if all(bools):
        raise RuntimeError(BOOL_MINUS)
    if any(bools):
        raise RuntimeError("Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the `~` or "
                           "`logical_not()` operator instead.")


_PYTHON = {"float64": "float", "int64": "int", "bool": "bool", "complex128": "complex"}


def needs_tensor(name, lists):
    """For `check` of functions of two that take a number for either, but not for both; `lists` are the arguments in torch's words, {got} what stands there."""
    def check(types, result, statics):
        if all(t.device == "number" for t in types.values()):
            kinds = [_PYTHON[t.dtype.name] for t in types.values()]
            given = "(" + ", ".join(f"!{k}!" for k in kinds) + ")"
            raise TypeError(f"{name}() received an invalid combination of arguments - got ({', '.join(kinds)}), but expected one of:\n{lists.format(got=given)}")
    return check


def check_scale(types, result, name):
    """Refuse a scale whose kind the result does not have (types only)."""
    scale = types.get(name)
    if scale is None:
        return
    kind = scale.dtype
    if kind.category == dtypes.BOOL and result.category != dtypes.BOOL:
        raise RuntimeError(f"Boolean {name} only supported for Boolean results.")
    if kind.category >= dtypes.FLOAT and result.category < dtypes.FLOAT:
        raise RuntimeError(f"For integral input tensors, argument {name} must not be a floating point number.")
    if kind.is_complex and not result.is_complex:
        raise RuntimeError(f"For non-complex input tensors, argument {name} must not be a complex number.")


def straight(value, like):
    """`value` in the forward pass with the gradient of `like`."""
    return _straight(value, like)


@partials(None, lambda t, out, value, like: t)
def _straight(value, like):
    return value


def always(*_, **__):
    """For `zero_second` where the gradient may not even look at the input: the input is kept for it."""
    return True


def no_tangent(x):
    """The tangent of integers."""
    return np.zeros(x.shape, jax.dtypes.float0)


def larger_tangent(out, primals, tangents):
    """That of the larger of two in forward mode: half of each where they are equal, the second one's beside NaN."""
    return _chosen(primals, tangents, primals[0] > primals[1])


def smaller_tangent(out, primals, tangents):
    """That of the smaller of two in forward mode."""
    return _chosen(primals, tangents, primals[0] < primals[1])


def _chosen(primals, tangents, first):
    t, u = tangents
    share = jnp.where(primals[0] == primals[1], jnp.asarray(0.5, u.dtype), first.astype(u.dtype))
    return u + share * (t - u)


def of_nothing(x, *_, **__):
    """Whether an operator takes no elements: torch hands on the input itself there as its gradient."""
    return 0 in x.shape


def of_one(x, *_, dim=None, **__):
    """Whether a product is of nothing or of single elements: torch's gradient is still computed from the input."""
    return 0 in x.shape or (x.ndim > 0 and (x.shape[dim] if dim is not None else max(x.shape)) == 1)


def flat(value, x):
    """`value` as a function of x whose derivative is 0 (which is not the same as: no function of x)."""
    return _flat(value, x) if jnp.issubdtype(x.dtype, jnp.inexact) else value


@partials(None, lambda t, out, value, x: jnp.zeros_like(out))
def _flat(value, x):
    return value


def signum(x):
    """The sign with 0 for NaN; z/|z| of a complex number, 0 at 0."""
    if jnp.iscomplexobj(x):
        return _complex_sign(x)
    return jnp.where(x > 0, 1, jnp.where(x < 0, -1, 0)).astype(x.dtype) if x.dtype != bool else x


@partials(lambda t, s, z: _complex_sign_tangent(t, s, z))
def _complex_sign(z):
    size = jnp.abs(z)
    safe = jnp.where(size == 0, 1, size)
    return jnp.where(size == 0, 0, lax.complex(jnp.real(z) / safe, jnp.imag(z) / safe))


def _complex_sign_tangent(t, s, z):
    size = magnitude(z).astype(z.dtype)
    along = jnp.real(jnp.conj(s) * t).astype(z.dtype)
    return jnp.where(size == 0, 0, (t - s * along) / jnp.where(size == 0, 1, size))


@partials(lambda t, out, x: jnp.real(jnp.conj(signum(x)) * t) if jnp.iscomplexobj(x) else signum(x) * t)
def magnitude(x):
    """The absolute value; its derivative at 0 is 0."""
    return jnp.abs(x)


# Powers: the derivative in the base is 0 where the exponent is 0, that in the exponent is 0 where the base is 0 and the exponent is not negative.

def _base_rule(t, out, x, y):
    return unless(y == 0, t, y * power(x, y - 1))


def _exponent_rule(t, out, x, y):
    nonnegative = (jnp.imag(y) == 0) & (jnp.real(y) >= 0) if jnp.iscomplexobj(y) else y >= 0
    return t * jnp.where((x == 0) & nonnegative, 0, out * jnp.log(x))


@partials(_base_rule, _exponent_rule)
def power(x, y):
    """x to the power y, both of one dtype."""
    out = jnp.power(x, y)
    if not jnp.iscomplexobj(x):
        return out
    strange = (x == 0) | ~jnp.isfinite(x) | ~jnp.isfinite(y) | ~jnp.isfinite(out)  # XLA squares the size of x, which overflows long before the power
    return jnp.where(strange, _strange_power(x, y), out)


def _strange_power(x, y):
    """exp(y log x) of complex numbers that are 0 or not finite, with C's rules: what is not a number counts as little as C says."""
    a, b, c, d = jnp.log(jnp.abs(x)), jnp.angle(x), jnp.real(y), jnp.imag(y)
    size, turn = a * c - b * d, a * d + b * c
    turned = _turned(jnp.where(jnp.isinf(size), 0, size), turn)
    turned = jnp.where(size == -jnp.inf, turned * 0, turned)
    far = lax.complex(jnp.full_like(size, jnp.inf), jnp.where(turn == 0, 0, jnp.nan).astype(size.dtype))
    lost = jnp.where(size == -jnp.inf, 0, jnp.full_like(x, complex("nan+nanj")))
    return jnp.where(jnp.isfinite(turn) & (size != jnp.inf), turned, jnp.where(size == jnp.inf, far, lost))


def _turned(size, turn):
    """exp of a complex number, an overflowing size multiplied in two halves with what may be small: infinities keep the signs of the turn."""
    far = size > jnp.log(jnp.finfo(size.dtype).max)
    half = jnp.exp(jnp.where(far, size, 0) / 2)
    large = lax.complex(jnp.cos(turn) * half * half, jnp.where(turn == 0, turn, jnp.sin(turn) * half * half))
    return jnp.where(far, large, jnp.exp(lax.complex(jnp.where(far, 0, size), turn)))


def principal_root(x):
    """The square root; of complex numbers on the side of the branch cut that the sign of a zero imaginary part names (XLA's takes the upper one always)."""
    out = jnp.sqrt(x)
    return lax.complex(jnp.real(out), jnp.copysign(jnp.imag(out), jnp.imag(x))) if jnp.iscomplexobj(x) else out


_DIRECT = {0: jnp.ones_like, 1: lambda x: x, 2: lambda x: x * x, 3: lambda x: x * x * x, 0.5: principal_root, -0.5: lambda x: 1 / principal_root(x),
           -1: lambda x: 1 / x, -2: lambda x: 1 / (x * x)}


@functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
def fixed_power(x, exponent):
    """x to a power that is part of the program."""
    direct = _DIRECT.get(exponent)
    return direct(x) if direct is not None else power(x, jnp.full_like(x, exponent) if jnp.iscomplexobj(x) else jnp.asarray(exponent, x.dtype))


@fixed_power.defjvp
def _(exponent, primals, tangents):
    (x,), (t,) = primals, tangents
    if exponent == 0:
        return fixed_power(x, exponent), jnp.zeros_like(x)
    return fixed_power(x, exponent), t * (exponent * fixed_power(x, exponent - 1))


def fused(c, a, k):
    """c + a * k rounded once, as PyTorch's compiled kernels compute it; k is a count or half of one (at most 26 bits).

    A rounding of its own for the product moves a coordinate to the other side of a whole number, where what is read there changes.
    """
    xp = np if isinstance(a, np.ndarray) else jnp
    if a.dtype == np.float32:
        return (xp.asarray(c, "float64") + xp.asarray(a, "float64") * xp.asarray(k, "float64")).astype("float32")
    wide_a = a * (2.0**27 + 1)                              # a = high + low, of which each product with k is exact (Veltkamp's split)
    high = wide_a - (wide_a - a)
    p, q = high * k, (a - high) * k
    s = c + p
    z = s - c
    lost = (c - (s - z)) + (p - z)                          # s + lost is c + p exactly
    out = s + (lost + q)
    return xp.where(xp.isfinite(out), out, c + a * k)


def aligned(*arrays):
    """The arrays with one rank, checked to broadcast (for operators that do not promote)."""
    shapes.broadcast(*[tuple(x.shape) for x in arrays])
    rank = max(x.ndim for x in arrays)
    return [x.reshape((1,) * (rank - x.ndim) + tuple(x.shape)) for x in arrays]
