"""Storages and tensors from files and from buffers of bytes (layer 7): what PyTorch's mapped files and `from_buffer` give.

What differs from torch: a file is read at once, not mapped, so that `shared=True`, which writes back, raises NotImplementedError.
"""

from __future__ import annotations

import errno
import os
import sys

import numpy as np

from .._core import config, dtypes
from .._core.composite import composite
from .._tensor import from_array
from .create import placed
from .storages import TypedStorage, UntypedStorage


def _mapped(filename, shared, nbytes):
    """The first bytes of a file; torch's errors."""
    if shared:
        raise NotImplementedError(f"memory shared with a file ({filename}) is not supported here: read it with shared=False")
    try:
        held = os.stat(filename).st_size
    except OSError as error:
        raise RuntimeError(f"unable to open file <{filename}> in read-only mode: {os.strerror(error.errno)} ({error.errno})") from None
    if held < nbytes:
        raise RuntimeError(f"file <{filename}> size <{held}> is smaller than the required mapping size <{nbytes}>")
    if os.path.isdir(filename):
        raise RuntimeError(f"unable to mmap {nbytes} bytes from file <{filename}>: {os.strerror(errno.ENODEV)} ({errno.ENODEV})")
    return np.fromfile(filename, np.uint8, nbytes)


@composite("torch.from_file")
def from_file(filename, shared=None, size=0, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """A tensor of one dim over the first `size` elements of a file, copied."""
    dtype = config.default_dtype() if dtype is None else dtype
    data = _mapped(filename, shared, (size or 0) * dtype.itemsize)
    return placed(from_array(data.view(dtype.np), dtype), device, requires_grad)


def _storage_of_file(cls, filename, shared=False, nbytes=0):
    """The first bytes of a file (a copy: nothing is written back)."""
    return cls(from_array(_mapped(filename, shared, nbytes), dtypes.uint8))


def _typed_of_file(cls, filename, shared=False, size=0):
    """The first `size` elements of a file (a copy: nothing is written back)."""
    dtype = _dtype_of(cls, "from_file")
    return TypedStorage._of(from_file(filename, shared, size, dtype=dtype))


def _dtype_of(cls, what):
    dtype = vars(cls).get("dtype")
    if dtype is None:
        raise RuntimeError(f"{what}: only supported for subclasses of TypedStorage")
    return dtype


def _typed_of_buffer(cls, buffer, byte_order=None, *, count=-1, offset=0, dtype=None, device=None):
    """Elements copied from an object with a buffer of bytes, in the byte order "native", "little" or "big"."""
    if dtype is not None or device is not None:
        raise RuntimeError(f"from_buffer: 'dtype' and 'device' cannot be given to {cls.__name__}")
    return TypedStorage._of(_elements(buffer, byte_order, count, offset, _dtype_of(cls, "from_buffer")))


def _bytes_of_buffer(buffer, byte_order=None, *, count=-1, offset=0, dtype=None):
    """The bytes of an object with a buffer, as elements of `dtype` say how they are swapped."""
    if dtype is None:
        raise TypeError("from_buffer() missing the keyword argument 'dtype'")
    return UntypedStorage(_elements(buffer, byte_order, count, offset, dtype))


def _elements(buffer, byte_order, count, offset, dtype):
    data = np.frombuffer(buffer, np.uint8)[offset:]
    size = dtype.itemsize
    if count < 0 and len(data) % size:
        raise ValueError(f"buffer size ({len(data)}) must be a multiple of element size ({size})")
    data = data if count < 0 else data[:count * size]
    if byte_order not in ("native", "little", "big") and size > 1:
        raise ValueError(f"invalid byte_order '{byte_order}' (expected 'big', 'little', or 'native')")
    if byte_order not in (None, "native", sys.byteorder):
        data = swapped(data, dtype)
    return from_array(data.copy().view(dtype.np), dtype)


def swapped(data, dtype):
    """Bytes with those of each element, or of each part of a complex one, in the other order."""
    size = dtype.itemsize // (2 if dtype.is_complex else 1)
    return np.ascontiguousarray(data.reshape(-1, size)[:, ::-1]).reshape(-1)


def byteswap(self, dtype):
    """Turn the bytes of each element around, in place."""
    if not isinstance(dtype, dtypes.dtype):
        raise RuntimeError(f"expected torch.dtype, but got {type(dtype)}")
    self._hold(swapped(self.bytes(), dtype))


UntypedStorage.from_file = classmethod(_storage_of_file)
UntypedStorage.from_buffer = staticmethod(_bytes_of_buffer)
UntypedStorage.byteswap = byteswap
TypedStorage.from_file = classmethod(_typed_of_file)
TypedStorage.from_buffer = classmethod(_typed_of_buffer)
__all__ = ["from_file"]
