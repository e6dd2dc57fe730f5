"""Sparse gradients of dense tensors (layer 8): what `Embedding(sparse=True)` and its like give, and how they are summed (`_core/sparse_gradients.py`).

One value for each index, in the order of the indices: places that come twice stay two, until somebody says `coalesce`.
"""

from __future__ import annotations

import math

import numpy as np

from .._core import dtypes
from .._core.composite import COMPOSITES, named
from .._core.overriding import Off
from .._core.size import Size
from .._tensor import Tensor, wrap
from ..autograd.grad_mode import set_grad_enabled
from ._tensor import Coordinates, dense_of, host, is_sparse, places
from ._tensor import made as over


def dense(x):
    """The dense tensor of a sparse one."""
    with Off():
        return dense_of(x)


def mask(x):
    """Where a sparse tensor has values: bools that broadcast over its dense dims."""
    with Off():
        at = places(x)
        there = named("_coo_dense")(COMPOSITES["torch.ones"](x.shape[0], dtype=dtypes.bool_), at.indices, size=tuple(at.own))
        return there.reshape(*at.own, *(1,) * (x.ndim - 1))


def joined(tensors):
    """The sum of sparse tensors of one size: their values, one after the other."""
    with Off():
        indices, values = (COMPOSITES["torch.cat"](parts, 1 - i) for i, parts in enumerate(zip(*[(places(x).indices, x) for x in tensors])))
        return _sparse(values, indices, places(tensors[0]).size)


def accumulated(old, new, create_graph):
    """`.grad` after a gradient came to the one that was there, one of both sparse: written in place as torch does it, where it is of the same kind."""
    with Off(), set_grad_enabled(create_graph):
        if not is_sparse(new):
            return named("add")(new, dense_of(old))
        if not is_sparse(old):
            return named("add")(old, dense_of(new)) if create_graph else old.add_(dense_of(new))
        both = joined((old, new))
        if create_graph:
            return both
        Tensor.data.__set__(old, Tensor.detach(both))
        old.__dict__["_places"] = places(both)
        return old


def _sparse(values, indices, size):
    at = Coordinates(indices.detach(), Size(size), values.shape[0] < 2)
    return over(named("_coo_made")(values), at)  # which is no view of the cotangent: `.grad` is written in place


def _of_rows(values, rows, size, padding_idx):
    """Values of rows; those of padding_idx are left out."""
    if padding_idx >= 0:
        kept = host(np.flatnonzero(rows.numpy(force=True) != padding_idx))
        values, rows = named("index_select")(values, 0, kept), named("index_select")(rows, 0, kept)
    return _sparse(values, rows.long().reshape(1, -1), size)


def _no_frequencies(scale_grad_by_freq):
    if scale_grad_by_freq:
        raise RuntimeError("embedding_backward: scale_grad_by_freq not supported with sparse gradients")


def _embedding(g, size, ins, *, padding_idx, scale_grad_by_freq, sparse):
    _no_frequencies(scale_grad_by_freq)
    with Off():
        rows = wrap(ins["indices"]).reshape(-1)
        return _of_rows(wrap(g).reshape(rows.shape[0], size[1]), rows, size, padding_idx)


def _bag(g, size, ins, *, scale_grad_by_freq, mode, include_last_offset, padding_idx, sparse):
    _no_frequencies(scale_grad_by_freq)
    with Off():
        g, rows = wrap(g), wrap(ins["indices"])
        bags, sizes, _ = named("_embedding_bag_places")(g, rows, wrap(ins["offsets"]), 1, include_last_offset, padding_idx)
        values = named("index_select")(g, 0, bags)
        if mode == 1:
            values = values / named("index_select")(sizes, 0, bags).clamp(min=1).to(values.dtype).unsqueeze(1)
        if "per_sample_weights" in ins:
            values = values * wrap(ins["per_sample_weights"]).unsqueeze(1)
        return _of_rows(values, rows, size, padding_idx)


def _gather(g, size, ins, *, dim, sparse_grad):
    with Off():
        index = wrap(ins["index"])
        if not len(size):
            return _sparse(wrap(g).reshape(-1), host(np.zeros((0, math.prod(g.aval.shape)))), size)
        at = host(np.indices(tuple(index.shape)).reshape(len(size), -1))
        dim %= len(size)
        rows = [index.long().reshape(-1) if d == dim else at[d] for d in range(len(size))]
        return _sparse(wrap(g).reshape(-1), COMPOSITES["torch.stack"](rows), size)


MAKERS = {"embedding": _embedding, "_embedding_bag": _bag, "gather": _gather}
