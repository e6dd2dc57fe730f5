"""Sparse tensors over dims (layer 8): sums, softmax, transposes, slices, concatenation.  Called under `Off`, as the functions of `_calls.py` are."""

from __future__ import annotations

import numpy as np

from .._core import dtypes
from .._core.composite import named
from .._core.shapes import wrap_dim
from .._core.size import Size
from .._tensor import Tensor
from . import _places
from ._calls import PUBLIC, calls, joined, rows_of
from ._members import answers
from ._tensor import CALLS, dense_of, host, is_sparse, like, made, merge, places

# Sums

@calls("sum")
def _sum(s, dim=None, keepdim=False, *, dtype=None):
    return sum_over(s, dim, keepdim, dtype)


def sum_over(s, dim=None, keepdim=False, dtype=None):
    """The sum of all values, or over dims: sparse then, where sparse dims stay."""
    if dim is None or dim == () or dim == []:
        return named("sum")(s, dtype=dtype)
    at = places(s)
    sparse, n = at.indices.shape[0], len(at.size)
    gone = sorted({wrap_dim(d, n) for d in ((dim,) if isinstance(dim, int) else dim)})
    values = s if dtype is None else Tensor.to(s, dtype)
    inner = [d - sparse + 1 for d in gone if d >= sparse]
    if inner:
        values = named("sum")(values, inner, keepdim)
    stay = [d for d in range(sparse) if d not in gone]
    if not stay and not keepdim:
        return named("sum")(values, [0])
    size = Size((1 if d in gone else at.size[d]) if keepdim else at.size[d] for d in range(n) if keepdim or d not in gone)
    kept = at.at[stay] if not keepdim else np.where(np.isin(np.arange(sparse), gone)[:, None], 0, at.at)
    if len(stay) == sparse:
        return made(named("_coo_values")(values), at._replace(size=size))
    once, group = _places.merged(kept, size[:kept.shape[0]])
    return made(named("_coo_sum")(values, host(group), count=once.shape[1]), at._replace(indices=host(once), size=size, merged=True, layout="sparse_coo"))


@calls("norm")
def _norm(s, *args, **kwargs):
    return PUBLIC["torch.norm"](named("_coo_values")(merge(s)), *args, **kwargs)


@calls("any")
def _any(s):
    return named("any")(s)


# Dims

def _moved(s, order, node):
    at = places(s)
    sparse = at.indices.shape[0]
    if any((d < sparse) != (k < sparse) for k, d in enumerate(order)):
        raise RuntimeError("transpose: dims of sparse tensors are exchanged among the sparse ones only")
    values = named(node)(s)
    if list(order[sparse:]) != list(range(sparse, len(order))):
        values = values.permute([0, *(d - sparse + 1 for d in order[sparse:])])
    out = made(values, at._replace(indices=at.indices[list(order[:sparse])], size=Size(at.size[d] for d in order), merged=False))
    return merge(out) if at.layout == "sparse_csr" else out


@calls("t")
def _t(s):
    if len(places(s).size) > 2 or places(s).indices.shape[0] < len(places(s).size):
        raise RuntimeError(f"t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got {places(s).indices.shape[0]} sparse and "
                           f"{len(places(s).size) - places(s).indices.shape[0]} dense dimensions")
    return _moved(s, range(len(places(s).size))[::-1], "_coo_t")


@calls("transpose", "swapaxes", "swapdims")
def _transpose(s, dim0, dim1):
    n = len(places(s).size)
    a, b, order = wrap_dim(dim0, n), wrap_dim(dim1, n), list(range(n))
    order[a], order[b] = b, a
    return _moved(s, order, "_coo_transpose")


@calls("permute")
def _permute(s, *dims):
    n = len(places(s).size)
    order = list(dims[0] if len(dims) == 1 and not isinstance(dims[0], int) else dims)
    if len(order) != n:
        raise RuntimeError("permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of dimensions "
                           f"i.e. input.dim() = {n} is not equal to len(dims) = {len(order)}")
    return _moved(s, [wrap_dim(d, n) for d in order], "_coo_permute")


CALLS[Tensor.__dict__["T"].__get__] = lambda s, *rest: _moved(s, range(len(places(s).size))[::-1], "_coo_permute")


def _matrices(name):
    """The last two dims exchanged; of complex numbers the conjugates for an adjoint."""
    def turned(s, *rest):
        n = len(places(s).size)
        if n < 2 or (name == "H" and n != 2):
            raise RuntimeError("tensor.H is only supported on matrices (2-D tensors). Got "
                               f"{n}-D tensor.{' For batches of matrices, consider using tensor.mH' if n > 2 else ''}" if name == "H" else
                               f"tensor.{name} is only supported on matrices or batches of matrices. Got {n}-D tensor.")
        out = _transpose(s, -2, -1)
        return like(named("conj_physical")(out), out) if name != "mT" and Tensor.dtype.__get__(s).is_complex else out

    return turned


for _name in ("mT", "mH", "H"):
    CALLS[Tensor.__dict__[_name].__get__] = _matrices(_name)
calls("adjoint")(_matrices("adjoint()"))


@calls("unsqueeze")
def _unsqueeze(s, dim):
    at = places(s)
    sparse, n = at.indices.shape[0], len(at.size)
    d = wrap_dim(dim, n + 1)
    size = Size((*at.size[:d], 1, *at.size[d:]))
    if d > sparse:
        return made(named("unsqueeze")(s, d - sparse + 1), at._replace(size=size))
    return made(named("_coo_unsqueeze")(s), at._replace(indices=host(np.insert(at.at, d, 0, 0)), size=size, layout="sparse_coo"))


@calls("reshape", "flatten")
def _reshape(s, *args, **kwargs):
    raise RuntimeError("reshape is not implemented for sparse tensors")


@calls("expand", "repeat", "expand_as")
def _expand(s, *args, **kwargs):
    raise RuntimeError("expand is unsupported for Sparse tensors")


# Parts

@calls("index_select")
def index_select(s, dim, index):
    """Slices along a dim, in the order of `index`."""
    at = places(s)
    dim = wrap_dim(dim, len(at.size))
    wanted = index.numpy(force=True).reshape(-1)
    bad = wanted[(wanted < -at.size[dim]) | (wanted >= at.size[dim])]
    if bad.size:
        raise IndexError(f"index_select(): index contains {bad[0]} that is out of range for tensor of size {list(at.size)} at dimension {dim}")
    wanted = np.where(wanted < 0, wanted + at.size[dim], wanted)
    size = Size((*at.size[:dim], len(wanted), *at.size[dim + 1:]))
    if dim >= at.indices.shape[0]:
        return made(named("index_select")(s, dim - at.indices.shape[0] + 1, host(wanted)), at._replace(size=size))
    entries, now = _places.chosen(at.at[dim], wanted)
    found = at.at[:, entries]
    found[dim] = now
    return made(rows_of(s, entries), at._replace(indices=host(found), size=size, merged=False, layout="sparse_coo"))


@calls("narrow_copy")
def _narrow_copy(s, dim, start, length):
    out = index_select(s, dim, host(np.arange(start, start + length)))
    return _in_order(out, places(s).merged)


def _in_order(s, merged):
    """A part of a tensor whose places were in order: sorted again."""
    return merge(s) if merged else s


@calls("select")
def select(s, dim, index):
    """One slice along a dim."""
    at = places(s)
    dim = wrap_dim(dim, len(at.size))
    if not -at.size[dim] <= index < at.size[dim]:
        raise IndexError(f"select(): index {index} out of range for tensor of size {list(at.size)} at dimension {dim}")
    index %= at.size[dim]
    size = Size((*at.size[:dim], *at.size[dim + 1:]))
    sparse = at.indices.shape[0]
    if dim >= sparse:
        return made(named("select")(s, dim - sparse + 1, index), at._replace(size=size))
    (entries,) = np.nonzero(at.at[dim] == index)
    values = rows_of(s, entries)
    if sparse == 1:
        return named("sum")(values, [0])
    return made(values, at._replace(indices=host(np.delete(at.at[:, entries], dim, 0)), size=size, layout="sparse_coo"))


@answers("__getitem__")
def _getitem(s, index):
    picked = index if isinstance(index, tuple) else (index,)
    own, out, dim, seen, added = places(s).size, s, 0, 0, 0  # the dim of what is left, that of the tensor, the new ones
    used = sum(i is not None and i is not Ellipsis for i in picked)
    if used > len(own):
        raise IndexError(f"too many indices for tensor of dimension {len(own)}")
    for i in picked:
        if i is None and not (out is s and places(s).layout == "sparse_csr"):
            added += 1
            out, dim = _unsqueeze(out, dim) if is_sparse(out) else out.unsqueeze(dim), dim + 1
        elif i is Ellipsis:
            dim, seen = dim + len(own) - used, seen + len(own) - used
        elif isinstance(i, slice) and i.start in (None, 0) and i.stop in (None, own[seen]) and i.step in (None, 1):
            dim, seen = dim + 1, seen + 1
        elif _is_whole_number(i):
            if not -own[seen] <= int(i) < own[seen]:
                raise IndexError(f"index {int(i)} is out of bounds for dimension {seen + added} with size {own[seen]}")
            out, seen = select(out, dim, int(i)) if is_sparse(out) else out.select(dim, int(i)), seen + 1
        else:
            _refuse_strides(s)
    if out is s:
        _refuse_strides(s)
    return out


def _is_whole_number(i):
    if isinstance(i, Tensor):
        return not i.ndim and not i.dtype.is_floating_point and not i.dtype.is_complex and i.dtype is not dtypes.bool_
    return isinstance(i, int) and not isinstance(i, bool)


def _refuse_strides(s):
    if places(s).layout == "sparse_csr":
        raise RuntimeError("Sparse CSR tensors do not have strides")
    raise NotImplementedError("Could not run 'aten::as_strided' with arguments from the 'SparseCPU' backend.")


@calls("unbind")
def _unbind(s, dim=0):
    return tuple(select(s, dim, i) for i in range(places(s).size[wrap_dim(dim, len(places(s).size))]))


@calls("cat", "concat", "concatenate")
def _cat(tensors, dim=0):
    for k, x in enumerate(tensors):
        if not is_sparse(x):
            raise RuntimeError(f"Concatenating sparse tensors, but a dense tensor was found at position {k}.")
    first = places(tensors[0])
    d, sparse = wrap_dim(dim, len(first.size)), first.indices.shape[0]
    for k, x in enumerate(tensors):
        if [n for i, n in enumerate(places(x).size) if i != d] != [n for i, n in enumerate(first.size) if i != d]:
            raise RuntimeError(f"All tensors must have the same shape: {list(first.size)} (except in the concatenating dimension), but found shape: "
                               f"{list(places(x).size)} at position {k}.")
    if d >= sparse:
        raise NotImplementedError("torchlike_autograd: sparse tensors joined along a dense dim")
    total, parts = 0, []
    for x in tensors:
        at = places(x).at.copy()
        at[d] += total
        parts.append(at)
        total += places(x).size[d]
    size = Size((*first.size[:d], total, *first.size[d + 1:]))
    return made(joined(tensors), first._replace(indices=host(np.concatenate(parts, 1)), size=size, merged=False, layout="sparse_coo"))


@calls("stack")
def _stack(tensors, dim=0):
    return _cat([_unsqueeze(x, dim) for x in tensors], dim)


@answers("sparse_mask")
def _sparse_mask(x, mask):
    at = places(mask)
    if tuple(x.size() if not is_sparse(x) else places(x).size) != tuple(at.size):
        raise RuntimeError(f"sparse_mask(): operands have incompatible sizes; self has size {list(x.shape)} but mask has size {list(at.size)}")
    return made(named("_coo_masked")(dense_of(x) if is_sparse(x) else x, at.indices), at._replace(told="int64"))


# Softmax

def softmax(s, dim, dtype, name):
    """Among the values that are there along a sparse dim, or along a dense one."""
    whole = merge(s)
    at = places(whole)
    d, sparse = wrap_dim(dim, len(at.size)), at.indices.shape[0]
    values = whole if dtype is None else Tensor.to(whole, dtype)
    if d >= sparse:
        return made(named(name.removeprefix("_coo_"))(values, d - sparse + 1), at)
    rest = np.delete(at.at, d, 0)
    once, group = _places.merged(rest, [n for k, n in enumerate(at.own) if k != d])
    return made(named(name)(values, host(group), count=once.shape[1]), at)
