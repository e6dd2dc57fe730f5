"""Sparse tensors for tests, and questions about them (layer 8)."""

from __future__ import annotations

import functools
import math
import random
import unittest

import numpy as np

from ..._core import dtypes, publish
from ..._tensor import Tensor
from .._creation import make_tensor


def coalescedonoff(f):
    """The test runs with `coalesced=True`, then with False."""

    @functools.wraps(f)
    def both(self, *args, **kwargs):
        f(self, *args, **kwargs, coalesced=True)
        f(self, *args, **kwargs, coalesced=False)

    return both


def is_coalesced_indices(s):
    """Whether the indices of a sparse tensor are in order."""
    indices = s._indices().numpy()
    flat = np.ravel_multi_index(tuple(indices), s.shape[:len(indices)]) if indices.size else np.zeros(0)
    return bool((flat[1:] >= flat[:-1]).all())


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


_PATTERNS = ([[0, 2, 0], [1, 0, 3]], [[0, 0], [4, 5], [0, 6]])


class SparseCase(unittest.TestCase):
    """Sparse tensors for a test case."""

    def genSparseTensor(self, size, sparse_dim, nnz, is_uncoalesced, device, dtype):
        """(a random sparse tensor, its indices, its values); an uncoalesced one has half of its places twice."""
        torch = publish.load_all()
        if not all(size[:sparse_dim]) and nnz:
            raise AssertionError("invalid arguments")
        places = np.array([np.random.randint(0, max(n, 1), nnz) for n in size[:sparse_dim]], dtype=np.int64).reshape(sparse_dim, nnz)
        if is_uncoalesced:
            places = np.concatenate([places, places[:, :nnz // 2]], 1)
        values = make_tensor((places.shape[1], *size[sparse_dim:]), device=device, dtype=dtype, low=-1, high=1)
        x = torch["torch.sparse_coo_tensor"](torch["torch.from_numpy"](places), values, tuple(size), dtype=dtype, device=device)
        x = x.detach().clone()._coalesced_(False) if is_uncoalesced else x.coalesce()
        return x, x._indices().clone(), x._values().clone()

    def safeCoalesce(self, t):
        """`t.coalesce()`, looked at: same values, indices in order and each there once."""
        out = t.coalesce()
        self.assertEqual(out.to_dense(), t.to_dense())
        self.assertTrue(out.is_coalesced() and is_coalesced_indices(out))
        return out

    def safeToDense(self, t):
        """The dense tensor of a sparse one, by way of `safeCoalesce`."""
        return (self.safeCoalesce(t) if str(t.layout) == "torch.sparse_coo" else t).to_dense()

    def generate_simple_inputs(self, layout, device=None, dtype=None, index_dtype=None, enable_zero_sized=True, output_tensor=True, patterns=None, **_):
        """Small matrices in a layout, or what `torch.sparse_<layout>_tensor` makes them of; the test is skipped for layouts that there are none of."""
        torch = publish.load_all()
        kind = str(layout).removeprefix("torch.sparse_")
        if kind not in ("coo", "csr"):
            raise unittest.SkipTest(f"there are no tensors of layout {layout} here")
        index_dtype = index_dtype or dtypes.int64
        given = [p[0] if isinstance(p, tuple) else p for p in patterns] if patterns is not None else [*_PATTERNS, *([[]] if enable_zero_sized else [])]
        for rows in given:
            dense = torch["torch.tensor"](rows, dtype=dtype, device=device) if rows else torch["torch.zeros"](0, 2, dtype=dtype, device=device)
            x: Tensor = dense.to_sparse(layout=layout)
            parts = (x.indices(), x.values()) if kind == "coo" else (x.crow_indices().to(index_dtype), x.col_indices().to(index_dtype), x.values())
            yield torch[f"torch.sparse_{kind}_tensor"](*parts, x.shape, dtype=dtype, device=device) if output_tensor else (
                parts, {"device": device, "dtype": dtype, "size": tuple(x.shape)})
