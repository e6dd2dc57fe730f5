"""Public functions made of eigenvalues, singular values and least squares (layer 7)."""

from __future__ import annotations

import math

from .._core import dtypes, levels
from .._core.composite import composite, named
from .._core.dispatch import run
from .._core.record import thread
from .._ops.linalg_base import check_square
from .._ops.linalg_spectral import NO_EPSILON
from .._ops.registry import OPS
from .._ops.spec import spec_of
from .._tensor import Tensor
from .linalg import TRIGGERED, Several, call, once, several_into, tensors
from .norm import into, matrix_norm


def _graded(A):
    return (thread.state.grad and A._tl_needs) or levels.dual(A._tl_value()) is not None


# Values without vectors: the vectors are computed only where a gradient will want them

@composite("torch.linalg.eigvalsh")
def eigvalsh(input, UPLO="L", *, out=None):
    """The eigenvalues of Hermitian matrices."""
    tensors("linalg_eigvalsh", input=input)
    values = call("linalg_eigh", [input], UPLO=UPLO)[0] if _graded(input) else call("_linalg_eigvalsh", [input], UPLO=UPLO)
    return into("linalg_eigvalsh", out, values, input)


@composite("torch.linalg.eigvals")
def eigvals(input, *, out=None):
    """The eigenvalues of square matrices."""
    tensors("linalg_eigvals", input=input)
    if _graded(input):
        return into("linalg_eigvals", out, call("linalg_eig", [input])[0], input)
    check_square("linalg.eigvals", input)
    return into("linalg_eigvals", out, call("_linalg_eigvals", [input]), input)


@composite("torch.linalg.svdvals")
def svdvals(A, *, driver=None, out=None):
    """The singular values."""
    tensors("linalg_svdvals", A=A)
    values = call("linalg_svd", [A], full_matrices=False, driver=driver)[1] if _graded(A) or driver is not None else call("_linalg_svdvals", [A])
    return into("linalg_svdvals", out, values, A)


_SVD = Several("svd", "U", "S", "V")


@composite("torch.svd", "Tensor.svd")
def svd(input, some=True, compute_uv=True, *, out=None):
    """U, singular values and V (not its transpose); zeros for U and V where they are not wanted."""
    tensors("svd", input=input)
    if input.ndim < 2:
        raise RuntimeError(f"linalg.svd: input should have at least 2 dimensions, but has {input.ndim} dimensions instead")
    if not compute_uv:
        *batch, m, n = input.shape
        zeros = [input.new_zeros((*batch, k, k)) for k in (m, n)]
        return several_into("svd", _SVD, out, (zeros[0], svdvals(input), zeros[1]), input)
    u, s, vh = call("linalg_svd", [input], full_matrices=not some, driver=None)
    v = named("transpose")(vh, -2, -1)
    return several_into("svd", _SVD, out, (u, s, v.conj() if input.dtype.is_complex else v), input)


_QR = Several("qr", "Q", "R")
_QR_WORDS = ("torch.qr is deprecated in favor of torch.linalg.qr and will be removed in a future PyTorch release.\n"
             "The boolean parameter 'some' has been replaced with a string parameter 'mode'.\nQ, R = torch.qr(A, some)\nshould be replaced with\n"
             "Q, R = torch.linalg.qr(A, 'reduced' if some else 'complete') " f"{TRIGGERED}2505.)")


@composite("torch.qr", "Tensor.qr")
def qr(input, some=True, *, out=None):
    """Q and R, under their old name."""
    tensors("qr", input=input)
    once(_QR_WORDS)
    return several_into("qr", _QR, out, call("linalg_qr", [input], mode="reduced" if some else "complete"), input)


# Pseudo-inverse and rank

def _tolerance(api, label, x):
    if isinstance(x, Tensor) and x.dtype.is_complex:
        raise RuntimeError(f"torch.linalg.{api}: {label} tensor of complex type is not supported. Got {x.dtype.char_name}")
    return x


def _with_tolerances(key, A, atol, rtol, hermitian):
    flat, pattern = [A], ["T"]
    for x in (atol, rtol):
        if x is None:
            pattern.append("N")
            continue
        pattern.append("T" if isinstance(x, Tensor) else "f")
        flat.append(x if isinstance(x, Tensor) else float(x))
    return run(spec_of(OPS[key], (("hermitian", bool(hermitian)),), tuple(pattern)), flat)


def _no_gradient_of(**tolerances):
    """torch's error for tolerances that would have a gradient."""
    for name, x in tolerances.items():
        if isinstance(x, Tensor) and thread.state.grad and x.requires_grad:
            raise RuntimeError(f"The function 'linalg_pinv' is not differentiable with respect to argument '{name}'. This input cannot have requires_grad "
                               "True.")


@composite("torch.linalg.pinv")
def pinv(input, rcond=None, hermitian=False, *, atol=None, rtol=None, out=None):
    """The pseudo-inverse."""
    tensors("linalg_pinv", input=input)
    if rcond is not None:
        atol, rtol = 0.0, _tolerance("pinv", "rcond", rcond)
    atol, rtol = _tolerance("pinv", "atol", atol), _tolerance("pinv", "rtol", rtol)
    _no_gradient_of(atol=atol, rtol=rtol)
    if rtol is None and isinstance(atol, (int, float)) and input.dtype not in (dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128):
        raise RuntimeError(NO_EPSILON)
    if hermitian and input.ndim > 1 and 0 in input.shape[-2:]:  # not looked at, so it need not be square
        hermitian = False
    return into("linalg_pinv", out, _with_tolerances("_linalg_pinv", input, atol, rtol, hermitian), input)


@composite("torch.pinverse", "Tensor.pinverse")
def pinverse(input, rcond=1e-15):
    """The pseudo-inverse, under its old name."""
    tensors("pinverse", input=input)
    return _with_tolerances("_linalg_pinv", input, 0.0, rcond, False)


@composite("torch.linalg.matrix_rank")
def matrix_rank(input, tol=None, hermitian=False, *, atol=None, rtol=None, out=None):
    """How many singular values are not negligible."""
    tensors("linalg_matrix_rank", input=input)
    if tol is not None:
        atol, rtol = tol, 0.0
    atol, rtol = _tolerance("matrix_rank", "atol", atol), _tolerance("matrix_rank", "rtol", rtol)
    return into("linalg_matrix_rank", out, _with_tolerances("_linalg_matrix_rank", input, atol, rtol, hermitian))


# Condition numbers

def _invalid(p):
    return RuntimeError(f"linalg.cond got an invalid norm type: {p if isinstance(p, str) else format(p, 'g')}")


def _by_singular_values(A, p):
    values = svdvals(A)
    first, last = (values.narrow(-1, i, 1) for i in (0, values.shape[-1] - 1))
    ratio = named("div")(last, first) if p == -2 else named("div")(first, last)
    return named("squeeze")(ratio, -1)


@composite("torch.linalg.cond")
def cond(input, p=None, *, out=None):
    """The condition number in the norm of order p; infinite for singular matrices."""
    tensors("linalg_cond", input=input)
    if input.ndim < 2:
        raise RuntimeError(f"linalg.cond(ord={p}): The input tensor A must have at least 2 dimensions." if isinstance(p, str) else
                           "linalg.cond: The input tensor must have at least 2 dimensions.")
    if (p not in ("fro", "nuc") if isinstance(p, str) else p is not None and abs(p) not in (1, 2, math.inf)):
        raise _invalid(p)
    return into("linalg_cond", out, _cond(input, p), input)


def _cond(A, p):
    if not A.numel() and (not isinstance(p, str) or A.shape[-1] == A.shape[-2]):
        return (A.abs() if A.dtype.is_complex else A).new_zeros(tuple(A.shape[:-2]))
    if p is None or (not isinstance(p, str) and abs(p) == 2):
        return _by_singular_values(A, p)
    if A.shape[-1] != A.shape[-2]:
        shown = p if isinstance(p, str) else format(p, "g")
        raise RuntimeError(f"linalg.cond(ord={shown}): A must be batches of square matrices, but they are {A.shape[-2]} by {A.shape[-1]} matrices")
    if p == "nuc":
        values = svdvals(A)
        return named("mul")(named("sum")(values, -1), named("sum")(named("reciprocal")(values), -1))
    inverse, info = call("linalg_inv_ex", [A], check_errors=False)
    inverse.masked_fill_((info > 0)[..., None, None], math.inf)  # torch 2.13 writes to what inv_ex saved, so that there is no gradient
    product = named("mul")(matrix_norm(A, p), matrix_norm(inverse, p))
    return named("nan_to_num")(product, math.inf, math.inf, math.inf)


# Least squares

_LSTSQ = Several("linalg_lstsq", "solution", "residuals", "rank", "singular_values")


@composite("torch.linalg.lstsq")
def lstsq(input, b, rcond=None, *, driver=None, out=None):
    """Solutions of least squares; residuals, ranks and singular values where the driver gives them."""
    tensors("linalg_lstsq", input=input, b=b)
    driver = driver.lower() if isinstance(driver, str) else driver
    if driver == "gelsd" and rcond is not None and float(rcond) >= 1:
        rcond = None  # LAPACK's routine takes its own
    pattern, flat = ("T", "T", "N" if rcond is None else "f"), [input, b] if rcond is None else [input, b, float(rcond)]
    solution, residuals, rank, values = run(spec_of(OPS["_linalg_lstsq"], (("driver", driver),), pattern), flat)
    if not _has_residuals(input, driver, rank):
        residuals = named("_no_residuals")(residuals)
    if driver == "gels":
        rank = rank.new_empty((0,))
    if driver not in ("gelsd", "gelss"):
        values = values.new_empty((0,))
    return several_into("linalg_lstsq", _LSTSQ, out, (solution, residuals, rank, values), input, b)


def _has_residuals(A, driver, rank):
    """Whether torch returns residuals; with gelsd and gelss that depends on the rank, which is looked at."""
    m, n = A.shape[-2:]
    if m <= n or driver in (None, "gelsy"):
        return False
    return driver == "gels" or bool((rank == n).all())


__all__ = ["cond", "svdvals"]
