"""The memory behind tensors as elements (layer 7): what programs ask of `storage()`, and of tensors about it."""

from __future__ import annotations

import copy
import weakref

from .._core import belonging, config, devices, dtypes
from .._core.composite import composite, named
from .._core.numeric import say_once
from .._tensor import Tensor, from_array
from .data import from_numpy
from .untyped import UntypedStorage, _StorageBase, made, wrong

_DEPRECATED = ("TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage class. This should only matter to you "
               "if you are using storages directly.  To access UntypedStorage directly, use tensor.untyped_storage() instead of tensor.storage()")


class TypedStorage(_StorageBase):
    """The memory of a tensor as elements of a dtype: of its own, from a size or a sequence, or `wrap_storage`'s."""

    is_sparse = False

    def __init__(self, *args, wrap_storage=None, dtype=None, device=None, _internal=False):
        if wrap_storage is not None:
            why = ("No positional arguments should be given when using 'wrap_storage'" if args else "Argument 'dtype' must be specified" if dtype is None else
                   "Argument 'device' should not be specified when 'wrap_storage' is given" if device is not None else None)
            if why is not None:
                raise RuntimeError(wrong("TypedStorage.__init__", _FORMS, why))
            if not isinstance(dtype, dtypes.dtype):
                raise TypeError(wrong("TypedStorage.__init__", _FORMS, f"Argument 'dtype' must be torch.dtype, not {type(dtype)}"))
            if not isinstance(wrap_storage, UntypedStorage):
                raise TypeError(wrong("TypedStorage.__init__", _FORMS, f"Argument 'wrap_storage' must be UntypedStorage, but got {type(wrap_storage)}"))
            self._untyped_storage, self.dtype = wrap_storage, dtype
            return
        if len(args) > 1:
            raise RuntimeError(wrong("TypedStorage.__init__", _FORMS, "Too many positional arguments"))
        self.dtype = config.default_dtype() if dtype is None else dtype
        self._untyped_storage = UntypedStorage(made("TypedStorage.__init__", _FORMS, args[0] if args else 0, self.dtype, device))

    def __deepcopy__(self, memo):
        return TypedStorage(wrap_storage=copy.deepcopy(self._untyped_storage, memo), dtype=self.dtype, _internal=True)

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

    def _tl_dtype(self):
        return config.default_dtype()

    def _tl_elements(self, dtype):
        """`tensor`, asked for as its dtype, which is the default one unless it is given; torch's error for another one."""
        dtype = dtype or self._tl_dtype()
        if dtype is not self.dtype:
            raise RuntimeError(f"Expected a Storage of type {dtype.char_name} or an UntypedStorage, but got {self.dtype.char_name}")
        return self.tensor()

    def tolist(self):
        """The elements."""
        data = self._untyped_storage._known().bytes()
        return from_array(data[:self.size() * self.dtype.itemsize].view(self.dtype.np), self.dtype).tolist()

    def __getitem__(self, i):
        if isinstance(i, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        return self.tolist()[self._place(i)]

    def _place(self, i):
        if not -len(self) <= i < len(self):
            raise IndexError(f"index {i} out of range for storage of size {len(self)}")
        return i

    def __setitem__(self, i, value):
        if isinstance(value, TypedStorage):
            raise RuntimeError(f"cannot set item with value type {type(value)}")
        if self.device.type != "meta":
            self._to_write()[i if isinstance(i, slice) else self._place(i)] = value

    def _to_write(self):
        if self._untyped_storage._tl_cell.value.aval.dtype is not self.dtype:
            raise NotImplementedError("writing to the memory of a tensor as another dtype")
        return self.tensor()

    def fill_(self, value):
        """Write one number to all elements."""
        self[:] = value
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
        return TypedStorage(wrap_storage=UntypedStorage.of(t), dtype=t.dtype)

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


for _name in ("resize_", "size", "is_shared", "share_memory_", "pickle_storage_type", "element_size", "data_ptr", "nbytes"):
    setattr(TypedStorage, f"_{_name}", getattr(TypedStorage, _name))  # PyTorch's own calls, which warn of nothing
TypedStorage._dtype = property(lambda self: self.dtype)
TypedStorage._deepcopy = lambda self, memo: copy.deepcopy(self, memo)
TypedStorage._setitem, TypedStorage._getitem = TypedStorage.__setitem__, TypedStorage.__getitem__


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
    return UntypedStorage.of(self)


@composite("Tensor._fix_weakref")
def fix_weakref(self):
    """Nothing: weak references see objects of Python here."""


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
            raise RuntimeError(wrong(f"{cls}.__new__", _LEGACY_FORMS, f"Keyword argument '{'device' if dtype is None else 'dtype'}' cannot be specified"))
        if len(args) > 1:
            raise RuntimeError(wrong(f"{cls}.__new__", _LEGACY_FORMS, f"Too many positional arguments given, {len(args)}"))
        if wrap_storage is not None and args:
            raise RuntimeError(wrong(f"{cls}.__new__", _LEGACY_FORMS, "No positional arguments should be given when using 'wrap_storage'"))
        if wrap_storage is not None and not isinstance(wrap_storage, UntypedStorage):
            raise TypeError(wrong(f"{cls}.__new__", _LEGACY_FORMS, f"Argument 'wrap_storage' must be UntypedStorage, but got {type(wrap_storage)}"))
        if cls.where == "cuda" and not devices.devices_of("cuda"):
            raise AssertionError("Torch not compiled with CUDA enabled")
        if wrap_storage is not None:
            return TypedStorage(wrap_storage=wrap_storage, dtype=cls.dtype)
        t = made(f"{cls}.__new__", _LEGACY_FORMS, args[0] if args else 0, cls.dtype)
        return TypedStorage._of(t.to("cuda") if cls.where == "cuda" else t)

    def __instancecheck__(cls, x):
        return isinstance(x, TypedStorage) and x.dtype is cls.dtype and x.device.type == cls.where


_LEGACY_FORMS = " * no arguments\n * (int size)\n * (Sequence data)\n * (*, UntypedStorage wrap_storage)"
KINDS = {f"{_d.char_name}Storage": _d for _d in dtypes.DTYPES.values() if _d not in (dtypes.uint16, dtypes.uint32, dtypes.uint64)}
LEGACY, CUDA_STORAGES = ({_n: storagetype(_n, (TypedStorage,), {"dtype": _d, "_dtype": _d, "where": _where, "__module__": _m}) for _n, _d in KINDS.items()}
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
    return UntypedStorage.of(self).data_ptr() + self.storage_offset() * self.element_size()


@composite("Tensor.is_set_to")
def is_set_to(self, tensor):
    """Whether both show the same elements of one storage."""
    return (UntypedStorage.of(self) == UntypedStorage.of(tensor) and self.storage_offset() == tensor.storage_offset() and self.shape == tensor.shape
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
