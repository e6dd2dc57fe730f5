"""DLPack, in and out (layer 7); by way of NumPy's arrays, so it is a copy where memory is not NumPy's."""

from __future__ import annotations

import numpy as np

from .._core.composite import composite
from .data import from_numpy

CPU = 1  # DLPack's number of the host


class _Held:
    """A capsule as an object that NumPy reads."""

    def __init__(self, capsule):
        self._capsule = capsule

    def __dlpack__(self, **kwargs):
        return self._capsule

    def __dlpack_device__(self):
        return (CPU, 0)


@composite("torch.from_dlpack")
def from_dlpack(ext_tensor, *, device=None, copy=None):
    """A tensor with the values of an object that speaks DLPack, or of a capsule."""
    source = ext_tensor if hasattr(ext_tensor, "__dlpack__") else _Held(ext_tensor)
    out = from_numpy(np.array(np.from_dlpack(source)))
    return out if device is None else out.to(device)


@composite("torch.to_dlpack")
def to_dlpack(tensor):
    """A capsule of the tensor's values."""
    return __dlpack__(tensor)


@composite("Tensor.__dlpack__")
def __dlpack__(self, *, stream=-1, max_version=None, dl_device=None, copy=None):
    """A capsule of the values; BufferError for a tensor that requires grad or is conjugated."""
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if self.is_conj():
        raise BufferError("Can't export tensors with the conjugate bit set")
    return np.array(self.numpy()).__dlpack__()


@composite("Tensor.__dlpack_device__")
def __dlpack_device__(self):
    """The kind and number of the device."""
    return (CPU, 0)
