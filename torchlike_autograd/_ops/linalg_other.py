"""QR, reflections, exponentials and least squares (layer 2)."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax.lax import linalg as lapack

from .._core import shapes
from .._core.dtypes import FLOAT
from .._core.errors import LinAlgError
from .linalg_base import (
    adjoint,
    check_float,
    check_kernel,
    check_matrix,
    check_square,
    code_of,
    diagonal,
    eye_like,
    first_zero,
    imaginary,
    like,
    product,
    stop,
    triangular,
    with_batch,
)
from .linalg_solve import is_vector
from .linalg_spectral import pseudo_inverse
from .memory import columns, fitted
from .reduce import total, type_of
from .registry import SMOOTH, UNIMPLEMENTED, at, call, fails, op, real
from .tracing import fori_loop

# QR

_WITHOUT_Q = ("The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, mode='reduced') if you are going to "
              "differentiate through linalg.qr.")
_COMPLETE = "The QR decomposition is not differentiable when mode='complete' and nrows > ncols."


def _refusing(f, words):
    """f without a derivative: asking for it raises."""
    f = jax.custom_jvp(f)

    @f.defjvp
    def _(primals, tangents):
        raise RuntimeError(words)

    return f


@jax.custom_jvp
def _tall(a):
    """The reduced factors of matrices with at least as many rows as columns."""
    q, r = lapack.qr(a, full_matrices=False)
    return q, jnp.triu(r)


@_tall.defjvp
def _(primals, tangents):
    """Walter and Lehmann, Algorithmic differentiation of linear algebra functions with application in optimum experimental design (2012)."""
    q, r = _tall(*primals)
    ratio = triangular(r, tangents[0], lower=False, left=False)
    inner = product(adjoint(q), ratio)
    below = jnp.tril(inner, -1)
    turn = below - adjoint(below)
    if jnp.iscomplexobj(inner):
        turn = turn + imaginary(inner) * like(jnp.eye(inner.shape[-1], dtype=inner.dtype), inner.ndim)
    return (q, r), (product(q, turn - inner) + ratio, product(inner - turn, r))


def reduced(a):
    """The reduced factors of any matrices."""
    m, n = a.shape[-2:]
    if m >= n:
        return _tall(a)
    q, left = _tall(a[..., :, :m])
    return q, jnp.concatenate([left, product(adjoint(q), a[..., :, m:])], axis=-1)


def _of_nothing(a, mode):
    m, n = a.shape[-2:]
    k = m if mode == "complete" else min(m, n)
    zero = jnp.sum(a * a)
    q = eye_like(a, m)[..., :, :k] + zero
    return q, jnp.zeros((*a.shape[:-2], k, n), a.dtype) + zero


@op("linalg_qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)", lies=columns(), node="LinalgQrBackward0", names=("torch.linalg.qr",), fields=("Q", "R"),
    saves={"A": ("result0", "result1")}, zero_second=True,
    samples=[call(real(3, 3)), call(real(3, 2)), call(real(2, 3)), call(real(2, 3, 2)), call(real(3, 3), "complete"), call(real(2, 3), "complete"),
             call(real(3, 2), "complete"), call(real(3, 2), "r"), call(real(3, 2, dtype="complex128")), call(real(2, 3, dtype="complex128")), call(real(0, 3)),
             call(real(3, 0)), call(real(3, 2, dtype="float32"))], kinks=SMOOTH,
    errors=[fails(call(real(3, 2), "x"), RuntimeError, "qr received unrecognized mode 'x' but expected one of 'reduced' (default), 'r', or 'complete'"),
            fails(call(real(3)), RuntimeError, "linalg.qr: The input tensor A must have at least 2 dimensions."),
            fails(call(real(2, 2, dtype="float16")), NotImplementedError, "\"geqrf_cpu\" not implemented for 'Half'")])
def linalg_qr(A, *, mode="reduced"):
    """Q with orthonormal columns and R upper triangular."""
    check_matrix("linalg.qr", A)
    check_float("linalg.qr", A)
    if mode not in ("reduced", "r", "complete"):
        raise RuntimeError(f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'")
    check_kernel("geqrf_cpu", A)
    if mode == "r":
        factor = _refusing(lambda a: (_of_nothing(a, mode) if a.size == 0 else reduced(a))[1], _WITHOUT_Q)
        return jnp.zeros((0,), A.dtype), factor(A)
    if mode == "complete" and A.shape[-2] > A.shape[-1]:
        q, r = _refusing(lambda a: _of_nothing(a, mode) if a.size == 0 else tuple(lapack.qr(a, full_matrices=True)), _COMPLETE)(A)
        return q, jnp.triu(r)
    return _of_nothing(A, mode) if A.size == 0 else reduced(A)


# Reflections

def _check_reflectors(name, vectors, tau):
    if vectors.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if vectors.shape[-2] < vectors.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]")
    if vectors.shape[-1] < tau.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    if vectors.ndim - tau.ndim != 1:
        raise RuntimeError(f"{name}: Expected tau to have one dimension less than input, but got tau.ndim equal to {tau.ndim} and input.ndim is equal to "
                           f"{vectors.ndim}")
    if vectors.shape[:-2] != tau.shape[:-1]:
        raise RuntimeError(f"{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got {list(tau.shape[:-1])}")
    if tau.dtype != vectors.dtype:
        raise RuntimeError(f"{name}: tau dtype {type_of(tau).char_name} does not match input dtype {type_of(vectors).char_name}")


def _reflector(vectors, i):
    m = vectors.shape[-2]
    places = like(jnp.arange(m), vectors.ndim - 1)
    below = jnp.where(places > i, vectors[..., :, i], 0)
    return jnp.where(places == i, 1, below)[..., :, None]


def _reflected(vectors, tau, x, conjugated=False, forward=False):
    """(H_1 H_2 ...) x, or the conjugate transpose's product; `forward` names the order in which they are applied."""
    for i in range(tau.shape[-1]) if forward else reversed(range(tau.shape[-1])):
        v = _reflector(vectors, i)
        scale = tau[..., i, None, None]
        x = x - (jnp.conj(scale) if conjugated else scale) * product(v, product(adjoint(v), x))
    return x


@op("linalg_householder_product(Tensor input, Tensor tau) -> Tensor", lies=columns(), node="LinalgHouseholderProductBackward0", names=("torch.linalg.householder_product",),
    silent=lambda *types, **_: any(0 in a.shape for a in types), saves={"input": ("input", "tau", "result"), "tau": ("input", "tau", "result")},
    samples=[call(real(3, 2), real(2)), call(real(3, 3), real(2)), call(real(2, 3, 2), real(2, 2)), call(real(3, 2, dtype="complex128"), real(
        2, dtype="complex128"))], kinks=SMOOTH,
    errors=[fails(call(real(2, 3), real(2)), RuntimeError,
                  "torch.linalg.householder_product: input.shape[-2] must be greater than or equal to input.shape[-1]"),
            fails(call(real(3, 2), real(2, dtype="float32")), RuntimeError,
                  "torch.linalg.householder_product: tau dtype Float does not match input dtype Double")])
def linalg_householder_product(input, tau):
    """The first columns of a product of reflections."""
    _check_reflectors("torch.linalg.householder_product", input, tau)
    check_kernel("orgqr_cpu", input)
    start = jnp.broadcast_to(like(jnp.eye(*input.shape[-2:], dtype=input.dtype), input.ndim), input.shape)
    return _reflected(input, tau, start)


@op("ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor", forward=False, lies=columns(), node="OrmqrBackward0", empty=("self", "input2"),
    saves={"self": ("self", "input2", "input3", "result"), "input2": ("self", "input2", "input3", "result"), "input3": ("self", "input2")},
    samples=[call(real(3, 2), real(2), real(3, 2)), call(real(3, 2), real(2), real(3, 2), True, True), call(real(3, 2), real(2), real(2, 3), False),
             call(real(3, 2), real(2), real(2, 3), False, True)], kinks=SMOOTH,
    errors=[fails(call(real(3, 2), real(2), real(2, 3)), RuntimeError, "torch.ormqr: other.shape[-2] must be equal to input.shape[-2]")])
def ormqr(self, input2, input3, *, left=True, transpose=False):
    """The product of a matrix with a product of reflections."""
    for x, label in ((self, "input"), (input3, "other")):
        if x.ndim < 2:
            raise RuntimeError(f"torch.ormqr: {label} must have at least 2 dimensions.")
    side = -2 if left else -1
    if input3.shape[side] != self.shape[-2]:
        raise RuntimeError(f"torch.ormqr: other.shape[{side}] must be equal to input.shape[-2]")
    if input2.shape[-1] != min(input3.shape[side], self.shape[-1]):
        raise RuntimeError(f"torch.ormqr: tau.shape[-1] must be equal to min(other.shape[{side}], input.shape[-1])")
    if input3.ndim != self.ndim:
        raise RuntimeError("torch.ormqr: Expected other to have the same number of dimensions as input, but got other.ndim equal to "
                           f"{input3.ndim} and input.ndim is equal to {self.ndim}")
    for batch, word in ((input2.shape[:-1], "tau"), (input3.shape[:-2], "other")):
        if batch != self.shape[:-2]:
            raise RuntimeError(f"torch.ormqr: Expected batch dimensions of {word} to be equal to input.shape[:-2], but got {list(batch)}")
    check_kernel("ormqr_cpu", self)
    if left:
        return _reflected(self, input2, input3, transpose, transpose)
    return adjoint(_reflected(self, input2, adjoint(input3), not transpose, not transpose))


@op("geqrf(Tensor self) -> (Tensor a, Tensor tau)", lies=columns(0), node="GeqrfBackward0", derivative=UNIMPLEMENTED, fields=("a", "tau"), real_only=True,
    samples=[call(real(3, 2)), call(real(2, 3))], kinks=SMOOTH, errors=[fails(call(real(3)), RuntimeError, "torch.geqrf: input must have at least 2 dimensions.")])
def geqrf(self):
    """The reflections that make a matrix triangular, packed."""
    if self.ndim < 2:
        raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
    check_kernel("geqrf_cpu", self)
    if self.size == 0:
        return self, jnp.zeros((*self.shape[:-2], min(self.shape[-2:])), self.dtype)
    packed, tau = jnp.linalg.qr(self, mode="raw")
    return jnp.swapaxes(packed, -1, -2), tau


# Exponential

_TAYLOR = np.reshape([1 / math.factorial(k) for k in range(20)], (5, 4))
_SQUARINGS = 32


def _expm(a):
    """The exponential of one matrix whose series is summed where its norm is at most 1 and then squared (scaling and squaring, Moler and Van Loan 2003,
    method 3; the polynomial as Paterson and Stockmeyer order it, seven products).

    The first omitted term is 1 / 20!, less than a rounding of double precision. `jax.scipy.linalg.expm` chooses among five rational approximants and
    solves: three times as much code for XLA to compile, twice the time of the gradient, and the same digits.
    """
    norm = jnp.max(jnp.sum(jnp.abs(stop(a)), axis=-2))
    squarings = jnp.where(jnp.isfinite(norm), jnp.clip(jnp.ceil(jnp.log2(norm)), 0, _SQUARINGS), 0)
    a = a * jnp.exp2(-squarings).astype(a.dtype)
    second = product(a, a)
    powers = jnp.stack([jnp.eye(a.shape[-1], dtype=a.dtype), a, second, product(second, a)])
    *blocks, total = jnp.tensordot(_TAYLOR.astype(a.dtype), powers, 1)
    fourth = product(second, second)
    for block in reversed(blocks):
        total = block + product(fourth, total)
    return fori_loop(0, _SQUARINGS, lambda i, x: jax.lax.cond(i < squarings, lambda x: product(x, x), lambda x: x, x), total)


@op("linalg_matrix_exp(Tensor self) -> Tensor", node="LinalgMatrixExpBackward0", names=("torch.linalg.matrix_exp",),
    aliases=("torch.matrix_exp", "Tensor.matrix_exp"), out=False, saves={"self": ("self",)}, zero_second=True,
    samples=[call(real(2, 2)), call(real(3, 3)), call(real(2, 2, 2)), call(real(1, 1)), call(real(0, 0)), call(real(2, 2, dtype="complex128")),
             call(real(2, 2, dtype="float32")), call(real(3, 3, low=-9.0, high=9.0))],
    kinks=[call(at([[0.0, 0.0], [0.0, 0.0]])), call(at([[0.0, 1.0], [0.0, 0.0]])), call(at([[0.0, 1e6], [0.0, 0.0]])), call(at([[600.0, 0.0], [0.0, 0.0]]))],
    errors=[fails(call(real(2, 3)), RuntimeError, "linalg.matrix_exp: A must be batches of square matrices, but they are 2 by 3 matrices"),
            fails(call(at([[1, 2], [3, 4]], dtype="int64", grad=False)), RuntimeError,
                  "linalg.matrix_exp: Expected a floating point or complex tensor as input. Got Long")])
def linalg_matrix_exp(self):
    """The exponential of square matrices."""
    check_square("linalg.matrix_exp", self)
    check_float("linalg.matrix_exp", self)
    if self.size == 0:
        return product(self, self)
    if self.shape[-1] == 1:
        return jnp.exp(self)
    double = jnp.complex128 if jnp.iscomplexobj(self) else jnp.float64  # squaring loses digits that single precision has not to lose
    return jnp.vectorize(_expm, signature="(n,n)->(n,n)")(self.astype(double)).astype(self.dtype)


# Least squares

_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def _check_lstsq(a, b, driver, rcond):
    if a.ndim < 2:
        raise RuntimeError("torch.linalg.lstsq: input must have at least 2 dimensions.")
    if b.ndim < 1:
        raise RuntimeError("torch.linalg.lstsq: other must have at least 1 dimension.")
    if a.dtype != b.dtype:
        raise RuntimeError(f"torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's dtype {type_of(a).char_name} and other's "
                           f"dtype {type_of(b).char_name}")
    away = a.ndim - b.ndim
    if not 0 <= away <= 1:
        raise RuntimeError("torch.linalg.lstsq: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1")
    vector = is_vector(a.shape, b.shape)
    if a.shape[-2] != b.shape[-1 if vector else -2]:
        raise RuntimeError(f"torch.linalg.lstsq: input.size(-2) should match other.size({-1 if vector else -2})")
    if driver not in (None, *_DRIVERS):
        raise RuntimeError("torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    if rcond is not None:
        check_kernel("linalg_lstsq_cpu", a)
    if type_of(a).category < FLOAT or a.dtype.itemsize == 2:
        raise RuntimeError("This function doesn't handle types other than float and double")
    return vector


def _rank_code(self, b, rcond=None, *, driver):
    """With gels, LAPACK's place of the first zero on the diagonal of the triangular factor."""
    if driver != "gels" or self.size == 0:
        return 0
    a = self if self.shape[-2] >= self.shape[-1] else adjoint(self)
    d = diagonal(_tall(a)[1])
    return code_of(first_zero(d == 0), d.shape[-1])


def _rank_error(code, shape, *_, driver):
    element, place = divmod(code, min(shape[-2:]) + 1)
    where = f"(Batch element {element}): " if len(shape) > 2 else ""
    return LinAlgError(f"torch.linalg.lstsq: {where}The least squares solution could not be computed because the input matrix does not have full rank "
                       f"(error code: {place}).")


@op("_linalg_lstsq(Tensor self, Tensor b, Tensor? rcond=None, *, str? driver=None) -> (Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values)",
    lies=fitted, node="LinalgLstsqBackward0", names=(), scalars=("rcond",), nondiff=("rcond",), nondiff_out=(3,), guard=_rank_code, guard_error=_rank_error,
    saves={"self": ("self", "b", "result0"), "b": ("self", "b", "result0")}, samples=[call(real(3, 2), real(3, 1))], kinks=SMOOTH)
def _linalg_lstsq(self, b, rcond=None, *, driver=None):
    """The solutions of least length, sums of squared residuals of full-rank systems, ranks and singular values; the caller says which of them torch has."""
    vector = _check_lstsq(self, b, driver, rcond)
    rhs = b[..., None] if vector else b
    batch = shapes.broadcast(tuple(self.shape[:-2]), tuple(b.shape[:-1] if self.ndim > b.ndim else b.shape[:-2]))  # torch 2.13: also of one matrix
    a, rhs = with_batch(self, batch), with_batch(rhs, batch)
    m, n = a.shape[-2:]
    given = None if rcond is None else jnp.real(rcond)
    solution = product(pseudo_inverse(a, None, given if driver != "gels" else jnp.zeros((), a.dtype), False), rhs)
    away = product(a, solution) - rhs
    residuals = total(jnp.real(away * jnp.conj(away)), (away.ndim - 2,))
    own = tuple(self.shape[:-2])  # one matrix has one rank, however many systems it stands in
    values = jnp.zeros((*own, 0), residuals.dtype)
    if a.size:
        values = lapack.svd(stop(self), full_matrices=False, compute_uv=False)
    cut = jnp.finfo(a.dtype).eps * max(m, n) if given is None else given
    largest = values[..., :1]
    rank = jnp.sum(values > cut * largest, axis=-1, dtype=jnp.int64) if rhs.size else jnp.zeros(own, jnp.int64)
    return (solution[..., 0] if vector else solution), residuals, rank, values


@op("_no_residuals(Tensor self) -> Tensor", node="LinalgLstsqBackward0", names=(), silent=lambda *_, **__: True, samples=[call(real(2))], kinks=SMOOTH)
def _no_residuals(self):
    """No residuals, which require grad all the same; their gradient is undefined."""
    return self.reshape(-1)[:0]


__all__ = ["reduced"]
