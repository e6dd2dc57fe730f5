"""Products with powers of two (layer 2)."""

from __future__ import annotations

import jax.numpy as jnp

from .._core import dtypes
from .conventions import partials, power
from .no_gradient import real_gradient_wanted
from .registry import Promote, at, call, op, real

_LN2 = 0.6931471805599453  # log(2), which no float of JAX tells from more digits


def _is_whole(x):
    return not jnp.issubdtype(x.dtype, jnp.inexact)


def _power_of_two(e):
    """2 ** e in the dtype of a float e."""
    return power(jnp.full_like(e, 2), e)


def _slope(e, dtype):
    """PyTorch's derivative in self: 2 ** e in the dtype of e, where an integer wraps around and a negative exponent gives 0."""
    if not _is_whole(e):
        return _power_of_two(e).astype(dtype)
    e = e.astype(jnp.int64) if e.dtype == bool else e
    inside = (e >= 0) & (e < jnp.iinfo(e.dtype).bits)
    return jnp.where(inside, jnp.left_shift(jnp.ones_like(e), jnp.where(inside, e, 0)), 0).astype(dtype)


@partials(lambda t, out, x, e: t * _slope(e, t.dtype), lambda t, out, x, e: t.astype(x.dtype) * x * _power_of_two(e).astype(x.dtype) * _LN2)
def _scaled(x, e):
    if not _is_whole(e):
        return x * _power_of_two(e).astype(x.dtype)
    if jnp.iscomplexobj(x) or e.dtype == bool:
        return x * _power_of_two(e.astype(jnp.real(x).dtype)).astype(x.dtype)
    return jnp.ldexp(x, jnp.clip(e.astype(jnp.int32), -100000, 100000))  # of C's int: larger ones lose their upper bits


def _check_exponent(types, result, statics):
    if types["self"].dtype.category == dtypes.FLOAT and types["other"].dtype is dtypes.bool_:
        raise NotImplementedError("\"ldexp_cpu_exp\" not implemented for 'Bool'")


def _refuse_real_exponent(types, result, wanted, **statics):
    """torch takes no real part of the complex gradient of a real exponent."""
    if "other" in wanted and result.dtype.is_complex and not types["other"].dtype.is_complex:
        raise real_gradient_wanted()


_INF, _NAN = float("inf"), float("nan")
_EXTREME = [call(at(1.0, 2.0, -3.0, 0.0, _INF, _NAN, 1e300), at(1023, 1024, 2000, 3000, -3000, 5, -1100, dtype="int64", grad=False)),
            call(at(1.0, 2.0, -3.0), at(-1, 63, 64, dtype="int64", grad=False)), call(at(1.0, 0.0, 1.0), at(200.0, 200.0, 0.5, dtype="float32"))]


@op("ldexp.Tensor(Tensor self, Tensor other) -> Tensor", node="LdexpBackward0", promote=Promote.FLOAT, uncast=("other",), opmath=False,
    saves={"self": ("other", "result"), "other": ("result",)}, check=_check_exponent, refuses=_refuse_real_exponent,
    samples=[call(real(3), real(3)), call(real(2, 3), real(3)), call(real(()), real(2))], kinks=_EXTREME)
def ldexp(self, other):
    """self * 2 ** other; an integer exponent scales without overflow on the way, and its gradient counts in integers, as PyTorch's does."""
    return _scaled(self, other)
