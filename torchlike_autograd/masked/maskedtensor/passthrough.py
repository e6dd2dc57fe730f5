"""torch.masked.maskedtensor.passthrough (layer 8): functions that move elements: they are called for the data and for the mask."""

from __future__ import annotations

from ..._tensor import Tensor
from ._tables import functions, packets
from .core import calls, data_in, has_places, mapped, over, pair, run

__all__ = []  # as torch's

PASSTHROUGH_FNS = packets([
    "select", "transpose", "split", "t", "slice", "slice_backward", "select_backward", "index", "expand", "view", "_unsafe_view", "_reshape_alias", "cat",
    "unsqueeze", "unfold", "unfold_backward", "im2col", "col2im", "stack"])
_NAMES = [
    "adjoint", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_tensors", "broadcast_to", "cat", "chunk", "column_stack", "concat", "concatenate",
    "dsplit", "dstack", "expand", "expand_as", "flatten", "fold", "hsplit", "hstack", "narrow", "ravel", "repeat_interleave", "reshape", "reshape_as",
    "row_stack", "select", "split", "split_with_sizes", "stack", "swapaxes", "swapdims", "t", "tensor_split", "transpose", "unflatten", "unfold",
    "unsqueeze", "view", "view_as", "vsplit", "vstack", "__getitem__"]


def _moving(f):
    def call(*args, **kwargs):
        data = run(f, mapped(args, data_in), {k: mapped(x, data_in) for k, x in kwargs.items()})
        return pair(data, run(f, mapped(args, _mask_of), {k: mapped(x, _mask_of) for k, x in kwargs.items()}))

    return call


def _mask_of(x):
    return x._masked_mask


for _name in _NAMES:
    for _f in functions(_name):
        calls(_f)(_moving(_f))
for _f in PASSTHROUGH_FNS:
    calls(_f)(_moving(_f))
for _name in ("H", "mH", "mT"):
    _get = getattr(Tensor, _name).__get__
    calls(_get)(_moving(_get))


def _contiguous(x, *args, **kwargs):
    if has_places(x):
        raise ValueError("MaskedTensors with sparse data do not have is_contiguous")
    out = Tensor.contiguous(x, *args, **kwargs)
    return x if out is x else over(out, x._masked_mask.contiguous(), x)


calls(Tensor.contiguous)(_contiguous)
