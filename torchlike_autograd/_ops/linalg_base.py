"""What operators on matrices share (layer 2): checks in torch's words, factorisations that take any size, codes of data-dependent errors."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.lax import Precision
from jax.lax import linalg as lapack

from .._core import dtypes, errors
from .._core.dtypes import FLOAT
from .conventions import partials
from .reduce import type_of

_HALVES = (dtypes.float16, dtypes.bfloat16)


def product(a, b):
    """a @ b at full precision."""
    return jnp.matmul(a, b, precision=Precision.HIGHEST)


def transposed(x):
    """The matrices transposed."""
    return jnp.swapaxes(x, -1, -2)


def adjoint(x):
    """The matrices transposed and conjugated."""
    return jnp.conj(transposed(x)) if jnp.iscomplexobj(x) else transposed(x)


def diagonal(x):
    """The diagonals of matrices."""
    return jnp.diagonal(x, axis1=-2, axis2=-1)


def like(x, rank):
    """x with leading dims of size 1 up to a rank."""
    return x.reshape((1,) * (rank - x.ndim) + x.shape)


def diagonal_matrix(x):
    """Matrices with these diagonals."""
    return x[..., None] * like(jnp.eye(x.shape[-1], dtype=x.dtype), x.ndim + 1)


def imaginary(x):
    """i times the imaginary part."""
    return jax.lax.complex(jnp.zeros_like(jnp.imag(x)), jnp.imag(x))


def eye_like(x, n=None):
    """Identities of n rows (default: as many as x has) for each matrix of x."""
    n = x.shape[-1] if n is None else n
    return jnp.broadcast_to(jnp.eye(n, dtype=x.dtype), (*x.shape[:-2], n, n))


# Checks

def check_matrix(name, x, label="A"):
    """Refuse what has fewer than two dims."""
    if x.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor {label} must have at least 2 dimensions.")


def check_square(name, x, label="A"):
    """Refuse what is no stack of square matrices."""
    check_matrix(name, x, label)
    if x.shape[-1] != x.shape[-2]:
        raise RuntimeError(f"{name}: {label} must be batches of square matrices, but they are {x.shape[-2]} by {x.shape[-1]} matrices")


def check_float(name, x, low=True):
    """Refuse integers, and half precision unless `low`."""
    own = type_of(x)
    if own.category < FLOAT:
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {own.char_name}")
    if not low and own in _HALVES:
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {own.char_name}")


def check_kernel(kernel, x, nothing=False):
    """Refuse dtypes that LAPACK does not take; nothing: it is not asked about those without elements."""
    own = type_of(x)
    if (own.category < FLOAT or own in _HALVES) and (x.size or not nothing):
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{own.char_name}'")


# Factorisations.  Nothing of nothing is written as a product, because its gradient depends on its operands as it does elsewhere.

def lu(x):
    """(packed factors, pivots from 0, permutation of the rows) of matrices of any size."""
    m, n = x.shape[-2:]
    if x.size == 0:
        batch = x.shape[:-2]
        return x * x, jnp.zeros((*batch, min(m, n)), jnp.int32), jnp.broadcast_to(jnp.arange(m, dtype=jnp.int32), (*batch, m))
    factors, pivots, permutation = lapack.lu(x)
    return _lost_below_nan(factors), pivots, permutation


def _lost_below_nan(factors):
    """Packed factors with nothing known below and after the first pivot that is no number: some LAPACKs leave out the division by it, torch's does not."""
    lost = jnp.isnan(diagonal(factors))
    first = jnp.where(jnp.any(lost, axis=-1), jnp.argmax(lost, axis=-1), lost.shape[-1])[..., None, None]
    rows, columns = (jax.lax.broadcasted_iota(first.dtype, factors.shape, factors.ndim - k) for k in (2, 1))
    nothing = complex(float("nan"), float("nan")) if jnp.iscomplexobj(factors) else float("nan")
    return jnp.where((rows > first) & (columns >= first), jnp.full_like(factors, nothing), factors)


def rows_permuted(x, permutation):
    """The rows of matrices in another order."""
    if x.size == 0:
        return x
    return jnp.take_along_axis(x, permutation[..., :, None], axis=-2)


def triangular(a, b, *, lower, left=True, transpose=False, conjugate=False, unit=False):
    """The solution of triangular systems of one batch shape."""
    if b.size == 0:
        return product(a, b) if left else product(b, a)
    return lapack.triangular_solve(a, b, left_side=left, lower=lower, transpose_a=transpose, conjugate_a=conjugate, unit_diagonal=unit)


def solve_factored(factors, permutation, b):
    """A^-1 b from the factors of A, which have the batch shape of b."""
    x = triangular(factors, rows_permuted(b, permutation), lower=True, unit=True)
    return triangular(factors, x, lower=False)


@partials(lambda t, out, a, b: -solved(a, product(t, out)), lambda t, out, a, b: solved(a, t))
def solved(a, b):
    """A^-1 b for one batch shape; where A is singular, what LAPACK leaves."""
    factors, _, permutation = lu(a)
    return solve_factored(factors, permutation, b)


@partials(lambda t, out, a: -product(product(out, t), out))
def inverse(a):
    """A^-1."""
    factors, _, permutation = lu(a)
    return solve_factored(factors, permutation, eye_like(a))


def with_batch(x, batch):
    """x as a stack of matrices of a batch shape."""
    return x if x.shape[:-2] == tuple(batch) else jnp.broadcast_to(x, (*batch, *x.shape[-2:]))


# Errors that depend on data: 0, or batch element * (n + 1) + place from 1

def first_zero_pivot(factors):
    """LAPACK's info for the LU factors of square matrices: the place, from 1, of the first pivot that is zero, or 0."""
    return first_zero(diagonal(factors) == 0)


def first_zero(zero):
    """The place, from 1, of the first True along the last dim, or 0."""
    if zero.shape[-1] == 0:
        return jnp.zeros(zero.shape[:-1], jnp.int32)
    return jnp.where(jnp.any(zero, axis=-1), jnp.argmax(zero, axis=-1) + 1, 0).astype(jnp.int32)


def code_of(info, n):
    """One code for the infos of a batch of matrices with n columns."""
    info = info.reshape(-1).astype(jnp.int64)
    if info.size == 0:
        return jnp.zeros((), jnp.int64)
    first = jnp.argmax(info != 0)
    return jnp.where(info[first] != 0, first * (n + 1) + info[first], 0)


def located(api, code, shape, words, kind=errors.LinAlgError):
    """The error for a code of `code_of`; `words` has a place for the place."""
    element, place = divmod(code, shape[-1] + 1)
    batch = f"(Batch element {element}): " if len(shape) > 2 else ""
    return kind(f"{api}: {batch}{words.format(place)}")


SINGULAR = "The diagonal element {} is zero, the inversion could not be completed because the input matrix is singular."
NOT_POSITIVE = ("The factorization could not be completed because the input is not positive-definite (the leading minor of order {} is not "
                "positive-definite).")
UNSOLVABLE = "The solver failed because the input matrix is singular."
NOT_FINITE = "The algorithm failed to converge because the input matrix contained non-finite values."


def lu_code(a):
    """The code of the first matrix that is exactly singular."""
    return code_of(first_zero_pivot(lu(a)[0]), a.shape[-1])


def nan_code(a):
    """The code of the first matrix with an entry that is no number."""
    bad = jnp.any(jnp.isnan(a), axis=(-2, -1))
    return code_of(bad.astype(jnp.int32), a.shape[-1])


def both_dtypes(name, a, b, first="A", second="B"):
    """Refuse operands of different dtypes."""
    if a.dtype != b.dtype:
        raise RuntimeError(
            f"{name}: Expected {first} and {second} to have the same dtype, but found {first} of type {type_of(a).char_name} and {second} of type "
            f"{type_of(b).char_name} instead")


def check_system(name, a, b, left):
    """Refuse systems whose shapes do not fit."""
    if a.shape[-1] != b.shape[-2 if left else -1]:
        raise RuntimeError(f"{name}: Incompatible shapes of A and B for the equation {'AX' if left else 'XA'} = B "
                           f"({a.shape[-2]}x{a.shape[-1]} and {b.shape[-2]}x{b.shape[-1]})")


def stop(x):
    """x as a constant."""
    return jax.lax.stop_gradient(x)


__all__ = ["NOT_FINITE", "NOT_POSITIVE", "SINGULAR", "UNSOLVABLE", "adjoint", "both_dtypes", "check_float", "check_kernel", "check_matrix", "check_square",
           "check_system", "code_of", "diagonal", "diagonal_matrix", "eye_like", "first_zero", "first_zero_pivot", "imaginary", "inverse", "like",
           "located", "lu", "lu_code",
           "nan_code", "product", "rows_permuted", "solve_factored", "solved", "stop", "transposed", "triangular", "with_batch"]
