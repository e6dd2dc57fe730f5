"""The memory behind tensors (layer 7): what programs ask of `untyped_storage()` and `storage()`.

What differs from torch: contents are read, not written; two objects for one memory are equal, not the same.
"""

from __future__ import annotations

import numpy as np

from .._core.composite import composite
from .._core.numeric import say_once
from .._core.shapes import numel
from .._core.storage import cell_of
from .._tensor import wrap
from .data import from_numpy

_DEPRECATED = ("TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage class. This should only matter to you "
               "if you are using storages directly.  To access UntypedStorage directly, use tensor.untyped_storage() instead of tensor.storage()")


class UntypedStorage:
    """Which tensors share memory, how much there is, and its bytes."""

    def __init__(self, t):
        self._cell, self._owner = cell_of(t), t
        a = self._cell.value.aval
        self._count, self._itemsize = numel(a.shape), a.dtype.itemsize

    def data_ptr(self):
        """The address of a copy of the contents as they are now: equal for tensors that share storage, and the same for as long as that storage is there.

        What is written to that memory does not reach the tensors.
        """
        if self.device.type == "meta":
            return 0
        cell, now = self._cell, self._elements()
        memory = getattr(cell, "memory", None)
        if memory is None or memory.nbytes != now.nbytes:
            memory = cell.memory = np.empty(now.shape, now.dtype)
        np.copyto(memory, now)
        return memory.ctypes.data if memory.size else 0

    def nbytes(self):
        """Bytes held."""
        return self._count * self._itemsize

    size = __len__ = nbytes

    @classmethod
    def from_file(cls, filename, shared=False, nbytes=0):
        """The first bytes of a file (a copy: nothing is written back)."""
        if shared:
            raise NotImplementedError("UntypedStorage.from_file: memory shared with a file is not supported here")
        return cls(from_numpy(np.fromfile(filename, np.uint8, nbytes or -1)))

    def untyped(self):
        """Itself."""
        return self

    def element_size(self):
        """Bytes of an element: 1."""
        return 1

    @property
    def device(self):
        """Where the memory is."""
        return self._owner.device

    @property
    def is_cuda(self):
        """Whether it is on a CUDA device."""
        return self.device.type == "cuda"

    def _elements(self):
        """The elements in the order of memory, as a flat numpy array."""
        value, layout = self._cell.value, self._cell.layout
        rows = np.asarray(wrap(value)._numpy())
        if layout is None:
            return rows.reshape(-1)
        flat = np.empty(self._count, rows.dtype)
        strides, offset = layout
        np.lib.stride_tricks.as_strided(flat[offset:], rows.shape, [n * rows.itemsize for n in strides])[...] = rows
        return flat

    def tolist(self):
        """The bytes as numbers."""
        return self.bytes().tolist()

    def __getitem__(self, i):
        if isinstance(i, slice):
            return UntypedStorage(from_numpy(self.bytes()[i]))
        return self.tolist()[i]

    def bytes(self):
        """The bytes as a NumPy array."""
        return np.ascontiguousarray(self._elements()).view(np.uint8)

    def __iter__(self):
        return iter(self.tolist())

    def __eq__(self, other):
        return isinstance(other, UntypedStorage) and self._cell is other._cell

    def __hash__(self):
        return id(self._cell)

    def __repr__(self):
        body = "...\n" if self.device.type == "meta" else "".join(f" {b}\n" for b in self.tolist())
        return f"{body}[torch.storage.UntypedStorage(device={self.device}) of size {self.nbytes()}]"


class TypedStorage:
    """The memory of a tensor as elements of its dtype."""

    def __init__(self, t):
        self._untyped_storage, self.dtype = UntypedStorage(t), t.dtype

    def untyped(self):
        """The same memory as bytes."""
        return self._untyped_storage

    def _typed_storage(self):
        return self

    @property
    def device(self):
        """Where the memory is."""
        return self._untyped_storage.device

    def data_ptr(self):
        """As that of the bytes."""
        return self._untyped_storage.data_ptr()

    def nbytes(self):
        """Bytes held."""
        return self._untyped_storage.nbytes()

    def element_size(self):
        """Bytes of an element."""
        return self.dtype.itemsize

    def size(self):
        """Elements held."""
        return self._untyped_storage._count

    __len__ = size

    def tolist(self):
        """The elements."""
        return self._untyped_storage._elements().tolist()

    def __getitem__(self, i):
        return self.tolist()[i]

    def __iter__(self):
        return iter(self.tolist())

    def __eq__(self, other):
        return isinstance(other, TypedStorage) and self._untyped_storage == other._untyped_storage

    def __hash__(self):
        return hash(self._untyped_storage)


for _c in (UntypedStorage, TypedStorage):
    _c.__module__ = "torch.storage"


@composite("Tensor.untyped_storage")
def untyped_storage(self):
    """The storage that this tensor shares with its base and views."""
    return UntypedStorage(self)


@composite("Tensor.storage")
def storage(self):
    """The same as elements of the tensor's dtype; deprecated by torch."""
    say_once(_DEPRECATED)
    return TypedStorage(self)


@composite("Tensor._typed_storage")
def _typed_storage(self):
    """`storage` without a warning."""
    return TypedStorage(self)


@composite("torch.is_storage")
def is_storage(obj, /):
    """Whether `obj` is a storage object."""
    return isinstance(obj, (UntypedStorage, TypedStorage))


@composite("Tensor.data_ptr")
def data_ptr(self):
    """An address that is equal for tensors that start at the same element of one storage."""
    return UntypedStorage(self).data_ptr() + self.storage_offset() * self.element_size()


@composite("Tensor.is_set_to")
def is_set_to(self, tensor):
    """Whether both show the same elements of one storage."""
    return (UntypedStorage(self) == UntypedStorage(tensor) and self.storage_offset() == tensor.storage_offset() and self.shape == tensor.shape
            and self.stride() == tensor.stride())


@composite("Tensor.pin_memory", "torch._pin_memory")
def pin_memory(self, device=None):
    """torch's error: memory is pinned for an accelerator, and none is on offer."""
    if self.is_meta:
        raise RuntimeError(f"cannot pin 'Meta{self.dtype.char_name}Type' only dense CPU tensors can be pinned")
    raise RuntimeError("Cannot access accelerator device when none is available.")


@composite("Tensor.is_pinned", "torch._is_pinned")
def is_pinned(self, device=None):
    """False."""
    return False
