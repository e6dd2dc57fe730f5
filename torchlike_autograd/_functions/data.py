"""Tensors from data (layer 7): numbers, nested sequences, arrays, buffers; `torch.tensor` and its kin."""

from __future__ import annotations

import operator

import numpy as np

from .._core import config, dtypes, levels, sharing
from .._core.composite import COMPOSITES, composite, named
from .._core.devices import device as Device
from .._core.errors import only_float_requires_grad
from .._core.numeric import limits, overflows, say_once
from .._core.overriding import On
from .._core.saying import warn
from .._core.shapes import as_long, contiguous_strides
from .._ops.memory import without_gaps
from .._tensor import Tensor, from_array
from .create import _dtype, _dtype_of_number, filled, placed
from .dlpack import from_dlpack

_MOST_DIMS = 128  # of nested data
_PLAIN = {float, int, bool, complex}
_SLOW = ("Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting the list to a single numpy.ndarray with numpy.array() "
         "before converting to a tensor. (Triggered internally at /pytorch/torch/csrc/utils/tensor_new.cpp:252.)")


# The shape and the dtype of nested data

def _is_sequence(x):
    """As CPython's C API answers: whatever can be asked for an item by number, but no mapping; a tensor is none."""
    kind = type(x)
    if kind in (list, tuple) or isinstance(x, np.ndarray):
        return True
    return hasattr(kind, "__getitem__") and not isinstance(x, (dict, Tensor, np.generic, type))


def _shape(data):
    out, x = [], data
    while _is_sequence(x):
        if isinstance(x, (str, bytes)):
            raise ValueError(f"too many dimensions '{type(x).__name__}'")
        out.append(len(x))
        if len(out) > _MOST_DIMS:
            raise ValueError(f"too many dimensions '{type(x).__name__}'")
        if len(x) == 0:
            break
        x = x[0]
    return tuple(out)


def _kind(x):
    """The dtype that a part of the data asks for."""
    if isinstance(x, Tensor):
        return x.dtype
    if isinstance(x, (np.ndarray, np.generic)):
        return dtypes.from_numpy_dtype(x.dtype)
    if isinstance(x, (bool, int, float, complex)):
        return _dtype_of_number(x)
    if isinstance(x, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(x).__name__}'")
    if not _is_sequence(x):
        kind = type(x)
        raise RuntimeError(f"Could not infer dtype of {kind.__name__ if kind.__module__ not in ('decimal', 'numpy') else f'{kind.__module__}.{kind.__name__}'}")
    if len(x) == 0:
        return config.default_dtype()
    if type(x) is list and any(i is x for i in x):
        raise TypeError("new(): self-referential lists are incompatible")
    kinds = set(map(type, x))
    parts = [_dtype_of_number(t()) for t in kinds] if kinds <= _PLAIN else [_kind(i) for i in x]
    out = parts[0]
    for d in parts[1:]:
        out = dtypes.promote_types(out, d)
    return out


# The elements

def _collect(x, shape, depth, flat):
    """Append the elements in order; torch's errors for data that is not rectangular."""
    if depth == len(shape):
        flat.append(x)
        return
    if not _is_sequence(x):
        raise TypeError("not a sequence")
    if len(x) != shape[depth]:
        raise ValueError(f"expected sequence of length {shape[depth]} at dim {depth} (got {len(x)})")
    if isinstance(x, np.ndarray) and x.shape == shape[depth:]:
        flat.extend(x.reshape(-1).tolist())
    elif depth + 1 == len(shape):
        flat.extend(x)
    else:
        for y in x:
            _collect(y, shape, depth + 1, flat)


def _cannot(dtype):
    return RuntimeError(f"value cannot be converted to type {dtype.name} without overflow")


def _as_int(x, dtype):
    if isinstance(x, (float, np.floating)):
        if overflows(float(x), dtype):
            raise _cannot(dtype)
        return int(x)
    x = operator.index(x)
    if not -(1 << 63) <= x < (1 << 63 if dtype.name != "uint64" else 1 << 64):
        raise ValueError("Overflow when unpacking long long")
    return x


def _as_float(x, dtype):
    if isinstance(x, Tensor):
        return float(x)
    if not hasattr(type(x), "__float__") and not hasattr(type(x), "__index__"):
        raise TypeError(f"must be real number, not {type(x).__name__}")
    return float(x)


def _as_complex(x, dtype):
    if not isinstance(x, Tensor) and not any(hasattr(type(x), n) for n in ("__complex__", "__float__", "__index__")):
        raise TypeError(f"must be real number, not {type(x).__name__}")
    return complex(x)


_STORED = {dtypes.BOOL: (lambda x, dtype: bool(x), np.bool_), dtypes.INT: (_as_int, None), dtypes.FLOAT: (_as_float, np.float64),
           dtypes.COMPLEX: (_as_complex, np.complex128)}


def _stored(flat, dtype):
    """A flat array of the elements in `dtype`."""
    convert, wide = _STORED[dtype.category]
    plain = set(map(type, flat)) <= ({bool, int} if dtype.category == dtypes.INT else {bool, int, float} if dtype.category == dtypes.FLOAT else {bool})
    if wide is None:
        return _stored_integers(flat if plain else [convert(x, dtype) for x in flat], dtype)
    out = np.array(flat if plain else [convert(x, dtype) for x in flat], dtype=wide)
    with np.errstate(all="ignore"):
        return out.astype(dtype.np, copy=False)


def _stored_integers(flat, dtype):
    try:
        out = np.array(flat, dtype=np.uint64 if dtype.name == "uint64" else np.int64)
    except OverflowError:
        out = np.array([_as_int(x, dtype) for x in flat], dtype=object)
    low, high = limits(dtype)
    if dtype.itemsize < 8 and out.size and not (low <= out.min() and out.max() <= high):
        raise _cannot(dtype)
    return out.astype(dtype.np)


def say_data_type(data):
    """Refuse strings."""
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")


def from_data(data, dtype, copy) -> Tensor:
    """A Tensor over the values of any nested data."""
    dtype = None if dtype is None else _dtype(dtype)
    if isinstance(data, (np.ndarray, np.generic)):
        return _from_numpy(np.asarray(data), dtype, copy)
    if hasattr(type(data), "_tl_elements"):
        return COMPOSITES["Tensor.set_"](filled((0,), 0, dtype or data._tl_dtype()), data._tl_elements(dtype))
    if hasattr(data, "__dlpack__"):
        found = from_dlpack(data)
        return found if dtype is None else found.to(dtype)
    say_data_type(data)
    shape = _shape(data)
    if isinstance(data, (list, tuple)) and data and isinstance(data[0], np.ndarray):
        say_once(_SLOW)
    dtype = dtype or _kind(data)
    flat: list = []
    if 0 not in shape:
        _collect(data, shape, 0, flat)
    return from_array(_stored(flat, dtype).reshape(shape), dtype)


def _from_numpy(a, dtype=None, copy=False):
    """A tensor over the values of an array, in memory as they are there; copy: as PyTorch copies them, which keeps strides without gaps."""
    if any(s % a.itemsize for s in a.strides if a.itemsize):
        raise ValueError("given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate the memory.")
    if any(s < 0 for s in a.strides):
        raise ValueError("At least one stride in the given numpy array is negative, and tensors with negative strides are not currently supported. (You can "
                         "probably work around this by making a copy of your array  with array.copy().) ")
    if not a.dtype.isnative:
        raise ValueError("given numpy array has byte order different from the native byte order. Conversion between byte orders is currently not supported.")
    found = dtypes.from_numpy_dtype(a.dtype)
    t = from_array(np.array(a, order="C"), found)
    if a.ndim:
        strides = tuple([s // a.itemsize for s in a.strides])
        if strides != contiguous_strides(a.shape) and (not copy or 0 in a.shape or without_gaps(a.shape, strides)):
            t._tl_laid = strides, 0
    if not copy and dtype in (None, found):
        sharing.share(t, a)
    return t if dtype is None or dtype is found else t.to(dtype)


# Public functions

_HELD = frozenset(("_places", "_masked_mask"))  # what sparse and masked tensors have beside the tensor that they are


def _copied(t, dtype, device, requires_grad, name):
    warn("To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
         f"sourceTensor.detach().clone().requires_grad_(True), rather than {name}(sourceTensor).")
    if not _HELD.isdisjoint(t.__dict__):
        with On():
            t = t.detach().clone()
            return placed(t if dtype is None else t.to(_dtype(dtype)), device, requires_grad)
    t = named("clone")(Tensor.detach(t))
    if levels.hidden_among((t,)):
        t.detach_()  # torch does, and is told that it may not
    return placed(t if dtype is None else t.to(_dtype(dtype)), device, requires_grad)


@composite("torch.tensor")
def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor with a copy of `data` (numbers, sequences, arrays, tensors)."""
    if requires_grad is not False and requires_grad is not True:
        raise TypeError(f"tensor(): argument 'requires_grad' must be bool, not {type(requires_grad).__name__}")
    if isinstance(data, Tensor):
        return _copied(data, dtype, device, requires_grad, "torch.tensor")
    kind = type(data)
    dtype = dtype if dtype is None else _dtype(dtype)
    if kind in _PLAIN and device is None and (dtype is None or dtype.category == _CATEGORY[kind] >= dtypes.FLOAT) and not (
            kind is float and 0 < abs(data) < 3e-38):  # XLA flushes subnormals
        if kind is int:
            as_long(data)
        return placed(filled((), data, dtype or _dtype_of_number(data)), None, requires_grad)
    return placed(from_data(data, dtype, copy=True), device, requires_grad)


_CATEGORY = {bool: dtypes.BOOL, int: dtypes.INT, float: dtypes.FLOAT, complex: dtypes.COMPLEX}


@composite("Tensor.new_tensor")
def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False):
    """A tensor from data with this one's dtype and device."""
    a = self._tl_v.aval
    device = a.device if device is None else device
    if isinstance(data, Tensor):
        return _copied(data, dtype or a.dtype, device, requires_grad, "tensor.new_tensor")
    return tensor(data, dtype=dtype or a.dtype, device=device, requires_grad=requires_grad)


@composite("torch.as_tensor")
def as_tensor(data, dtype=None, device=None):
    """`data` itself where it already is such a tensor, otherwise a tensor of its values."""
    if isinstance(data, Tensor):
        if dtype is not None or device is not None:
            return data.to(device if device is not None else data.device, dtype or data.dtype)
        return data
    return placed(from_data(data, dtype, copy=False), device, False)


_ASKED_LATE = ("torch.asarray: unspecified requires_grad now defaults to obj.requires_grad instead of False. Pass requires_grad=False explicitly to get the "
               "old behavior and silence this warning. (Triggered internally at /__w/pytorch/pytorch/torch/csrc/utils/tensor_new.cpp:1737.)")


@composite("torch.asarray")
def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=None):
    """`obj` as a tensor, a copy only where it must be one (or is asked for)."""
    if isinstance(obj, Tensor):
        _check_alias(obj, dtype, device, copy)
        out = as_tensor(obj, dtype, device)
        return _asked_for_gradients(out.clone() if copy and out is obj else out, obj, requires_grad)
    requires_grad = bool(requires_grad)
    if not isinstance(obj, (np.ndarray, np.generic)) and _has_buffer(obj):     # the bytes, whatever the format that the buffer names
        made = frombuffer(obj, dtype=dtype or config.default_dtype(), requires_grad=requires_grad)
        _check_alias(made, None, device, copy)
        out = as_tensor(made, None, device)
        return out.clone() if copy and out is made else out                     # torch copies the tensor that asks for gradients: its node shows
    if copy is False:
        if isinstance(obj, np.generic):
            raise RuntimeError("can't alias NumPy scalars. Either remove copy=False or transform it in a ndarray. ")
        if not isinstance(obj, np.ndarray):
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        _check_alias(from_data(obj, None, copy=True), dtype, device, copy)
    return placed(from_data(obj, dtype, copy=bool(copy)), device, requires_grad)


def _has_buffer(obj):
    """Whether `obj` offers its memory (bytes, array.array, ctypes arrays, ...)."""
    try:
        memoryview(obj).release()
    except TypeError:
        return False
    return True


def _check_alias(obj, dtype, device, copy):
    """torch's errors where `asarray` may not copy but would have to."""
    if copy is not False:
        return
    if device is not None and Device(device) != obj.device:
        raise ValueError(f"can't alias tensor from device '{obj.device}' to '{Device(device)}'.")
    if dtype is not None and dtype is not obj.dtype:
        raise ValueError(f"can't alias tensor with dtype '{obj.dtype.char_name}' into dtype '{dtype.char_name}'.")


def _asked_for_gradients(out, obj, requires_grad):
    """`out`, made of the tensor `obj`, with gradients as asked; a leaf is changed in place, even where it is `obj` itself."""
    if requires_grad is None:
        if obj.requires_grad:
            say_once(_ASKED_LATE)
        return out
    if requires_grad and out.dtype.category < dtypes.FLOAT:
        raise only_float_requires_grad()
    if out._tl_needs == bool(requires_grad):
        return out
    if not out.is_leaf:
        return Tensor.detach(out)
    out.requires_grad = requires_grad
    return out


@composite("torch.from_numpy")
def from_numpy(*args):
    """A tensor over the memory of an array, or over a copy of more than 256 KiB (`_core/sharing.py`)."""
    if len(args) != 1:
        raise TypeError(f"torch._VariableFunctionsClass.from_numpy() takes exactly one argument ({len(args)} given)")
    ndarray = args[0]
    if not isinstance(ndarray, np.ndarray):
        kind = type(ndarray)
        raise TypeError(f"expected np.ndarray (got {f'numpy.{kind.__name__}' if kind.__module__ == 'numpy' else kind.__name__})")
    if not ndarray.flags.writeable:
        say_once("The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This means writing to this tensor will result in "
                 "undefined behavior. You may want to copy the array to protect its data or make it writable before converting it to a tensor. "
                 "This type of warning will be suppressed for the rest of this program. (Triggered internally at "
                 "/pytorch/torch/csrc/utils/tensor_numpy.cpp:213.)")
    return _from_numpy(ndarray)


_READ_ONLY = ("The given buffer is not writable, and PyTorch does not support non-writable tensors. This means you can write to the underlying (supposedly "
              "non-writable) buffer using the tensor. You may want to copy the buffer to protect its data or make it writable before converting it to "
              "a tensor. "
              "This type of warning will be suppressed for the rest of this program. (Triggered internally at /pytorch/torch/csrc/utils/tensor_new.cpp:1556.)")


@composite("torch.frombuffer")
def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    """A tensor over the memory of a buffer, or over a copy of more than 256 KiB (`_core/sharing.py`)."""
    try:
        raw = np.frombuffer(buffer, dtype=np.uint8) if memoryview(buffer).nbytes else np.zeros(0, np.uint8)
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    size, item = raw.size, dtype.itemsize
    if not raw.flags.writeable:
        say_once(_READ_ONLY)
    if size == 0 or count == 0:
        raise ValueError(f"both buffer length ({size}) and count ({count}) must not be 0")
    if not 0 <= offset < size:
        raise ValueError(f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({size} bytes) minus 1")
    if count < 0 and (size - offset) % item:
        raise ValueError(f"buffer length ({size - offset} bytes) after offset ({offset} bytes) must be a multiple of element size ({item})")
    n = (size - offset) // item if count < 0 else count
    if offset + n * item > size:
        raise ValueError(f"requested buffer length ({n} * {item} bytes) after offset ({offset} bytes) must not be greater than actual buffer length "
                         f"({size} bytes)")
    part = raw[offset:offset + n * item].view(dtype.np)
    t = from_array(part.copy(), dtype)
    sharing.share(t, part)
    return placed(t, None, requires_grad)


__all__ = ["as_tensor", "asarray", "from_data", "from_numpy", "frombuffer", "new_tensor", "tensor"]
