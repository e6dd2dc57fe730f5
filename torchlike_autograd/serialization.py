"""torch.serialization (layer 8): `save` and `load` in PyTorch's zip format, and in the one before it; files go both ways between PyTorch and us.

What differs from PyTorch: a file says "cpu" of what is on another device than a CUDA one, or spread over several; `mmap=True` reads the file at once; a class
is found by the name that PyTorch gives it.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import pickle
import pickletools
import struct
import sys
import warnings
import zipfile
from collections.abc import Callable

import numpy as np

from . import _pickled
from . import types as _types
from ._archives import Archive
from ._core import devices as _devices
from ._core import publish as _publish
from ._core.devices import device as _device
from ._core.nothing import Nothing
from ._core.saying import warn
from ._pickled import Reader, Storage, WeightsReader, Writer, storage_dtype

__all__ = ["add_safe_globals", "clear_safe_globals", "default_restore_location", "get_crc32_options", "get_default_load_endianness", "get_default_mmap_options",
           "get_safe_globals", "get_unsafe_globals_in_checkpoint", "load", "location_tag", "safe_globals", "save", "set_crc32_options",
           "set_default_load_endianness", "set_default_mmap_options", "skip_data"]

DEFAULT_PROTOCOL = 2
MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001
MAP_LOCATION = Callable[[_types.Storage, str], _types.Storage] | _device | str | dict[str, str] | None  # for annotations
FileLike = _types.FileLike
_ALIGNMENT = 64


class SourceChangeWarning(Warning):
    """Kept for programs that filter it."""


def check_module_version_greater_or_equal(module, req_version_tuple, error_if_malformed=True):
    """Whether a module's version is at least the one given; of a version that cannot be compared RuntimeError, or a warning and True."""
    try:
        parts = module.__version__.split(".")
        return tuple(type(r)(parts[i]) for i, r in enumerate(req_version_tuple)) >= req_version_tuple
    except Exception as e:
        said = f"'{module.__name__}' module version string is malformed '{module.__version__}' and cannot be compared with tuple {req_version_tuple}"
        if error_if_malformed:
            raise RuntimeError(said) from e
        warnings.warn(f"{said}, but continuing assuming that requirement is met", stacklevel=2)
        return True


# What files may name

def add_safe_globals(safe_globals):
    """Allow functions and classes in files that are loaded with weights_only; an item may be (object, full name)."""
    for x in safe_globals:
        obj, name = x if isinstance(x, tuple) else (x, f"{x.__module__}.{x.__qualname__}")
        _pickled.SAFE[name.removeprefix("builtins.")] = obj


def get_safe_globals():
    """What a program has allowed."""
    return list(_pickled.SAFE.values())


def clear_safe_globals():
    """Allow nothing more."""
    _pickled.SAFE.clear()


class safe_globals(contextlib.AbstractContextManager):
    """Allow functions and classes within a block."""

    def __init__(self, safe_globals):
        self.wanted = safe_globals

    def __enter__(self):
        self.before = dict(_pickled.SAFE)
        add_safe_globals(self.wanted)

    def __exit__(self, *exc):
        _pickled.SAFE.clear()
        _pickled.SAFE.update(self.before)


def get_unsafe_globals_in_checkpoint(f):
    """The names in a file that `weights_only` would refuse."""
    with _opened(f, "rb") as file:
        text = Archive(file).read("data.pkl")
    names = [arg.replace(" ", ".", 1).replace("__builtin__.", "builtins.") for op, arg, _ in pickletools.genops(text) if op.name == "GLOBAL"]
    return [n for n in dict.fromkeys(names) if n.removeprefix("builtins.") not in _pickled.allowed()]


# Options that change nothing here are remembered

class LoadEndianness:
    """The byte order to assume for files that do not say theirs."""

    NATIVE, LITTLE, BIG = 1, 2, 3


_options = {"endianness": None, "mmap": 2, "crc32": True}


def get_default_load_endianness():
    """What `set_default_load_endianness` was told."""
    return _options["endianness"]


def set_default_load_endianness(endianness):
    """Remembered; files say their byte order."""
    _options["endianness"] = endianness


def get_default_mmap_options():
    """What `set_default_mmap_options` was told."""
    return _options["mmap"]


def set_default_mmap_options(flags):
    """Remembered; files are read at once."""
    _options["mmap"] = flags


def get_crc32_options():
    """Whether files carry check sums: always here."""
    return _options["crc32"]


def set_crc32_options(compute_crc32):
    """Remembered; files always carry check sums."""
    _options["crc32"] = compute_crc32


class skip_data:
    """Inside of it `save` leaves room for the numbers of tensors in the file, which stay zeros."""

    active = False

    def __init__(self, materialize_fake_tensors=False):
        self.materialize_fake_tensors = materialize_fake_tensors

    def __enter__(self):
        self._outer, skip_data.active = skip_data.active, True

    def __exit__(self, *exc):
        skip_data.active = self._outer


# Saving

def save(obj, f, pickle_module=pickle, pickle_protocol=DEFAULT_PROTOCOL, _use_new_zipfile_serialization=True, _disable_byteorder_record=False):
    """Write an object with its tensors to a path or a file; tensors that share storage go on doing so."""
    if not isinstance(f, (str, os.PathLike)) and not hasattr(f, "write"):
        raise AttributeError("expected 'f' to be string, path, or a file-like object with a 'write' attribute")
    if isinstance(f, (str, os.PathLike)):
        folder = os.path.dirname(os.fspath(f))
        if folder and not os.path.isdir(folder):
            raise RuntimeError(f"Parent directory {folder} does not exist.")
    with _opened(f, "wb") as file:
        if _use_new_zipfile_serialization:
            name = os.path.splitext(os.path.basename(os.fspath(f)))[0] if isinstance(f, (str, os.PathLike)) else "archive"
            _save_zip(obj, file, name, pickle_protocol, not _disable_byteorder_record)
        elif skip_data.active:
            raise RuntimeError("Cannot use skip_data=True with _use_new_zipfile_serialization=False")
        else:
            _save_old(obj, file, pickle_protocol)


@contextlib.contextmanager
def _opened(f, mode):
    if isinstance(f, (str, os.PathLike)):
        with open(f, mode) as file:
            yield file
    else:
        yield f
        if mode == "wb" and hasattr(f, "flush"):
            f.flush()


def _save_zip(obj, file, name, protocol, byteorder):
    text, storages = _pickled.dumped(obj, protocol)
    whole = hashlib.sha256(text)
    out = io.BytesIO() if not _can_seek(file) else file
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as z:
        _put(z, f"{name}/data.pkl", text)
        _put(z, f"{name}/.format_version", b"1")
        _put(z, f"{name}/.storage_alignment", str(_ALIGNMENT).encode())
        if byteorder:
            _put(z, f"{name}/byteorder", sys.byteorder.encode())
        for s in storages:
            data = bytes(s.array.nbytes) if skip_data.active else s.array.tobytes()
            whole.update(data)
            _put(z, f"{name}/data/{s.key}", data)
        _put(z, f"{name}/version", b"3\n")
        _put(z, f"{name}/.data/serialization_id", str(int(whole.hexdigest(), 16) % 10**40).zfill(40).encode())
    if out is not file:
        file.write(out.getvalue())


def _can_seek(file):
    return hasattr(file, "seek") and hasattr(file, "tell") and getattr(file, "seekable", lambda: True)()


def _put(z, name, data):
    """One record whose data begin at a multiple of the alignment."""
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    begin = z.fp.tell() + 30 + len(name.encode()) + 4
    pad = -begin % _ALIGNMENT
    info.extra = b"FB" + struct.pack("<H", pad) + b"Z" * pad
    z.writestr(info, data)


class _OldWriter(Writer):
    """The format before zip files: storages follow the pickle, by number."""

    def pid_of(self, s):
        """With a place for views of storages, which is always empty."""
        return (*super().pid_of(s), None)


def _save_old(obj, file, protocol):
    sizes = {"short": 2, "int": 4, "long": 4}
    for part in (MAGIC_NUMBER, PROTOCOL_VERSION, {"protocol_version": PROTOCOL_VERSION, "little_endian": sys.byteorder == "little", "type_sizes": sizes}):
        pickle.dump(part, file, protocol=protocol)
    writer = _OldWriter(file, protocol)
    writer.dump(obj)
    pickle.dump([s.key for s in writer.storages], file, protocol=protocol)
    for s in writer.storages:
        file.write(struct.pack("<q", s.count))
        file.write(s.array.tobytes())


# Loading

def load(f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **pickle_load_args):
    """Read what `save` has written, here or in PyTorch; by default only tensors, numbers, text and plain containers, otherwise UnpicklingError."""
    if weights_only is None:
        weights_only = pickle_module is None
    if weights_only and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    if not isinstance(f, (str, os.PathLike)) and not (hasattr(f, "seek") and hasattr(f, "tell")):
        raise AttributeError(f"'{type(f).__name__}' object has no attribute 'seek'. You can only torch.load from a file that is seekable. Please "
                             "pre-load the data "
                             "into a buffer like io.BytesIO and try to load from it instead.")
    if weights_only and pickle_load_args:
        warn("pickle_load_args only works if `weights_only=False`.")
    options = {"encoding": "utf-8", **pickle_load_args}
    with _opened(f, "rb") as file:
        start = file.tell()
        is_zip = file.read(4) == b"PK\x03\x04"
        file.seek(start)
        if mmap:
            _check_mapped(f, is_zip)
        if weights_only and len(options) > 1:
            unknown = next(k for k in options if k != "encoding")
            raise TypeError(f"{'Unpickler.__init__' if is_zip else 'load'}() got an unexpected keyword argument '{unknown}'")
        reader = WeightsReader if weights_only else Reader
        try:
            return (_load_zip if is_zip else _load_old)(file, reader, _restorer(map_location), options)
        except pickle.UnpicklingError as e:
            if not weights_only:
                raise
            raise pickle.UnpicklingError(_refusal(str(e))) from None


def _check_mapped(f, is_zip):
    path = isinstance(f, (str, os.PathLike))
    if not is_zip:
        raise RuntimeError(f"mmap can only be used with files saved with `torch.save({f'{f}, ' if path else ''}_use_new_zipfile_serialization=True), please "
                           "torch.save your checkpoint with this option in order to use mmap.")
    if not path:
        raise ValueError("f must be a file path in order to use the mmap argument")


_CHANGED = ("In PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` from `False` to `True`. Re-running `torch.load` with "
            "`weights_only` set to `False` will likely succeed, but it can result in arbitrary code execution. Do it only if you got the file from a "
            "trusted source.")
_DOCS = ("\n\nCheck the documentation of torch.load to learn more about types accepted by default with weights_only "
         "https://pytorch.org/docs/stable/generated/torch.load.html.")


def _refusal(said):
    if said.startswith("Unsupported global"):
        return ("Weights only load failed. This file can still be loaded, to do so you have two options, \033[1mdo those steps only if you trust the "
                "source of the "
                f"checkpoint\033[0m. \n\t(1) {_CHANGED}\n\t(2) Alternatively, to load with `weights_only=True` please check the recommended steps in "
                "the following "
                f"error message.\n\tWeightsUnpickler error: {said}{_DOCS}")
    if said.endswith("is blocked."):
        return f"Weights only load failed. {_CHANGED}\n\n\n{said}{_DOCS}"
    return (f"Weights only load failed. {_CHANGED}\nPlease file an issue with the following so that we can make `weights_only=True` compatible with "
            "your use case: "
            f"WeightsUnpickler error: \n\n{said}{_DOCS}")


def _load_zip(file, reader, restore, options):
    archive, storages = Archive(file), {}
    if "constants.pkl" in archive:
        raise NotImplementedError("torch.load of a TorchScript archive: there is no TorchScript here")
    order = archive.read("byteorder").decode() if "byteorder" in archive else "little"
    if order not in ("little", "big"):
        raise ValueError(f"Unknown endianness type: {order}")

    def storage(pid):
        _, kind, key, location, count = pid
        if key not in storages:
            dtype = storage_dtype(kind)
            there, size = bytearray(archive.read(f"data/{key}")), count * dtype.itemsize
            if len(there) != size:
                raise RuntimeError(f"record size ({len(there)} bytes) does not match expected size ({size} bytes = {size} elements * 1 bytes/element) "
                                   "for dtype Byte")
            a = np.frombuffer(there, dtype.np)
            storages[key] = Storage(a if order == sys.byteorder else a.byteswap(), dtype)
            restore(storages[key], location)
        return storages[key]

    return reader(io.BytesIO(archive.read("data.pkl")), storage, **options).load()


def _load_old(file, reader, restore, options):
    if reader(file, _no_storage, **options).load() != MAGIC_NUMBER:
        raise RuntimeError("Invalid magic number; corrupt file?")
    version = reader(file, _no_storage, **options).load()
    if version != PROTOCOL_VERSION:
        raise RuntimeError(f"Invalid protocol version: {version}")
    reader(file, _no_storage, **options).load()
    start, kinds = file.tell(), {}

    def first(pid):
        if pid[0] == "module":
            return pid[1]
        kinds[pid[2]] = pid
        return Storage(np.zeros(pid[4], storage_dtype(pid[1]).np), storage_dtype(pid[1]))

    reader(file, first, **options).load()  # the arrays come after the pickle that needs them: read twice; modules stand there with their sources
    storages = {}
    for key in reader(file, _no_storage, **options).load():
        _, kind, _, location, _, view = kinds[key]
        if view is not None:
            raise NotImplementedError("torch.load: a view of a storage in an old file")
        dtype = storage_dtype(kind)
        count, = struct.unpack("<q", file.read(8))
        storages[key] = Storage(np.frombuffer(bytearray(file.read(count * dtype.itemsize)), dtype.np), dtype)
        restore(storages[key], location)
    end = file.tell()
    file.seek(start)
    out = reader(file, lambda pid: pid[1] if pid[0] == "module" else storages[pid[2]], **options).load()
    file.seek(end)
    return out


def _no_storage(pid):
    raise RuntimeError("Invalid magic number; corrupt file?")


# Where storages go

class _Untyped:
    """What a `map_location` function is shown, and makes of it: a storage on some device."""

    def __init__(self, storage, key=None):
        self._storage, self._key = storage, key or storage.place

    def nbytes(self):
        """Bytes held."""
        return self._storage.array.nbytes

    size = __len__ = nbytes

    @property
    def device(self):
        return _device(self._key)

    def cpu(self):
        """The same on the CPU, itself where it is there."""
        return self._at("cpu")

    def cuda(self, device=None, non_blocking=False):
        """The same on a CUDA device."""
        return self._at(_cuda_key("cuda" if device is None else f"cuda:{device}" if isinstance(device, int) else str(device)))

    def to(self, *, device, non_blocking=False):
        """The same on a device."""
        return self._at(_devices.key_of(device))

    def _at(self, key):
        return self if key == self._key else _Untyped(self._storage, key)


def location_tag(storage):
    """Where a storage lives, as files say it."""
    found = str(storage.device)
    return found if found.startswith("cuda") else "cpu"


def _cuda_key(location):
    """The key of a CUDA device that a file names; PyTorch's error where it is not there."""
    index, count = _device(location).index or 0, len(_devices.devices_of("cuda"))
    if not count:
        raise RuntimeError(
            "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you are running on a CPU-only machine, please use "
            "torch.load with map_location=torch.device('cpu') to map your storages to the CPU.")
    if index >= count:
        raise RuntimeError(f"Attempting to deserialize object on CUDA device {index} but torch.cuda.device_count() is {count}. Please use torch.load with "
                           "map_location to map your storages to an existing device.")
    return _devices.key_of(location)


def default_restore_location(storage, location):
    """Put a storage where it was."""
    kind = str(location).partition(":")[0]
    if kind == "cpu":
        return storage
    if kind in ("cuda", "tpu"):
        return _put_at(storage, _cuda_key(location) if kind == "cuda" else _devices.key_of(location))
    if kind == "meta":
        storage.array = Nothing(storage.array.shape, storage.array.dtype)
        return storage
    raise RuntimeError(f"don't know how to restore data location of torch.storage.UntypedStorage (tagged with {location})")


def _put_at(storage, key):
    """A storage that is being read, or one that a program holds, on a device."""
    if not hasattr(storage, "place"):
        return storage.to(device=key)
    storage.place = key
    return storage


def _restorer(map_location):
    """restore(storage, location) for what `map_location` says."""
    if map_location is None:
        return default_restore_location
    if isinstance(map_location, dict):
        return lambda storage, location: default_restore_location(storage, map_location.get(location, location))
    if isinstance(map_location, (str, _device)):
        return lambda storage, location: default_restore_location(storage, str(map_location))

    def restore(storage, location):
        found = map_location(_Untyped(storage), location)
        if found is None:
            default_restore_location(storage, location)
        elif isinstance(found, _Untyped):
            storage.place = found._key

    return restore


def _get_layout(name):
    """The layout of a name, as pickles of PyTorch say it."""
    return _pickled._get_layout(name)


__getattr__ = _publish.missing("torch.serialization")
