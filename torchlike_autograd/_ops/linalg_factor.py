"""Cholesky and LU factors and what is solved with them (layer 2)."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.lax import linalg as lapack

from .._core import shapes
from .conventions import no_tangent, partials
from .linalg_base import (
    NOT_POSITIVE,
    SINGULAR,
    adjoint,
    both_dtypes,
    check_float,
    check_kernel,
    check_matrix,
    check_square,
    check_system,
    code_of,
    eye_like,
    first_zero_pivot,
    like,
    located,
    lu,
    lu_code,
    product,
    rows_permuted,
    stop,
    triangular,
    with_batch,
)
from .linalg_solve import check_pair
from .memory import columns
from .reduce import type_of
from .registry import SMOOTH, at, call, fails, op, real
from .tracing import fori_loop

_POSITIVE = at([[4.0, 1.0], [1.0, 3.0]])
_NOT = at([[1.0, 2.0], [2.0, 1.0]])
_STACK = at([[[4.0, 1.0], [1.0, 3.0]], [[2.0, 0.5], [0.5, 1.0]]])
_HERMITIAN = at([[4.0, 1 - 1j], [1 + 1j, 3.0]], dtype="complex128")


# Cholesky

def _between(low, t):
    inner = triangular(low, t, lower=True)
    return triangular(low, inner, lower=True, left=False, transpose=True, conjugate=True)


def _factor_tangent(t, low, a):
    """Murray, Differentiation of the Cholesky decomposition (2016); the upper triangle of a tangent counts as the lower one's mirror image."""
    inner = _between(low, t)
    return product(low, 0.5 * (jnp.tril(inner) + jnp.tril(adjoint(inner), -1)))


def _lower_factor(a):
    if a.size == 0:
        return product(a, a)
    full = lapack.cholesky(stop(a), symmetrize_input=False)
    good = jnp.isfinite(full).all(axis=(-2, -1), keepdims=True)
    return jax.lax.cond(good.all(), lambda x, full, good: full, lambda x, full, good: jnp.where(good, full, _elimination(x)[0]), stop(a), full, good)


def _elimination(a):
    """(lower factor, order of the first minor that is not positive) as far as LAPACK's unblocked factorisation goes."""
    n = a.shape[-1]
    places = like(jnp.arange(n), a.ndim - 1)

    def step(j, state):
        low, info = state
        row = jnp.where(places < j, low[..., j, :], 0)
        d = jnp.real(low[..., j, j]) - jnp.sum(jnp.real(row * jnp.conj(row)), axis=-1)
        failed = (info == 0) & jnp.logical_not(d > 0)
        running = ((info == 0) & (d > 0))[..., None]
        root = jnp.where(d > 0, jnp.sqrt(jnp.where(d > 0, d, 1)), 1).astype(a.dtype)[..., None]
        column = (low[..., :, j] - product(low, jnp.conj(row)[..., None])[..., 0]) / root
        column = jnp.where(running & (places > j), column, low[..., :, j])
        pivot = jnp.where(running, root, jnp.where(failed[..., None], d.astype(a.dtype)[..., None], column))
        return low.at[..., :, j].set(jnp.where(places == j, pivot, column)), jnp.where(failed, j + 1, info).astype(jnp.int32)

    start = jnp.zeros(a.shape[:-2], jnp.int32)
    return fori_loop(0, n, step, (jnp.tril(a), start))


def _cholesky_info(a):
    """For each matrix the order of the first leading minor that is not positive, or 0."""
    if a.size == 0:
        return jnp.zeros(a.shape[:-2], jnp.int32)
    good = jnp.isfinite(lapack.cholesky(stop(a), symmetrize_input=False)).all()
    return jax.lax.cond(good, lambda x: jnp.zeros(x.shape[:-2], jnp.int32), lambda x: _elimination(x)[1], stop(a))


def _lower(a, upper):
    return adjoint(a) if upper else a


@partials(_factor_tangent)
def _factor_below(a):
    return _lower_factor(a)


@partials(lambda t, out, a: adjoint(_factor_tangent(t, adjoint(out), a)))
def _factor_above(a):
    return adjoint(_lower_factor(adjoint(a)))


def _factor(a, upper):
    return _factor_above(a) if upper else _factor_below(a)


def _cholesky_tangent(out, primals, tangents, *, upper=False, check_errors=False):
    """In forward mode the tangent is not made Hermitian."""
    factor = adjoint(out[0]) if upper else out[0]
    inner = jnp.tril(_between(factor, tangents[0]))
    t = product(factor, inner - 0.5 * inner * eye_like(inner))
    return adjoint(t) if upper else t, no_tangent(out[1])


def _cholesky_code(self, *, upper, check_errors=True):
    return code_of(_cholesky_info(_lower(self, upper)), self.shape[-1]) if check_errors else 0


def _cholesky_error(code, shape, *, upper, check_errors):
    return located("linalg.cholesky_ex" if check_errors is True else check_errors, code, shape, NOT_POSITIVE)


@op("linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)", lies=columns(0), node="LinalgCholeskyExBackward0", tangent=_cholesky_tangent,
    names=("torch.linalg.cholesky_ex",), fields=("L", "info"), saves={"self": ("result0",)}, guard=_cholesky_code, guard_error=_cholesky_error,
    samples=[call(_POSITIVE), call(_STACK), call(_POSITIVE, upper=True), call(_HERMITIAN), call(_HERMITIAN, upper=True), call(real(0, 0)), call(real(0, 2, 2)),
             call(at([[4.0, 1.0], [1.0, 3.0]], dtype="float32"))],
    kinks=[call(at([[4.0, 100.0], [1.0, 3.0]])), call(at([[4.0, 1.0], [100.0, 3.0]]), upper=True)],
    errors=[fails(call(real(3)), RuntimeError, "linalg.cholesky: The input tensor A must have at least 2 dimensions."),
            fails(call(real(3, 2)), RuntimeError, "linalg.cholesky: A must be batches of square matrices, but they are 3 by 2 matrices"),
            fails(call(at([[1, 2], [3, 4]], dtype="int64", grad=False)), RuntimeError,
                  "linalg.cholesky: Expected a floating point or complex tensor as input. Got Long")])
def linalg_cholesky_ex(self, *, upper=False, check_errors=False):
    """The triangular factor, and for each matrix the order of a minor that is not positive; only one triangle is read."""
    check_square("linalg.cholesky", self)
    check_float("linalg.cholesky", self)
    check_kernel("cholesky_cpu", self, nothing=True)
    return _factor(self, upper), _cholesky_info(_lower(self, upper))


@op("cholesky(Tensor self, bool upper=False) -> Tensor", forward=False, lies=columns(), node="CholeskyBackward0", saves={"self": ("result",)}, guard=_cholesky_code,
    guard_error=lambda code, shape, *, upper: located("cholesky", code, shape, NOT_POSITIVE), samples=[call(_POSITIVE), call(_STACK, True)], kinks=SMOOTH,
    zero_second=True,
    errors=[fails(call(real(3, 2)), RuntimeError, "cholesky: A must be batches of square matrices, but they are 3 by 2 matrices")])
def cholesky(self, *, upper=False):
    """The triangular factor, under its old name."""
    check_square("cholesky", self)
    check_kernel("cholesky_cpu", self, nothing=True)
    return _factor(self, upper)


def _with_factor(factor, b, upper):
    if upper:
        x = triangular(factor, b, lower=False, transpose=True, conjugate=True)
        return triangular(factor, x, lower=False)
    x = triangular(factor, b, lower=True)
    return triangular(factor, x, lower=True, transpose=True, conjugate=True)


def _product_tangent(t, factor, upper):
    """The tangent of the matrix that the factor stands for; torch counts both triangles of the factor."""
    half = product(adjoint(t), factor) if upper else product(t, adjoint(factor))
    return half + adjoint(half)


def _solved_with(b, factor, upper):
    def conjugated(matvec, b):
        return jnp.conj(_with_factor(factor, jnp.conj(b), upper))

    def matvec(x):
        first, second = (adjoint(factor), factor) if upper else (factor, adjoint(factor))
        return product(first, product(second, x))

    return jax.lax.custom_linear_solve(matvec, b, lambda matvec, b: _with_factor(factor, b, upper), conjugated)


@op("cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor", lies=columns(), node="CholeskySolveBackward0",
    saves=dict.fromkeys(("self", "input2"), ("self", "input2", "result")),
    samples=[call(real(2, 1), real(2, 2)), call(real(2, 3), real(2, 2), True), call(real(2, 1), real(3, 2, 2)),
             call(real(2, 1, dtype="complex128"), real(2, 2, dtype="complex128")), call(real(0, 2), real(0, 0))], kinks=SMOOTH, zero_second=True,
    errors=[fails(call(real(2), real(2, 2)), RuntimeError, "b should have at least 2 dimensions, but has 1 dimensions instead"),
            fails(call(real(3, 1), real(2, 2)), RuntimeError,
                  "Incompatible matrix sizes for cholesky_solve: each A matrix is 2 by 2 but each b matrix is 3 by 1")])
def cholesky_solve(self, input2, *, upper=False):
    """The solution of L L^H X = B."""
    for x, label in ((self, "b"), (input2, "u")):
        if x.ndim < 2:
            raise RuntimeError(f"{label} should have at least 2 dimensions, but has {x.ndim} dimensions instead")
    check_pair("cholesky_solve", self, input2)
    check_kernel("cholesky_solve_cpu", self)
    batch = shapes.broadcast(tuple(self.shape[:-2]), tuple(input2.shape[:-2]))
    return _solved_with(with_batch(self, batch), with_batch(input2, batch), upper)


def _zero_diagonal(self, *, upper):
    return code_of(first_zero_pivot(self), self.shape[-1])


def _inverse_tangent(out, primals, tangents, *, upper=False):
    """torch 2.13's in forward mode: not the derivative, as it takes the factor on the wrong side, and whole."""
    factor, t = adjoint(primals[0]), product(product(out, tangents[0]), out)
    half = product(factor, t) if upper else product(t, factor)
    return -(half + adjoint(half))


@op("cholesky_inverse(Tensor self, bool upper=False) -> Tensor", lies=columns(), node="CholeskyInverseBackward0", saves={"self": ("self", "result")}, guard=_zero_diagonal,
    tangent=_inverse_tangent,
    guard_error=lambda code, shape, *, upper: located("cholesky_inverse", code, shape, SINGULAR),
    samples=[call(real(2, 2)), call(real(2, 2), True), call(real(2, 2, 2)), call(at([[2.0, 0j], [1 - 1j, 1.5]], dtype="complex128")), call(real(0, 0))],
    kinks=SMOOTH, zero_second=True,
    errors=[fails(call(real(2)), RuntimeError, "cholesky_inverse: The input tensor A must have at least 2 dimensions.")])
def cholesky_inverse(self, *, upper=False):
    """The inverse of L L^H."""
    check_square("cholesky_inverse", self)
    check_kernel("cholesky_inverse_out_cpu", self)

    @partials(lambda t, out, f: -product(product(out, _product_tangent(t, f, upper)), out))
    def value(f):
        return _with_factor(f, eye_like(f), upper)

    return value(self)


# LU

_U_ZERO = ("U[{0},{0}] is zero and using it on lu_solve would result in a division by zero. If you still want to perform the factorization, consider calling "
           "linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)")
_TALL = [call(real(3, 3)), call(real(3, 2)), call(real(2, 3)), call(real(2, 2, 2)), call(real(2, 2, dtype="complex128")), call(real(0, 0)), call(real(2, 0))]


def _check_lu(name, A, pivot):
    if A.ndim < 2:
        raise RuntimeError(f"{name}: Expected tensor with 2 or more dimensions. Got size: {list(A.shape)} instead")
    if not pivot and A.size:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")
    check_kernel("lu_cpu", A, nothing=True)


def _lu_error(code, shape, *, pivot, check_errors):
    return located("torch.linalg.lu_factor_ex" if check_errors is True else check_errors, code, shape, _U_ZERO, RuntimeError)


@op("linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots, Tensor info)",
    lies=columns(0), node="LinalgLuFactorExBackward0", names=("torch.linalg.lu_factor_ex",), fields=("LU", "pivots", "info"), saves={"A": ("result0", "result1")},
    samples=_TALL, kinks=SMOOTH, zero_second=True, guard=lambda A, *, pivot, check_errors: lu_code(A) if check_errors else 0, guard_error=_lu_error,
    errors=[fails(call(real(3)), RuntimeError, "torch.lu_factor: Expected tensor with 2 or more dimensions. Got size: [3] instead"),
            fails(call(real(2, 2), pivot=False), RuntimeError, "linalg.lu_factor: LU without pivoting is not implemented on the CPU")])
def linalg_lu_factor_ex(A, *, pivot=True, check_errors=False):
    """The packed factors, the row exchanges from 1, and the place of a zero pivot."""
    _check_lu("torch.lu_factor", A, pivot)
    factors, pivots, _ = lu(A)
    return factors, pivots + 1, first_zero_pivot(factors)


def _unpacked(factors):
    """(unit lower, upper) from packed factors."""
    m, n = factors.shape[-2:]
    k = min(m, n)
    low = jnp.tril(factors[..., :, :k], -1) + like(jnp.eye(m, k, dtype=factors.dtype), factors.ndim)
    return low, jnp.triu(factors[..., :k, :])


def _permutation_matrix(permutation, dtype):
    """P with P L U = A."""
    n = permutation.shape[-1]
    return (permutation[..., None, :] == like(jnp.arange(n, dtype=permutation.dtype)[:, None], permutation.ndim + 1)).astype(dtype)


@op("linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)", node="LinalgLuBackward0", names=("torch.linalg.lu",), nondiff_out=(0,),
    fields=("P", "L", "U"), saves={"A": ("result0", "result1", "result2")}, samples=_TALL, kinks=SMOOTH, zero_second=True,
    errors=[fails(call(real(3)), RuntimeError, "linalg.lu: Expected tensor with 2 or more dimensions. Got size: [3] instead")])
def linalg_lu(A, *, pivot=True):
    """P, L and U with P L U = A."""
    _check_lu("linalg.lu", A, pivot)
    factors, _, permutation = lu(A)
    exchanged = _permutation_matrix(permutation, A.dtype) if pivot else jnp.zeros((0,), A.dtype)
    return exchanged, *_unpacked(factors)


def _permutation(pivots, rows):
    """The permutation that row exchanges from 1 make."""
    if pivots.size == 0:
        return jnp.broadcast_to(jnp.arange(rows, dtype=jnp.int32), (*pivots.shape[:-1], rows))
    return lapack.lu_pivots_to_permutation(jnp.clip(pivots - 1, 0, rows - 1), rows)


def _pivot_range(LU_data, LU_pivots, *, unpack_data, unpack_pivots):
    return jnp.any((LU_pivots < 1) | (LU_pivots > LU_data.shape[-2])) if unpack_pivots else 0


_WORDS = "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive.Did you properly pass the result of lu_factor?"


@op("lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> (Tensor P, Tensor L, Tensor U)",
    node="LuUnpackBackward0", nondiff=("LU_pivots",), nondiff_out=(0,), fields=("P", "L", "U"), guard=_pivot_range, guard_error=lambda code, *_, **__: RuntimeError(_WORDS),
    method=False, samples=[call(real(3, 3), at(3, 2, 3, dtype="int32")), call(real(3, 2), at(3, 3, dtype="int32")), call(real(2, 3), at(2, 2, dtype="int32")),
             call(real(2, 2, grad=False), at(2, 2, dtype="int32"), False), call(real(2, 2), at(2, 2, dtype="int32"), True, False)],
    kinks=SMOOTH, zero_second=True,
    errors=[fails(call(real(3, 3), real(3)), RuntimeError, "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.")])
def lu_unpack(LU_data, LU_pivots, *, unpack_data=True, unpack_pivots=True):
    """P, L and U from what lu_factor gave."""
    if unpack_pivots and LU_pivots.dtype != jnp.int32:
        raise RuntimeError("torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\n"
                           "Note: this function is intended to be used with the output produced by torch.linalg.lu_factor")
    none = jnp.zeros((0,), LU_data.dtype)
    factors = _unpacked(LU_data) if unpack_data else (none, none)
    return _permutation_matrix(_permutation(LU_pivots, LU_data.shape[-2]), LU_data.dtype) if unpack_pivots else none, *factors


def _check_lu_solve(LU, pivots, B, left):
    if type_of(pivots).name != "int32":
        raise RuntimeError("linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32")
    both_dtypes("linalg.lu_solve", LU, B, "LU")
    check_square("torch.linalg.lu_solve", LU)
    check_matrix("linalg.lu_solve", B, "B")
    check_system("linalg.lu_solve", LU, B, left)
    if pivots.shape[-1] != LU.shape[-1]:
        raise RuntimeError("linalg.lu_solve: Number of pivots per batch should be same as the dimension of the matrix")
    if pivots.shape[:-1] != LU.shape[:-2]:
        raise RuntimeError(f"linalg.lu_solve: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with shape {list(pivots.shape)} instead")


def _solve_range(LU, pivots, B, *, left, adjoint):
    if LU.size == 0 or B.size == 0:
        return 0
    return jnp.where(jnp.any(pivots < 1), 1, jnp.where(jnp.any(pivots > LU.shape[-1]), 2, 0))


def _solve_refused(code, *_, **__):
    most = "greater or equal to 1" if code == 1 else "smaller or equal to LU.size(-2)"
    return RuntimeError(f"Pivots given to lu_solve must all be {most}. Did you properly pass the result of lu_factor?")


@op("linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor", guard=_solve_range, guard_error=_solve_refused,
    lies=columns(unless=lambda output, operands, statics: not statics.get("left", True)), node="LinalgLuSolveBackward0",
    names=("torch.linalg.lu_solve",), saves={"LU": ("LU", "pivots", "result"), "B": ("LU", "pivots")},
    samples=[call(real(3, 3), at(3, 2, 3, dtype="int32"), real(3, 2)), call(real(3, 3), at(3, 2, 3, dtype="int32"), real(3, 2), adjoint=True),
             call(real(2, 2), at(2, 2, dtype="int32"), real(3, 2), left=False), call(real(2, 2), at(2, 2, dtype="int32"), real(3, 2), left=False, adjoint=True),
             call(real(2, 2), at(2, 2, dtype="int32"), real(3, 2, 1)),
             call(real(2, 2, dtype="complex128"), at(2, 2, dtype="int32"), real(2, 1, dtype="complex128"), adjoint=True)], kinks=SMOOTH, zero_second=True,
    errors=[fails(call(real(3, 3), at(1, 2, 3, dtype="int64"), real(3, 2)), RuntimeError,
                  "linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32"),
            fails(call(real(3, 3), at(1, 2, 3, dtype="int32"), real(2, 3)), RuntimeError,
                  "linalg.lu_solve: Incompatible shapes of A and B for the equation AX = B (3x3 and 2x3)")])
def linalg_lu_solve(LU, pivots, B, *, left=True, adjoint=False):
    """The solution of AX = B (or XA = B, or with A^H) from the factors of A."""
    _check_lu_solve(LU, pivots, B, left)
    check_float("torch.linalg.lu_solve", LU)
    check_kernel("linalg.lu_solve_cpu", LU)
    batch = shapes.broadcast(tuple(B.shape[:-2]), tuple(LU.shape[:-2]))
    permutation = jnp.broadcast_to(_permutation(pivots, LU.shape[-1]), (*batch, LU.shape[-1]))
    factors, b = with_batch(LU, batch), with_batch(B, batch)
    if left:
        return _from_factors(factors, permutation, b, adjoint)
    return _conjugated(_from_factors(factors, permutation, _conjugated(b), not adjoint))


def _conjugated(x):
    return adjoint(x)


def _from_factors(factors, permutation, b, conjugated):
    """A^-1 b, or A^-H b."""
    if not conjugated:
        x = triangular(factors, rows_permuted(b, permutation), lower=True, unit=True)
        return triangular(factors, x, lower=False)
    x = triangular(factors, b, lower=False, transpose=True, conjugate=True)
    x = triangular(factors, x, lower=True, unit=True, transpose=True, conjugate=True)
    return rows_permuted(x, jnp.argsort(permutation, axis=-1))


__all__ = []
