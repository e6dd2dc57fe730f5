"""Gradients of operators that torch has as operators of their own, and indices that a mask makes safe (layer 2)."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from .._core.shapes import wrap_dim
from .conventions import flat
from .index import _index, _index_put
from .memory import channels_last
from .places import long
from .registry import SMOOTH, call, op, real

_WEIGHTED = {"grad_output": ("output",), "output": ("grad_output", "output")}


def _total(x, dim):
    return jnp.sum(x, wrap_dim(dim, x.ndim), keepdims=True) if x.ndim else x


@op("_softmax_pulled(Tensor grad_output, Tensor output, int dim) -> Tensor", node="SoftmaxBackwardDataBackward0", names=(), opmath=True, saves=_WEIGHTED,
    samples=[call(real(2, 3), real(2, 3), 1)], kinks=SMOOTH)
def _softmax_pulled(grad_output, output, *, dim):
    """The gradient of a softmax by its output."""
    weighted = grad_output * output
    return weighted - output * _total(weighted, dim)


@op("_log_softmax_pulled(Tensor grad_output, Tensor output, int dim) -> Tensor", node="LogSoftmaxBackwardDataBackward0", names=(), opmath=True, saves=_WEIGHTED,
    samples=[call(real(2, 3), real(2, 3), 1)], kinks=SMOOTH)
def _log_softmax_pulled(grad_output, output, *, dim):
    """The gradient of a log_softmax by its output."""
    return grad_output - jnp.exp(output) * _total(grad_output, dim)


@op("_dropout_pulled(Tensor grad_output, Tensor mask, float scale) -> Tensor", node="NativeDropoutBackwardBackward0", names=(), lift=("scale",), forward=False,
    saves={"grad_output": ("mask",)}, nondiff=("mask",), samples=[call(real(2, 3), real(2, 3, grad=False), 2.0)], kinks=SMOOTH)
def _dropout_pulled(grad_output, mask, *, scale):
    """The gradient of a dropout by its mask."""
    return grad_output * mask.astype(grad_output.dtype) * scale.astype(grad_output.dtype)


@op("_max_pool2d_pulled(Tensor grad_output, Tensor self, Tensor indices) -> Tensor", node="MaxPool2DWithIndicesBackwardBackward0", names=(), lies=channels_last,
    saves={"grad_output": ("indices",), "self": ("indices",)}, zero_second=True, samples=[call(real(1, 2, 1, 2), real(1, 2, 2, 4), long([[[[0, 6]], [[1, 3]]]]))],
    kinks=SMOOTH)
def _max_pool2d_pulled(grad_output, self, indices):
    """The gradient of a pooling by the places of the maxima; that of `self`, which gives the size alone, is 0."""
    lead, size = self.shape[:-2], self.shape[-2] * self.shape[-1]
    rows = int(np.prod(lead))
    out = jnp.zeros((rows, size), grad_output.dtype)
    out = out.at[jnp.arange(rows)[:, None], indices.reshape(rows, -1)].add(grad_output.reshape(rows, -1))
    out = out.reshape(self.shape)
    return out + flat(jnp.zeros_like(out), self)


def _clamped(self, indices, dims):
    return [jnp.clip(i, -self.shape[d], self.shape[d] - 1) for i, d in zip(indices, dims)]


def _where(mask, x, other):
    return jnp.where(mask, x, jnp.asarray(other, x.dtype))


_INDICES = "Tensor[] indices, int[] dims"


@op(f"_safe_index(Tensor self, Tensor mask, {_INDICES}, Scalar fill) -> Tensor", node="UnsafeMaskedIndexBackward0", names=(),
    saves={"self": ("mask", "indices")}, zero_second=True, nondiff=("mask",),
    samples=[call(real(3, 4), long(1, 0, 1), (long(0, 9, 1), long(1, 2, 3)), (0, 1), 0.0)], kinks=SMOOTH)
def _safe_index(self, mask, indices, *, dims, fill):
    """self[indices] where the mask is true, `fill` elsewhere, where the indices may be out of bounds."""
    return _where(mask.astype(bool), _index(self, _clamped(self, indices, dims), dims=dims), fill)


@op(f"_safe_index_put(Tensor self, Tensor mask, {_INDICES}, Tensor values) -> Tensor", node="UnsafeMaskedIndexPutAccumulateBackward0", names=(),
    saves={"values": ("mask", "indices")}, nondiff=("mask",), samples=[call(real(3, 4), long(1, 0, 1), (long(0, 9, 1), long(1, 2, 3)), (0, 1), real(3))],
    kinks=SMOOTH)
def _safe_index_put(self, mask, indices, values, *, dims):
    """`values` added to self[indices] where the mask is true."""
    return _index_put(self, _clamped(self, indices, dims), _where(mask.astype(bool), values, 0), dims=dims, accumulate=True)
