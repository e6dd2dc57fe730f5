"""Randomized decompositions of low rank (layer 7), after Halko, Martinsson and Tropp (2009)."""

from __future__ import annotations

from .._core import config, dtypes
from .._core.composite import composite, named
from .random import randn


def _basis(X, q, niter):
    """Orthonormal columns that nearly span the range of X: the range of X R for a random R, sharpened by multiplying with X^H and X."""
    dtype = X.dtype if X.dtype.category >= dtypes.FLOAT else config.default_dtype()
    Q = _orthonormal(X.matmul(randn(X.shape[-1], q, dtype=dtype)))
    for _ in range(niter):
        Q = _orthonormal(X.mH.matmul(Q))
        Q = _orthonormal(X.matmul(Q))
    return Q


def _orthonormal(x):
    return named("linalg_qr")(x)[0]


@composite("torch.svd_lowrank")
def svd_lowrank(A, q=6, niter=2, M=None):
    """(U, S, V) with at most `q` singular values of A, or of A - M; random numbers choose the range in which they are sought."""
    q = 6 if q is None else q
    m, n = A.shape[-2:]
    A = A if M is None else A - M.broadcast_to(A.shape)
    wide = m < n
    X = A.mH if wide else A
    Q = _basis(X, q, niter)
    U, S, Vh = named("linalg_svd")(Q.mH.matmul(X), False)
    U, V = Q.matmul(U), Vh.mH
    return (V, S, U) if wide else (U, S, V)


@composite("torch.pca_lowrank")
def pca_lowrank(A, q=None, center=True, niter=2):
    """(U, S, V) of a matrix whose columns have been centred: V holds the principal directions."""
    m, n = A.shape[-2:]
    if q is None:
        q = min(6, m, n)
    elif not (q >= 0 and q <= min(m, n)):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if not (niter >= 0):
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    if center:
        A = A - A.mean(dim=(-2,), keepdim=True)
    return svd_lowrank(A, q, niter)


__all__ = ["pca_lowrank", "svd_lowrank"]
