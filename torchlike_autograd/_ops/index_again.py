"""Reads and writes at index tensors under torch's other names for them, which have nodes of their own (layer 2)."""

from __future__ import annotations

from .index import _SEVERAL, _index, _index_put
from .memory import indexed
from .places import long
from .registry import SMOOTH, call, op, real

_PUT = {"names": (), "saves": {"self": ("indices",), "values": ("indices",)}, "inplace": False, "kinks": SMOOTH,
        "samples": [call(real(3, 4), (long(0, 2),), real(2, 4), (0,), False)], **_SEVERAL}


@op("_unsafe_index(Tensor self, Tensor[] indices, int[] dims) -> Tensor", node="UnsafeIndexBackward0", lies=indexed, names=(), zero_second=True,
    saves={"self": ("indices",)}, samples=[call(real(3, 4), (long(0, 2, 0),), (0,))], kinks=SMOOTH, **_SEVERAL)
def _unsafe_index(self, indices, *, dims):
    """`_index`; it is as safe here."""
    return _index(self, indices, dims=dims)


@op("_unsafe_index_put(Tensor self, Tensor[] indices, Tensor values, int[] dims, bool accumulate) -> Tensor", node="UnsafeIndexPutBackward0", **_PUT)
def _unsafe_index_put(self, indices, values, *, dims, accumulate):
    """`_index_put`; it is as safe here."""
    return _index_put(self, indices, values, dims=dims, accumulate=accumulate)


@op("_index_put_impl(Tensor self, Tensor[] indices, Tensor values, int[] dims, bool accumulate) -> Tensor", node="IndexPutImplBackward0", **_PUT)
def _index_put_impl(self, indices, values, *, dims, accumulate):
    """`_index_put`, as gradients call it."""
    return _index_put(self, indices, values, dims=dims, accumulate=accumulate)
