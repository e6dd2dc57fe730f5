"""Views that keep every element, or take one piece along one dim (layer 2)."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np

from .._core import errors
from .._core.dtypes import from_numpy_dtype
from .._core.shapes import LARGEST, contiguous_strides, exceeds, infer_size, view_strides, wrap_dim, wrap_dims
from .registry import NONE, SMOOTH, call, fails, op, real
from .tracing import iota

# One index, one range

def _select_layout(shape, strides, offset, *, dim, index):
    d = wrap_dim(dim, len(shape), scalar_ok=False)
    i = index + shape[d] if index < 0 else index
    return shape[:d] + shape[d + 1:], strides[:d] + strides[d + 1:], offset + i * strides[d]


def _select_write(base, new, *, dim, index):
    d = wrap_dim(dim, base.ndim)
    return jax.lax.dynamic_update_index_in_dim(base, jnp.expand_dims(new, d), _wrapped(index, base.shape[d]), d, allow_negative_indices=False)


def _wrapped(index, size):
    return jnp.where(index < 0, index + size, index)


@op("select.int(Tensor(a) self, int dim, int index) -> Tensor(a)", node="SelectBackward0", lift=("index",), write=_select_write, layout=_select_layout,
    samples=[call(real(3, 2), 0, 1), call(real(3, 2), -1, -1)], kinks=SMOOTH,
    errors=[fails(call(real(()), 0, 0), IndexError, "select() cannot be applied to a 0-dim tensor."),
            fails(call(real(2, 3), 1, 3), IndexError, "select(): index 3 out of range for tensor of size [2, 3] at dimension 1")])
def select(self, *, dim, index):
    """One index of a dim, which disappears."""
    # guard: IndexError "select(): index {i} out of range for tensor of size {shape} at dimension {dim}" (checked by the caller: index is a number)
    if self.ndim == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    d = wrap_dim(dim, self.ndim)
    return jax.lax.dynamic_index_in_dim(self, _wrapped(index, self.shape[d]), d, keepdims=False, allow_negative_indices=False)


def _slice_layout(shape, strides, offset, *, dim, start, length, step):
    return (*shape[:dim], length, *shape[dim + 1:]), (*strides[:dim], strides[dim] * step, *strides[dim + 1:]), offset + start * strides[dim]


def _slice_write(base, new, *, dim, start, length, step):
    if length == 0:
        return base
    if step == 1:
        return jax.lax.dynamic_update_slice_in_dim(base, new, start, dim, allow_negative_indices=False)
    where = start + iota(length) * step
    return base.at[(slice(None),) * dim + (where,)].set(new, unique_indices=True, indices_are_sorted=True, mode="promise_in_bounds")


@op("_slice(Tensor(a) self, int dim, int start, *, int length, int step=1) -> Tensor(a)", node="SliceBackward0", names=(), lift=("start",),
    write=_slice_write, layout=_slice_layout, samples=[call(real(5, 2), 0, 1, length=2, step=2)], kinks=SMOOTH)
def _slice(self, *, dim, start, length, step=1):
    """`length` entries from `start` on (both checked by the caller), `step` apart."""
    if length == 0:
        return self[(slice(None),) * dim + (slice(0, 0),)]
    out = jax.lax.dynamic_slice_in_dim(self, start, (length - 1) * step + 1, dim, allow_negative_indices=False)
    return out if step == 1 else jax.lax.slice_in_dim(out, 0, None, step, dim)


# The same elements in the same order under other sizes

def _viewed_layout(shape, strides, offset, *, size, **_):
    total = 1
    for n in shape:
        total *= n
    new = infer_size(size, total)
    return new, view_strides(shape, strides, new) or contiguous_strides(new), offset


def _reshaped_back(base, new, **_):
    return new.reshape(base.shape)


@op("view(Tensor(a) self, int[] size) -> Tensor(a)", node="ViewBackward0", names=("Tensor.view",), varargs="size", layout=_viewed_layout, write=_reshaped_back,
    samples=[call(real(2, 6), (3, 4)), call(real(2, 6), (-1,)), call(real(()), (1, 1)), call(real(0, 3), (3, 0))], kinks=SMOOTH,
    errors=[fails(call(real(2, 6), (5, 5)), RuntimeError, "shape '[5, 5]' is invalid for input of size 12"),
            fails(call(real(2, 6), (-1, -1)), RuntimeError, "only one dimension can be inferred"),
            fails(call(real(0, 3), (-1, 0)), RuntimeError, "cannot reshape tensor of 0 elements into shape [-1, 0] because")])
def view(self, *, size):
    """The same elements under other sizes."""
    return self.reshape(infer_size(size, self.size))


@op("_reshape_alias(Tensor(a) self, int[] size, int[] stride) -> Tensor(a)", node="ReshapeAliasBackward0", names=(), write=_reshaped_back,
    layout=lambda shape, strides, offset, *, size, stride: (size, stride, offset), samples=[call(real(2, 6), (3, 4), (4, 1))], kinks=SMOOTH)
def _reshape_alias(self, *, size, stride):
    """A view that `reshape` makes of a tensor that is not contiguous."""
    return self.reshape(size)


@op("_resized(Tensor self, int[] size) -> Tensor", node="ResizeBackward", names=(), samples=[call(real(2, 6), (3, 4))], kinks=SMOOTH)
def _resized(self, *, size):
    """The same elements in another shape: the old name of `view`."""
    return self.reshape(size)


@op("_unsafe_view(Tensor self, int[] size) -> Tensor", node="UnsafeViewBackward0", names=(), samples=[call(real(2, 6), (3, 4))], kinks=SMOOTH)
def _unsafe_view(self, *, size):
    """Other sizes for a fresh copy."""
    return self.reshape(infer_size(size, self.size))


@op("alias(Tensor(a) self) -> Tensor(a)", node="AliasBackward0", names=("torch.ops.aten.alias",), layout=lambda shape, strides, offset: (shape, strides, offset),
    write=lambda base, new: new, samples=[call(real(2, 3))], kinks=SMOOTH)
def alias(self):
    """The whole tensor as a view."""
    return self


@op("_fw_primal(Tensor(a) self, int level) -> Tensor(a)", node="torch::autograd::Identity", names=(), layout=lambda shape, strides, offset, level: (
    shape, strides, offset), write=lambda base, new, level: new, samples=[call(real(2, 3), 0)], kinks=SMOOTH)
def _fw_primal(self, *, level):
    """The whole tensor as a view: the primal of one that has a tangent."""
    return self


# Bits under another dtype


def _retyped_shape(shape, old, new):
    """The shape of bytes of dtype `old` read as `new`; torch's errors."""
    a, b = old.itemsize, new.itemsize
    if a == b:
        return shape
    if not shape:
        raise RuntimeError(f"self.dim() cannot be 0 to view {old.char_name} as {new.char_name} (different element sizes)")
    if a > b:
        return (*shape[:-1], shape[-1] * (a // b))
    if shape[-1] % (b // a):
        raise RuntimeError(f"self.size(-1) must be divisible by {b // a} to view {old.char_name} as {new.char_name} (different element sizes), but got {shape[-1]}")
    return (*shape[:-1], shape[-1] // (b // a))


def to_bytes(x):
    """The bytes of each element along a new last dim."""
    if jnp.iscomplexobj(x):
        pair = jnp.stack([jnp.real(x), jnp.imag(x)], -1)
        return jax.lax.bitcast_convert_type(pair, jnp.uint8).reshape(*x.shape, x.dtype.itemsize)
    if x.dtype == bool:
        x = x.astype(jnp.uint8)
    return jax.lax.bitcast_convert_type(x, jnp.uint8).reshape(*x.shape, x.dtype.itemsize)


def from_bytes(x, dtype):
    """The elements of `dtype` whose bytes lie along the last dim."""
    if dtype.is_complex:
        half = dtype.itemsize // 2
        pair = jax.lax.bitcast_convert_type(x.reshape(*x.shape[:-1], 2, half), dtype.to_real().np)
        return jax.lax.complex(pair[..., 0], pair[..., 1])
    if dtype.name == "bool":
        return x[..., 0] != 0
    return jax.lax.bitcast_convert_type(x if dtype.itemsize > 1 else x[..., 0], dtype.np)


def _retyped(self, dtype):
    old = from_numpy_dtype(self.dtype)
    if old is dtype:
        return self
    shape = _retyped_shape(self.shape, old, dtype)
    return from_bytes(to_bytes(self).reshape(*shape, dtype.itemsize), dtype)


def _retyped_layout(shape, strides, offset, *, dtype, itemsize):
    new = dtype.itemsize
    if itemsize == new:
        return shape, strides, offset
    if itemsize > new:
        k = itemsize // new
        return (*shape[:-1], shape[-1] * k), (*[s * k for s in strides[:-1]], 1), offset * k
    k = new // itemsize
    return (*shape[:-1], shape[-1] // k), (*[s // k for s in strides[:-1]], 1), offset // k


def _write_retyped(base, new, *, dtype, itemsize):
    """The base with the bytes of `new`; bytes that are as true as they were stay what they were."""
    if new.dtype == bool and base.dtype != bool:
        old = _retyped(base, from_numpy_dtype(np.dtype(np.uint8)))
        new = jnp.where((old != 0) == new, old, new.astype(old.dtype))
    return _retyped(new, from_numpy_dtype(base.dtype))


@op("_view_dtype(Tensor(a) self, ScalarType dtype, int itemsize) -> Tensor(a)", derivative=NONE, names=(), layout=_retyped_layout,
    write=_write_retyped,
    samples=[call(real(2, 4, grad=False), "int64", 8), call(real(2, 4, dtype="float32", grad=False), "float64", 4)], kinks=SMOOTH,
    errors=[fails(call(real(3, dtype="float32", grad=False), "float64", 4), RuntimeError, "self.size(-1) must be divisible by 2 to view Float as Double")])
def _view_dtype(self, *, dtype, itemsize):
    """The same bytes read as another dtype; itemsize is the present one's."""
    return _retyped(self, dtype)


# Order of dims

def _ordered(order):
    """(layout, write) of a view that permutes dims by `order(ndim, **statics)`."""

    def layout(shape, strides, offset, **statics):
        dims = order(len(shape), **statics)
        return tuple([shape[d] for d in dims]), tuple([strides[d] for d in dims]), offset

    def write(base, new, **statics):
        dims = order(base.ndim, **statics)
        back = [0] * len(dims)
        for i, d in enumerate(dims):
            back[d] = i
        return jnp.transpose(new, back)

    return {"layout": layout, "write": write}


def _swap(ndim, dim0, dim1):
    a, b = wrap_dim(dim0, ndim), wrap_dim(dim1, ndim)
    dims = list(range(ndim))
    if ndim:
        dims[a], dims[b] = dims[b], dims[a]
    return dims


def _permutation(ndim, dims):
    if len(dims) != ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of dimensions i.e. "
            f"input.dim() = {ndim} is not equal to len(dims) = {len(dims)}")
    dims = [wrap_dim(d, ndim) for d in dims]
    if len(set(dims)) != ndim:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return dims


@op("transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", node="TransposeBackward0", **_ordered(_swap),
    samples=[call(real(2, 3, 4), 0, 1), call(real(2, 3), -1, 0), call(real(()), 0, -1)], kinks=SMOOTH,
    errors=[fails(call(real(2, 3), 0, 2), IndexError, "Dimension out of range (expected to be in range of [-2, 1], but got 2)")])
def transpose(self, *, dim0, dim1):
    """Two dims swapped."""
    return jnp.transpose(self, _swap(self.ndim, dim0, dim1))


@op("t(Tensor(a) self) -> Tensor(a)", node="TBackward0", **_ordered(lambda ndim: list(range(ndim))[::-1]), samples=[call(real(2, 3)), call(real(3)),
    call(real(()))], kinks=SMOOTH, errors=[fails(call(real(2, 3, 4)), RuntimeError, "t() expects a tensor with <= 2 dimensions, but self is 3D")])
def t(self):
    """The transpose of a matrix; vectors and scalars as they are."""
    if self.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
    return jnp.transpose(self)


@op("permute(Tensor(a) self, int[] dims) -> Tensor(a)", node="PermuteBackward0", varargs="dims", **_ordered(_permutation),
    samples=[call(real(2, 3, 4), (2, 0, 1)), call(real(2, 3), (-1, 0)), call(real(()), ())], kinks=SMOOTH,
    errors=[fails(call(real(2, 3), (0, 0)), RuntimeError, "permute(): duplicate dims are not allowed."),
            fails(call(real(2, 3), (0,)), RuntimeError, "input.dim() = 2 is not equal to len(dims) = 1")])
def permute(self, *, dims):
    """All dims in another order."""
    return jnp.transpose(self, _permutation(self.ndim, dims))


# Dims of size 1

def _kept_dims(shape, dims):
    return [d for d in range(len(shape)) if not (d in dims and shape[d] == 1)]


def _squeezed(pick):
    """(layout, write) of a view without the dims of size 1 among `pick(shape, **statics)`."""

    def layout(shape, strides, offset, **statics):
        keep = _kept_dims(shape, pick(shape, **statics))
        return tuple([shape[d] for d in keep]), tuple([strides[d] for d in keep]), offset

    return {"layout": layout, "write": _reshaped_back}


def _without(self, dims):
    return self.reshape([self.shape[d] for d in _kept_dims(self.shape, dims)])


@op("squeeze(Tensor(a) self) -> Tensor(a)", node="SqueezeBackward0", **_squeezed(lambda shape: range(len(shape))),
    samples=[call(real(2, 1, 3, 1)), call(real(2)), call(real(()))], kinks=SMOOTH)
def squeeze(self):
    """Without all dims of size 1."""
    return _without(self, range(self.ndim))


@op("squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)", node="SqueezeBackward1", **_squeezed(lambda shape, dim: (wrap_dim(dim, len(shape)),)),
    samples=[call(real(2, 1, 3), 1), call(real(2, 1, 3), 0), call(real(()), -1)], kinks=SMOOTH,
    errors=[fails(call(real(2, 1), 2), IndexError, "Dimension out of range (expected to be in range of [-2, 1], but got 2)")])
def squeeze_dim(self, *, dim):
    """Without one dim, if its size is 1."""
    return _without(self, (wrap_dim(dim, self.ndim),))


@op("squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)", node="SqueezeBackward2", varargs="dim",
    **_squeezed(lambda shape, dim: wrap_dims(dim, len(shape))),
    samples=[call(real(2, 1, 3, 1), (1, -1)), call(real(2, 1), ())], kinks=SMOOTH,
    errors=[fails(call(real(2, 1), (1, -1)), RuntimeError, "dim 1 appears multiple times in the list of dims")])
def squeeze_dims(self, *, dim):
    """Without those of several dims whose size is 1."""
    return _without(self, wrap_dims(dim, self.ndim))


def _unsqueezed_layout(shape, strides, offset, *, dim):
    d = wrap_dim(dim, len(shape) + 1)
    step = shape[d] * strides[d] if d < len(shape) else 1
    return (*shape[:d], 1, *shape[d:]), (*strides[:d], step, *strides[d:]), offset


@op("unsqueeze(Tensor(a) self, int dim) -> Tensor(a)", node="UnsqueezeBackward0", layout=_unsqueezed_layout, write=_reshaped_back,
    samples=[call(real(2, 3), 0), call(real(2, 3), -1), call(real(()), 0)], kinks=SMOOTH,
    errors=[fails(call(real(2, 3), 3), IndexError, "Dimension out of range (expected to be in range of [-3, 2], but got 3)")])
def unsqueeze(self, *, dim):
    """One more dim of size 1."""
    return jnp.expand_dims(self, wrap_dim(dim, self.ndim + 1))


# Repetition without copies

def _expanded_shape(shape, size, dtype):
    """The sizes that `expand` gives; torch's errors."""
    extra = len(size) - len(shape)
    if extra < 0:
        raise RuntimeError(
            f"expand({errors.tensor_type(dtype)}{{{list(shape)}}}, size={list(size)}): the number of sizes provided ({len(size)}) must be greater or equal "
            f"to the number of dimensions in the tensor ({len(shape)})")
    out = []
    for i in range(len(size) - 1, -1, -1):  # torch looks from the end
        n = size[i]
        have = shape[i - extra] if i >= extra else None
        if n == -1:
            if have is None:
                raise RuntimeError(f"The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension {i}")
            n = have
        elif have is not None and have not in (1, n):
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) must match the existing size ({have}) at non-singleton dimension {i}.  Target sizes: {list(size)}.  "
                f"Tensor sizes: {list(shape)}")
        if n < 0:
            raise RuntimeError("numel: integer multiplication overflow")
        out.append(n)
    if exceeds(math.prod(out), LARGEST):
        raise RuntimeError("numel: integer multiplication overflow")
    return tuple(reversed(out))


def _expanded_layout(shape, strides, offset, *, size, implicit=False):
    extra = len(size) - len(shape)
    sizes, steps = [0] * len(size), [0] * len(size)
    for i in range(len(size) - 1, -1, -1):
        have = shape[i - extra] if i >= extra else 1
        step = strides[i - extra] if i >= extra else sizes[i + 1] * steps[i + 1] if i + 1 < len(size) else 1
        sizes[i] = have if size[i] == -1 else size[i]
        steps[i] = step if sizes[i] == have else 0
    return tuple(sizes), tuple(steps), offset


@op("expand(Tensor(a) self, int[] size, *, bool implicit=False) -> Tensor(a)", node="ExpandBackward0", names=("Tensor.expand",), varargs="size",
    layout=_expanded_layout, samples=[call(real(2, 1), (2, 3)), call(real(3), (2, -1)), call(real(()), (2,)), call(real(1), (0,))],
    kinks=SMOOTH, errors=[fails(call(real(2, 3), (2, 4)), RuntimeError, "The expanded size of the tensor (4) must match the existing size (3)"),
                          fails(call(real(2, 3), (-1, 2, 3)), RuntimeError, "(-1) isn't allowed in a leading, non-existing dimension 0")])
def expand(self, *, size, implicit=False):
    """Dims of size 1 repeated."""
    return jnp.broadcast_to(self, _expanded_shape(self.shape, size, from_numpy_dtype(self.dtype)))
