"""Eigenvalues, singular values and what is made of them (layer 2).

The derivatives follow Giles, Collected matrix derivative results for forward and reverse mode (2008), with the choice of phase that leaves the right
singular vectors' phase fixed; they are written so that the product with a cotangent is the same polynomial as torch's, of which second derivatives are taken.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.lax import linalg as lapack

from .._core import dtypes, shapes
from .conventions import flat, partials
from .linalg_base import (
    NOT_FINITE,
    adjoint,
    check_float,
    check_kernel,
    check_matrix,
    check_square,
    code_of,
    diagonal,
    eye_like,
    imaginary,
    like,
    located,
    nan_code,
    product,
    solved,
)
from .memory import columns
from .reduce import type_of
from .registry import NONE, SMOOTH, at, call, fails, op, real

_SYMMETRIC = [call(at([[2.0, 1.0], [1.0, 3.0]])),
              call(at([[[2.0, 1.0], [1.0, 3.0]], [[0.0, -1.0], [-1.0, 4.0]]])), call(at([[2.0, 1.0], [1.0, 3.0]]), "U"), call(real(0, 0)), call(real(0, 2, 2)),
              call(at([[2.0, 1.0], [1.0, 3.0]], dtype="float32"))]
_SQUARE_ERRORS = [fails(call(real(2, 3)), RuntimeError, "linalg.{}: A must be batches of square matrices, but they are 2 by 3 matrices"),
                  fails(call(real(2)), RuntimeError, "linalg.{}: The input tensor A must have at least 2 dimensions.")]


def _square_errors(name):
    return [fails(f.call, f.kind, f.message.format(name)) for f in _SQUARE_ERRORS]


def _off(gaps, x):
    """x divided by gaps, of which the diagonal does not count."""
    n = gaps.shape[-1]
    own = like(jnp.eye(n, dtype=bool), x.ndim)
    return jnp.where(own, 0, x / jnp.where(own, 1, gaps).astype(x.dtype))


# Phases

def _refuse_phase(name):
    """A check that a loss does not depend on the phases of complex eigenvectors."""
    def refuse(cotangents, outs):
        g, vectors = cotangents.get(1), outs[1]
        if g is None or not jnp.iscomplexobj(vectors):
            return
        if not bool(jnp.all(jnp.abs(jnp.imag(diagonal(product(adjoint(vectors), g)))) <= 1e-2)):
            raise RuntimeError(f"{name}_backward: The eigenvectors in the complex case are specified up to multiplication by e^{{i phi}}. The specified loss "
                               "function depends on this quantity, so it is ill-defined.")

    refuse.outside = True  # torch does not look inside of torch.func's transformations
    return refuse


def _refuse_singular_phase(cotangents, outs):
    """The same for singular vectors, whose phases go together."""
    left, values, right = outs
    if not jnp.iscomplexobj(left):
        return
    k = values.shape[-1]
    turn = jnp.zeros_like(values)
    if 0 in cotangents:
        turn = turn + 2 * jnp.imag(diagonal(product(adjoint(left[..., :k]), cotangents[0][..., :k])))
    if 2 in cotangents:
        turn = turn + 2 * jnp.imag(diagonal(product(right[..., :k, :], adjoint(cotangents[2][..., :k, :]))))
    if not bool(jnp.all(jnp.abs(turn) <= 1e-2)):
        raise RuntimeError("svd_backward: The singular vectors in the complex case are specified up to multiplication by e^{i phi}. The specified loss function "
                           "depends on this phase term, making it ill-defined.")


# Hermitian matrices

def _check_uplo(name, x, UPLO):
    check_square(name, x)
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    check_kernel("linalg_eigh_cpu", x, nothing=True)


def _eigen_tangents(values, vectors, t):
    inner = product(product(adjoint(vectors), t), vectors)
    gaps = values[..., None, :] - values[..., :, None]
    return jnp.real(diagonal(inner)), product(vectors, _off(gaps, inner))


def _hermitian_tangent(out, primals, tangents, *, UPLO="L"):
    """In forward mode the tangent is not made Hermitian."""
    return _eigen_tangents(*out, tangents[0])


def _hermitian(a, lower):
    """(values, vectors) of the matrices of which one triangle is read."""
    if a.size == 0:
        return jnp.real(diagonal(product(a, a))), product(a, a)

    @jax.custom_jvp
    def decompose(a):
        read = jnp.tril(jnp.ones(a.shape[-2:], bool)) == lower
        whole = jnp.where(read | jnp.eye(a.shape[-1], dtype=bool), a, adjoint(a))  # what stands in the other triangle may be no number
        vectors, values = lapack.eigh(whole, lower=lower, symmetrize_input=False, sort_eigenvalues=True)
        return values, vectors

    @decompose.defjvp
    def _(primals, tangents):
        values, vectors = decompose(*primals)
        return (values, vectors), _eigen_tangents(values, vectors, 0.5 * (tangents[0] + adjoint(tangents[0])))

    return decompose(a)


def _stuck(a, lower, left):
    """LAPACK's code for matrices whose iteration meets numbers that are none, `left` rows before its end.  Matrices of three bands are not counted: there the
    others may come to their end."""
    n = a.shape[-1]
    if n < 3 or a.size == 0:
        return 0
    read, far = (jnp.tril(a), jnp.tril(a, -2)) if lower else (jnp.triu(a), jnp.triu(a, 2))
    stuck = jnp.any(jnp.isnan(read), axis=(-2, -1)) & jnp.any(far != 0, axis=(-2, -1))
    return code_of(jnp.where(stuck, n - left, 0), n)


def _stuck_error(code, shape, **_):
    return located("linalg.eigh", code, shape, "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated "
                   "eigenvalues (error code: {}).")


def _eigh_code(self, *, UPLO="L"):
    """Of more than 25 rows the vectors are found by dividing, which ends in any case."""
    return _stuck(self, UPLO.upper() == "L", 1) if self.shape[-1] <= 25 else 0


def _eigvalsh_code(self, *, UPLO="L"):
    return _stuck(self, UPLO.upper() == "L", 2)


@op("linalg_eigh(Tensor self, str UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)", lies=columns(1), node="LinalgEighBackward0", names=("torch.linalg.eigh",),
    fields=("eigenvalues", "eigenvectors"), saves={"self": ("result0", "result1")}, samples=_SYMMETRIC, zero_second=True, tangent=_hermitian_tangent, refuse=_refuse_phase("linalg_eigh"),
    guard=_eigh_code, guard_error=_stuck_error,
    kinks=[call(at([[2.0, 100.0], [1.0, 3.0]])), call(at([[2.0, 100.0], [1.0, 3.0]]), "U")],
    errors=[*_square_errors("eigh"), fails(call(real(2, 2), "Q"), RuntimeError, "Expected UPLO argument to be 'L' or 'U', but got Q"),
            fails(call(at([[1, 2], [3, 4]], dtype="int64", grad=False)), NotImplementedError, "\"linalg_eigh_cpu\" not implemented for 'Long'")])
def linalg_eigh(self, *, UPLO="L"):
    """Eigenvalues in ascending order and eigenvectors; only the triangle UPLO is read."""
    _check_uplo("linalg.eigh", self, UPLO)
    return _hermitian(self, UPLO.upper() == "L")


@op("_linalg_eigvalsh(Tensor self, str UPLO='L') -> Tensor", derivative=NONE, names=(), samples=[call(at([[2.0, 1.0], [1.0, 3.0]]))], kinks=SMOOTH,
    guard=_eigvalsh_code, guard_error=_stuck_error)
def _linalg_eigvalsh(self, *, UPLO="L"):
    """Eigenvalues alone, where no gradient is wanted."""
    _check_uplo("linalg.eigh", self, UPLO)
    if self.size == 0:
        return jnp.real(diagonal(self))
    return _hermitian(self, UPLO.upper() == "L")[0]


# Any square matrices

def _as_complex(a):
    return a if jnp.iscomplexobj(a) else a.astype(jnp.complex128 if a.dtype == jnp.float64 else jnp.complex64)


@jax.custom_jvp
def _eigen(a):
    values, vectors = lapack.eig(a, compute_left_eigenvectors=False, compute_right_eigenvectors=True)
    return values, vectors


@_eigen.defjvp
def _(primals, tangents):
    values, vectors = _eigen(*primals)
    t = _as_complex(tangents[0])
    inner = solved(vectors, product(t, vectors))
    moved = _off(values[..., None, :] - values[..., :, None], inner)
    along = jnp.real(diagonal(product(adjoint(vectors), product(vectors, moved))))
    return (values, vectors), (diagonal(inner), product(vectors, moved) - vectors * along[..., None, :].astype(vectors.dtype))


def _check_eig(x):
    own = type_of(x)
    if own.category < dtypes.FLOAT:
        raise RuntimeError(f"Unknown Complex ScalarType for {own.char_name}")
    check_square("linalg.eig", x)
    check_kernel("linalg_eig_out_cpu", x)


_FINITE = {"guard": lambda self: jnp.logical_not(jnp.all(jnp.isfinite(self))),
           "guard_error": lambda *_, **__: RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")}


@op("linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)", lies=columns(1), node="LinalgEigBackward0", names=("torch.linalg.eig",),
    fields=("eigenvalues", "eigenvectors"), saves={"self": ("result0", "result1")}, zero_second=True, refuse=_refuse_phase("linalg_eig"), **_FINITE,
    samples=[call(at([[2.0, 1.0], [0.5, 3.0]])), call(at([[1.0, 2.0, 0.0], [0.5, 3.0, 1.0], [0.0, 0.25, -1.0]])),
             call(at([[[2.0, 1.0], [0.5, 3.0]], [[1.0, 2.0], [3.0, 4.0]]])), call(real(0, 0)), call(at([[2.0, 1.0], [0.5, 3.0]], dtype="float32"))],
    kinks=SMOOTH, errors=[*_square_errors("eig"),
                          fails(call(at([[1, 2], [3, 4]], dtype="int64", grad=False)), RuntimeError, "Unknown Complex ScalarType for Long")])
def linalg_eig(self):
    """Eigenvalues and eigenvectors of length 1, complex."""
    _check_eig(self)
    if self.size == 0:
        full = _as_complex(product(self, self))
        return diagonal(full), full
    return _eigen(self)


@op("_linalg_eigvals(Tensor self) -> Tensor", derivative=NONE, names=(), samples=[call(at([[2.0, 1.0], [0.5, 3.0]]))], kinks=SMOOTH)
def _linalg_eigvals(self):
    """Eigenvalues alone, where no gradient is wanted."""
    _check_eig(self)
    if self.size == 0:
        return diagonal(_as_complex(self))
    return lapack.eig(self, compute_left_eigenvectors=False, compute_right_eigenvectors=False)[0]


# Singular values

def _singular(a, full):
    """(U, S, V^H); of full matrices only the first columns and rows take part in the derivative."""
    m, n = a.shape[-2:]
    k = min(m, n)
    if a.size == 0:
        return _singular_of_nothing(a, full)

    @jax.custom_jvp
    def decompose(a):
        return tuple(lapack.svd(a, full_matrices=full, compute_uv=True))

    @decompose.defjvp
    def _(primals, tangents):
        left, values, right = decompose(*primals)
        u, s, vh = _singular_tangent(tangents[0], left[..., :k], values, right[..., :k, :])
        rest = [jnp.zeros((*a.shape[:-2], m, left.shape[-1] - k), a.dtype), jnp.zeros((*a.shape[:-2], right.shape[-2] - k, n), a.dtype)]
        return (left, values, right), (jnp.concatenate([u, rest[0]], axis=-1), s, jnp.concatenate([vh, rest[1]], axis=-2))

    return decompose(a)


def _singular_of_nothing(a, full):
    m, n = a.shape[-2:]
    k = min(m, n)
    left, right = eye_like(a, m), eye_like(a, n)
    zero = jnp.sum(a * a).astype(a.dtype)
    values = jnp.zeros((*a.shape[:-2], k), jnp.real(a).dtype) + jnp.real(zero)
    return (left if full else left[..., :k]) + zero, values, (right if full else right[..., :k, :]) + zero


def _singular_tangent(t, u, s, vh):
    m, k, n = u.shape[-2], s.shape[-1], vh.shape[-1]
    wide = s.astype(u.dtype)
    v = adjoint(vh)
    inner = product(product(adjoint(u), t), v)
    gaps = (s * s)[..., None, :] - (s * s)[..., :, None]
    by_columns, by_rows = inner * wide[..., None, :], wide[..., :, None] * inner
    du = product(u, _off(gaps, by_columns + adjoint(by_columns)))
    dv = product(v, _off(gaps, by_rows + adjoint(by_rows)))
    if jnp.iscomplexobj(u):
        phase = imaginary(diagonal(inner)) / wide
        du = du + u * phase[..., None, :]
    if m > k:
        tv = product(t, v)
        du = du + (tv - product(u, product(adjoint(u), tv))) / wide[..., None, :]
    if n > k:
        tu = product(adjoint(t), u)
        dv = dv + (tu - product(v, product(vh, tu))) / wide[..., None, :]
    return du, jnp.real(diagonal(inner)), adjoint(dv)


def _check_svd(name, A, driver):
    check_matrix(name, A)
    check_float(name, A)
    if driver is not None:
        raise RuntimeError("torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.")
    check_kernel("linalg_svd_cpu", A, nothing=True)


_SVD_GUARD = {"guard": lambda A, **_: nan_code(A), "guard_error": lambda code, shape, **_: located("linalg.svd", code, shape, NOT_FINITE)}


@op("linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)", lies=columns(0, 2), node="LinalgSvdBackward0",
    names=("torch.linalg.svd",), fields=("U", "S", "Vh"), saves={"A": ("result0", "result1", "result2")}, zero_second=True, refuse=_refuse_singular_phase,
    **_SVD_GUARD,
    samples=[call(real(3, 3), False), call(real(3, 2), False), call(real(2, 2, 2), False), call(real(1, 1)), call(real(0, 3), False),
             call(real(2, 2, dtype="float32"), False)],
    kinks=SMOOTH, errors=[fails(call(real(2)), RuntimeError, "linalg.svd: The input tensor A must have at least 2 dimensions."),
                          fails(call(at([[1, 2], [3, 4]], dtype="int64", grad=False)), RuntimeError,
                                "linalg.svd: Expected a floating point or complex tensor as input. Got Long"),
                          fails(call(real(2, 3), driver="gesvd"), RuntimeError,
                                "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.")])
def linalg_svd(A, *, full_matrices=True, driver=None):
    """U, singular values in descending order, and V^H."""
    _check_svd("linalg.svd", A, driver)
    return _singular(A, full_matrices)


@op("_linalg_svdvals(Tensor A) -> Tensor", derivative=NONE, names=(), samples=[call(real(3, 2))], kinks=SMOOTH, **_SVD_GUARD)
def _linalg_svdvals(A):
    """Singular values alone, where no gradient is wanted."""
    _check_svd("linalg.svd", A, None)
    if A.size == 0:
        return _singular_of_nothing(A, False)[1]
    return lapack.svd(A, full_matrices=False, compute_uv=False)


# Pseudo-inverse and rank

def _tolerances(a, atol, rtol):
    """(absolute, relative) tolerances as arrays that broadcast against the values of each matrix."""
    dtype = jnp.finfo(a.dtype).dtype
    own = jnp.asarray(jnp.finfo(dtype).eps * max(a.shape[-2:]), dtype)
    absolute = jnp.zeros((), dtype) if atol is None else jnp.real(atol).astype(dtype)
    if rtol is None:
        relative = own if atol is None else jnp.where(absolute > 0, 0, own)
    else:
        relative = jnp.real(rtol).astype(dtype)
    for x in (absolute, relative):
        shapes.broadcast((*x.shape, 1), (*a.shape[:-2], 1))  # raises torch's error
    return [like(x[..., None], a.ndim - 1) for x in (absolute, relative)]


def _counted(size, absolute, relative):
    """Which values are not negligible."""
    return size > jnp.maximum(absolute, relative * jnp.max(size, axis=-1, keepdims=True))


def pseudo_inverse(a, atol, rtol, hermitian):
    """The pseudo-inverse, differentiated at constant rank (Golub and Pereyra, 1973)."""
    if a.size == 0:
        return adjoint(a)

    @partials(_pseudo_inverse_tangent, None, None)
    def value(a, absolute, relative):
        if hermitian:
            values, left = _hermitian(a, True)
            right = adjoint(left)
            size = jnp.abs(values)
        else:
            left, values, right = _singular(a, False)
            size = values
        kept = _counted(size, absolute, relative)
        inverted = jnp.where(kept, 1 / jnp.where(kept, values, 1), 0).astype(a.dtype)
        return product(adjoint(right) * inverted[..., None, :], adjoint(left))

    return value(a, *_tolerances(a, atol, rtol))


def _pseudo_inverse_tangent(t, p, a, absolute, relative):
    th, ph = adjoint(t), adjoint(p)
    inner = product(product(p, ph), th)
    outer = product(th, product(ph, p))
    return -product(product(p, t), p) + inner - product(product(inner, a), p) + outer - product(p, product(a, outer))


NO_EPSILON = "This function doesn't handle types other than float and double"  # torch asks for that of the dtype where no relative tolerance is given


def _check_pinv(x):
    own = type_of(x)
    if x.ndim < 2 or own not in (dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128):
        raise RuntimeError(f"linalg.pinv({own.char_name}{{{list(x.shape)}}}): expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble "
                           "types")


_VALUES_GUARD = {"guard": lambda self, *tolerances, hermitian: 0 if hermitian else nan_code(self), "guard_error": _SVD_GUARD["guard_error"]}


@op("_linalg_pinv(Tensor self, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False) -> Tensor", node="LinalgPinvBackward0", names=(),
    scalars=("atol", "rtol"), nondiff=("atol", "rtol"), saves={"self": ("self", "result")}, zero_second=True, samples=[call(real(3, 2))], kinks=SMOOTH,
    **_VALUES_GUARD)
def _linalg_pinv(self, atol=None, rtol=None, *, hermitian=False):
    """The pseudo-inverse; values up to max(atol, rtol * the largest) count as zero."""
    _check_pinv(self)
    if hermitian:
        check_square("linalg.eigh", self)
    return pseudo_inverse(self, atol, rtol, hermitian)


@op("_linalg_matrix_rank(Tensor self, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False) -> Tensor", derivative=NONE, names=(),
    scalars=("atol", "rtol"), samples=[call(real(3, 2))], kinks=SMOOTH, **_VALUES_GUARD)
def _linalg_matrix_rank(self, atol=None, rtol=None, *, hermitian=False):
    """How many singular values count."""
    check_matrix("torch.linalg.matrix_rank", self, "input")
    if type_of(self).category < dtypes.FLOAT or self.dtype.itemsize == 2:
        if rtol is None:
            raise RuntimeError(NO_EPSILON)
        if not hermitian:
            check_float("linalg.svd", self)
        check_kernel("linalg_eigh_cpu" if hermitian else "linalg_svd_cpu", self, nothing=True)
    if hermitian:
        check_square("linalg.eigh", self)
    if self.size == 0:
        return jnp.zeros(self.shape[:-2], jnp.int64)
    size = jnp.abs(_hermitian(self, True)[0]) if hermitian else lapack.svd(self, full_matrices=False, compute_uv=False)
    return jnp.sum(_counted(size, *_tolerances(self, atol, rtol)), axis=-1, dtype=jnp.int64)


@op("_identity_of(Tensor self) -> Tensor", node="torch::autograd::CopyBackwards", names=(), zero_second=True, samples=[call(real(2, 2))], kinks=SMOOTH)
def _identity_of(self):
    """A matrix to the power 0."""
    return flat(eye_like(self), self)


__all__ = ["NO_EPSILON", "pseudo_inverse"]
