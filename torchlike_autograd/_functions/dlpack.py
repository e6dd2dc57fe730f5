"""DLPack (layer 7): arrays of other libraries in and out.

What comes from JAX is taken without a copy, of anything else the memory is shared as NumPy's is (`_core/sharing.py`); what goes out is JAX's memory, of
host tensors NumPy's, or a copy.
"""

from __future__ import annotations

import ctypes
import enum

import jax
import numpy as np

from .._core import belonging, devices, dtypes, sharing
from .._core.composite import composite
from .._core.layouts import lay_as
from .._core.placed import on_device
from .._tensor import Tensor, from_array


class DLDeviceType(enum.IntEnum):
    """DLPack's numbers of devices."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17
    kDLTrn = 18


class _Capsule:
    """A bare capsule as an object that can be asked for it and for its device."""

    def __init__(self, capsule):
        self._capsule = capsule

    def __dlpack__(self, **kwargs):
        return self._capsule

    def __dlpack_device__(self):
        """(kind, number), as the capsule's memory says: what the address of the elements is followed by in its DLTensor, which stands first in a
        DLManagedTensor, and after a version, two pointers and flags in one with a version."""
        name, start = next(((n, at) for n, at in ((b"dltensor", 0), (b"dltensor_versioned", 32)) if _is_valid(self._capsule, n)), (None, None))
        if name is None:
            raise RuntimeError(_TAKEN)
        at = _address(self._capsule, name) + start + ctypes.sizeof(ctypes.c_void_p)
        return tuple((ctypes.c_int32 * 2).from_address(at))


_TAKEN = ("from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so you might have already constructed a tensor "
          "from it once.")
_is_valid, _address = ctypes.pythonapi.PyCapsule_IsValid, ctypes.pythonapi.PyCapsule_GetPointer
_is_valid.argtypes, _is_valid.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.c_int
_address.argtypes, _address.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.c_void_p


@composite("torch.from_dlpack", "torch.utils.dlpack.from_dlpack")
def from_dlpack(ext_tensor, *, device=None, copy=None):
    """A tensor over the memory of an array of JAX, or of one of at most 256 KiB that can be written; of others a copy."""
    key = None if device is None else devices.key_of(device)
    if isinstance(ext_tensor, Tensor) and not copy and ext_tensor.is_cpu:
        ext_tensor.__dlpack__()  # for what it refuses
        return ext_tensor.data if key is None else ext_tensor.data.to(key)
    if isinstance(ext_tensor, Tensor) or not hasattr(ext_tensor, "__dlpack__"):
        ext_tensor = _Capsule(ext_tensor.__dlpack__() if isinstance(ext_tensor, Tensor) else _capsule(ext_tensor))
    array, memory = (ext_tensor, None) if isinstance(ext_tensor, jax.Array) else _copied(ext_tensor)
    t = from_array(array, dtypes.from_numpy_dtype(array.dtype), device=devices.key_of_array(array) if isinstance(array, jax.Array) else "cpu")
    if memory is not None and not copy:
        lay_as(t, tuple([s // memory.itemsize for s in memory.strides]))
        sharing.share(t, memory)
    return t if key is None else t.to(key)


def _capsule(x):
    if type(x).__name__ != "PyCapsule":
        raise RuntimeError(_TAKEN)
    return x


def _copied(x):
    """The values, and the memory as an array of NumPy where it can be one."""
    if int(x.__dlpack_device__()[0]) == DLDeviceType.kDLCPU:
        try:
            memory = np.from_dlpack(x)
            return np.array(memory, order="C"), memory
        except (BufferError, TypeError, RuntimeError):  # a dtype that NumPy does not have
            pass
    with jax.enable_x64(True):
        return jax.numpy.array(jax.numpy.from_dlpack(x), copy=True), None


@composite("Tensor.__dlpack__")
def __dlpack__(self, *, stream=-1, max_version=None, dl_device=None, copy=None):
    """A capsule of the values; runs what is pending."""
    belonging.refuse_pointer(self._tl_value())
    if self._tl_needs:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if self._tl_view is not None and self.is_conj():
        raise BufferError("Can't export tensors with the conjugate bit set")
    if stream is not None and type(stream) is not int:
        raise TypeError("stream must be ``int`` or ``none``")
    if self.is_cpu and stream not in (None, -1):
        raise AssertionError("stream should be None on cpu.")
    array = self._tl_array()
    more = {} if max_version is None else {"max_version": max_version}
    if isinstance(array, np.ndarray):
        if array.dtype.kind in "biufc" and array.dtype.name != "bfloat16":
            memory = None if copy else sharing.shown(self, array)
            return (np.array(array) if memory is None else memory).__dlpack__(**more)
        array = on_device(array)
    return array.__dlpack__(stream=None if stream == -1 else stream, **more)


@composite("Tensor.__dlpack_device__")
def __dlpack_device__(self):
    """(kind, number) of where the values are."""
    d = self.device
    return (DLDeviceType.kDLCUDA if d.type == "cuda" else DLDeviceType.kDLCPU if d.type == "cpu" else DLDeviceType.kDLExtDev), d.index or 0


@composite("torch.to_dlpack", "torch.utils.dlpack.to_dlpack")
def to_dlpack(tensor):
    """A capsule of a tensor's values."""
    if tensor.is_meta:
        raise BufferError("Cannot pack tensors on meta")
    return tensor.__dlpack__()


@composite("Tensor.__jax_array__")
def __jax_array__(self):
    """The jax.Array of the values, for functions of jax.numpy."""
    array = self._tl_array()
    return on_device(array) if isinstance(array, np.ndarray) else array
