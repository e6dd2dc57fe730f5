"""A masked tensor's other forms (layer 8): dense data, and those of layouts COO and CSR at the places that are there."""

from __future__ import annotations

from ..._core.overriding import On
from ..._tensor import Tensor
from ...sparse._tensor import dense_of, places
from .core import calls, has_places, over, plain


@calls(Tensor.to_dense)
def _to_dense(x, *args, **kwargs):
    if not has_places(x):
        return x
    data = dense_of(x)
    return over(data, dense_of(x._masked_mask), data)


def _at_places(x, mask):
    data = plain(x)
    with On():
        data = data.sparse_mask(mask)
    return over(data, mask, mask)


@calls(Tensor.to_sparse, Tensor.to_sparse_coo)
def _to_sparse(x, *args, **kwargs):
    if not has_places(x):
        mask = x._masked_mask
        with On():
            mask = mask.to_sparse().coalesce()
        return _at_places(x, mask)
    return x if places(x).layout == "sparse_coo" else _other(x, "to_sparse")


@calls(Tensor.to_sparse_csr)
def _to_sparse_csr(x, *args, **kwargs):
    if not has_places(x):
        if Tensor.dim(x) != 2:
            raise ValueError(f"Only 2D tensors can be converted to the SparseCsr layout but got shape: {Tensor.size(x)}")
        mask = x._masked_mask
        with On():
            mask = mask.to_sparse_csr()
        return _at_places(x, mask)
    return x if places(x).layout == "sparse_csr" else _other(x, "to_sparse_csr")


def _other(x, name):
    """Sparse data in the other layout: the places are the same."""
    data = plain(x)
    with On():
        data, mask = getattr(data, name)(), getattr(x._masked_mask, name)()
    return over(data, mask, data)
