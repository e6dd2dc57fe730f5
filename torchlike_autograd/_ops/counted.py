"""Numbers that a device draws itself (layer 2): functions of a key, by `jax.random` with Threefry.

One key gives the same numbers on every device, however a program is cut or spread.  It is a runtime argument, which a generator works out from its seed
and its place (`_core/rng_counted.py`): a loop that draws is compiled once.  Half precision is drawn in float32 and rounded, as everywhere in torch.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
from jax import lax

from .casts import convert
from .registry import NONE, SMOOTH, at, call, op

_PLACE = "int key, *, int[] size, ScalarType dtype"
_IN_DOUBLE = ("float64", "complex128")


def _key(number):
    words = jnp.stack([number >> 32, number]).astype(jnp.uint32)
    return jax.random.wrap_key_data(words, impl="threefry2x32")


def _work(dtype):
    return jnp.float64 if dtype.np.name in _IN_DOUBLE else jnp.float32


def _parts(draw, size, dtype):
    """draw(shape, work dtype) for real numbers, or for the two parts of complex ones."""
    if not dtype.is_complex:
        return convert(draw(size, _work(dtype)), dtype)
    parts = draw((*size, 2), _work(dtype))
    return lax.complex(parts[..., 0], parts[..., 1])


@op(f"_counted_uniform(Scalar low, Scalar high, {_PLACE}) -> Tensor", derivative=NONE, names=(), lift=("low", "high", "key"),
    samples=[call(0.0, 1.0, 5, size=(2, 3), dtype="float32")], kinks=SMOOTH)
def _counted_uniform(*, low, high, key, size, dtype):
    """Numbers in [low, high); one that rounding brings to `high` becomes `low`, as in torch."""

    def draw(shape, work):
        first, last = low.astype(work), high.astype(work)
        return jax.random.uniform(_key(key), shape, work) * (last - first) + first

    if dtype.is_complex:
        return _parts(draw, size, dtype)
    drawn = convert(draw(size, _work(dtype)), dtype)
    return jnp.where(drawn == convert(high, dtype), convert(low, dtype), drawn)


@op(f"_counted_normal(Scalar mean, Scalar std, {_PLACE}) -> Tensor", derivative=NONE, names=(), lift=("mean", "std", "key"),
    samples=[call(0.0, 1.0, 5, size=(2, 3), dtype="float32")], kinks=SMOOTH)
def _counted_normal(*, mean, std, key, size, dtype):
    """Normal numbers; each part of complex ones has half the variance."""
    share = math.sqrt(0.5) if dtype.is_complex else 1.0

    def draw(shape, work):
        return jax.random.normal(_key(key), shape, work) * (std * share).astype(work) + mean.astype(work)

    return _parts(draw, size, dtype)


def _negative(std, **_):
    return jnp.any(~(std >= 0)).astype(jnp.int32)


def _no_deviation(code, *shapes, **statics):
    return RuntimeError("normal expects all elements of std >= 0.0")


@op("_counted_normal_each(Tensor std, int key, *, int[] size, ScalarType dtype) -> Tensor", derivative=NONE, names=(),
    lift=("key",), guard=_negative, guard_error=_no_deviation,
    samples=[call(at(0.25, 0.5, grad=False), 5, size=(2,), dtype="float32")], kinks=SMOOTH)
def _counted_normal_each(std, *, key, size, dtype):
    """Normal numbers around 0 with a deviation each."""
    drawn = _parts(lambda shape, work: jax.random.normal(_key(key), shape, work), size, dtype)
    share = math.sqrt(0.5) if dtype.is_complex else 1.0
    return convert(drawn * (std * share).astype(jnp.finfo(drawn.dtype).dtype), dtype)


@op(f"_counted_exponential(Scalar lambd, {_PLACE}) -> Tensor", derivative=NONE, names=(), lift=("lambd", "key"),
    samples=[call(1.0, 5, size=(2, 3), dtype="float32")], kinks=SMOOTH)
def _counted_exponential(*, lambd, key, size, dtype):
    """Exponential numbers, never 0: their logarithm is taken."""
    work = _work(dtype)
    u = jax.random.uniform(_key(key), size, work)
    return convert(jnp.maximum(-jnp.log1p(-u), jnp.finfo(work).eps / 2) / lambd.astype(work), dtype)


@op(f"_counted_bernoulli(Scalar p, {_PLACE}) -> Tensor", derivative=NONE, names=(), lift=("p", "key"),
    samples=[call(0.5, 5, size=(2, 3), dtype="float32")], kinks=SMOOTH)
def _counted_bernoulli(*, p, key, size, dtype):
    """Ones with probability p, zeros otherwise."""
    return convert(jax.random.uniform(_key(key), size, jnp.float32) < p.astype(jnp.float32), dtype)


def _astray(p, **_):
    return jnp.any(~((p >= 0) & (p <= 1))).astype(jnp.int32)


def _no_probability(code, *shapes, **statics):
    return RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  If so, please report an "
                        "enhancement request to PyTorch.)")


@op("_counted_bernoulli_each(Tensor p, int key, *, int[] size, ScalarType dtype) -> Tensor", derivative=NONE, names=(),
    lift=("key",), guard=_astray, guard_error=_no_probability,
    samples=[call(at(0.25, 0.5, grad=False), 5, size=(2,), dtype="float32")], kinks=SMOOTH)
def _counted_bernoulli_each(p, *, key, size, dtype):
    """Ones with a probability each."""
    work = jnp.promote_types(p.dtype, jnp.float32)
    return convert(jax.random.uniform(_key(key), size, work) < p.astype(work), dtype)


@op("_counted_integers(int low, int span, int key, *, bool wide, int[] size, ScalarType dtype) -> Tensor", derivative=NONE, names=(),
    lift=("low", "span", "key"), samples=[call(0, 3, 5, wide=False, size=(2, 3), dtype="int64")], kinks=SMOOTH)
def _counted_integers(*, low, span, key, wide, size, dtype):
    """Integers in [low, low + span); wide: where the span needs more than 31 bits."""
    work = jnp.int64 if wide else jnp.int32
    drawn = jax.random.randint(_key(key), size, jnp.zeros((), work), span.astype(work), work)
    return convert(drawn.astype(jnp.int64) + low.astype(jnp.int64), dtype)


@op("_counted_permutation(int key, *, int[] size, ScalarType dtype) -> Tensor", derivative=NONE, names=(), lift=("key",),
    samples=[call(5, size=(4,), dtype="int64")], kinks=SMOOTH)
def _counted_permutation(*, key, size, dtype):
    """The numbers from 0 on in random order."""
    return convert(jax.random.permutation(_key(key), size[0]), dtype)
