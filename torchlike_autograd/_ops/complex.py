"""Complex numbers: parts, angles, conjugates (layer 2)."""

from __future__ import annotations

import math

import jax.numpy as jnp
from jax import lax

from .._core import dtypes
from .conventions import aligned, char_name, flat, magnitude, partials, signum
from .memory import elementwise
from .registry import SMOOTH, Promote, at, call, fails, op, real

_NAN = float("nan")


@op("angle(Tensor self) -> Tensor", node="AngleBackward0", promote=Promote.FLOAT, saves={"self": ("self",)}, inplace=False, samples=[call(real(3)),
    call(real(2, 3))],
    kinks=[call(at(0.0, -0.0, -1.0, 1.0, _NAN)), call(at(0j, 1 + 2j, dtype="complex128"))])
def angle(self):
    """The argument; of a real number pi or 0, with gradient 0."""
    if jnp.iscomplexobj(self):
        return _argument(self)
    return flat(jnp.where(self < 0, math.pi, jnp.where(self != self, _NAN, 0)).astype(self.dtype), self)


@partials(lambda t, out, z: jnp.where(z == 0, 0, _turn(z, jnp.where(z == 0, 0, t))))
def _argument(z):
    return jnp.arctan2(jnp.imag(z), jnp.real(z))


def _turn(z, t):
    x, y = jnp.real(z), jnp.imag(z)
    size = magnitude(z)
    return (x / size / size) * jnp.imag(t) - (y / size / size) * jnp.real(t)


@op("conj_physical(Tensor self) -> Tensor", node="ConjPhysicalBackward0", names=(), lies=elementwise, samples=[call(at(1 + 2j, 3j, dtype="complex128"))], kinks=SMOOTH)
def conj_physical(self):
    """The complex conjugate, as a new tensor."""
    return jnp.conj(self)


@op("conj_physical.twin(Tensor self) -> Tensor", node="ConjPhysicalBackward1", names=(), inplace=True, out=False, kinks=SMOOTH,
    samples=[call(at(1 + 2j, 3j, dtype="complex128"))])
def conj_physical_twin(self):
    """The complex conjugate, in place."""
    return jnp.conj(self)


def _same_layout(shape, strides, offset):
    return shape, strides, offset


@op("_conj(Tensor(a) self) -> Tensor(a)", node="ConjBackward0", names=(), write=lambda base, new: jnp.conj(new), layout=_same_layout,
    samples=[call(at(1 + 2j, 3j, dtype="complex128"))], kinks=SMOOTH)
def _conj(self):
    """The complex conjugate, as a view."""
    return jnp.conj(self)


@op("_neg_view(Tensor(a) self) -> Tensor(a)", node="NegViewBackward0", write=lambda base, new: -new, layout=_same_layout, samples=[call(real(2, 3))], kinks=SMOOTH)
def _neg_view(self):
    """The negative, as a view."""
    return -self


def _pairs_layout(shape, strides, offset):
    return (*shape, 2), (*(2 * s for s in strides), 1), 2 * offset


@op("view_as_real(Tensor(a) self) -> Tensor(a)", node="ViewAsRealBackward0", write=lambda base, new: lax.complex(new[..., 0], new[..., 1]),
    layout=_pairs_layout,
    method=False, samples=[call(at(1 + 2j, 3j, dtype="complex128"))], kinks=SMOOTH,
    errors=[fails(call(real(2)), RuntimeError, "view_as_real is only supported for complex tensors")])
def view_as_real(self):
    """Real and imaginary parts in a last dim of 2."""
    if not jnp.iscomplexobj(self):
        raise RuntimeError("view_as_real is only supported for complex tensors")
    return jnp.stack([jnp.real(self), jnp.imag(self)], axis=-1)


def _joined_layout(shape, strides, offset):
    return shape[:-1], tuple(s // 2 for s in strides[:-1]), offset // 2


@op("view_as_complex(Tensor(a) self) -> Tensor(a)", node="ViewAsComplexBackward0", layout=_joined_layout, method=False,
    write=lambda base, new: jnp.stack([jnp.real(new), jnp.imag(new)], axis=-1), samples=[call(real(3, 2))], kinks=SMOOTH,
    errors=[fails(call(real(3)), RuntimeError, "Tensor must have a last dimension of size 2")])
def view_as_complex(self):
    """A last dim of 2 as complex numbers."""
    if self.dtype not in (jnp.float32, jnp.float64):
        _refuse_half_complex(self.dtype == jnp.float16)
        raise RuntimeError(f"view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: {char_name(self)}")
    if self.ndim == 0:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if self.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    return lax.complex(self[..., 0], self[..., 1])


# From two parts

_PARTS = {"method": False, "lies": elementwise, "inplace": False, "kinks": SMOOTH, "samples": [call(real(3), real(3)), call(real(2, 3), real(3))],
          "errors": [fails(call(at(1.0), at(1.0, dtype="float32")), RuntimeError,
          "Expected object of scalar type Double but got scalar type Float for second argument"),
                     fails(call(at(1, dtype="int64", grad=False), at(1, dtype="int64", grad=False)), RuntimeError,
                           "Expected both inputs to be Half, Float or Double tensors but got Long and Long")]}


def _refuse_half_complex(asked):
    """torch answers with complex32 there; the dtype says that there are no tensors of it."""
    return dtypes.SMALL["complex32"].np if asked else None


def _float_parts(first, second, kernel):
    if not {char_name(first), char_name(second)} <= {"Half", "Float", "Double"}:
        raise RuntimeError(f"Expected both inputs to be Half, Float or Double tensors but got {char_name(first)} and {char_name(second)}")
    if first.dtype != second.dtype:
        raise RuntimeError(f"Expected object of scalar type {char_name(first)} but got scalar type {char_name(second)} for second argument")
    if first.dtype == jnp.float16:
        _refuse_half_complex(kernel == "complex_cpu")
        raise NotImplementedError(f"\"{kernel}\" not implemented for 'Half'")
    return jnp.broadcast_arrays(*aligned(first, second))


@op("complex(Tensor real, Tensor imag) -> Tensor", node="ComplexBackward0", saves={"real": ("imag",), "imag": ("real",)}, **_PARTS)
def complex(real, imag):
    """real + i imag."""
    return lax.complex(*_float_parts(real, imag, "complex_cpu"))


def _polar_tangent(out, primals, tangents):
    angle, t, u = (jnp.broadcast_to(x, out.shape) for x in (primals[1], *tangents))
    return lax.complex(t * jnp.cos(angle) - jnp.imag(out) * u, t * jnp.sin(angle) + jnp.real(out) * u)


@op("polar(Tensor abs, Tensor angle) -> Tensor", node="PolarBackward0", saves={"abs": ("result",), "angle": ("result",)}, tangent=_polar_tangent, **_PARTS)
def polar(abs, angle):
    """The number of a given magnitude and angle."""
    return _polar(*_float_parts(abs, angle, "polar_cpu"))


@partials(lambda t, out, size, angle: t.astype(out.dtype) * signum(out), lambda t, out, size, angle: t.astype(out.dtype) * (1j * out))
def _polar(size, angle):
    """torch 2.13 takes the direction from the result, so that a negative size counts as positive in its gradient."""
    return lax.complex(size * jnp.cos(angle), size * jnp.sin(angle))
