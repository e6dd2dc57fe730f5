"""torch._linalg_utils (layer 8): products with matrices that may be sparse or absent, as `torch.lobpcg` takes them."""

from __future__ import annotations

import torchlike_autograd as torch

from ._core import publish as _publish


def matmul(A, B):
    """A @ B; B where A is None."""
    return B if A is None else torch.sparse.mm(A, B) if A.is_sparse else torch.matmul(A, B)


def bform(X, A, Y):
    """X.mT @ A @ Y."""
    return torch.matmul(X.mT, matmul(A, Y))


def qform(A, S):
    """S.mT @ A @ S."""
    return bform(S, A, S)


def basis(A):
    """Orthonormal columns that span those of A."""
    return torch.linalg.qr(A).Q


def symeig(A, largest=False):
    """(eigenvalues, eigenvectors) of a symmetric matrix, the smallest first or the largest."""
    E, Z = torch.linalg.eigh(A)
    return (E.flip(-1), Z.flip(-1)) if largest else (E, Z)


__getattr__ = _publish.missing("torch._linalg_utils")
