"""What sparse tensors compute with: values that lie at coordinates (layer 2).

`values` are [nnz, ...], `indices` [sparse dims, nnz] int64, within their bounds (`torch.sparse` sees to that).  Several values may lie at one place: they
are summed.  None of these has a public name: `torchlike_autograd/sparse/` calls them.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from .registry import SMOOTH, at, call, op, real

_PLACES = at([[0, 1, 1], [2, 0, 2]], dtype="int64", grad=False)
_GROUPS = at(0, 1, 1, dtype="int64", grad=False)
_HIDDEN = {"names": (), "kinks": SMOOTH, "nondiff": ("indices",)}


def _summed(shape, where, values):
    """Zeros with the values added where they belong; of bools their disjunction."""
    if values.dtype == bool:
        return jnp.zeros(shape, bool).at[where].max(values)
    return jnp.zeros(shape, values.dtype).at[where].add(values)


@op("_coo_dense(Tensor values, Tensor indices, *, int[] size) -> Tensor", node="ToDenseBackward0", samples=[call(real(3), _PLACES, size=(2, 3))], **_HIDDEN)
def _coo_dense(values, indices, *, size):
    """The dense tensor: [*size]."""
    if not len(indices):  # all at the one place that there is
        return values.any(0) if values.dtype == bool else values.sum(0, dtype=values.dtype)
    return _summed(size, tuple(indices), values)


def _product(values, indices, dense, rows):
    terms = values.reshape(values.shape + (1,) * (dense.ndim - 1)) * dense[indices[1]]
    return _summed((rows, *dense.shape[1:]), indices[0], terms)


def _product_entry(name, node, saved, dense):
    @op(f"{name}(Tensor values, Tensor indices, Tensor dense, *, int rows) -> Tensor", node=node, samples=[call(real(3), _PLACES, dense, rows=2)],
        saves={"values": (saved,), "dense": ("values",)}, **_HIDDEN)
    def entry(values, indices, dense, *, rows):
        """A sparse matrix [rows, n] times a dense one [n, k] or vector [n]: only what is there is multiplied."""
        return _product(values, indices, dense, rows)

    return entry


_product_entry("_coo_mm", "MmBackward0", "dense", real(3, 2))
_product_entry("_coo_sparse_mm", "SparseAddmmBackward0", "dense", real(3, 2))
_product_entry("_coo_mv", "MvBackward0", "dense", real(3))


def _merge_entry(name, node):
    @op(f"{name}(Tensor values, Tensor groups, *, int count) -> Tensor", node=node, samples=[call(real(3), _GROUPS, count=2)], names=(), kinks=SMOOTH,
        nondiff=("groups",))
    def entry(values, groups, *, count):
        """The sums of the values of each group: [count, ...]."""
        return _summed((count, *values.shape[1:]), groups, values)

    return entry


_merge_entry("_coo_coalesce", "CoalesceBackward0")
_merge_entry("_coo_sum", "SparseSumBackward0")


def _taken_entry(name, node):
    @op(f"{name}(Tensor dense, Tensor indices) -> Tensor", node=node, samples=[call(real(2, 3), _PLACES)], **_HIDDEN)
    def entry(dense, indices):
        """The numbers of a dense tensor at the coordinates: [nnz, ...]."""
        if not len(indices):
            return jnp.broadcast_to(dense, (indices.shape[1], *dense.shape))
        return dense[tuple(indices)]

    return entry


_taken_entry("_coo_of_slices", "ToSparseBackward0")
_taken_entry("_coo_of_dense", "ToSparseBackward1")
_taken_entry("_coo_masked", "SparseMaskBackward0")


def _same_entry(name, node):
    @op(f"{name}(Tensor values) -> Tensor", node=node, names=(), samples=[call(real(3))], kinks=SMOOTH)
    def entry(values):
        """The same values, as another tensor has them."""
        return values

    return entry


_same_entry("_coo_made", "SparseCooTensorWithDimsAndTensorsBackward0")
_same_entry("_coo_values", "ValuesBackward0")
_same_entry("_coo_t", "TBackward0")
_same_entry("_coo_transpose", "TransposeBackward0")
_same_entry("_coo_permute", "PermuteBackward0")
_same_entry("_coo_unsqueeze", "UnsqueezeBackward0")
_same_entry("_coo_csr", "ToSparseCsrBackward0")


def _softmax_entry(name, node, log):
    @op(f"{name}(Tensor values, Tensor groups, *, int count) -> Tensor", node=node, samples=[call(real(3), _GROUPS, count=2)], names=(), kinks=SMOOTH,
        nondiff=("groups",), saves={"values": ("result",)})
    def entry(values, groups, *, count):
        """The softmax (or its logarithm) among the values of each group; what is not there takes no part."""
        top = jax.lax.stop_gradient(jnp.full((count, *values.shape[1:]), -jnp.inf, values.dtype).at[groups].max(values))
        away = values - top[groups]
        total = _summed(top.shape, groups, jnp.exp(away))[groups]
        return away - jnp.log(total) if log else jnp.exp(away) / total

    return entry


_softmax_entry("_coo_softmax", "SparseSoftmaxBackward0", False)
_softmax_entry("_coo_log_softmax", "SparseLogSoftmaxBackward0", True)
