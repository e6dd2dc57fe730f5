"""The memory behind tensors (layer 7): what programs ask of `untyped_storage()` and `storage()`.

What differs from torch: a slice of a storage is a copy; two objects for one memory are equal, not the same.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence

import numpy as np

from .._core import belonging, config, devices, dtypes, layouts, sharing
from .._core.composite import composite, named
from .._core.numeric import say_once
from .._core.shapes import numel
from .._core.storage import cell_of
from .._tensor import Tensor, from_array, wrap
from .data import from_data, from_numpy

_DEPRECATED = ("TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage class. This should only matter to you "
               "if you are using storages directly.  To access UntypedStorage directly, use tensor.untyped_storage() instead of tensor.storage()")


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
        return self

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

    def __init__(self, *args, **kwargs):
        raise RuntimeError("Cannot directly construct StorageBase; subclass it and then construct that")


StorageBase.__module__ = f"{__package__.partition('.')[0]}._C"


class UntypedStorage(StorageBase):
    """Which tensors share memory, how much there is, and its bytes."""

    def __init__(self, t=0, *, device=None):
        t = t if isinstance(t, Tensor) else _bytes_of(t, device)
        self._tl_cell, self._owner = cell_of(t), t
        a = self._tl_cell.value.aval
        self._count, self._itemsize = numel(a.shape), a.dtype.itemsize

    def data_ptr(self):
        """The address of a copy of the contents as they are now: equal for tensors that share storage, and the same for as long as that storage is there.

        What is written to that memory does not reach the tensors.
        """
        if self.device.type == "meta":
            return 0
        cell, now = self._tl_cell, self._elements()
        if type(cell) is sharing.SharedCell:
            return sharing.address(cell)
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
        """Hold fewer bytes, or as many again as there were once; NotImplementedError for more.

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
        if size > self._count * self._itemsize:
            raise NotImplementedError("UntypedStorage.resize_: memory that tensors show does not grow here")
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
        flat = np.empty(self._count, rows.dtype)
        strides, offset = layout
        np.lib.stride_tricks.as_strided(flat[offset:], rows.shape, [n * rows.itemsize for n in strides])[...] = rows
        return flat

    def tolist(self):
        """The bytes as numbers."""
        return self.bytes().tolist()

    def __getitem__(self, i):
        if isinstance(i, slice):
            _one_by_one(i)
            return UntypedStorage(from_numpy(self.bytes()[i].copy()))
        if not isinstance(i, int):
            raise TypeError(f"can't index a torch.UntypedStorage with {type(i).__name__}")
        if not -len(self) <= i < len(self):
            raise IndexError(f"index {i} out of range for storage of size {len(self)}")
        return int(self.bytes()[i])

    def tensor(self):
        """All elements as a tensor of one dim that shares the memory."""
        base = self._owner._base
        t = (self._owner if base is None else base).data  # of which no version is counted
        return t.as_strided((self._count,), (1,), 0)

    def _hold(self, raw):
        """Write all bytes."""
        own = self._tl_cell.value.aval.dtype
        if raw.size:
            self.tensor().copy_(from_array(raw.view(own.np), own))
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
        raw = self.bytes().copy()
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
        return self._hold(src.bytes().copy())

    def clone(self):
        """The bytes in memory of its own."""
        return UntypedStorage(from_numpy(self.bytes().copy()))

    def __copy__(self):
        return self.clone()

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
        """The bytes as a NumPy array."""
        return np.ascontiguousarray(self._elements()).view(np.uint8)[:self.nbytes()]

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


def _bytes_of(data, device):
    """A tensor of so many bytes, or of these."""
    if not isinstance(data, int):
        wrong = next((x for x in data if not isinstance(x, int)), None)
        if wrong is not None:
            raise RuntimeError(f"torch.UntypedStorage(): tried to construct a storage from a sequence ({type(data).__name__}), but one of the items was of "
                               f"type {type(wrong).__name__} instead of int")
    return _made("torch.UntypedStorage", "", data if isinstance(data, int) else [x & 255 for x in data], dtypes.uint8, device)


class TypedStorage(_StorageBase):
    """The memory of a tensor as elements of a dtype: of its own, from a size or a sequence, or `wrap_storage`'s."""

    is_sparse = False

    def __init__(self, *args, wrap_storage=None, dtype=None, device=None, _internal=False):
        if wrap_storage is not None:
            if args or dtype is None or device is not None:
                raise RuntimeError(_wrong("TypedStorage.__init__", _FORMS, "a storage is wrapped with a dtype alone"))
            if not isinstance(wrap_storage, UntypedStorage):
                raise TypeError(_wrong("TypedStorage.__init__", _FORMS, f"Argument 'wrap_storage' must be UntypedStorage, but got {type(wrap_storage)}"))
            self._untyped_storage, self.dtype = wrap_storage, dtype
            return
        if len(args) > 1:
            raise RuntimeError(_wrong("TypedStorage.__init__", _FORMS, "Too many positional arguments"))
        self.dtype = config.default_dtype() if dtype is None else dtype
        self._untyped_storage = UntypedStorage(_made("TypedStorage.__init__", _FORMS, args[0] if args else 0, self.dtype, device))

    def untyped(self):
        """The same memory as bytes."""
        return self._untyped_storage

    def _typed_storage(self):
        return self

    @property
    def device(self):
        """Where the memory is."""
        return self._untyped_storage.device

    @property
    def is_cuda(self):
        """Whether it is on a CUDA device."""
        return self._untyped_storage.is_cuda

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
        return self.nbytes() // self.dtype.itemsize

    __len__ = size

    def tensor(self):
        """All elements as a tensor of one dim that shares the memory, where it holds this dtype, otherwise of a copy."""
        own = self._untyped_storage._tl_cell.value.aval.dtype
        return self._untyped_storage.tensor() if own is self.dtype else from_numpy(self._untyped_storage.bytes().view(self.dtype.np))

    def tolist(self):
        """The elements."""
        return self.tensor().tolist()

    def __getitem__(self, i):
        if isinstance(i, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        return self.tolist()[self._place(i)]

    def _place(self, i):
        if not -len(self) <= i < len(self):
            raise IndexError(f"index {i} out of range for storage of size {len(self)}")
        return i

    def __setitem__(self, i, value):
        self._to_write()[i if isinstance(i, slice) else self._place(i)] = value

    def _to_write(self):
        if self._untyped_storage._tl_cell.value.aval.dtype is not self.dtype:
            raise NotImplementedError("writing to the memory of a tensor as another dtype")
        return self.tensor()

    def fill_(self, value):
        """Write one number to all elements."""
        self._to_write().fill_(value)
        return self

    def copy_(self, source, non_blocking=None):
        """Write the elements of another storage."""
        self._to_write().copy_(source.tensor())
        return self

    def clone(self):
        """The elements in memory of its own."""
        return self._as(self.dtype)

    def __sizeof__(self):
        return object.__sizeof__(self) + self.nbytes()

    def cpu(self):
        """The elements on the host."""
        return self if self.device.type == "cpu" else type(self)._of(self.tensor().cpu())

    def cuda(self, device=None, non_blocking=False):
        """The elements on a GPU; torch's error where there is none."""
        return TypedStorage._of(self.tensor().cuda(device))

    def to(self, *, device, non_blocking=False):
        """The elements on a device, in another object."""
        return TypedStorage._of(self._to_write().to(device))

    def resize_(self, size):
        """Hold so many elements, as `UntypedStorage.resize_` does."""
        self._untyped_storage.resize_(size * self.dtype.itemsize)

    def type(self, dtype=None, non_blocking=False):
        """The name of its class."""
        if dtype is not None:
            raise NotImplementedError("TypedStorage.type: convert by the methods that are named for dtypes")
        kind = self.pickle_storage_type()
        return f"torch.{kind}" if self.device.type == "cpu" else f"torch.{self.device.type}.{kind}"

    def pickle_storage_type(self):
        """The name of its class without a module."""
        return f"{self.dtype.char_name}Storage"

    def _as(self, dtype):
        return TypedStorage._of(self.tensor().to(dtype, copy=True))

    @classmethod
    def _of(cls, t):
        """The storage of a tensor, as its dtype."""
        return TypedStorage(wrap_storage=UntypedStorage(t), dtype=t.dtype)

    def __iter__(self):
        return iter(self.tolist())

    def __eq__(self, other):
        return isinstance(other, TypedStorage) and self._untyped_storage == other._untyped_storage

    @property
    def _cdata(self):
        """That of the untyped storage."""
        return self._untyped_storage._cdata

    def __hash__(self):
        return hash(self._untyped_storage)

    def __repr__(self):
        body = "...\n" if self.device.type == "meta" else "".join(f" {x}\n" for x in self.tolist()) or "\n"
        return f"{body}[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of size {len(self)}]"


_FORMS = (" * (*, torch.device device, torch.dtype dtype)\n * (int size, *, torch.device device, torch.dtype dtype)\n"
          " * (Sequence data, *, torch.device device, torch.dtype dtype)\n * (*, UntypedStorage wrap_storage, torch.dtype dtype)")


def _wrong(name, forms, why):
    return f"{name} received an invalid combination of arguments. Expected one of:\n{forms}\n{why}"


def _made(name, forms, data, dtype, device=None):
    """A tensor of one dim from a size or a sequence; TypeError for other data."""
    if isinstance(data, (int, np.integer)):
        t = from_array(np.zeros(data, dtype.np), dtype)
    elif isinstance(data, Sequence):
        if isinstance(data, str):
            raise TypeError("new(): invalid data type 'str'")
        t = from_data(list(data), dtype, copy=True)
    else:
        raise TypeError(_wrong(name, forms, f"Argument type not recognized: {type(data)}"))
    return t if device is None else t.to(device)


def _converted(dtype, word):
    def typed(self):
        return self._as(dtype)

    def untyped(self):
        return TypedStorage._of(from_numpy(self.bytes().copy()).to(dtype))

    for cls, method, what in ((TypedStorage, typed, "elements"), (UntypedStorage, untyped, "bytes")):
        method.__name__, method.__doc__ = word, f"The {what} as {dtype}."
        setattr(cls, word, method)


for _word, _dtype in {"float": dtypes.float32, "double": dtypes.float64, "half": dtypes.float16, "bfloat16": dtypes.bfloat16, "long": dtypes.int64,
                      "int": dtypes.int32, "short": dtypes.int16, "char": dtypes.int8, "byte": dtypes.uint8, "bool": dtypes.bool_,
                      "complex_double": dtypes.complex128, "complex_float": dtypes.complex64}.items():
    _converted(_dtype, _word)


def _small(word):
    def refused(self):
        raise NotImplementedError(f"{word}: there are no float8 tensors here")

    refused.__name__ = word
    return refused


for _word in ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"):
    setattr(_StorageBase, _word, _small(_word))


for _c in (UntypedStorage, TypedStorage):
    _c.__module__ = "torch.storage"


@composite("Tensor.untyped_storage")
def untyped_storage(self):
    """The storage that this tensor shares with its base and views."""
    belonging.refuse_memory(self._tl_value())
    return UntypedStorage(self)


@composite("Tensor.storage")
def storage(self):
    """The same as elements of the tensor's dtype; deprecated by torch."""
    say_once(_DEPRECATED)
    return _typed_storage(self)


@composite("Tensor._typed_storage")
def _typed_storage(self):
    """`storage` without a warning."""
    belonging.refuse_memory(self._tl_value())
    return TypedStorage._of(self)


class storagetype(type):
    """The type of `torch.FloatStorage`, ...: whatever holds the dtype there is an instance."""

    __module__ = "torch"

    def __call__(cls, *args, wrap_storage=None, dtype=None, device=None, _internal=False):
        if dtype is not None or device is not None:
            raise RuntimeError(_wrong(f"{cls}.__new__", _LEGACY_FORMS, f"Keyword argument '{'device' if dtype is None else 'dtype'}' cannot be specified"))
        if len(args) > 1:
            raise RuntimeError(_wrong(f"{cls}.__new__", _LEGACY_FORMS, f"Too many positional arguments given, {len(args)}"))
        if cls.where == "cuda" and not devices.devices_of("cuda"):
            raise AssertionError("Torch not compiled with CUDA enabled")
        if wrap_storage is not None:
            return TypedStorage(wrap_storage=wrap_storage, dtype=cls.dtype)
        t = _made(f"{cls}.__new__", _LEGACY_FORMS, args[0] if args else 0, cls.dtype)
        return TypedStorage._of(t.to("cuda") if cls.where == "cuda" else t)

    def __instancecheck__(cls, x):
        return isinstance(x, TypedStorage) and x.dtype is cls.dtype and x.device.type == cls.where


_LEGACY_FORMS = " * no arguments\n * (int size)\n * (Sequence data)\n * (*, UntypedStorage wrap_storage)"
_KINDS = {f"{_d.char_name}Storage": _d for _d in dtypes.DTYPES.values() if _d not in (dtypes.uint16, dtypes.uint32, dtypes.uint64)}
LEGACY, CUDA_STORAGES = ({_n: storagetype(_n, (TypedStorage,), {"dtype": _d, "where": _where, "__module__": _m}) for _n, _d in _KINDS.items()}
                         for _where, _m in (("cpu", "torch"), ("cuda", "torch.cuda")))


@composite("Tensor.storage_type")
def storage_type(self):
    """The class of its storage."""
    return (LEGACY if self.device.type != "cuda" else CUDA_STORAGES)[f"{self.dtype.char_name}Storage"]


@composite("torch.is_storage")
def is_storage(obj, /):
    """Whether `obj` is a storage object."""
    return isinstance(obj, (UntypedStorage, TypedStorage))


@composite("Tensor.data_ptr")
def data_ptr(self):
    """An address that is equal for tensors that start at the same element of one storage; 0 without elements."""
    belonging.refuse_pointer(self._tl_value())
    if not self.numel():
        return 0
    return UntypedStorage(self).data_ptr() + self.storage_offset() * self.element_size()


@composite("Tensor.is_set_to")
def is_set_to(self, tensor):
    """Whether both show the same elements of one storage."""
    return (UntypedStorage(self) == UntypedStorage(tensor) and self.storage_offset() == tensor.storage_offset() and self.shape == tensor.shape
            and self.stride() == tensor.stride())


_pinned = weakref.WeakValueDictionary()  # {id: tensor}


@composite("Tensor.pin_memory", "torch._pin_memory")
def pin_memory(self, device=None):
    """A copy that says that it is pinned (JAX moves all of the host's memory alike); torch's error where there is no accelerator to pin for."""
    if self.is_meta:
        raise RuntimeError(f"cannot pin 'Meta{self.dtype.char_name}Type' only dense CPU tensors can be pinned")
    devices.needed_accelerator()
    if self.device.type != "cpu":
        raise RuntimeError(f"cannot pin '{self.type()}' only dense CPU tensors can be pinned")
    if is_pinned(self):
        return self
    out = from_array(self._tl_array(), self.dtype) if self._tl_view is None and self.is_contiguous() else named("clone")(Tensor.detach(self))
    _pinned[id(out)] = out
    return out


@composite("Tensor.is_pinned", "torch._is_pinned")
def is_pinned(self, device=None):
    """Whether `pin_memory` made it."""
    return _pinned.get(id(self)) is self
