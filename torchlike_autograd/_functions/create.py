"""Factories (layer 7): tensors from data, fills, ranges, `*_like` and `new_*`."""

from __future__ import annotations

import math
import warnings

import numpy as np

from .._core import config, devices, dtypes, errors
from .._core.composite import composite
from .._core.numeric import check_number
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
        found = {float: dtypes.float64, int: dtypes.int64, bool: dtypes.bool_, complex: dtypes.complex128}.get(dtype)
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
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"full(): argument 'size' (position 1) must be tuple of ints, not {type(size).__name__}")
    shape = sizes("full", (size,))
    _nonnegative("full", shape)
    if out is not None:
        return _fill_out(out, shape, fill_value)
    return placed(_full(shape, fill_value, _dtype(dtype, _dtype_of_number(fill_value))), device, requires_grad)


def _full(shape, value, dtype):
    value = _python(value)
    if not isinstance(value, (int, float, complex)):
        raise TypeError(f"full(): argument 'fill_value' (position 2) must be Number, not {type(value).__name__}")
    check_number(value, dtype)
    return filled(shape, value, dtype)


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
    return placed(_full(a.shape, fill_value, _dtype(dtype, a.dtype)), device if device is not None else a.device, requires_grad)


def _new(name, value):
    def method(self, *size, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, **kw):
        if "size" in kw:
            size = (kw.pop("size"),)
        a = self._v.aval
        shape = sizes(name, size)
        _nonnegative(name, shape)
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
    return placed(_full(sizes("new_full", (size,)), fill_value, _dtype(dtype, a.dtype)), device if device is not None else a.device, requires_grad)


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
