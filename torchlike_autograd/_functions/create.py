"""Factories (layer 7): tensors from data, fills, ranges, `*_like` and `new_*`."""

from __future__ import annotations

import math
import warnings

import numpy as np

from .._core import config, devices, dtypes, errors
from .._core.composite import composite
from .._core.record import number_kind, record_op
from .._ops.registry import OPS
from .._ops.spec import spec_of
from .._tensor import Size, Tensor, from_array, wrap


def device_of(device):
    """The key of a device argument; only the default device and the host run today's factories directly."""
    return devices.key_of(device)


def placed(t, device, requires_grad):
    """Move a fresh tensor to where it was asked for and mark it."""
    key = device_of(device)
    if key != "cpu":
        t = t.to(key)
    if requires_grad:
        if t.dtype.category < dtypes.FLOAT:
            raise errors.only_float_requires_grad()
        t.requires_grad_()
    return t


def sizes(name, size):
    """A shape from varargs or one sequence; torch's errors."""
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        size = size[0]
    out = []
    for i, n in enumerate(size):
        if isinstance(n, (str, float)) or n is None:
            if i == 0 and len(size) == 1:
                raise TypeError(f"{name}(): argument 'size' (position 1) must be tuple of ints, not {type(n).__name__}")
            raise TypeError(f"{name}(): argument 'size' (position 1) must be tuple of ints, but found element of type {type(n).__name__} at pos {i}")
        out.append(n if type(n) is int else n.__index__())
    return tuple(out)


def _nonnegative(name, size):
    if any(n < 0 for n in size):
        if name in ("zeros", "ones", "full"):
            raise RuntimeError(f"{name}: Dimension size must be non-negative." if name == "zeros" else
                               f"Trying to create tensor with negative dimension {min(size)}: {list(size)}")
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(size)}: {list(size)}")


def _dtype(dtype, default=None):
    if dtype is None:
        return default or config.default_dtype()
    if isinstance(dtype, type):
        found = {float: config.default_dtype(), int: dtypes.int64, bool: dtypes.bool_, complex: config.default_dtype().to_complex()}.get(dtype)
        if found is not None:
            return found
    if not isinstance(dtype, dtypes.dtype):
        raise TypeError(f"dtype must be a torch.dtype, not {type(dtype).__name__}")
    return dtype


def filled(size, value, dtype) -> Tensor:
    """A recorded fill."""
    return wrap(record_op(spec_of(OPS["_full"], (("size", size), ("dtype", dtype)), (number_kind(value),)), (value,))[0])


def _fill_out(out, size, value):
    if out is None:
        return None
    from .._core.dispatch import write_result

    write_result(out, filled(size, value, out.dtype)._v)
    return out


def _filler(name, value):
    def factory(*size, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False, names=None, memory_format=None, **kw):
        if "size" in kw:
            size = (kw.pop("size"),)
        if kw:
            raise TypeError(f"{name}() got an unexpected keyword argument '{next(iter(kw))}'")
        shape = sizes(name, size)
        _nonnegative(name, shape)
        if out is not None:
            return _fill_out(out, shape, value)
        return placed(filled(shape, value, _dtype(dtype)), device, requires_grad)

    factory.__name__ = name
    factory.__doc__ = f"torch.{name}."
    return factory


zeros = composite("torch.zeros")(_filler("zeros", 0))
ones = composite("torch.ones")(_filler("ones", 1))
empty = composite("torch.empty")(_filler("empty", 0))


@composite("torch.full")
def full(size, fill_value, *, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """A tensor of one value; the dtype follows the value."""
    if isinstance(fill_value, Tensor):
        fill_value = fill_value.item()
    shape = sizes("full", (size,) if isinstance(size, (tuple, list)) else (size,))
    _nonnegative("full", shape)
    if out is not None:
        return _fill_out(out, shape, fill_value)
    return placed(filled(shape, _python(fill_value), _dtype(dtype, _dtype_of_number(fill_value))), device, requires_grad)


def _python(x):
    return x.item() if isinstance(x, (np.generic, np.ndarray)) else x


def _dtype_of_number(x):
    d = dtypes.of_scalar(x)
    if d.category == dtypes.FLOAT:
        return config.default_dtype()
    return config.default_dtype().to_complex() if d.category == dtypes.COMPLEX else d


def _like(name, value):
    def factory(input, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None, pin_memory=False):
        if not isinstance(input, Tensor):
            raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
        a = input._v.aval
        return placed(filled(a.shape, value, _dtype(dtype, a.dtype)), device if device is not None else a.device, requires_grad)

    factory.__name__ = name
    factory.__doc__ = f"torch.{name}."
    return factory


zeros_like = composite("torch.zeros_like")(_like("zeros_like", 0))
ones_like = composite("torch.ones_like")(_like("ones_like", 1))
empty_like = composite("torch.empty_like")(_like("empty_like", 0))


@composite("torch.full_like")
def full_like(input, fill_value, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None, pin_memory=False):
    """A tensor of one value with the shape and dtype of `input`."""
    if isinstance(fill_value, Tensor):
        fill_value = fill_value.item()
    a = input._v.aval
    return placed(filled(a.shape, _python(fill_value), _dtype(dtype, a.dtype)), device if device is not None else a.device, requires_grad)


def _new(name, value):
    def method(self, *size, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, **kw):
        if "size" in kw:
            size = (kw.pop("size"),)
        a = self._v.aval
        shape = sizes(name, size)
        _nonnegative(name.removeprefix("new_"), shape)
        return placed(filled(shape, value, _dtype(dtype, a.dtype)), device if device is not None else a.device, requires_grad)

    method.__name__ = name
    return method


new_zeros = composite("Tensor.new_zeros")(_new("new_zeros", 0))
new_ones = composite("Tensor.new_ones")(_new("new_ones", 1))
new_empty = composite("Tensor.new_empty")(_new("new_empty", 0))


@composite("Tensor.new_full")
def new_full(self, size, fill_value, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """A filled tensor with this one's dtype and device."""
    if isinstance(fill_value, Tensor):
        fill_value = fill_value.item()
    a = self._v.aval
    return placed(filled(sizes("new_full", (size,)), _python(fill_value), _dtype(dtype, a.dtype)), device if device is not None else a.device, requires_grad)


@composite("Tensor.new_tensor")
def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False):
    """A tensor from data with this one's dtype and device."""
    a = self._v.aval
    return tensor(data, dtype=dtype or a.dtype, device=device if device is not None else a.device, requires_grad=requires_grad)


# Ranges

@composite("torch.arange")
def arange(*args, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False, **kw):
    """start, start + step, ... below end."""
    names = ("end",) if len(args) == 1 else ("start", "end", "step")
    given = dict(zip(names, args), **kw)
    start, end, step = (_number(given.pop(k, d)) for k, d in (("start", 0), ("end", None), ("step", 1)))
    if given:
        raise TypeError(f"arange() got an unexpected keyword argument '{next(iter(given))}'")
    if dtype is None:
        dtype = config.default_dtype() if any(isinstance(x, float) for x in (start, end, step)) else dtypes.int64
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if any(math.isinf(x) or math.isnan(x) for x in (start, end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    length = math.ceil((end - start) / step) if isinstance(end - start, float) or isinstance(step, float) else -((start - end) // step)
    kinds = tuple(number_kind(x) for x in (start, step))
    t = wrap(record_op(spec_of(OPS["_arange"], (("length", int(length)), ("dtype", _dtype(dtype))), kinds), (start, step))[0])
    return _out_or(t, out, device, requires_grad)


def _number(x):
    if isinstance(x, Tensor):
        return x.item()
    return x.item() if isinstance(x, np.generic) else x


def _out_or(t, out, device, requires_grad):
    if out is not None:
        from .._core.dispatch import write_result

        write_result(out, t._v)
        return out
    return placed(t, device, requires_grad)


@composite("torch.range")
def range_(start=0, end=None, step=1, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    """Deprecated: includes the end."""
    warnings.warn("torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with Python's range builtin. "
                  "Instead, use torch.arange, which produces values in [start, end).", UserWarning, stacklevel=2)
    n = int((end - start) / step) + 1
    return arange(start, start + n * step, step, out=out, dtype=dtype or config.default_dtype(), device=device, requires_grad=requires_grad)


@composite("torch.linspace")
def linspace(start, end, steps, *, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """`steps` numbers evenly spaced from start to end, both included."""
    start, end = _number(start), _number(end)
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    if dtype is None:
        dtype = config.default_dtype().to_complex() if isinstance(start, complex) or isinstance(end, complex) else config.default_dtype()
    kinds = tuple(number_kind(x) for x in (start, end))
    t = wrap(record_op(spec_of(OPS["_linspace"], (("steps", int(steps)), ("dtype", dtype)), kinds), (start, end))[0])
    return _out_or(t, out, device, requires_grad)


@composite("torch.logspace")
def logspace(start, end, steps, base=10.0, *, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """base to the power of a linspace."""
    exponents = linspace(start, end, steps, dtype=dtypes.float64)
    t = filled((), float(base), dtypes.float64).pow(exponents).to(dtype or config.default_dtype())
    return _out_or(t, out, device, requires_grad)


@composite("torch.eye")
def eye(n, m=None, *, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """Ones on the diagonal."""
    m = n if m is None else m
    if n < 0:
        raise RuntimeError(f"n must be greater or equal to 0, got {n}")
    if m < 0:
        raise RuntimeError(f"m must be greater or equal to 0, got {m}")
    t = wrap(record_op(spec_of(OPS["_eye"], (("n", n), ("m", m), ("dtype", _dtype(dtype))), ()), ())[0])
    return _out_or(t, out, device, requires_grad)


@composite("torch.scalar_tensor")
def scalar_tensor(s, *, dtype=None, device=None, layout=None, requires_grad=False, pin_memory=False):
    """A 0-dim tensor of the default dtype."""
    return placed(filled((), _number(s), _dtype(dtype)), device, requires_grad)


# From data

@composite("torch.tensor")
def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor with a copy of `data` (numbers, sequences, arrays, tensors)."""
    if isinstance(data, Tensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).", UserWarning, stacklevel=2)
        t = data.detach().clone()
        if dtype is not None:
            t = t.to(_dtype(dtype))
        return placed(t, device, requires_grad)
    kind = type(data)
    if kind in (float, int, bool, complex) and device is None and not (kind is float and 0 < abs(data) < 3e-38):  # XLA flushes subnormals
        _fits(data)
        t = filled((), data, _dtype(dtype, _dtype_of_number(data)))
        return placed(t, None, requires_grad)
    return placed(from_data(data, dtype, copy=True), device, requires_grad)


def _fits(x):
    if type(x) is int and not -(1 << 63) <= x < (1 << 64):
        raise ValueError("Overflow when unpacking long long")


def from_data(data, dtype, copy) -> Tensor:
    """A Tensor over the values of any nested data."""
    dtype = None if dtype is None else _dtype(dtype)
    if isinstance(data, np.ndarray | np.generic):
        found = dtypes.from_numpy_dtype(data.dtype)
        a = np.array(data, dtype=(dtype or found).np) if copy or dtype is not None else np.asarray(data)
        return from_array(a, dtype or found)
    a, natural = _nested(data)
    dtype = dtype or natural
    return from_array(_cast(a, dtype), dtype)


def _cast(a, dtype):
    with np.errstate(all="ignore"):
        if a.dtype.kind == "c" and not dtype.is_complex:
            raise RuntimeError(f"value cannot be converted to type {dtype.name} without overflow")
        return np.ascontiguousarray(a.astype(dtype.np, copy=False)).reshape(a.shape)


def _nested(data):
    """(array, natural dtype) of nested Python data, checked as torch checks it."""
    _shape(data)
    flat: list = []
    shape = _walk(data, flat)
    if not flat:
        return np.empty(shape), config.default_dtype()
    kinds = {dtypes.of_scalar(x) if not isinstance(x, Tensor) else x.dtype for x in flat}
    natural = _natural(kinds)
    values = [x.item() if isinstance(x, Tensor) else x for x in flat]
    for x in values:
        _fits(x)
    wide = np.complex128 if natural.is_complex else np.float64 if natural.is_floating_point else natural.np
    return np.array(values, dtype=wide).reshape(shape), natural


def _natural(kinds):
    top = max(k.category for k in kinds)
    if top == dtypes.FLOAT:
        floats = [k for k in kinds if k.category == dtypes.FLOAT]
        return config.default_dtype() if dtypes.float64 in floats or len(floats) != 1 else floats[0]
    if top == dtypes.COMPLEX:
        return config.default_dtype().to_complex()
    return dtypes.int64 if top == dtypes.INT else dtypes.bool_


def _is_sequence(x):
    return isinstance(x, (list, tuple, range)) or (isinstance(x, np.ndarray) and x.ndim > 0) or (isinstance(x, Tensor) and x.ndim > 0) or (
        hasattr(x, "__len__") and hasattr(x, "__getitem__") and not isinstance(x, (str, bytes, dict, np.generic, np.ndarray, Tensor)))


def _shape(data):
    if isinstance(data, str):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    out, x = [], data
    while _is_sequence(x):
        out.append(len(x))
        if len(x) == 0:
            break
        x = x[0]
    return out


def _walk(data, flat):
    shape = _shape(data)

    def visit(x, depth):
        if depth == len(shape):
            if isinstance(x, str):
                raise ValueError("too many dimensions 'str'")
            if isinstance(x, np.ndarray | np.generic):
                x = x.item()
            if not isinstance(x, (bool, int, float, complex, Tensor)):
                if hasattr(x, "__float__") and not _is_sequence(x):
                    x = float(x)
                elif x is None or not _is_sequence(x):
                    raise RuntimeError(f"Could not infer dtype of {type(x).__name__}")
                else:
                    raise ValueError("only one element tensors can be converted to Python scalars")
            flat.append(x)
            return
        if not _is_sequence(x):
            raise TypeError("not a sequence")
        if len(x) != shape[depth]:
            raise ValueError(f"expected sequence of length {shape[depth]} at dim {depth} (got {len(x)})")
        for y in (x.unbind(0) if isinstance(x, Tensor) else x):
            visit(y, depth + 1)

    visit(data, 0)
    return tuple(shape)


@composite("torch.as_tensor", "torch.asarray")
def as_tensor(data, dtype=None, device=None, **kw):
    """`data` itself where it already is such a tensor, otherwise a tensor of its values."""
    if isinstance(data, Tensor):
        t = data
        if dtype is not None or device is not None:
            t = t.to(device if device is not None else t.device, dtype or t.dtype)
        return t
    return placed(from_data(data, dtype, copy=False), device, kw.get("requires_grad", False))


@composite("torch.from_numpy")
def from_numpy(ndarray):
    """A tensor with the values of an array (a copy: arrays are immutable here; writes do not reach the NumPy array)."""
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    return from_array(np.array(ndarray), dtypes.from_numpy_dtype(ndarray.dtype))


@composite("torch.is_tensor")
def is_tensor(obj):
    """Whether `obj` is a Tensor."""
    return isinstance(obj, Tensor)


@composite("torch.numel")
def numel(input):
    """The number of elements."""
    return input.numel()


@composite("torch.is_floating_point")
def is_floating_point(input):
    """Whether the dtype is floating."""
    return input.dtype.is_floating_point


@composite("torch.is_complex")
def is_complex(input):
    """Whether the dtype is complex."""
    return input.dtype.is_complex


@composite("torch.result_type")
def result_type(tensor1, tensor2):
    """The dtype that arithmetic on the two gives."""
    from .._core.dispatch import record_number_aval
    from .._ops.spec import promoted

    return promoted([x._v.aval if isinstance(x, Tensor) else record_number_aval(x) for x in (tensor1, tensor2)])


@composite("torch.broadcast_shapes")
def broadcast_shapes(*shapes):
    """The shape that operands of these shapes broadcast to."""
    from .._core.shapes import broadcast

    try:
        return Size(broadcast(*[(s,) if isinstance(s, int) else tuple(s) for s in shapes]))
    except RuntimeError:
        raise RuntimeError("Shape mismatch: objects cannot be broadcast to a single shape") from None
