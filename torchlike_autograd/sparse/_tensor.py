"""Sparse tensors (layer 8): values at coordinates, as a class that answers `__torch_function__`.

A `SparseTensor` *is* the tensor of its values, [nnz, *dense dims], with its coordinates beside it: that gives it dtype, device, history, leaves, hooks and
versions as any tensor has them.  Whatever is done to it comes to `__torch_function__`, where `CALLS` has a function of the table for it, written in
recorded operators on values and coordinates (`_ops/coordinates.py`), so that gradients of every order, and the compiled step, are what they are for dense
tensors.  What has no entry is refused by name, as PyTorch refuses what has no sparse kernel: nothing falls through to the values.

Coordinates are data of the program, not of the record: they are looked at on the host where places are sorted, merged or matched.

Unlike PyTorch: coordinates are checked when a tensor is made (PyTorch reads and writes elsewhere in memory, unless asked to check); the gradient of a
sparse leaf is sparse and lies at the leaf's places, also where PyTorch's is dense (through `torch.mm`, `sum` and `+`); what would lie beyond them is refused
where a program asks for it (`to_dense(masked_grad=False)`, gradients given for such tensors: `_roots.py`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._core import dtypes, layouts
from .._core.composite import COMPOSITES, named
from .._core.overriding import Off, name_of
from .._core.record import thread
from .._core.size import Size
from .._core.state import copy_state
from .._core.state import new as blank
from .._tensor import Tensor, from_array
from ..autograd.grad_mode import no_grad
from . import _places
from ._checking import says_unset, says_young  # noqa: F401 (the first for who makes sparse tensors)

CALLS: dict = {}  # function -> what it does where one of its arguments is a SparseTensor


class Coordinates(NamedTuple):
    """Where values lie."""

    indices: Tensor     # [sparse dims, nnz] int64
    size: Size          # of the sparse dims and the dense ones
    merged: bool        # in order, and no place twice
    layout: str = "sparse_coo"
    told: str = "int64"  # the dtype in which a CSR matrix names rows and columns

    @property
    def at(self):
        """The indices on the host."""
        return self.indices.numpy(force=True)

    @property
    def own(self):
        """The size of the sparse dims."""
        return tuple(self.size)[:self.indices.shape[0]]


class SparseTensor(Tensor):
    """Values at coordinates; made by `torch.sparse_coo_tensor`, `Tensor.to_sparse` and their like."""

    _tl_asked = True

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        handler = CALLS.get(func)
        if handler is None:
            raise refused(func)
        with Off():
            return handler(*args, **(kwargs or {}))

    def __iter__(self):
        return iter(self.unbind())

    def _nnz(self):
        with Off():
            return self.shape[0]

    def _indices(self):
        if places(self).layout != "sparse_coo":
            raise refused(Tensor._indices)
        return places(self).indices.detach()

    def _values(self):
        with Off():
            return self.detach()

    def __reduce_ex__(self, protocol):
        writer = thread.state.extra.get("writer")
        return (rebuilt, parts(self)) if writer is None else writer.parts_of(self, parts(self))


SparseTensor.__name__ = SparseTensor.__qualname__ = "Tensor"     # as which a sparse tensor shows itself in torch


def parts(x):
    """What a file keeps of a SparseTensor: (layout, (indices, values, size, whether in order)), or of layout CSR (layout, (rows' beginnings, columns, values,
    size))."""
    at = places(x)
    if at.layout == "sparse_csr":
        return layouts.sparse_csr, (x.crow_indices(), x.col_indices(), x.values(), at.size)
    if at.layout != "sparse_coo":
        raise NotImplementedError(f"torchlike_autograd: files with tensors of layout torch.{at.layout}")
    return layouts.sparse_coo, (at.indices, x._values(), at.size, at.merged)


def rebuilt(layout, data):
    """The SparseTensor of `parts`."""
    if layout is layouts.sparse_csr:
        unread = data[1].numel() and not data[0].any()  # files of the old format are read twice, first without their arrays
        return None if unread else csr(*data)
    if layout is not layouts.sparse_coo:
        raise NotImplementedError(f"rebuilding sparse tensor for layout {layout}")
    indices, values, size, *merged = data
    return coo(indices, values, size, merged=bool(merged and merged[0]))


def refused(func):
    """torch's error for an operator without a sparse kernel (its first sentence)."""
    where, _, name = name_of(func).removesuffix("__get__").rstrip(".").rpartition(".")
    name = f"linalg_{name}" if where.endswith("linalg") else name
    return NotImplementedError(f"Could not run 'aten::{name}' with arguments from the 'SparseCPU' backend.")


def places(x) -> Coordinates:
    """The coordinates of a SparseTensor."""
    return x.__dict__["_places"]


def plain(x):
    """The values of a SparseTensor as a Tensor that shares its history."""
    with Off():
        return named("_coo_values")(x)


def made(values, at: Coordinates):
    """A SparseTensor over a tensor of values, which it takes over."""
    out = blank(SparseTensor)
    copy_state(values, out)
    out.__dict__["_places"] = at
    return out


def like(values, x, leaf=False):
    """A SparseTensor with other values at the places of x."""
    out = made(values, places(x))
    return out._tl_ask(True) if leaf else out


def host(array, kind="int64"):
    """A tensor of whole numbers of the host."""
    return from_array(np.ascontiguousarray(array, kind), getattr(dtypes, kind))


def is_sparse(x):
    """Whether x is a SparseTensor."""
    return isinstance(x, SparseTensor)


def merge(x, name="_coo_coalesce"):
    """x with its places in order, each once; x itself where it is said to be so."""
    at = places(x)
    if at.merged:
        return x
    found = at.at
    if _places.is_merged(found, at.own):
        return made(named(name)(x, host(np.arange(found.shape[1])), count=found.shape[1]), at._replace(merged=True))
    once, group = _places.merged(found, at.own)
    return made(named(name)(x, host(group), count=once.shape[1]), at._replace(indices=host(once), merged=True))


def dense_of(x):
    """The dense tensor."""
    at = places(x)
    return named("_coo_dense")(x, at.indices, size=tuple(at.size))


def coo(indices, values, size=None, dtype=None, device=None, requires_grad=False, merged=False):
    """A SparseTensor of indices [dims, nnz] and values [nnz, ...], both checked; without a size the smallest that holds them."""
    with Off():
        indices = _index(indices)
        values = _values(values, dtype, device)
        size = Size(size) if size is not None else _smallest(indices, values)
        _check(indices, values, size)
        at = Coordinates(indices.detach(), size, bool(merged) or values.shape[0] < 2)
        if requires_grad or not values.requires_grad:
            out = made(values.detach(), at)
            return out.requires_grad_() if requires_grad else out
        return made(named("_coo_made")(values), at)


def _index(indices):
    if not isinstance(indices, Tensor):
        indices = COMPOSITES["torch.tensor"](indices)
    if indices.dtype is not dtypes.int64:
        indices = indices.to(dtypes.int64)
    if indices.ndim != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(indices.shape)}")
    return indices


def _values(values, dtype, device):
    if not isinstance(values, Tensor):
        values = COMPOSITES["torch.tensor"](values, dtype=dtype, device=device)
    if not values.ndim:
        values = values.reshape(1)
    return values if dtype is None and device is None else values.to(device=device, dtype=dtype)


def _smallest(indices, values):
    at = indices.numpy(force=True)
    if not at.shape[1]:
        return Size((0,) * at.shape[0] + tuple(values.shape[1:]))
    return Size((*(int(n) + 1 for n in at.max(1)), *values.shape[1:]))


def _check(indices, values, size):
    sparse, dense = indices.shape[0], values.ndim - 1
    if len(size) != sparse + dense:
        raise RuntimeError(f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(size)}, sparse_dim = {sparse}, dense_dim = {dense}")
    if indices.shape[1] != values.shape[0]:
        raise RuntimeError(f"indices and values must have same nnz, but got nnz from indices: {indices.shape[1]}, nnz from values: {values.shape[0]}")
    if tuple(values.shape[1:]) != tuple(size)[sparse:]:
        raise RuntimeError(f"values has incorrect size, expected {[values.shape[0], *tuple(size)[sparse:]]}, got {list(values.shape)}")
    at = indices.numpy(force=True)
    if not at.shape[1]:
        return
    for d in range(sparse):
        least, most = at[d].min(), at[d].max()
        if least < 0:
            raise RuntimeError(f"found negative index {least} for dim {d}")
        if most >= size[d]:
            raise RuntimeError(f"size is inconsistent with indices: for dim {d}, size is {size[d]} but found index {most}")


def nothing(size, dtype, device=None, requires_grad=False, dense=0):
    """A SparseTensor without values; the last `dense` dims are dense."""
    size = Size(size)
    kept = len(size) - dense
    empty = COMPOSITES["torch.zeros"]((0, *size[kept:]), dtype=dtype, device=device)
    return coo(host(np.zeros((kept, 0))), empty, size, requires_grad=requires_grad, merged=True)


def from_dense(x, sparse_dim=None):
    """The numbers of a dense tensor that are not zero; of several sparse dims, the leading ones."""
    dims = x.ndim if sparse_dim is None else sparse_dim
    if not (0 < dims <= x.ndim or dims == x.ndim == 0):
        raise RuntimeError("dense_to_sparse: sparse_dim argument must be in " + (
            ">0 when self.dim()>0" if dims == 0 else f"[0,{x.ndim}] range, but {dims} is given"))
    with no_grad():
        there = x.detach().ne(0).numpy(force=True)
    there = there.any(tuple(range(dims, there.ndim)))
    indices = host(np.stack(np.nonzero(there)) if dims else np.zeros((0, int(there)), np.int64))
    return made(named("_coo_of_dense" if sparse_dim is None else "_coo_of_slices")(x, indices), Coordinates(indices, x.shape, True))


def csr(crow_indices, col_indices, values, size=None, dtype=None, device=None, requires_grad=False):
    """A SparseTensor in layout CSR of its rows' beginnings [rows + 1], columns [nnz] and values [nnz]."""
    with Off():
        told = crow_indices.dtype.name if isinstance(crow_indices, Tensor) else "int64"
        starts, columns = (np.asarray(x.numpy(force=True) if isinstance(x, Tensor) else x, np.int64) for x in (crow_indices, col_indices))
        if starts.ndim != 1 or columns.ndim != 1:
            raise NotImplementedError("torchlike_autograd: batches of matrices in layout torch.sparse_csr")
        if not len(starts) or starts[0] != 0 or starts[-1] != len(columns) or (np.diff(starts) < 0).any():
            raise RuntimeError(f"crow_indices must begin with 0, end with nnz ({len(columns)}) and not decrease")
        rows = len(starts) - 1
        size = (rows, int(columns.max(initial=-1)) + 1) if size is None else tuple(size)
        if size[0] != rows:
            raise RuntimeError(f"crow_indices.shape[dim=-1] must be equal to the number of rows + 1 ({size[0] + 1}), but got {len(starts)}")
        out = coo(host(np.stack([_places.expanded(starts), columns])), values, size, dtype, device, requires_grad)
        out.__dict__["_places"] = places(out)._replace(layout="sparse_csr", merged=True, told=told)
        says_young()
        return out
