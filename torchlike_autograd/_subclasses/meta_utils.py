"""torch._subclasses.meta_utils (layer 8): what a tensor without data has to share with the one that it stands for."""

from __future__ import annotations

import warnings

from .._core import layouts
from .._core import publish as _publish
from .._tensor import Tensor

_COMPRESSED = (layouts.sparse_csr, layouts.sparse_csc, layouts.sparse_bsr, layouts.sparse_bsc)


def is_sparse_coo(t):
    """Whether something is a tensor of layout COO."""
    return isinstance(t, Tensor) and t.layout is layouts.sparse_coo


def is_sparse_compressed_layout(layout):
    """Whether a layout compresses rows or columns."""
    return layout in _COMPRESSED


def is_sparse_compressed(t):
    """Whether something is a tensor of such a layout."""
    return isinstance(t, Tensor) and is_sparse_compressed_layout(t.layout)


def is_sparse_any(t):
    """Whether something is a sparse tensor."""
    return is_sparse_coo(t) or is_sparse_compressed(t)


def safe_is_leaf(t):
    """Whether a tensor is a leaf; False where it does not say."""
    try:
        return t.is_leaf
    except RuntimeError:
        return False


def safe_grad(t):
    """The gradient of a tensor, without the warning about those that are no leaves."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The .grad attribute of a Tensor")
        return t.grad


def assert_metadata_eq(assert_eq, m1, m2, *, skip_symbolic=False, skip_leaf=False):
    """Call `assert_eq` with all that both tensors say about themselves, their gradients and bases, but for their values."""
    says = [lambda t: t.dtype, lambda t: t.requires_grad, lambda t: t.is_sparse, Tensor.is_inference, Tensor.is_conj, Tensor.is_neg,
            lambda t: safe_grad(t) is not None]
    says += [] if skip_symbolic else [lambda t: t.shape]
    says += [] if skip_leaf else [safe_is_leaf]
    if is_sparse_any(m1):
        says += [lambda t: t.layout, Tensor.dense_dim, Tensor.sparse_dim] + ([Tensor.is_coalesced] if is_sparse_coo(m1) else [])
    else:
        says += [Tensor._is_view] + ([] if skip_symbolic else [Tensor.stride, Tensor.storage_offset])
    for said in says:
        assert_eq(said(m1), said(m2))
    below = [safe_grad] + ([] if is_sparse_any(m1) or not m1._is_view() else [lambda t: t._base])
    for part in below:
        if part(m1) is not None:
            assert_metadata_eq(assert_eq, part(m1), part(m2), skip_symbolic=skip_symbolic, skip_leaf=skip_leaf)


__getattr__ = _publish.missing("torch._subclasses.meta_utils")
