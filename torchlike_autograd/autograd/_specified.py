"""Sparse inputs of gradcheck (layer 7): what is perturbed are the values at their places; Jacobians have a row for each element of the whole tensor."""

from __future__ import annotations

import math

import numpy as np

from .._core.overriding import Off
from .._core.sparse_gradients import is_sparse
from .._tensor import Tensor


def sparse(x):
    """Whether x is a sparse tensor."""
    return isinstance(x, Tensor) and type(x) is not Tensor and is_sparse(x)


def dense(x):
    """The dense form of a tensor."""
    if not sparse(x):
        return x
    from ..sparse import _gradients  # cycle: sparse tensors stand on gradients

    return _gradients.dense(x)


def contents(x):
    """What of a tensor is perturbed, over the same memory: the values of a sparse one."""
    if not sparse(x):
        return x.data
    with Off():
        return Tensor.data.__get__(x)


def rows(x):
    """The row of a Jacobian of each element of `contents`, in their order."""
    if not sparse(x):
        return np.arange(x.numel())
    coo = x.detach().to_sparse() if x.is_sparse_csr else x
    at, own = coo._indices().numpy(force=True), tuple(x.shape[:x.sparse_dim()])
    place = np.ravel_multi_index(tuple(at), own) if own else np.zeros(at.shape[1], np.int64)
    inner = math.prod(x.shape[x.sparse_dim():])
    return (place[:, None] * inner + np.arange(inner)).reshape(-1)


def everywhere(x):
    """A sparse tensor of the same numbers with a value at each of its places, zeros among them; others as they are."""
    if not sparse(x):
        return x
    from .. import from_numpy, sparse_coo_tensor  # as above

    n = x.sparse_dim()
    own = tuple(x.shape[:n])
    at = from_numpy(np.indices(own).reshape(n, -1))
    whole = sparse_coo_tensor(at.to(x.device), dense(x.detach()).reshape(-1, *x.shape[n:]), tuple(x.shape), is_coalesced=True)
    return whole.requires_grad_(x.requires_grad)


__all__ = ["contents", "dense", "everywhere", "rows", "sparse"]
