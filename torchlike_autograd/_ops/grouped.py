"""Products of groups of rows with a matrix each (layer 2)."""

from __future__ import annotations

import jax.numpy as jnp

from .conventions import cxx_name
from .matmul import product
from .registry import SMOOTH, at, call, op, real

_SAVES = {"self": ("mat2", "offs"), "mat2": ("self", "offs")}
_ENDS = at(1, 3, dtype="int32", grad=False)


def _fit(self, mat2):
    if self.dtype != mat2.dtype:
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {cxx_name(self)} != {cxx_name(mat2)}")
    if self.shape[-1] != mat2.shape[-2]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({self.shape[0]}x{self.shape[-1]} and {mat2.shape[-2]}x{mat2.shape[-1]})")


def _members(count, ends):
    """(groups, count): whether a place belongs to a group."""
    places = jnp.arange(count, dtype=ends.dtype)[None]
    starts = jnp.concatenate([jnp.zeros(1, ends.dtype), ends[:-1]])
    return (places >= starts[:, None]) & (places < ends[:, None])


def _by_rows(rows, matrices, ends):
    """(i, k), (g, k, n) -> (i, n): each row times the matrix of its group, as one product of rows with zeros for the other groups; 0 after the last group."""
    count = rows.shape[0]
    spread = jnp.where(_members(count, ends).T[:, :, None], rows[:, None, :], 0)
    return product(spread.reshape(count, -1), matrices.reshape(-1, matrices.shape[2]))


def _by_inner(a, b, ends):
    """(m, i), (i, n) -> (g, m, n): the part of the product that each group of the inner dim gives."""
    mine = jnp.where(_members(a.shape[1], ends)[:, None, :], a, 0)
    return product(mine, jnp.broadcast_to(b, (ends.shape[0], *b.shape)))


@op("_grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None) -> Tensor", node="GroupedMmBackward0", names=(), method=False, forward=False, saves=_SAVES,
    out=False, opmath=True, nondiff=("offs",), kinks=SMOOTH, samples=[
        call(real(3, 4), real(2, 4, 8), _ENDS), call(real(2, 3, 4), real(2, 4, 8)), call(real(2, 4, 4), real(4, 3), _ENDS),
        call(real(4, 3), real(3, 4), _ENDS)])
def _grouped_mm(self, mat2, offs):
    """Stacks of matrices, or groups of rows, columns or terms that end at `offs`, each with its own matrix."""
    _fit(self, mat2)
    if self.ndim == mat2.ndim == 3:
        return product(self, mat2)
    if self.ndim == 2:
        return _by_rows(self, mat2, offs) if mat2.ndim == 3 else _by_inner(self, mat2, offs)
    return _by_rows(mat2.T, self.swapaxes(1, 2), offs).T
