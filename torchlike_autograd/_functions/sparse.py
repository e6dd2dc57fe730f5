"""How sparse tensors are made (layer 7): `torch.sparse_coo_tensor`, `torch.sparse_csr_tensor`, `Tensor.to_sparse`.

The layout itself is loaded when it is first used.
"""

from __future__ import annotations

from .._core import layouts
from .._core.composite import composite, named
from .._core.overriding import Off


def _sparse():
    from ..sparse import _tensor

    return _tensor


@composite("torch.sparse_coo_tensor")
def sparse_coo_tensor(indices=None, values=None, size=None, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False,
                      check_invariants=None, is_coalesced=None):
    """Values [nnz, ...] at indices [dims, nnz] of a tensor of that size (without one, the smallest); or one of a size, with nothing in it.

    Coordinates are always checked, as with check_invariants in torch: RuntimeError for one outside of the size.
    """
    made = _sparse()
    made.says_unset(check_invariants)
    if values is None:
        return made.nothing(size if indices is None else indices, dtype, device, requires_grad)
    return made.coo(indices, values, size, dtype, device, requires_grad, is_coalesced)


@composite("torch.sparse_csr_tensor")
def sparse_csr_tensor(crow_indices, col_indices, values, size=None, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False,
                      check_invariants=None):
    """A matrix by rows: entries crow_indices[i] to crow_indices[i + 1] lie in row i, in the columns of col_indices."""
    made = _sparse()
    made.says_unset(check_invariants)
    return made.csr(crow_indices, col_indices, values, size, dtype, device, requires_grad)


def _to(self, sparse_dim=None, *, layout=None, blocksize=None, dense_dim=None):
    if layout is layouts.strided:
        return self
    if layout not in (None, layouts.sparse_coo, layouts.sparse_csr) or blocksize is not None or dense_dim is not None:
        raise NotImplementedError(f"torchlike_autograd: Tensor.to_sparse with layout={layout}, blocksize={blocksize}, dense_dim={dense_dim}")
    made = _sparse()
    with Off():
        out = made.from_dense(self, sparse_dim)
    return out.to_sparse_csr() if layout is layouts.sparse_csr else out


@composite("Tensor.to_sparse", "Tensor.to_sparse_coo")
def to_sparse(self, sparse_dim=None, *, layout=None, blocksize=None, dense_dim=None):
    """What is not zero, at its coordinates; with sparse_dim, slices over the remaining dims."""
    return _to(self, sparse_dim, layout=layout, blocksize=blocksize, dense_dim=dense_dim)


@composite("Tensor.to_sparse_csr")
def to_sparse_csr(self, dense_dim=None):
    """What is not zero of a matrix, by rows."""
    if self.ndim != 2:
        raise RuntimeError(f"Only tensors with two dimensions can be converted to the SparseCsr layout but got {self.ndim} dims.")
    return _to(self, layout=layouts.sparse_csr, dense_dim=dense_dim)


@composite("torch.spmm", "torch.dsmm")
def spmm(input, mat2, *, out=None):
    """`torch.mm`."""
    return named("mm")(input, mat2, out=out)


__all__ = ["sparse_coo_tensor"]
