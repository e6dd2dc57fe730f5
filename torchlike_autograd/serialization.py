"""torch.serialization (layer 8): `save` and `load` in PyTorch's zip format, and in the one before it; files go both ways between PyTorch and us.

What differs from PyTorch: a file says "cpu" of what is on another device than a CUDA one, or spread over several; `mmap=True` reads the file at once; a class
is found by the name that PyTorch gives it.
"""

from __future__ import annotations

import contextlib
import enum
import hashlib
import io
import os
import pickle
import pickletools
import struct
import sys
import warnings
from collections.abc import Callable

import numpy as np

from . import _pickled
from . import types as _types
from ._archives import _ALIGNMENT, PyTorchFileReader, PyTorchFileWriter, taken
from ._core import devices as _devices
from ._core import publish as _publish
from ._core.devices import device as _device
from ._core.nothing import Nothing
from ._core.saying import warn
from ._pickled import Reader, Storage, WeightsReader, Writer, storage_dtype

__all__ = ["LoadEndianness", "SourceChangeWarning", "add_safe_globals", "check_module_version_greater_or_equal", "clear_safe_globals",
           "default_restore_location", "get_crc32_options", "get_default_load_endianness", "get_default_mmap_options", "get_safe_globals",
           "get_unsafe_globals_in_checkpoint", "load", "location_tag", "safe_globals", "save", "set_crc32_options", "set_default_load_endianness",
           "set_default_mmap_options", "skip_data"]

DEFAULT_PROTOCOL = 2
MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001
MAP_LOCATION = Callable[[_types.Storage, str], _types.Storage] | _device | str | dict[str, str] | None  # for annotations
FileLike = _types.FileLike


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
        obj, name = x if isinstance(x, tuple) else (x, _pickled.full_name(x))
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
        text = bytes(PyTorchFileReader(file).read("data.pkl"))
    names = [arg.replace(" ", ".", 1).replace("__builtin__.", "builtins.") for op, arg, _ in pickletools.genops(text) if op.name == "GLOBAL"]
    return [n for n in dict.fromkeys(names) if n.removeprefix("builtins.") not in _pickled.allowed()]


# Options that change nothing here are remembered

class LoadEndianness(enum.Enum):
    """The byte order to assume for files that do not say theirs."""

    NATIVE, LITTLE, BIG = 1, 2, 3


_options = {"endianness": None, "mmap": 2, "crc32": True}


def get_default_load_endianness():
    """What `set_default_load_endianness` was told."""
    return _options["endianness"]


def set_default_load_endianness(endianness):
    """The byte order of files that do not say theirs, a `LoadEndianness`; None: little."""
    if not isinstance(endianness, LoadEndianness) and endianness is not None:
        raise TypeError("Invalid argument type in function set_default_load_endianness")
    _options["endianness"] = endianness


def get_default_mmap_options():
    """What `set_default_mmap_options` was told."""
    return _options["mmap"]


class set_default_mmap_options:
    """Remembered, as a context manager within a block; files are read at once."""

    def __init__(self, flags):
        if flags not in (1, 2):
            raise ValueError(f"Invalid argument in function set_default_mmap_options, expected mmap.MAP_PRIVATE or mmap.MAP_SHARED, but got {flags}")
        self.prev, _options["mmap"] = _options["mmap"], flags

    def __enter__(self):
        pass

    def __exit__(self, *exc):
        _options["mmap"] = self.prev


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
    if _use_new_zipfile_serialization:
        _save_zip(obj, f, pickle_protocol, not _disable_byteorder_record)
    elif skip_data.active:
        raise RuntimeError("Cannot use skip_data=True with _use_new_zipfile_serialization=False")
    else:
        with _opened(f, "wb") as file:
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


_open_file_like = _opened


def _save_zip(obj, f, protocol, byteorder):
    text, storages = _pickled.dumped(obj, protocol)
    whole = hashlib.sha256(text)
    with _open_zipfile_writer(f) as out:
        out.write_record("data.pkl", text, len(text))
        out.write_record(".format_version", b"1", 1)
        out.write_record(".storage_alignment", str(_ALIGNMENT), len(str(_ALIGNMENT)))
        if byteorder:
            out.write_record("byteorder", sys.byteorder, len(sys.byteorder))
        for s in storages:
            data = memoryview(bytes(s.array.nbytes) if skip_data.active else s.array.view(np.uint8))  # without copies: models are large
            whole.update(data)
            out.write_record(f"data/{s.key}", data, len(data))
        out.write_record("version", b"3\n", 2)
        out.write_record(".data/serialization_id", str(int(whole.hexdigest(), 16) % 10**40).zfill(40), 40)


@contextlib.contextmanager
def _open_zipfile_writer(f):
    """A path or file that records are written to."""
    out = PyTorchFileWriter(f)
    try:
        yield out
    except BaseException:
        out.abandon()
        raise
    out.write_end_of_file()
    if not isinstance(f, (str, os.PathLike)) and hasattr(f, "flush"):
        f.flush()


@contextlib.contextmanager
def _open_zipfile_reader(f):
    """A path or file whose records are read."""
    with _opened(f, "rb") as file:
        yield PyTorchFileReader(file)


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
        file.write(memoryview(s.array.view(np.uint8)))


# Loading

def load(f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **pickle_load_args):
    """Read what `save` has written, here or in PyTorch; by default only tensors, numbers, text and plain containers, otherwise UnpicklingError."""
    weights_only = _only_weights(weights_only, pickle_module)
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
        is_zip = _is_zipfile(file)
        if mmap:
            _check_mapped(f, is_zip)
        if weights_only and len(options) > 1:
            unknown = next(k for k in options if k != "encoding")
            raise TypeError(f"{'Unpickler.__init__' if is_zip else 'load'}() got an unexpected keyword argument '{unknown}'")
        reader = WeightsReader if weights_only else Reader if pickle_module in (None, pickle) else type("Reader", (Reader, pickle_module.Unpickler), {})
        try:
            if is_zip:
                bare = isinstance(map_location, (str, _device)) and str(map_location).partition(":")[0] == "meta"
                return _load_zip(file, reader, _restorer(map_location), options, bare)
            return _load_old(file, reader, _restorer(map_location), options)
        except pickle.UnpicklingError as e:
            if not weights_only:
                raise
            raise pickle.UnpicklingError(_refusal(str(e))) from None


def _is_zipfile(f):
    """Whether an open file goes on as a zip file does."""
    start = f.tell()
    found = f.read(4) == b"PK\x03\x04"
    f.seek(start)
    return found


def _only_weights(told, pickle_module):
    """Whether only weights are wanted: what the call says, unless the process is told otherwise."""
    always, never = (os.getenv(f"TORCH_FORCE_{name}WEIGHTS_ONLY_LOAD", "0").lower() in ("1", "y", "yes", "true") for name in ("", "NO_"))
    if always and never:
        raise RuntimeError("Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD` or `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD` should be set, but both were set.")
    if never and told is None:
        warn("Environment variable TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD detected, since the`weights_only` argument was not explicitly passed to `torch.load`, "
             "forcing weights_only=False.")
        return False
    return always or (pickle_module is None if told is None else told)


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


def _load_zip(file, reader, restore, options, bare=False):
    """With the bytes of storages, or with sizes alone (`bare`)."""
    archive, storages = PyTorchFileReader(file), {}
    if "constants.pkl" in archive:
        raise NotImplementedError("torch.load of a TorchScript archive: there is no TorchScript here")
    order = archive.read("byteorder").decode() if "byteorder" in archive else _assumed_order()
    if order not in ("little", "big"):
        raise ValueError(f"Unknown endianness type: {order}")

    def storage(pid):
        _, kind, key, location, count = _decoded(pid)
        if key not in storages and (bare or skip_data.active):
            dtype = storage_dtype(kind)
            storages[key] = Storage(Nothing((count,), dtype.np) if bare else np.zeros(count, dtype.np), dtype)
            if not bare:
                restore(storages[key], location)
        elif key not in storages:
            dtype = storage_dtype(kind)
            there, size = archive.read(f"data/{key}"), count * dtype.itemsize
            if len(there) != size:
                raise RuntimeError(f"record size ({len(there)} bytes) does not match expected size ({size} bytes = {size} elements * 1 bytes/element) "
                                   "for dtype Byte")
            a = np.frombuffer(there, dtype.np)
            storages[key] = Storage(a if order == sys.byteorder else a.byteswap(), dtype)
            restore(storages[key], location)
        return storages[key]

    return reader(io.BytesIO(archive.read("data.pkl")), storage, **options).load()


def _assumed_order():
    told = _options["endianness"]
    return sys.byteorder if told is LoadEndianness.NATIVE else "big" if told is LoadEndianness.BIG else "little"


def _decoded(pid):
    """The tuple that stands for a storage, with text where the file's strings are read as bytes."""
    return tuple(x.decode("ascii") if isinstance(x, bytes) else x for x in pid)


def _load_old(file, reader, restore, options):
    if reader(file, _no_storage, **options).load() != MAGIC_NUMBER:
        raise RuntimeError("Invalid magic number; corrupt file?")
    version = reader(file, _no_storage, **options).load()
    if version != PROTOCOL_VERSION:
        raise RuntimeError(f"Invalid protocol version: {version}")
    reader(file, _no_storage, **options).load()
    start, kinds = file.tell(), {}

    def first(pid):
        pid = _decoded(pid)
        if pid[0] == "module":
            return pid[1]
        kinds[pid[2]] = pid
        return Storage(np.zeros(pid[4], storage_dtype(pid[1]).np), storage_dtype(pid[1]))

    def second(pid):
        pid = _decoded(pid)
        if pid[0] == "module":
            return pid[1]
        whole, view = storages[pid[2]], pid[5]
        return whole if view is None else views.setdefault(view[0], Storage(whole.array[view[1]:view[1] + view[2]], whole.dtype))

    reader(file, first, **options).load()  # the arrays come after the pickle that needs them: read twice; modules stand there with their sources
    storages, views = {}, {}
    for key in _decoded(reader(file, _no_storage, **options).load()):
        _, kind, _, location, _, _ = kinds[key]
        dtype = storage_dtype(kind)
        count, = struct.unpack("<q", file.read(8))
        storages[key] = Storage(np.frombuffer(taken(file, count * dtype.itemsize), dtype.np), dtype)
        restore(storages[key], location)
    end = file.tell()
    file.seek(start)
    out = reader(file, second, **options).load()
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
