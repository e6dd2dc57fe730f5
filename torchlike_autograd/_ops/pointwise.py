"""Arithmetic with two operands (layer 2)."""

from __future__ import annotations

import jax.numpy as jnp

from .registry import SMOOTH, Promote, at, call, fails, op, real

_BINARY = [call(real(3), real(3)), call(real(2, 3), real(3)), call(real(2, 3), 1.5), call(real(()), real(2))]


def _scaled(x, alpha):
    return x if alpha is None else x * alpha


@op("add.Tensor(Tensor self, Tensor other, *, Scalar? alpha=None) -> Tensor", node="AddBackward0", promote=Promote.RESULT, scalars=("self", "other"),
    lift=("alpha",), samples=[*_BINARY, call(real(3), real(3), alpha=2.5)], kinks=SMOOTH,
    errors=[fails(call(real(2), real(3)), RuntimeError, "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0")])
def add(self, other, *, alpha=None):
    """self + alpha * other."""
    other = _scaled(other, alpha)
    return jnp.logical_or(self, other) if self.dtype == bool else self + other


@op("sub.Tensor(Tensor self, Tensor other, *, Scalar? alpha=None) -> Tensor", node="SubBackward0", promote=Promote.RESULT, scalars=("self", "other"),
    lift=("alpha",), aliases=("subtract",), samples=[*_BINARY, call(real(3), real(3), alpha=2.5)], kinks=SMOOTH)
def sub(self, other, *, alpha=None):
    """self - alpha * other."""
    if self.dtype == bool:
        raise RuntimeError("Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead.")
    return self - _scaled(other, alpha)


@op("mul.Tensor(Tensor self, Tensor other) -> Tensor", node="MulBackward0", promote=Promote.RESULT, scalars=("self", "other"),
    saves={"self": ("other",), "other": ("self",)}, aliases=("multiply",), samples=_BINARY, kinks=SMOOTH)
def mul(self, other):
    """self * other."""
    return jnp.logical_and(self, other) if self.dtype == bool else self * other


@op("neg(Tensor self) -> Tensor", node="NegBackward0", promote=Promote.RESULT, aliases=("negative",), samples=[call(real(3))], kinks=SMOOTH)
def neg(self):
    """-self."""
    if self.dtype == bool:
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.")
    return -self


@op("exp(Tensor self) -> Tensor", node="ExpBackward0", promote=Promote.FLOAT, saves={"self": ("result",)}, samples=[call(real(3))], kinks=SMOOTH,
    aliases=("special.exp",))
def exp(self):
    """e to the power of self."""
    return jnp.exp(self)


@op("clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", node="ClampBackward1", promote=Promote.RESULT, promote_with=("self", "min", "max"),
    lift=("min", "max"), saves={"self": ("self",)}, aliases=("clip",), samples=[call(real(4), -0.3, 0.4), call(real(2, 3), None, 0.1)],
    kinks=[call(at(0.0, 0.5, 1.0, 2.0), 0.0, 1.0)],
    errors=[fails(call(real(2)), RuntimeError, "torch.clamp: At least one of 'min' or 'max' must not be None")])
def clamp(self, *, min=None, max=None):
    """Bounds are inclusive: the gradient is 1 at both."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    out = self if min is None else jnp.where(self < min, min, self)
    return out if max is None else jnp.where(out > max, max, out)


@op("_to_copy(Tensor self, *, ScalarType dtype) -> Tensor", node="ToCopyBackward0", names=(), samples=[call(real(2), dtype="float32")], kinks=SMOOTH)
def _to_copy(self, *, dtype):
    """Conversion to another dtype."""
    return convert(self, dtype)


def convert(x, dtype):
    """astype as torch casts: complex to real drops the imaginary part, float to bool tests for nonzero."""
    if jnp.iscomplexobj(x) and not dtype.is_complex:
        x = jnp.real(x)
    if dtype.name == "bool":
        return x != 0
    return x.astype(dtype.np)


