"""Determinants, inverses and linear systems (layer 2)."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from .._core import shapes
from .casts import copied
from .conventions import partials
from .linalg_base import (
    SINGULAR,
    UNSOLVABLE,
    both_dtypes,
    check_float,
    check_kernel,
    check_matrix,
    check_square,
    check_system,
    diagonal,
    first_zero_pivot,
    imaginary,
    inverse,
    like,
    located,
    lu,
    lu_code,
    product,
    solved,
    transposed,
    triangular,
    with_batch,
)
from .memory import columns
from .reduce import total, type_of
from .registry import SMOOTH, at, call, fails, op, real

_SINGULAR = [[1.0, 2.0], [2.0, 4.0]]
_SQUARE = [call(real(3, 3)), call(real(2, 2, 2)), call(real(1, 1)), call(real(0, 0)), call(real(0, 2, 2)), call(real(4, 4)),
           call(real(2, 2, dtype="complex128")), call(real(2, 2, dtype="float32"))]


def _parity(pivots):
    """The sign of the permutation that these row exchanges make."""
    if pivots.shape[-1] == 0:
        return jnp.ones(pivots.shape[:-1], jnp.int32)
    moved = pivots != like(jnp.arange(pivots.shape[-1], dtype=pivots.dtype), pivots.ndim)
    return (1 - 2 * (jnp.sum(moved, axis=-1) % 2)).astype(jnp.int32)


def _lu_for_det(a):
    """The factors that torch takes: those of the transposed matrix where that is real."""
    return lu(a if jnp.iscomplexobj(a) else transposed(a))


# det

def _of_nothing(a):
    """0 for each matrix where none has an element; made of the matrices, because JAX maps no result under a gradient that does not follow from them."""
    return total(a * a, (a.ndim - 2, a.ndim - 1))


def _cofactors(a):
    """The derivative of the determinant in every element, exact where the matrix is singular."""
    n = a.shape[-1]
    if n < 2:
        return jnp.ones_like(a)
    if n == 2:
        return a[..., ::-1, ::-1] * like(jnp.array([[1, -1], [-1, 1]], a.dtype), a.ndim)
    if n == 3:
        rows = [a[..., i, :] for i in range(3)]
        return jnp.stack([jnp.cross(rows[1], rows[2]), jnp.cross(rows[2], rows[0]), jnp.cross(rows[0], rows[1])], axis=-2)
    out, pull = jax.vjp(jnp.linalg.det, a)
    return pull(jnp.ones_like(out))[0]


@partials(lambda t, out, a: total(_cofactors(a) * t, (a.ndim - 2, a.ndim - 1)))
def _determinant(a):
    if a.size == 0:
        return 1 + _of_nothing(a)
    factors, pivots, _ = _lu_for_det(a)
    return jnp.prod(diagonal(factors), axis=-1) * _parity(pivots).astype(a.dtype)


@op("_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)", lies=columns(1), node="LinalgDetBackward0", empty="constant", names=("torch._linalg_det",), nondiff_out=(1,),
    fields=("result", "LU", "pivots"), saves={"A": ("A", "result")},
    samples=[c for c in _SQUARE if c.args[0].shape != (0, 2, 2)], kinks=[call(at(_SINGULAR)), call(at([[0.0, 0.0], [0.0, 3.0]]))],
    errors=[fails(call(real(3)), RuntimeError, "linalg.det: The input tensor A must have at least 2 dimensions."),
            fails(call(real(2, 3)), RuntimeError, "linalg.det: A must be batches of square matrices, but they are 2 by 3 matrices"),
            fails(call(at([[1, 2], [3, 4]], dtype="int64", grad=False)), RuntimeError,
                  "linalg.det: Expected a floating point or complex tensor as input. Got Long"),
            fails(call(real(2, 2, dtype="float16")), NotImplementedError, "\"lu_cpu\" not implemented for 'Half'")])
def _linalg_det(A):
    """The determinant, with the factors it was computed from; its gradient at a singular matrix is the matrix of cofactors."""
    check_square("linalg.det", A)
    check_float("linalg.det", A)
    check_kernel("lu_cpu", A, nothing=True)
    factors, pivots, _ = _lu_for_det(A)
    return _determinant(A), factors, pivots + 1


# slogdet

@jax.custom_jvp
def _sign_and_log(a):
    if a.size == 0:
        return 1 + _of_nothing(a), jnp.real(_of_nothing(a))
    factors, pivots, _ = _lu_for_det(a)
    d = diagonal(factors)
    size = jnp.abs(d)
    sign = jnp.where(jnp.isnan(d), 0, jnp.sign(d)) if not jnp.iscomplexobj(a) else jnp.where(size == 0, 0, d / jnp.where(size == 0, 1, size).astype(a.dtype))
    return jnp.prod(sign, axis=-1) * _parity(pivots).astype(a.dtype), jnp.sum(jnp.log(size), axis=-1)


@_sign_and_log.defjvp
def _(primals, tangents):
    (a,), (t,) = primals, tangents
    sign, log = _sign_and_log(a)
    trace = total(transposed(inverse(a)) * t, (a.ndim - 2, a.ndim - 1))
    if not jnp.iscomplexobj(a):
        return (sign, log), (jnp.zeros_like(sign), trace)
    return (sign, log), (sign * imaginary(trace), jnp.real(trace))


@op("_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)", lies=columns(2), node="LinalgSlogdetBackward0",
    names=("torch._linalg_slogdet",), nondiff_out=(2,), fields=("sign", "logabsdet", "LU", "pivots"), saves={"A": ("A", "result0")}, samples=_SQUARE,
    kinks=SMOOTH, zero_second=True, errors=[fails(call(real(3)), RuntimeError, "linalg.slogdet: The input tensor A must have at least 2 dimensions.")])
def _linalg_slogdet(A):
    """The sign and the logarithm of the absolute value of the determinant."""
    check_square("linalg.slogdet", A)
    check_float("linalg.slogdet", A, low=False)
    factors, pivots, _ = _lu_for_det(A)
    sign, log = _sign_and_log(A)
    return sign, log, factors, pivots + 1


# inv

def _inverse_error(code, shape, *, check_errors):
    return located("linalg.inv_ex" if check_errors is True else check_errors, code, shape, SINGULAR)


@op("linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)", lies=columns(0), node="LinalgInvExBackward0", names=("torch.linalg.inv_ex",),
    fields=("inverse", "info"), saves={"A": ("result0",)}, samples=_SQUARE, kinks=SMOOTH, zero_second=True,
    guard=lambda A, *, check_errors: lu_code(A) if check_errors else 0, guard_error=_inverse_error,
    errors=[fails(call(real(2, 3)), RuntimeError, "linalg.inv: A must be batches of square matrices, but they are 2 by 3 matrices"),
            fails(call(at([[1, 2], [3, 4]], dtype="int64", grad=False)), RuntimeError,
                  "linalg.inv: Expected a floating point or complex tensor as input. Got Long"),
            fails(call(real(2, 2, dtype="float16")), RuntimeError, "linalg.inv: Low precision dtypes not supported. Got Half")])
def linalg_inv_ex(A, *, check_errors=False):
    """The inverse, and for each matrix the place of the zero pivot, if any.

    `check_errors` is the caller's name where that speaks under another one.
    """
    check_square("linalg.inv", A)
    check_float("linalg.inv", A, low=False)
    return inverse(A), first_zero_pivot(lu(A)[0])


# solve

def is_vector(a, b):
    """Whether the right-hand side is a vector, or a stack of vectors, rather than of matrices."""
    return len(b) == 1 or (len(a) - 1 == len(b) and tuple(b) == tuple(a[:-1]))


def _check_solve(A, B):
    check_float("linalg.solve", A, low=True)
    both_dtypes("linalg.solve", A, B)
    check_square("linalg.solve", A)
    check_kernel("lu_cpu", A, nothing=True)


def _solution(A, B, left):
    vector = is_vector(A.shape, B.shape)
    b = B[..., None] if vector else B
    check_matrix("linalg.solve", b, "B")
    check_system("linalg.solve", A, b, left)
    if vector and not left:
        raise RuntimeError("linalg.solve: Vector broadcasting of the left hand side is not supported for left=False. In this case linalg.solve is equivalent "
                           "to B / A.squeeze(-1)")
    batch = shapes.broadcast(tuple(b.shape[:-2]), tuple(A.shape[:-2]))
    a, b = with_batch(A, batch), with_batch(b, batch)
    out = solved(a, b) if left else transposed(solved(transposed(a), transposed(b)))
    return out[..., 0] if vector else out


def _solve_code(A, B, *, left, check_errors):
    return lu_code(A) if check_errors else 0


def _solve_error(code, shape, other, *, left, check_errors):
    return located("torch.linalg.solve_ex" if check_errors is True else check_errors, code, shape, UNSOLVABLE)


_SYSTEMS = [call(real(3, 3), real(3, 2)), call(real(3, 3), real(3)), call(real(2, 2, 2), real(2, 2)), call(real(2, 3, 3), real(3, 2)),
            call(real(2, 2), real(3, 2), left=False), call(real(3, 2, 2), real(2)), call(real(0, 0), real(0, 2)), call(real(2, 2), real(2, 0)),
            call(real(2, 2, dtype="complex128"), real(2, 1, dtype="complex128")), call(real(2, 2, dtype="float32"), real(2, dtype="float32"))]


@op("_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor LU, Tensor pivots, Tensor info)",
    lies=columns(0, 1, unless=lambda output, operands, statics: output == 0 and not statics.get("left", True)), node="LinalgSolveExBackward0", names=("torch._linalg_solve_ex",), nondiff_out=(1,), fields=("result", "LU", "pivots", "info"),
    saves={"A": ("A", "result0"), "B": ("A",)}, samples=_SYSTEMS, kinks=SMOOTH, zero_second=True, guard=_solve_code, guard_error=_solve_error,
    errors=[fails(call(real(2, 2), real(3, 2)), RuntimeError, "linalg.solve: Incompatible shapes of A and B for the equation AX = B (2x2 and 3x2)"),
            fails(call(real(2, 2), real(2, 3), left=False), RuntimeError,
                  "linalg.solve: Incompatible shapes of A and B for the equation XA = B (2x2 and 2x3)"),
            fails(call(real(2, 3), real(2)), RuntimeError, "linalg.solve: A must be batches of square matrices, but they are 2 by 3 matrices"),
            fails(call(real(2, 2), real(2, dtype="float32")), RuntimeError,
                  "linalg.solve: Expected A and B to have the same dtype, but found A of type Double and B of type Float instead"),
            fails(call(real(3, 2, 2), real(2, 2, 2)), RuntimeError, "The size of tensor a (2) must match the size of tensor b (3)")])
def _linalg_solve_ex(A, B, *, left=True, check_errors=False):
    """The solution of AX = B (or XA = B), with the factors of A and the place of a zero pivot, if any."""
    _check_solve(A, B)
    out = _solution(A, B, left)
    factors, pivots, _ = lu(A)
    return out, factors, pivots + 1, first_zero_pivot(factors)


# Triangular systems

@op("linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False) -> Tensor",
    lies=columns(), node="LinalgSolveTriangularBackward0", names=("torch.linalg.solve_triangular",), saves={"self": ("self", "result"), "B": ("self",)},
    samples=[call(real(3, 3), real(3, 2), upper=True), call(real(2, 2), real(3, 2), upper=False, left=False),
             call(real(2, 2), real(2, 1), upper=True, unitriangular=True), call(real(2, 2, 2), real(2, 1), upper=False),
             call(real(0, 0), real(0, 2), upper=True),
             call(real(2, 2, dtype="complex128"), real(2, 1, dtype="complex128"), upper=True)],
    kinks=SMOOTH, zero_second=True, errors=[
        fails(call(real(2, 2), real(2), upper=True), RuntimeError, "linalg.solve_triangular: The input tensor B must have at least 2 dimensions."),
        fails(call(real(2, 3), real(2, 1), upper=True), RuntimeError,
              "linalg.solve_triangular: A must be batches of square matrices, but they are 2 by 3 matrices"),
        fails(call(real(2, 2), real(3, 1), upper=True), RuntimeError,
              "linalg.solve_triangular: Incompatible shapes of A and B for the equation AX = B (2x2 and 3x1)")])
def linalg_solve_triangular(self, B, *, upper, left=True, unitriangular=False):
    """The solution of a triangular system; only the named triangle takes part."""
    check_square("linalg.solve_triangular", self)
    check_matrix("linalg.solve_triangular", B, "B")
    check_system("linalg.solve_triangular", self, B, left)
    check_kernel("triangular_solve_cpu", self)
    return _solve_triangle(self, copied(B, self.dtype), upper, left, False, unitriangular)


def _solve_triangle(a, b, upper, left, transpose, unit):
    batch = shapes.broadcast(tuple(b.shape[:-2]), tuple(a.shape[:-2]))
    return triangular(with_batch(a, batch), with_batch(b, batch), lower=not upper, left=left, transpose=transpose, unit=unit)


def _older_tangent(out, primals, tangents, *, upper=True, transpose=False, unitriangular=False):
    """In forward mode the whole tangent of the matrix takes part, and as it is where the matrix is transposed.

    The solution is found anew: its own gradient, which a gradient of the tangent goes through, is of the named triangle alone.
    """
    (b, a), (t, u), batch = primals, tangents, tuple(out[0].shape[:-2])
    x = _solve_triangle(a, b, upper, True, transpose, unitriangular)
    return _solve_triangle(a, with_batch(t, batch) - product(with_batch(u, batch), x), upper, True, transpose, unitriangular), with_batch(u, batch)


@op("triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)",
    lies=columns(), node="TriangularSolveBackward0", fields=("solution", "cloned_coefficient"), tangent=_older_tangent, saves=dict.fromkeys(("self", "A"), ("self", "A", "result0")),
    samples=[call(real(2, 1), real(2, 2)), call(real(2, 1), real(2, 2), False, True, True), call(real(3, 2), real(4, 3, 3))], kinks=SMOOTH, zero_second=True,
    errors=[fails(call(real(3, 1), real(2, 2)), RuntimeError,
                  "Incompatible matrix sizes for triangular_solve: each A matrix is 2 by 2 but each b matrix is 3 by 1")])
def triangular_solve(self, A, *, upper=True, transpose=False, unitriangular=False):
    """The solution of a triangular system, and the matrix as it was given."""
    for x, label in ((self, "b"), (A, "A")):
        if x.ndim < 2:
            raise RuntimeError(f"torch.triangular_solve: Expected {label} to have at least 2 dimensions, but it has {x.ndim} dimensions instead")
    check_pair("triangular_solve", self, A)
    check_kernel("triangular_solve_cpu", self)
    batch = shapes.broadcast(tuple(self.shape[:-2]), tuple(A.shape[:-2]))
    return _solve_triangle(A, self, upper, True, transpose, unitriangular), with_batch(A, batch)


def check_pair(name, b, a):
    """The checks of the older solvers."""
    if a.dtype != b.dtype:
        raise RuntimeError(f"Expected b and A to have the same dtype, but found b of type {type_of(b).char_name} and A of type {type_of(a).char_name} instead.")
    if a.shape[-1] != a.shape[-2]:
        raise RuntimeError(f"A must be batches of square matrices, but they are {a.shape[-2]} by {a.shape[-1]} matrices")
    if a.shape[-1] != b.shape[-2]:
        raise RuntimeError(f"Incompatible matrix sizes for {name}: each A matrix is {a.shape[-1]} by {a.shape[-1]} but each b matrix is "
                           f"{b.shape[-2]} by {b.shape[-1]}")


__all__ = ["check_pair", "is_vector"]
