"""The memory behind tensors as bytes (layer 7): what programs ask of `untyped_storage()`.

What differs from torch: a slice of a storage is a copy; memory that tensors show does not grow.
"""

from __future__ import annotations

import copy
import sys
import weakref
from collections.abc import Sequence

import numpy as np

from .._core import config, devices, dtypes, layouts, sharing
from .._core.shapes import numel
from .._core.storage import cell_of, held
from .._tensor import Tensor, from_array, wrap
from .data import from_data, from_numpy


class _StorageBase:
    """What both classes of storage say of devices and of other processes."""

    is_hpu = False
    filename = None

    def get_device(self):
        """The number of the device; None for the host."""
        return self.device.index

    def hpu(self, device=None, non_blocking=False):
        """AssertionError: there is no such device."""
        raise AssertionError("HPU device module is not loaded")

    def is_shared(self):
        """False: memory is not shared between processes here."""
        return False

    def is_pinned(self, device="cuda"):
        """False."""
        return False

    def pin_memory(self, device="cuda"):
        """Itself, as JAX moves all of the host's memory alike; torch's error where there is no accelerator to pin for."""
        devices.needed_accelerator()
        return self

    def resizable(self):
        """Whether PyTorch could resize it: memory of its own, which it is but for what NumPy's arrays share."""
        return not sharing.lent(self.untyped()._tl_cell)

    def share_memory_(self):
        """Itself: memory is not shared between processes here."""
        if self.device.type == "meta":
            raise RuntimeError("_share_fd_: only available on CPU")
        return self

    def _share_fd_cpu_(self):
        self._refuse_to_share("_share_fd_")

    def _share_filename_cpu_(self):
        self._refuse_to_share("_share_filename_")

    def _refuse_to_share(self, name):
        if self.device.type != "cpu":
            raise RuntimeError(f"{name}: only available on CPU")
        raise NotImplementedError(f"{name}: memory is not shared between processes here")

    def _write_file(self, f, is_real_file, save_size, element_size):
        """Write the bytes to a file, after the number of elements where that is asked for."""
        data = self.untyped().bytes()
        if save_size:
            f.write((len(data) // element_size).to_bytes(8, "little"))
        f.write(data)

    def to(self, *, device, non_blocking=False):
        """The bytes on a device, itself where they are there."""
        device = devices.device(device)
        return self if device.type == self.device.type else UntypedStorage(self.tensor().to(device))


def _one_by_one(i):
    if i.step not in (None, 1):
        raise RuntimeError(f"Trying to slice with a step of {i.step}, but only a step of 1 is supported")


def is_alias_of(a, b):
    """Whether two tensors share memory, sparse ones that of their values; False for what are no tensors of one layout."""
    if not (isinstance(a, Tensor) and isinstance(b, Tensor)) or a.layout is not b.layout:
        return False
    a, b = (t if t.layout is layouts.strided else t._values() if t.layout is layouts.sparse_coo else t.values() for t in (a, b))
    return cell_of(a) is cell_of(b)


class StorageBase(_StorageBase):
    """What PyTorch makes of C++; torch's error for one that is no `UntypedStorage`."""

    def __new__(cls, *args, **kwargs):
        if cls is StorageBase:
            raise RuntimeError("Cannot directly construct StorageBase; subclass it and then construct that")
        return object.__new__(cls)

    def _fix_weakref(self):
        """Nothing: weak references see objects of Python here."""


StorageBase.__module__ = f"{__package__.partition('.')[0]}._C"


class UntypedStorage(StorageBase):
    """Which tensors share memory, how much there is, and its bytes."""

    def __init__(self, t=0, *, device=None):
        t = t if isinstance(t, Tensor) else _bytes_of(t, device)
        self._take(t)

    def _take(self, t):
        self._tl_cell, self._owner = cell_of(t), t
        self._count, self._itemsize = held(self._tl_cell), self._tl_cell.value.aval.dtype.itemsize
        _made[id(self._tl_cell)] = self

    @classmethod
    def of(cls, t):
        """The one object for the memory of a tensor, for as long as somebody holds it."""
        storage = _made.get(id(cell_of(t)))
        return storage if storage is not None and storage._owner._tl_cell is t._tl_cell else cls(t)

    def _known(self):
        """Itself; torch's error for memory without contents."""
        if self.device.type == "meta":
            raise NotImplementedError("Not available for 'meta' device type")
        return self

    def data_ptr(self):
        """The address of a copy of the contents as they are now: equal for tensors that share storage, and the same for as long as that storage is there.

        What is written to that memory does not reach the tensors.
        """
        if self.device.type == "meta":
            return 0
        cell = self._tl_cell
        cell.look()
        if type(cell) is sharing.SharedCell:
            return sharing.address(cell)
        now = self._elements()
        memory = getattr(cell, "memory", None)
        if memory is None or memory.nbytes != now.nbytes:
            memory = cell.memory = np.empty(now.shape, now.dtype)
        np.copyto(memory, now)
        return memory.ctypes.data if memory.size else 0

    def nbytes(self):
        """Bytes held."""
        asked = getattr(self._tl_cell, "asked", None)
        return self._count * self._itemsize if asked is None else asked

    size = __len__ = nbytes

    def resize_(self, size):
        """Hold fewer bytes, or as many again as there were once; NotImplementedError for more where tensors show it.

        Nothing is let go: what torch frees, and gives back with any contents, stays what it was here.
        """
        if not hasattr(size, "__index__"):
            raise RuntimeError(f"resize_ expects an int, but got {type(size).__name__}")
        size = size.__index__()
        if size < 0:
            raise RuntimeError(f"[enforce fail at alloc_cpu.cpp:98] ((ptrdiff_t)nbytes) >= 0. alloc_cpu() seems to have been called with negative number: "
                               f"{size + (1 << 64)}")
        if sharing.lent(self._tl_cell):
            raise sharing.not_resizable()
        if size > self._count * self._itemsize and self.device.type != "meta":
            if sys.getrefcount(self._owner) > 2 or sys.getrefcount(self._tl_cell) > 3:  # others than this object and its tensor
                raise NotImplementedError("UntypedStorage.resize_: memory that tensors show does not grow here")
            own = self._owner.dtype
            grown = np.zeros(-(-size // self._itemsize), own.np)
            grown.view(np.uint8)[:self.nbytes()] = self.bytes()
            self._take(from_array(grown, own))
        self._tl_cell.asked = size
        return self

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
        self._tl_cell.look()
        value, layout = self._tl_cell.value, self._tl_cell.layout
        rows = np.asarray(wrap(value)._tl_numpy())
        if layout is None:
            return rows.reshape(-1)
        flat = np.zeros(self._count, rows.dtype)
        strides, offset = layout
        np.lib.stride_tricks.as_strided(flat[offset:], rows.shape, [n * rows.itemsize for n in strides])[...] = rows
        return flat

    def tolist(self):
        """The bytes as numbers."""
        return self._known().bytes().tolist()

    def __getitem__(self, i):
        if isinstance(i, slice):
            _one_by_one(i)
            return UntypedStorage(from_numpy(self.bytes()[i].copy()))
        if not isinstance(i, int):
            raise TypeError(f"can't index a torch.UntypedStorage with {type(i).__name__}")
        if not -len(self) <= i < len(self):
            raise IndexError(f"index {i} out of range for storage of size {len(self)}")
        return int(self._known().bytes()[i])

    def tensor(self):
        """All elements as a tensor of one dim that shares the memory."""
        base = self._owner._base
        t = (self._owner if base is None else base).data  # of which no version is counted
        return t.as_strided((self._count,), (1,), 0)

    def _tl_dtype(self):
        """The dtype of a tensor made of it where none is asked for: that of its bytes as numbers, if there are any."""
        return dtypes.int64 if self.nbytes() else config.default_dtype()

    def _tl_elements(self, dtype):
        """The memory as elements of a dtype; a copy where it holds another one, or has room between what it holds."""
        dtype, own = dtype or self._tl_dtype(), self._tl_cell.value.aval
        if dtype is own.dtype and self._count == numel(own.shape):
            return self.tensor()
        return from_array(self.bytes()[:self.nbytes() // dtype.itemsize * dtype.itemsize].view(dtype.np), dtype)

    def _hold(self, raw):
        """Write all bytes."""
        if self._count and self.device.type != "meta":
            own, rest = self._tl_cell.value.aval.dtype, self._elements().view(np.uint8)[len(raw):]
            self.tensor().copy_(from_array(np.concatenate([raw, rest]).view(own.np), own))
        return self

    def __setitem__(self, i, value):
        if type(value) is not int:
            raise RuntimeError(f"can only set storage content with a int types, but got {type(value).__name__} instead")
        if isinstance(i, slice):
            _one_by_one(i)
        elif type(i) is not int:
            raise RuntimeError(f"can't index a torch.UntypedStorage with {type(i).__name__}")
        elif not 0 <= i < len(self):
            raise RuntimeError("out of bounds")
        if self.device.type != "meta":
            raw = self.bytes()
            raw[i] = value & 255
            self._hold(raw)

    def fill_(self, value, /):
        """Write one number to all bytes."""
        if not isinstance(value, int):
            raise RuntimeError(f"fill_ expects int, but got {type(value).__name__}")
        return self._hold(np.full(len(self), value & 255, np.uint8))

    def copy_(self, src, non_blocking=None):
        """Write the bytes of another storage."""
        if not isinstance(src, _StorageBase):
            raise TypeError(f"copy_(): argument 'src' (position 1) must be torch.Storage, not {type(src).__name__}")
        src = src.untyped()
        if len(src) != len(self):
            raise RuntimeError(f"size does not match, self was {len(self)} bytes but src was {len(src)} bytes")
        return self if self.device.type == "meta" else self._hold(src.bytes())

    def _swap_data_ptr_(self, other, /):
        """Exchange the contents with those of another storage of as many bytes; with one of none, also how many there are."""
        if not isinstance(other, UntypedStorage):
            raise RuntimeError(f"_swap_data_ptr_ expects an UntypedStorage, but got {type(other).__name__}")
        if self.device != other.device:
            raise RuntimeError(f"_swap_data_ptr_: storages must be on the same device, got {self.device} and {other.device}")
        mine, its = self.nbytes(), other.nbytes()
        if mine != its and mine and its:
            raise RuntimeError(f"_swap_data_ptr_: storages must have the same nbytes or one must have 0, got {mine} and {its}")
        if self._count * self._itemsize != other._count * other._itemsize:
            raise NotImplementedError("UntypedStorage._swap_data_ptr_ with memory that never held as many bytes")
        self._tl_cell.asked = other._tl_cell.asked = None
        if self.device.type != "meta":
            here, there = self.bytes(), other.bytes()
            self._hold(there)
            other._hold(here)
        self._tl_cell.asked, other._tl_cell.asked = its, mine

    def clone(self):
        """The bytes in memory of its own."""
        return UntypedStorage(self.tensor().clone() if self.device.type == "meta" else from_numpy(self.bytes()))

    def __copy__(self):
        return self.clone()

    def __deepcopy__(self, memo):
        return UntypedStorage.of(copy.deepcopy(self._owner.detach(), memo))  # one copy of the memory, as for its tensors

    def __sizeof__(self):
        return object.__sizeof__(self) + self.nbytes()

    def cpu(self):
        """The bytes on the host."""
        return self if self.device.type == "cpu" else UntypedStorage(self.tensor().cpu())

    def cuda(self, device=None, non_blocking=False):
        """The bytes on a GPU; torch's error where there is none."""
        return UntypedStorage(self.tensor().cuda(device))

    def mps(self):
        """RuntimeError: there is no such device."""
        raise RuntimeError("torch.UntypedStorage(): Storage device not recognized: mps")

    def type(self, dtype=None, non_blocking=False):
        """The name of its class."""
        if dtype is not None:
            raise NotImplementedError("UntypedStorage.type: convert by the methods that are named for dtypes")
        return "torch.storage.UntypedStorage"

    def bytes(self):
        """A copy of the bytes as a NumPy array."""
        return self._elements().copy().view(np.uint8)[:self.nbytes()]

    def __iter__(self):
        return iter(self.tolist())

    def __eq__(self, other):
        return isinstance(other, UntypedStorage) and self._tl_cell is other._tl_cell

    @property
    def _cdata(self):
        """A number that storages of one memory share."""
        return id(self._tl_cell)

    def __hash__(self):
        return id(self._tl_cell)

    def __repr__(self):
        body = "...\n" if self.device.type == "meta" else "".join(f" {b}\n" for b in self.tolist())
        return f"{body}[torch.storage.UntypedStorage(device={self.device}) of size {self.nbytes()}]"


_made = weakref.WeakValueDictionary()  # {id of the cell: the object for it}


def _bytes_of(data, device):
    """A tensor of so many bytes, or of these."""
    if not isinstance(data, int):
        wrong = next((x for x in data if not isinstance(x, int)), None)
        if wrong is not None:
            raise RuntimeError(f"torch.UntypedStorage(): tried to construct a storage from a sequence ({type(data).__name__}), but one of the items was of "
                               f"type {type(wrong).__name__} instead of int")
    return made("torch.UntypedStorage", "", data if isinstance(data, int) else [x & 255 for x in data], dtypes.uint8, device)


def wrong(name, forms, why):
    return f"{name} received an invalid combination of arguments. Expected one of:\n{forms}\n{why}"


def made(name, forms, data, dtype, device=None):
    """A tensor of one dim from a size or a sequence; TypeError for other data."""
    if isinstance(data, (int, np.integer)):
        t = from_array(np.zeros(data, dtype.np), dtype)
    elif isinstance(data, Sequence):
        if isinstance(data, str):
            raise TypeError("new(): invalid data type 'str'")
        t = from_data(list(data), dtype, copy=True)
    else:
        raise TypeError(wrong(name, forms, f"Argument type not recognized: {type(data)}"))
    return t if device is None else t.to(device)
