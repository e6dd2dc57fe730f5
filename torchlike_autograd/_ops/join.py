"""Joining, repeating, mirroring, triangles and diagonals: copies (layer 2)."""

from __future__ import annotations

import jax.numpy as jnp

from .._core.dtypes import from_numpy_dtype, promote_types, result_type
from .._core.shapes import broadcast, wrap_dim, wrap_dims
from . import held
from .casts import convert
from .memory import channels_of_all, like_first, rolled, stacked
from .registry import NONE, OPS, SMOOTH, UNIMPLEMENTED, call, fails, op, real
from .tracing import iota
from .views import diagonal_of


def _aligned(tensors):
    """The tensors in their common dtype."""
    common = from_numpy_dtype(tensors[0].dtype)
    for x in tensors[1:]:
        common = promote_types(common, from_numpy_dtype(x.dtype))
    return [x.astype(common.np) for x in tensors]


def _in_result_type(tensors):
    """The tensors in the dtype of their sum, in which those without dims count for their category only."""
    ranked = [[from_numpy_dtype(x.dtype) for x in tensors if bool(x.ndim) is some] for some in (True, False)]
    common = result_type(*ranked, (), None)
    return [x.astype(common.np) for x in tensors]


def _cat_dim(tensors, dim):
    """(dim, positions of the tensors that count) of `cat`; torch's errors."""
    for i, x in enumerate(tensors):
        if x.ndim == 0:
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    counting = [i for i, x in enumerate(tensors) if x.shape != (0,)]
    if not counting:
        return 0, counting  # any dim is right then
    first = tensors[counting[0]]
    d = wrap_dim(dim, first.ndim)
    for i in counting[1:]:
        x = tensors[i]
        if x.ndim != first.ndim:
            raise RuntimeError(f"Tensors must have same number of dimensions: got {first.ndim} and {x.ndim}")
        for k in range(first.ndim):
            if k != d and x.shape[k] != first.shape[k]:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {d}. Expected size {first.shape[k]} but got size {x.shape[k]} for tensor number {i} in the list.")
    return d, counting


@op("cat(Tensor[] tensors, int dim=0) -> Tensor", lies=channels_of_all, node="CatBackward0", aliases=("concat", "concatenate"), method=False,
    samples=[call((real(2, 3), real(1, 3))), call((real(2, 3), real(2, 1)), -1), call((real(0), real(2, 3)), 0)], kinks=SMOOTH,
    errors=[fails(call((real(2, 3), real(3, 3)), 1), RuntimeError, "Sizes of tensors must match except in dimension 1. Expected size 2 but got size 3 for tensor number 1"),
            fails(call((real(2, 3), real(3))), RuntimeError, "Tensors must have same number of dimensions: got 2 and 1"),
            fails(call(()), ValueError, "torch.cat(): expected a non-empty list of Tensors"),
            fails(call((real(()),)), RuntimeError, "zero-dimensional tensor (at position 0) cannot be concatenated")])
def cat(tensors, *, dim=0):
    """Tensors one behind the other along a dim; 1-d tensors without elements are skipped."""
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    d, counting = _cat_dim(tensors, dim)
    tensors = _aligned(tensors)
    return jnp.concatenate([tensors[i] for i in counting], d) if counting else tensors[0]


@op("stack(Tensor[] tensors, int dim=0) -> Tensor", node="StackBackward0", lies=stacked, method=False, samples=[call((real(2, 3), real(2, 3))), call((real(()), real(())), -1)],
    kinks=SMOOTH, errors=[fails(call((real(2), real(3))), RuntimeError, "stack expects each tensor to be equal size, but got [2] at entry 0 and [3] at entry 1"),
                          fails(call(()), RuntimeError, "stack expects a non-empty TensorList")])
def stack(tensors, *, dim=0):
    """Tensors of one shape along a new dim."""
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    d = wrap_dim(dim, tensors[0].ndim + 1)
    for i, x in enumerate(tensors):
        if x.shape != tensors[0].shape:
            raise RuntimeError(f"stack expects each tensor to be equal size, but got {list(tensors[0].shape)} at entry 0 and {list(x.shape)} at entry {i}")
    return jnp.stack(_aligned(tensors), d)


@op("block_diag(Tensor[] tensors) -> Tensor", node="BlockDiagBackward0", names=(), samples=[call((real(2, 3), real(2)))], kinks=SMOOTH)
def block_diag(tensors):
    """Matrices along a diagonal, zeros elsewhere."""
    for i, x in enumerate(tensors):
        if x.ndim > 2:
            raise RuntimeError(f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {i} has {x.ndim} dimensions")
    tensors = [x.reshape((1, -1)) if x.ndim < 2 else x for x in _in_result_type(tensors)]
    rows, cols = sum(x.shape[0] for x in tensors), sum(x.shape[1] for x in tensors)
    out, r, c = [], 0, 0
    for x in tensors:
        out.append(jnp.pad(x, ((0, 0), (c, cols - c - x.shape[1]))))
        r, c = r + x.shape[0], c + x.shape[1]
    return jnp.concatenate(out, 0).reshape(rows, cols)


@op("clone(Tensor self) -> Tensor", node="CloneBackward0", samples=[call(real(2, 3))], kinks=SMOOTH, out=False)
def clone(self):
    """A copy."""
    return self


@op("repeat(Tensor self, int[] repeats) -> Tensor", node="RepeatBackward0", names=("Tensor.repeat",), varargs="repeats",
    samples=[call(real(2, 3), (2, 2)), call(real(3), (2, 1, 2)), call(real(()), (2,)), call(real(2), (0,))], kinks=SMOOTH,
    errors=[fails(call(real(2, 3), (2,)), RuntimeError, "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")])
def repeat(self, *, repeats):
    """Copies side by side along each dim."""
    if len(repeats) < self.ndim:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    padded = (1,) * (len(repeats) - self.ndim) + self.shape
    sizes = [n * r for n, r in zip(padded, repeats)]
    if any(n < 0 for n in sizes):
        raise RuntimeError(f"Trying to create tensor with negative dimension {next(n for n in sizes if n < 0)}: {sizes}")
    return jnp.tile(self, repeats)


# Moving elements

@op("roll(Tensor self, int[1] shifts, int[1] dims=[]) -> Tensor", out=False, lies=rolled, node="RollBackward0", samples=[call(real(2, 3), 1), call(real(2, 3), (1, -2), (0, 1)),
    call(real(0, 2), 1, 0), call(real(0, 2), 1, 5)], kinks=SMOOTH, errors=[fails(call(real(2, 3), (1, 2)), RuntimeError, "shifts and dimensions must align. shifts: 2, dims:0"),
                                                  fails(call(real(2, 3), ()), RuntimeError, "`shifts` required")])
def roll(self, *, shifts, dims=()):
    """Elements moved along dims; those that leave come in at the other end."""
    if not shifts:
        raise RuntimeError("`shifts` required")
    if len(shifts) == 1 and not dims:
        return jnp.roll(self.reshape(-1), shifts[0]).reshape(self.shape)
    if len(shifts) != len(dims):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    if not self.size:
        return self
    return jnp.roll(self, shifts, [wrap_dim(d, self.ndim, scalar_ok=False) for d in dims])


@op("flip(Tensor self, int[] dims) -> Tensor", out=False, lies=like_first, node="FlipBackward0", varargs="dims", samples=[call(real(2, 3), (0,)), call(real(2, 3), (0, -1)), call(real(()), (0,))],
    kinks=SMOOTH, errors=[fails(call(real(2), (0, 0)), RuntimeError, "dim 0 appears multiple times in the list of dims")])
def flip(self, *, dims):
    """The order of elements reversed along dims."""
    dims = wrap_dims(dims, self.ndim)
    return jnp.flip(self, dims) if self.ndim else self


def _turn(self, k, dims):
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if self.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {self.ndim}")
    axes = tuple([wrap_dim(d, self.ndim) for d in dims])
    if axes[0] == axes[1]:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    return k % 4, axes


@op("rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor", out=False, node="Rot90Backward0", samples=[call(real(2, 3)), call(real(2, 3), 2), call(real(2, 3, 2), -1, (1, 2))],
    kinks=SMOOTH, errors=[fails(call(real(3)), RuntimeError, "expected total dims >= 2, but got total dims = 1"),
                          fails(call(real(2, 2), 1, (0, 0)), RuntimeError, "expected rotation dims to be different, but got dim0 = 0 and dim1 = 0")])
def rot90(self, *, k=1, dims=(0, 1)):
    """Quarter turns in the plane of two dims."""
    turns, axes = _turn(self, k, dims)
    return jnp.rot90(self, turns, axes)


# Triangles

def _triangle(name, self, keep):
    if self.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
    rows, cols = iota(self.shape[-2])[:, None], iota(self.shape[-1])[None]
    mask = jnp.broadcast_to(keep(rows, cols), self.shape)
    return jnp.where(mask, self, jnp.zeros((), self.dtype))


@op("tril(Tensor self, int diagonal=0) -> Tensor", node="TrilBackward0", inplace=True, samples=[call(real(3, 4)), call(real(2, 3, 3), -1), call(real(0, 3))], kinks=SMOOTH,
    errors=[fails(call(real(3)), RuntimeError, "tril: input tensor must have at least 2 dimensions")])
def tril(self, *, diagonal=0):
    """The lower triangle, zeros above."""
    return _triangle("tril", self, lambda r, c: c <= r + diagonal)


@op("triu(Tensor self, int diagonal=0) -> Tensor", node="TriuBackward0", inplace=True, samples=[call(real(3, 4)), call(real(2, 3, 3), 1), call(real(0, 3))], kinks=SMOOTH,
    errors=[fails(call(real(3)), RuntimeError, "triu: input tensor must have at least 2 dimensions")])
def triu(self, *, diagonal=0):
    """The upper triangle, zeros below."""
    return _triangle("triu", self, lambda r, c: c >= r + diagonal)


# Diagonals as copies

@op("diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor", node="DiagonalBackward0_copy", method=False,
    samples=[call(real(3, 4)), call(real(3, 4), -1)], kinks=SMOOTH)
def diagonal_copy(self, *, offset=0, dim1=0, dim2=1):
    """A copy of the diagonal of two dims."""
    return diagonal_of(self, offset, dim1, dim2)


@op("diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor", out=False, node="DiagEmbedBackward0",
    samples=[call(real(3)), call(real(2, 3), 1), call(real(2, 3), -1, 0, 2)], kinks=SMOOTH,
    errors=[fails(call(real(2, 3), 0, 1, 1), RuntimeError, "diagonal dimensions cannot be identical 1, 1")])
def diag_embed(self, *, offset=0, dim1=-2, dim2=-1):
    """Matrices of zeros with the last dim on a diagonal."""
    ndim = self.ndim + 1
    a, b = wrap_dim(dim1, ndim), wrap_dim(dim2, ndim)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    n = self.shape[-1] + abs(offset)
    i = iota(self.shape[-1])
    out = jnp.zeros((*self.shape[:-1], n, n), self.dtype)
    out = out.at[(Ellipsis, i + max(-offset, 0), i + max(offset, 0))].set(self, unique_indices=True, indices_are_sorted=True, mode="promise_in_bounds")
    return jnp.moveaxis(out, (-2, -1), (a, b))


# Filling and copying in place (the twins have nodes of their own)

@op("fill.Tensor(Tensor self, Tensor value) -> Tensor", node="FillBackward1", lies=like_first, samples=[call(real(2, 3), real(()))], kinks=SMOOTH, method=False,
    errors=[fails(call(real(2, 3), real(2)), RuntimeError, "fill only supports 0-dimension value tensor but got tensor with 1 dimensions")])
def fill_tensor(self, value):
    """The element of a 0-dim tensor everywhere."""
    return _filled(self, value, "fill")


@op("fill.Scalar(Tensor self, Scalar value) -> Tensor", node="FillBackward0", lies=like_first, lift=("value",),
    holds={"value": held.own}, samples=[call(real(2, 3), 1.5)], kinks=SMOOTH, method=False)
def fill_scalar(self, *, value):
    """One number everywhere."""
    return _filled(self, value)


@op("_fill_(Tensor self, Scalar value) -> Tensor", node="FillBackward2", names=(), lift=("value",), samples=[call(real(2, 3), 1.5)], kinks=SMOOTH)
def _fill_inplace(self, *, value):
    """What `fill_` writes for a number."""
    return _filled(self, value)


@op("_fill_.Tensor(Tensor self, Tensor value) -> Tensor", node="FillBackward3", names=(), scalars=("value",), samples=[call(real(2, 3), real(()))], kinks=SMOOTH)
def _fill_inplace_tensor(self, value):
    """What `fill_` writes for a 0-dim tensor."""
    return _filled(self, value, "fill_")


@op("_written(Tensor self, Tensor old, int[] dims) -> Tensor", node=None, names=(), derivative=NONE, out=False, kinks=SMOOTH,
    samples=[call(real(2, 3, grad=False), real(2, 3, grad=False), (0,))])
def _written(self, old, *, dims):
    """Along dims in which all elements are one: what was written to any of them (the dims become 1)."""
    for d in dims:
        changed = (self != old) & ((self == self) | (old == old))
        place = jnp.argmax(changed, axis=d, keepdims=True)
        self, old = jnp.take_along_axis(self, place, d), old[(slice(None),) * d + (slice(1),)]
    return self


@op("_zero_(Tensor self) -> Tensor", node="ZeroBackward0", names=(), samples=[call(real(2, 3))], kinks=SMOOTH)
def _zero_inplace(self):
    """What `zero_` writes."""
    return jnp.zeros(self.shape, self.dtype)


def _drawn(self, fresh):
    """What a random fill writes."""
    return fresh


for _name in ("Normal0", "Uniform0", "Random0", "Random1", "Random2", "Bernoulli2", "Exponential0", "LogNormal0", "Geometric0", "Cauchy0",
              "Bernoulli0", "Poisson0", "Normal1", "Normal2"):
    op(f"_drawn.{_name}(Tensor self, Tensor fresh) -> Tensor", node=f"{_name[:-1]}Backward{_name[-1]}", names=(), nondiff=("fresh",),
       samples=[call(real(2, 3), real(2, 3, grad=False))], kinks=SMOOTH)(_drawn)


@op("_drawn.Normal3(Tensor self, Tensor std, Tensor fresh) -> Tensor", node="NormalBackward3", names=(), nondiff=("fresh",),
    samples=[call(real(2, 3), real(2, 3), real(2, 3, grad=False))], kinks=SMOOTH)
def _drawn_of_two(self, std, fresh):
    """Normal numbers of given means and deviations."""
    return fresh


@op("_drawn.Bernoulli1(Tensor self, Tensor p, Tensor fresh) -> Tensor", node="BernoulliBackward1", names=(), nondiff=("fresh",),
    samples=[call(real(2, 3), real(3), real(2, 3, grad=False))], kinks=SMOOTH)
def _drawn_by(self, p, fresh):
    """Zeros and ones by probabilities of their own."""
    return fresh


@op("bernoulli.p(Tensor self, Tensor fresh) -> Tensor", node="torch::autograd::NotImplemented", derivative=UNIMPLEMENTED, names=(), nondiff=("fresh",),
    samples=[call(real(2, 3), real(2, 3, grad=False))], kinks=SMOOTH)
def _drawn_apart(self, fresh):
    """Numbers that have torch's answer to the question for a gradient: none is known."""
    return fresh


def _filled(self, value, name=None):
    if value.ndim:
        raise RuntimeError(f"{name} only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions")
    return jnp.broadcast_to(convert(value, from_numpy_dtype(self.dtype)), self.shape)


@op("_copy_(Tensor self, Tensor src) -> Tensor", node="torch::autograd::CopyBackwards", names=(), scalars=("src",), samples=[call(real(2, 3), real(3))], kinks=SMOOTH)
def _copy_inplace(self, src):
    """What `copy_` writes: `src` broadcast and converted."""
    return jnp.broadcast_to(convert(src, from_numpy_dtype(self.dtype)), broadcast(self.shape, src.shape))


for _key in ("_copy_", "_fill_", "_fill_.Tensor", "_zero_"):
    OPS[_key].updates = {0: 0}  # over several devices what is written lies as what was there: nothing else says so
