"""`torch.sparse.spdiags` (layer 8)."""

from __future__ import annotations

import numpy as np

from .._core import layouts
from .._core.composite import named
from ._members import _to_sparse_csr
from ._tensor import coo, host


def placed(diagonals, offsets, shape, layout=None):
    """The matrix; what would lie outside of it is left out."""
    if layout not in (None, layouts.sparse_coo, layouts.sparse_csr):
        raise NotImplementedError(f"torchlike_autograd: spdiags in layout {layout}")
    if len(shape) != 2:
        raise RuntimeError("Output shape must be 2d")
    rows = diagonals if diagonals.ndim == 2 else diagonals.reshape(1, -1)
    shifts = np.atleast_1d(offsets.numpy(force=True))
    if rows.shape[0] != len(shifts):
        raise RuntimeError(f"Number of diagonals ({rows.shape[0]}) does not match the number of offsets ({len(shifts)})")
    if len(set(shifts.tolist())) != len(shifts):
        raise RuntimeError("Offset tensor contains duplicate values")
    which, column = np.indices(tuple(rows.shape)).reshape(2, -1)
    row = column - shifts[which]
    inside = (row >= 0) & (row < shape[0]) & (column < shape[1])
    values = named("index_select")(rows.reshape(-1), 0, host(np.flatnonzero(inside)))
    out = coo(host(np.stack([row[inside], column[inside]])), values, shape)
    return _to_sparse_csr(out) if layout is layouts.sparse_csr else out
