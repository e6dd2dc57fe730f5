"""Sparse tensors for tests, and questions about them (layer 8)."""

from __future__ import annotations

import functools
import math
import random

import numpy as np

from ..._core import dtypes, publish

__all__ = ["coalescedonoff", "is_coalesced_indices", "random_sparse_matrix", "random_sparse_pd_matrix"]


def coalescedonoff(f):
    """The test runs with `coalesced=True`, then with False."""

    @functools.wraps(f)
    def both(self, *args, **kwargs):
        f(self, *args, **kwargs, coalesced=True)
        f(self, *args, **kwargs, coalesced=False)

    return both


def is_coalesced_indices(s):
    """Whether the indices of a sparse tensor are in order and each there once."""
    indices = s._indices().numpy()
    flat = np.ravel_multi_index(tuple(indices), s.shape[:len(indices)]) if indices.size else np.zeros(0)
    return bool((flat[1:] > flat[:-1]).all())


def _sparse(entries, shape, kwargs):
    """A coalesced tensor of {(row, column): value}."""
    places = sorted(entries)
    made = publish.load_all()["torch.sparse_coo_tensor"](
        np.array(places, dtype=np.int64).reshape(-1, 2).T, [entries[p] for p in places], shape,
        dtype=kwargs.get("dtype", dtypes.float64), device=kwargs.get("device", "cpu"))
    return made.coalesce()


def random_sparse_matrix(rows, columns, density=0.01, **kwargs):
    """A random sparse matrix with an entry in every row and column (`singular=True`: but one)."""
    count = max(min(rows, columns), int(rows * columns * density))
    i, j = [k % rows for k in range(count)], [k % columns for k in range(count)]
    random.shuffle(i)
    if kwargs.get("singular"):
        i = [r or min(1, rows - 1) for r in i]
    entries = {}
    for r, c in zip(i, j):  # those beside the diagonal are small
        entries[r, c] = entries.get((r, c), 0.0) + random.gauss(0, 1) * math.exp(-float(r - c) ** 2)
    return _sparse(entries, (rows, columns), kwargs)


def random_sparse_pd_matrix(matrix_size, density=0.01, **kwargs):
    """A sparse symmetric matrix of eigenvalues k / n, k = 1 ... n: rotations of two rows and columns each fill a diagonal one up."""
    n = matrix_size
    full = np.diag(np.arange(1, n + 1) / n)
    for _ in range(n * n):
        if n < 2 or np.count_nonzero(full) >= int(density * n * n):
            break
        i, j = random.sample(range(n), 2)
        turn, angle = np.eye(n), random.uniform(0, 2 * math.pi)
        turn[i, i] = turn[j, j] = math.cos(angle)
        turn[i, j], turn[j, i] = -math.sin(angle), math.sin(angle)
        full = turn @ full @ turn.T
    full = (full + full.T) / 2
    return _sparse({(int(r), int(c)): float(full[r, c]) for r, c in zip(*full.nonzero())}, (n, n), kwargs)
