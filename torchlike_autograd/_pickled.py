"""Tensors in pickles as PyTorch writes them (layer 8): names of storages and of the functions that rebuild tensors; the writing and the reading pickler."""

from __future__ import annotations

import _compat_pickle
import copyreg
import importlib
import io
import pickle
from collections import Counter, OrderedDict

import numpy as np

from ._core import belonging, devices, dtypes, layouts, mixed, placed, shapes
from ._core.nothing import Nothing
from ._core.record import Counter as Versions
from ._core.record import mark_seen, thread
from ._core.saying import warn
from ._core.state import user_fields
from ._core.storage import peek, untrack
from ._functions.storages import TypedStorage, UntypedStorage
from ._tensor import Size, Tensor, from_array
from .nn.parameter import Parameter, UninitializedTensorMixin
from .utils.hooks import warn_if_has_hooks

__all__ = ["Reader", "WeightsReader", "Writer", "allowed", "storage_dtype"]

PACKAGE = __name__.partition(".")[0]

STORAGES = {
    "FloatStorage": "float32", "DoubleStorage": "float64", "HalfStorage": "float16", "BFloat16Storage": "bfloat16", "LongStorage": "int64",
    "IntStorage": "int32", "ShortStorage": "int16", "CharStorage": "int8", "ByteStorage": "uint8", "BoolStorage": "bool", "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128"}
_STORAGE_OF = {v: k for k, v in STORAGES.items()}
UNTYPED = "UntypedStorage"  # of bytes; also of the dtypes that have no storage type of their own


class StorageType:
    """torch.FloatStorage and so on, as a name in a pickle."""

    _made: dict = {}

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"<class 'torch.{self.name}'>"

    @classmethod
    def of(cls, name):
        """The one of a name."""
        if name not in cls._made:
            cls._made[name] = cls(name)
        return cls._made[name]


def storage_dtype(kind):
    """The dtype of a storage type in a pickle; bytes for an untyped one."""
    return dtypes.DTYPES[STORAGES.get(kind.name, "uint8")]


class StoredBytes:
    """A storage while a file is written: its elements in the order of memory, what it is called there, and the device that it was on."""

    __slots__ = ("array", "key", "kind", "location")

    def __init__(self, array, dtype, place="cpu"):
        self.array, self.key, self.kind = array, None, UNTYPED if dtype is None else _STORAGE_OF.get(dtype.name, UNTYPED)
        self.location = place if place.startswith("cuda:") else "cpu"  # the places that PyTorch finds again

    @property
    def count(self):
        """Of elements, or of bytes."""
        return self.array.nbytes if self.kind == UNTYPED else self.array.nbytes // dtypes.DTYPES[STORAGES[self.kind]].itemsize


# Writing

class Writer(pickle._Pickler):
    """Writes tensors as calls of PyTorch's rebuilding functions over storages, which are collected in `storages`."""

    def __init__(self, file, protocol, name=None):
        super().__init__(file, protocol=protocol)
        self.storages, self.name, self._known, self._dtypes = [], name or (lambda i, s: str(i)), {}, {}

    def persistent_id(self, obj):
        """The tuple that stands for a storage."""
        if type(obj) is UntypedStorage:
            obj = self._of_cell(obj._tl_cell, None)
        elif isinstance(obj, TypedStorage):
            obj = self._of_cell(obj.untyped()._tl_cell, obj.dtype)
        if type(obj) is not StoredBytes:
            return None
        if obj.key is None:
            obj.key = self.name(len(self.storages), obj)
            self.storages.append(obj)
        return self.pid_of(obj)

    def pid_of(self, s):
        """(what, type, key, place, count)."""
        return "storage", StorageType.of(s.kind), s.key, s.location, s.count

    def reducer_override(self, obj):
        """Tensors, dtypes, layouts, devices and sizes by PyTorch's names; everything else as usual."""
        if isinstance(obj, UninitializedTensorMixin):
            return type(obj), (obj.requires_grad,)
        if isinstance(obj, Tensor):
            if type(obj).__reduce_ex__ in _OWN:
                return self.parts_of(obj)
            extra = thread.state.extra
            before, extra["writer"] = extra.get("writer"), self
            try:
                return obj.__reduce_ex__(self.proto)
            finally:
                extra["writer"] = before
        if isinstance(obj, (dtypes.dtype, _Named, StorageType)):
            return obj.name
        if type(obj) is layouts.layout:
            return _Named("torch.serialization", "_get_layout"), (repr(obj),)
        if isinstance(obj, devices.device):
            return devices.device, (obj.type,) if obj.index is None else (obj.type, obj.index)
        if type(obj) is Size:
            return Size, (tuple(obj),)
        return NotImplemented

    def save_global(self, obj, name=None):
        """The name of a function or class: ours under PyTorch's module."""
        where = _name_in_torch(obj, name)
        if where is None:
            super().save_global(obj, name)
            return
        module, name = where
        self.write(pickle.GLOBAL + module.encode("ascii") + b"\n" + name.encode("ascii") + b"\n")
        self.memoize(obj)

    dispatch = dict(pickle._Pickler.dispatch)

    def parts_of(self, t, sparse=None):
        """(what rebuilds a tensor, its arguments): what `__reduce_ex__` of the package's classes give while a file is written; sparse: parts of such a one."""
        belonging.refuse_memory(t._tl_value())
        if t._backward_hooks:
            warn_if_has_hooks(t)
        if sparse is not None:
            return _REBUILD["_rebuild_sparse_tensor"], sparse
        state = _state_of(t)
        if issubclass(type(t), Parameter):
            parts = (t.detach(), bool(t.requires_grad), OrderedDict())
            if not state:
                return _REBUILD["_rebuild_parameter"], parts
            return _REBUILD["_rebuild_parameter_with_state"], (*parts, state)
        if t.is_meta:
            plain, rebuild = (t.dtype, tuple(t.shape), t.stride(), bool(t.requires_grad)), _REBUILD["_rebuild_meta_tensor_no_storage"]
        else:
            storage, offset, strides = self._storage(t)
            plain, rebuild = (storage, offset, tuple(t.shape), tuple(strides), bool(t.requires_grad), OrderedDict()), _REBUILD["_rebuild_tensor_v2"]
            if t.dtype.name not in _STORAGE_OF:
                plain, rebuild = (*plain, t.dtype), _REBUILD["_rebuild_tensor_v3"]
            state = mixed.with_places(t, state) if isinstance(state, dict) else state
        if type(t) is Tensor and not state:
            return rebuild, plain
        return _REBUILD["_rebuild_from_type_v2"], (rebuild, type(t), plain, state)

    def _storage(self, t):
        """(storage, offset, strides): tensors over one cell have one storage."""
        v = peek(t)
        shape, dtype = v.aval.shape, v.aval.dtype
        whole = _array(v) if t._tl_cell is None else None
        strides, offset = shapes.contiguous_strides(shape), 0
        if whole is None and t._tl_cell.value.aval.dtype is dtype and not t.is_conj() and not t.is_neg():
            try:
                strides, offset = t._tl_geometry()
            except NotImplementedError:  # a view whose place in memory is not known is written by itself
                whole = _array(v)
            else:
                return self._of_cell(t._tl_cell, dtype), offset, strides
        if t._tl_cell is not None:
            self._check(t._tl_cell, dtype)
        if whole is None:
            whole = _array(v)
        elif t._tl_laid is not None and t._tl_view is None:
            strides, offset = t._tl_laid
        out = self._known.setdefault(id(t), (t, StoredBytes(_in_memory(whole, strides, offset), dtype, v.aval.device)))[1]
        return out, offset, strides

    def _of_cell(self, cell, dtype):
        self._check(cell, dtype)
        a, key = cell.value.aval, id(cell) if shapes.numel(cell.value.aval.shape) else (id(cell), dtype)
        if key not in self._known:
            layout = cell.layout or (shapes.contiguous_strides(a.shape), 0)
            self._known[key] = cell, StoredBytes(_in_memory(_array(cell.value), *layout), dtype, a.device)
        return self._known[key][1]

    def _check(self, cell, dtype):
        """torch's RuntimeError where a file would hold one memory as elements of two dtypes."""
        dtype = dtype if dtype is not None and dtype.name in _STORAGE_OF else dtypes.uint8
        if self._dtypes.setdefault(id(cell), (dtype, cell))[0] is not dtype and shapes.numel(cell.value.aval.shape):
            raise RuntimeError("Cannot save multiple tensors or storages that view the same data as different types")


def _array(v):
    if v.array is None:
        v.tape.resolve(v)
    return np.asarray(v.array)


def _in_memory(a, strides, offset):
    """The elements of an array as they lie under given strides."""
    if offset == 0 and shapes.is_contiguous(a.shape, strides):
        return np.ascontiguousarray(a).reshape(-1)
    out = np.zeros(offset + 1 + sum((n - 1) * s for n, s in zip(a.shape, strides)), a.dtype)
    np.lib.stride_tricks.as_strided(out[offset:], a.shape, [s * a.dtype.itemsize for s in strides])[...] = a
    return out


def _state_of(t):
    """What a user has attached to a tensor, as its class gives it: {name: value}, with slots of the class a pair of such."""
    if type(t).__getstate__ is not object.__getstate__:
        return t.__getstate__()
    slots = {n: getattr(t, n) for n in copyreg._slotnames(type(t)) if n not in copyreg._slotnames(Tensor) and hasattr(t, n)}
    return (user_fields(t), slots) if slots else user_fields(t)


class _Named:
    """Something that a pickle calls by a name."""

    def __init__(self, module, name, f=None):
        self.module, self.name, self.__name__, self.f = module, name, name, f

    def __call__(self, *args):
        return self.f(*args)


def full_name(obj):
    """The name of a class or function in pickles, with its module."""
    module, name = _name_in_torch(obj, None) or (obj.__module__, obj.__qualname__)
    return f"{module}.{name}"


def _name_in_torch(obj, name):
    if type(obj) is _Named:
        return obj.module, obj.name
    if type(obj) is StorageType:
        return "torch.storage" if obj.name == UNTYPED else "torch", obj.name
    if isinstance(obj, dtypes.dtype):
        return "torch", obj.name
    if obj in _CLASSES:
        return _CLASSES[obj]
    module = getattr(obj, "__module__", None) or ""
    if module == PACKAGE or module.startswith(PACKAGE + "."):
        return "torch" + module[len(PACKAGE):], name or obj.__qualname__
    return None


_CLASSES = {Tensor: ("torch", "Tensor"), Size: ("torch", "Size"), devices.device: ("torch", "device"), Parameter: ("torch.nn.parameter", "Parameter")}


# Reading

class Storage(TypedStorage):
    """A storage that was read: the flat array, the key of where it goes, and the tensor that shows all of it once there is one."""

    def __init__(self, array, dtype):
        self.array, self.dtype, self.place, self.shown = array, dtype, "cpu", None

    @property
    def _untyped_storage(self):
        return UntypedStorage(_rebuild_tensor(self, 0, (self.array.size,), (1,)))


def _rebuild_tensor(storage, offset, size, stride, *rest):
    if storage.shown is None:
        whole = offset == 0 and shapes.numel(size) == storage.array.size and tuple(stride) == shapes.contiguous_strides(size)
        array = storage.array.reshape(size) if whole else storage.array
        place = "meta" if type(array) is Nothing else storage.place
        storage.shown = out = from_array(array if place == "cpu" else placed.adopt(array, place), storage.dtype, device=place)
        if whole:
            out._tl_counter = Versions(1)  # torch counts the setting of the storage
            return out
    before, thread.state.grad = thread.state.grad, False
    try:
        out = storage.shown.as_strided(tuple(size), tuple(stride), offset)
    finally:
        thread.state.grad = before
    untrack(out)
    out._tl_counter.n += 1
    mark_seen(out._tl_v, out._tl_counter)
    return out


def _rebuild_tensor_v2(storage, storage_offset, size, stride, requires_grad, backward_hooks, metadata=None):
    out = _with_bits(_rebuild_tensor(storage, storage_offset, size, stride), metadata or {})
    if requires_grad:
        out.requires_grad_()
    return out


def _rebuild_tensor_v3(storage, storage_offset, size, stride, requires_grad, backward_hooks, dtype, metadata=None):
    """Of a dtype that has no storage type: the storage is one of bytes."""
    if storage.shown is None and storage.dtype is not dtype:
        storage.array, storage.dtype = storage.array.view(dtype.np), dtype
    return _rebuild_tensor_v2(storage, storage_offset, size, stride, requires_grad, backward_hooks, metadata)


def _with_bits(t, bits):
    """The tensor that says of its storage that the elements there are to be conjugated, or negated."""
    if not bits:
        return t
    if not bits.keys() <= {"conj", "neg"}:
        raise NotImplementedError(f"torch.load of a tensor with {', '.join(sorted(bits.keys() - {'conj', 'neg'}))}")
    before, thread.state.grad = thread.state.grad, False
    try:
        out = t.conj() if bits.get("conj") else t
        out = out._neg_view() if bits.get("neg") else out
    finally:
        thread.state.grad = before
    untrack(out)
    out._tl_counter.n += 1  # as that of the tensor over the bare storage
    mark_seen(out._tl_v, out._tl_counter)
    return out


def _rebuild_meta_tensor_no_storage(dtype, size, stride, requires_grad):
    out = from_array(Nothing(size, dtype.np), dtype, requires_grad, "meta")
    if tuple(stride) != shapes.contiguous_strides(tuple(size)):
        out._tl_laid = tuple(stride), 0
    return out


def _rebuild_parameter(data, requires_grad, backward_hooks):
    return Parameter(data, requires_grad)


def _rebuild_parameter_with_state(data, requires_grad, backward_hooks, state):
    out = Parameter(data, requires_grad)
    _set_state(out, state)
    return out


def _rebuild_from_type_v2(func, new_type, args, state):
    out = func(*args)
    if type(out) is not new_type:
        out = out.as_subclass(new_type)
    out = mixed.placed_again(out, state) if isinstance(state, dict) else out
    if hasattr(new_type, "__setstate__"):
        out.__setstate__(state)
    else:
        _set_state(out, state)
    return out


def _rebuild_sparse_tensor(layout, data):
    from .sparse._tensor import rebuilt

    return rebuilt(layout, data)


def _set_state(t, state):
    fields, slots = state if isinstance(state, tuple) else (state, None)
    t.__dict__.update(fields or {})
    for name, x in (slots or {}).items():
        setattr(t, name, x)


def _get_layout(name):
    return {repr(x): x for x in (layouts.strided, layouts.sparse_coo, layouts.sparse_csr)}[name]


_REBUILD = {f.__name__: _Named("torch._utils", f.__name__, f) for f in (
    _rebuild_tensor, _rebuild_tensor_v2, _rebuild_tensor_v3, _rebuild_parameter, _rebuild_parameter_with_state, _rebuild_meta_tensor_no_storage,
    _rebuild_sparse_tensor)}
_OWN = frozenset((Tensor.__reduce_ex__, Parameter.__reduce_ex__))
_REBUILD["_rebuild_from_type_v2"] = _Named("torch._tensor", "_rebuild_from_type_v2", _rebuild_from_type_v2)

_KNOWN = {**{f"{x.module}.{x.name}": x for x in _REBUILD.values()},
          "torch.serialization._get_layout": _Named("torch.serialization", "_get_layout", _get_layout),
          **{f"{m}.{n}": c for c, (m, n) in _CLASSES.items()}, **{f"torch.{n}": StorageType.of(n) for n in STORAGES},
          **{f"torch.{n}": d for n, d in dtypes.DTYPES.items()}, **{f"torch.storage.{n}": StorageType.of(n) for n in ("UntypedStorage", "TypedStorage")}}


class Reader(pickle.Unpickler):
    """Reads any pickle, with PyTorch's names meaning ours."""

    def __init__(self, file, load, **kwargs):
        super().__init__(file, **kwargs)
        self._load = load

    def persistent_load(self, pid):
        """A storage by its tuple."""
        return self._load(pid)

    def find_class(self, module, name):
        """The object of a name."""
        known = _KNOWN.get(f"{module}.{name}")
        if known is not None:
            return known
        if module == "torch" or module.startswith("torch."):
            ours = importlib.import_module(PACKAGE + module[len("torch"):])
            for part in name.split("."):
                ours = getattr(ours, part)
            return ours
        return super().find_class(module, name)


SAFE: dict = {}  # what a program allows besides: name -> object


def allowed():
    """Everything that a file may name when only weights are wanted: {name: object}."""
    return {**_KNOWN, "collections.OrderedDict": OrderedDict, "collections.Counter": Counter, "set": set, "bytearray": bytearray, "complex": complex,
            "_codecs.encode": _encode, **SAFE}


def _encode(text, encoding):
    if encoding not in ("latin1", "latin-1"):
        raise pickle.UnpicklingError(f"Unsupported encoding {encoding}")
    return text.encode("latin1")


_BLOCKED = ("nt", "os", "posix", "sys")  # modules of which not even a program may allow anything


class _Operands(dict):
    def __missing__(self, key):
        raise pickle.UnpicklingError(f"Unsupported operand {key}")


_OPERANDS = [
    "PROTO", "STOP", "GLOBAL", "NEWOBJ", "REDUCE", "BUILD", "APPEND", "APPENDS", "SETITEM", "SETITEMS", "MARK", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3", "NONE",
    "NEWTRUE", "NEWFALSE", "EMPTY_TUPLE", "EMPTY_LIST", "EMPTY_DICT", "EMPTY_SET", "BINFLOAT", "BININT", "BININT1", "BININT2", "LONG1", "BINUNICODE",
    "SHORT_BINSTRING", "BINPERSID", "BINGET", "LONG_BINGET", "BINPUT", "LONG_BINPUT"]


class WeightsReader(pickle._Unpickler):
    """Reads tensors and plain containers; refuses to call anything else."""

    def __init__(self, file, load, **kwargs):
        super().__init__(file, **kwargs)
        self._storage, self._allowed = load, allowed()
        self._callable = {id(x) for x in self._allowed.values()}

    def persistent_load(self, pid):
        """A storage by its tuple."""
        if type(pid) is not tuple or not pid or pid[0] not in ("storage", b"storage"):
            raise pickle.UnpicklingError(f"Only persistent_load of storage is allowed, but got {type(pid[0] if pid else pid)}")
        return self._storage(pid)

    def find_class(self, module, name):
        """The object of a name that is allowed."""
        module, name = _compat_pickle.NAME_MAPPING.get((module, name), (module, name))  # as Python 3 calls it
        full = name if module in ("builtins", "__builtin__") else f"{module}.{name}"
        if module in _BLOCKED:
            raise pickle.UnpicklingError(f"Trying to load unsupported GLOBAL {full} whose module {module} is blocked.")
        if full not in self._allowed:
            raise pickle.UnpicklingError(
                f"Unsupported global: GLOBAL {full} was not an allowed global by default. Please use `torch.serialization.add_safe_globals([{full}])` or the "
                f"`torch.serialization.safe_globals([{full}])` context manager to allowlist this global if you trust this class/function.")
        return self._allowed[full]

    dispatch = _Operands({getattr(pickle, n)[0]: pickle._Unpickler.dispatch[getattr(pickle, n)[0]] for n in _OPERANDS})

    def load_proto(self):
        version = self.read(1)[0]
        if version != 2:
            warn(f"Detected pickle protocol {version} in the checkpoint, which was not the default pickle protocol used by `torch.load` (2). The weights_only "
                 "Unpickler might not support all instructions implemented by this protocol, please file an issue for adding support if you encounter this.")

    def load_reduce(self):
        func = self.stack[-2]
        if id(func) not in self._callable and func not in SAFE.values():  # methods of classes are made anew by each look
            owner = f" which belongs to {func.__self__}" if hasattr(func, "__self__") else ""
            raise pickle.UnpicklingError(f"Trying to call reduce for unrecognized function {func}{owner}")
        super().load_reduce()

    def load_newobj(self):
        cls = self.stack[-2]
        if id(cls) not in self._callable:
            raise pickle.UnpicklingError(f"Trying to create new object for unrecognized class {cls}")
        super().load_newobj()

    def load_build(self):
        state, inst = self.stack[-1], self.stack[-2]
        kind = type(inst)
        if kind in (Tensor, Parameter):
            self.stack.pop()
            _set_state(inst, state)
        elif kind is OrderedDict:
            self.stack.pop()
            inst.__dict__.update(state)
        elif any(kind is x for x in SAFE.values()):
            super().load_build()
        else:
            raise pickle.UnpicklingError(
                f"Can only build Tensor, Parameter, OrderedDict or types allowlisted via `add_safe_globals`, but got {kind}")

    def load_setitem(self):
        _check_items("SETITEM", self.stack[-3])
        super().load_setitem()

    def load_setitems(self):
        _check_items("SETITEMS", self.metastack[-1][-1])
        super().load_setitems()

    def load_append(self):
        _check_list("append to", self.stack[-2])
        super().load_append()

    def load_appends(self):
        _check_list("extend", self.metastack[-1][-1])
        super().load_appends()

    dispatch.update({
        pickle.APPEND[0]: load_append, pickle.APPENDS[0]: load_appends, pickle.SETITEM[0]: load_setitem, pickle.SETITEMS[0]: load_setitems,
        pickle.PROTO[0]: load_proto, pickle.REDUCE[0]: load_reduce, pickle.NEWOBJ[0]: load_newobj, pickle.BUILD[0]: load_build})


def _check_items(operand, x):
    if type(x) not in (dict, OrderedDict, Counter):
        raise pickle.UnpicklingError(f"Can only {operand} for dict, collections.OrderedDict, collections.Counter, but got {type(x)}")


def _check_list(what, x):
    if type(x) is not list:
        raise pickle.UnpicklingError(f"Can only {what} lists, but got {type(x)}")


def dumped(obj, protocol):
    """(the pickle of an object, its storages)."""
    out = io.BytesIO()
    writer = Writer(out, protocol)
    writer.dump(obj)
    return out.getvalue(), writer.storages


