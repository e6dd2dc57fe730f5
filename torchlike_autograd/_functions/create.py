"""Factories (layer 7): tensors from data, fills, ranges, `*_like` and `new_*`."""

from __future__ import annotations

import math
import numbers

import numpy as np

from .._core import config, devices, dtypes, errors, layouts, levels
from .._core.composite import composite
from .._core.laying import keep_order
from .._core.nothing import KEY as NOWHERE
from .._core.nothing import Nothing
from .._core.numeric import cannot_hold, check_number, check_stored
from .._core.record import number_kind, record_op
from .._core.saying import warn
from .._core.shapes import OVERFLOW, is_long
from .._core.spread import beside
from .._core.words import no_tensor, type_name
from .._ops.registry import OPS
from .._ops.spec import LeveledAval, spec_of
from .._ops.unsigned import WIDE, no_kernel
from .._tensor import Size, Tensor, from_array, wrap
from .by_example import by_example


def device_of(device):
    """The key of a device argument; only the default device and the host run today's factories directly."""
    return devices.key_of(device)


def placed(t, device, requires_grad):
    """Move a fresh tensor to where it was asked for and mark it."""
    return _put(t, device_of(device), requires_grad)


def _put(t, key, requires_grad):
    if key != "cpu":
        layout, t = t._tl_laid, t.to(key)
        t._tl_laid = layout
    if requires_grad:
        if t.dtype.category < dtypes.FLOAT:
            raise errors.only_float_requires_grad()
        t._tl_ask(True)
    return t


def sizes(name, size):
    """A shape from varargs or one sequence; torch's errors."""
    if not size:
        raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
    listed = len(size) == 1 and isinstance(size[0], (tuple, list))
    if listed:
        size = size[0]
    out = []
    for i, n in enumerate(size):
        if type(n) is not int:
            if (isinstance(n, bool) and i == 0) or not hasattr(n, "__index__"):  # only the first says whether they are ints
                raise _bad_size(name, i, n, listed)
            n = n.__index__()
        if not is_long(n):
            raise errors.not_unpacked(name, "size", i, OVERFLOW)
        out.append(n)
    return tuple(out)


def _bad_size(name, i, n, listed):
    if i:
        return errors.not_unpacked(name, "size", i, f'type must be tuple of ints,but got {type(n).__name__}"')
    found = f"but found element of type {type(n).__name__} at pos 0" if listed else f"not {type(n).__name__}"
    return TypeError(f"{name}(): argument 'size' (position 1) must be tuple of ints, {found}")


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


def dtype_for(out, dtype):
    """The dtype of a factory's result: that of `out` where there is one, which a given one has to be."""
    if out is None:
        return dtype
    if dtype is not None and _dtype(dtype) is not out.dtype:
        raise RuntimeError(f"dtype {_dtype(dtype).char_name} does not match dtype of out parameter ({out.dtype.char_name})")
    return out.dtype


def filled(size, value, dtype) -> Tensor:
    """A recorded fill."""
    return wrap(record_op(spec_of(OPS["_full"], (("size", size), ("dtype", dtype)), (number_kind(value),)), (value,))[0])


def unset(dtype):
    """What memory that nobody wrote holds: zeros, or under deterministic algorithms what stands out."""
    if not (config.deterministic[0] and config.fills[0]):
        return 0
    return math.nan if dtype.category >= dtypes.FLOAT else True if dtype is dtypes.bool_ else dtypes.iinfo(dtype).max


def fresh(size, value, dtype, device, requires_grad):
    """A fill (value None: `unset`) where it was asked for; nothing is filled where nobody asks for the values."""
    key = device_of(device)
    t = from_array(Nothing(size, dtype.np), dtype, device=key) if key == NOWHERE else filled(size, unset(dtype) if value is None else value, dtype)
    return _put(t, key, requires_grad)


def _fill_out(name, out, size, value):
    if out is None:
        return None
    from .._core.dispatch import write_made

    if name == "empty":
        value = unset(out.dtype)
        if not value and out._tl_v.aval.shape == tuple(size) and not out._tl_needs:
            return out  # what stands there stays
    return write_made(name, out, filled(size, value, out.dtype)._tl_v)


def _sparse(name, layout, shape, dtype, device, requires_grad):
    """A fresh sparse tensor, which has only zeros."""
    from ..sparse import _tensor

    if name == "ones" and layout is layouts.sparse_coo:
        raise RuntimeError("full(...) is not implemented for sparse layout")
    if name == "ones" or layout not in (layouts.sparse_coo, layouts.sparse_csr):
        raise NotImplementedError(f"torchlike_autograd: torch.{name} in layout {layout}")
    made = _tensor.nothing(shape, _dtype(dtype), device, requires_grad)
    return made if layout is layouts.sparse_coo else made.to_sparse_csr()


def _filler(name, value):
    def factory(*size, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False, names=None, memory_format=None, **kw):
        if "size" in kw:
            size = (kw.pop("size"),)
        if memory_format is not None and name != "empty":
            kw["memory_format"] = memory_format
        if kw:
            raise TypeError(f"{name}() got an unexpected keyword argument '{next(iter(kw))}'")
        shape = sizes(name, size)
        _nonnegative(name, shape)
        if layout is not None and layout is not layouts.strided:
            return _sparse(name, layout, shape, dtype, device, requires_grad)
        if out is not None:
            dtype_for(out, dtype)
            return _fill_out(name, out, shape, value)
        made = fresh(shape, value, _dtype(dtype), device, requires_grad)
        return _as_asked(made, memory_format)

    factory.__name__ = name
    factory.__doc__ = f"torch.{name}."
    return factory


zeros = composite("torch.zeros")(_filler("zeros", 0))
ones = composite("torch.ones")(_filler("ones", 1))
empty = composite("torch.empty")(_filler("empty", None))


@composite("torch.full")
def full(size, fill_value, *, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """A tensor of one value; the dtype follows the value."""
    fill_value = _item(fill_value)
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"full(): argument 'size' (position 1) must be tuple of ints, not {type(size).__name__}")
    shape = sizes("full", (size,))
    _nonnegative("full", shape)
    if layout is not None and layout is not layouts.strided:
        return _sparse("ones", layout, shape, dtype, device, requires_grad)
    if out is not None:
        dtype_for(out, dtype)
        return _fill_out("full", out, shape, fill_value)
    return placed(_full(shape, fill_value, _dtype(dtype, _dtype_of_number(fill_value))), device, requires_grad)


def _item(x):
    """The number in a 0-dim tensor without history; anything else as it is."""
    return x.item() if isinstance(x, Tensor) and not x.ndim and not x._tl_needs else float(x) if isinstance(x, np.bool_) else x


def _full(shape, value, dtype, check=check_number, name="full"):
    value = _python(value)
    if not isinstance(value, (int, float, complex)):
        raise TypeError(f"{name}(): argument 'fill_value' (position 2) must be Number, not {type(value).__name__}")
    check(value, dtype)
    return filled(shape, value, dtype)


def _python(x):
    if isinstance(x, np.bool_):  # a float to torch
        return float(x)
    return x.item() if isinstance(x, (np.generic, np.ndarray)) else x


def _dtype_of_number(x):
    d = dtypes.of_scalar(x)
    if d.category == dtypes.FLOAT:
        return config.default_dtype()
    return config.default_dtype().complex_here() if d.category == dtypes.COMPLEX else d


def _as_asked(made, form, like=None):
    """A fresh tensor in a memory format; it lies like another one unless a format is asked for."""
    if form is not None and form is not layouts.preserve_format:
        return layouts.laid(made, form)
    if like is not None:
        keep_order(made, like)
    return made


def alike(make, input, device, requires_grad):
    """`make(device, requires_grad)`, a fresh tensor where `input` lies unless a device is given: of its shape spread as it is, of another all of it on every
    device."""
    a = input._tl_v.aval
    if device is not None or "@" not in a.device or type(a) is LeveledAval:
        return make(a.device if device is None else device, requires_grad)
    return _put(beside(make("cpu", False), input), "cpu", requires_grad)


def _like(name, value):
    def factory(input, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None, pin_memory=False):
        if not isinstance(input, Tensor):
            raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type_name(input)}")
        a = input._tl_v.aval
        if layout is not None and layout is not layouts.strided:
            if name != "zeros_like":
                raise NotImplementedError("Could not run 'aten::empty_strided' with arguments from the 'SparseCPU' backend.")
            return _sparse(name, layout, a.shape, _dtype(dtype, a.dtype), device, requires_grad)
        made = alike(lambda *where: fresh(a.shape, value, _dtype(dtype, a.dtype), *where), input, device, requires_grad)
        return _as_asked(levels.like(input, made), memory_format, input)

    factory.__name__ = name
    factory.__doc__ = f"torch.{name}."
    return factory


zeros_like = composite("torch.zeros_like")(_like("zeros_like", 0))
ones_like = composite("torch.ones_like")(_like("ones_like", 1))
empty_like = composite("torch.empty_like")(_like("empty_like", None))


@composite("torch.full_like")
def full_like(input, fill_value, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None, pin_memory=False):
    """A tensor of one value with the shape and dtype of `input`."""
    fill_value = _item(fill_value)
    a = input._tl_v.aval
    made = alike(lambda *where: placed(_full(a.shape, fill_value, _dtype(dtype, a.dtype), name="full_like"), *where), input, device, requires_grad)
    return _as_asked(levels.like(input, made), memory_format, input)


def _new(name, value):
    def method(self, *size, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, **kw):
        if "size" in kw:
            size = (kw.pop("size"),)
        a = self._tl_v.aval
        shape = sizes(name, size)
        _nonnegative(name, shape)
        return levels.like(self, alike(lambda *where: fresh(shape, value, _dtype(dtype, a.dtype), *where), self, device, requires_grad))

    method.__name__ = name
    return method


new_zeros = composite("Tensor.new_zeros")(_new("new_zeros", 0))
new_ones = composite("Tensor.new_ones")(_new("new_ones", 1))
new_empty = composite("Tensor.new_empty")(_new("new_empty", None))


@composite("Tensor.new_full")
def new_full(self, size, fill_value, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """A filled tensor with this one's dtype and device."""
    fill_value = _item(fill_value)
    a = self._tl_v.aval
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"new_full(): argument 'size' (position 1) must be tuple of ints, not {type(size).__name__}")
    shape = sizes("new_full", (size,))
    _nonnegative("new_full", shape)

    def filled(*where):
        return placed(_full(shape, fill_value, _dtype(dtype, a.dtype), check_stored, "new_full"), *where)

    return levels.like(self, alike(filled, self, device, requires_grad))


# Ranges

@composite("torch.arange")
def arange(*args, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False, **kw):
    """start, start + step, ... below end."""
    names = ("end",) if len(args) == 1 and "end" not in kw else ("start", "end", "step")
    given = dict(zip(names, args), **kw)
    if len(args) > 3:
        raise TypeError("arange() takes at most 3 numbers")
    start, end, step = (given.pop(k, d) for k, d in (("start", 0), ("end", None), ("step", 1)))
    if given:
        raise TypeError(f"arange() got an unexpected keyword argument '{next(iter(given))}'")
    start, end, step = (_number(x) if not isinstance(x, Tensor) or (x.ndim == 0 and not x.requires_grad) else None for x in (start, end, step))
    if not all(isinstance(x, (int, float, complex)) for x in (start, end, step)):
        raise TypeError("arange() takes numbers")
    if any(isinstance(x, complex) for x in (start, end, step)):
        raise cannot_hold(dtypes.float64)
    _check_bits(start, end, step)
    dtype = dtype_for(out, dtype)
    if dtype is None:
        dtype = out.dtype if out is not None else config.default_dtype() if any(isinstance(x, float) for x in (start, end, step)) else dtypes.int64
    dtype = _dtype(dtype)
    if dtype.category in (dtypes.BOOL, dtypes.COMPLEX) or dtype in WIDE:
        raise no_kernel("arange_cpu", dtype)
    if dtype.category == dtypes.INT and step and int(step) == 0:
        raise ValueError("step must be nonzero")
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if any(math.isinf(x) or math.isnan(x) for x in (start, end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    if dtype is dtypes.int64:
        start, end, step = int(start), int(end), int(step)
        if max(start, end, step) >= 2**63:
            raise RuntimeError("value cannot be converted to type int64_t without overflow")
    length = math.ceil((end - start) / step) if isinstance(end - start, float) or isinstance(step, float) else -((start - end) // step)
    if length > 2**63:  # PyTorch compares floats, in which the largest int is 2**63
        raise RuntimeError("invalid size, possible overflow?")
    if length == 2**63:
        raise RuntimeError(f"IntArrayRef contains an int that cannot be represented as a SymInt: {-2**63}")
    if dtype.category == dtypes.INT:
        start, step = int(start), int(step)
    kinds = tuple(number_kind(x) for x in (start, step))
    t = wrap(record_op(spec_of(OPS["_arange"], (("length", int(length)), ("dtype", _dtype(dtype))), kinds), (start, step))[0])
    say_of_count(out, t.numel())
    return _steps_or("arange", t, out, device, requires_grad)


def say_of_count(out, count):
    """The warning of an `out` that numbers in a row do not fit."""
    if out is not None and out.numel() not in (0, count):
        warn(f"The number of elements in the out tensor of shape {list(out.shape)} is {out.numel()} which does not match the computed number of elements "
             f"{count}. Note that this may occur as a result of rounding error. The out tensor will be resized to a tensor of shape ({count},).")


def _check_bits(*numbers):
    """Refuse integers that have neither 64 bits nor 63 and a sign."""
    for x in numbers:
        if isinstance(x, int) and not -(2**63) <= x < 2**64:
            raise errors.too_big(x)


def _number(x):
    if isinstance(x, Tensor):
        return x.item()
    return _python(x)


def _out_or(name, t, out, device, requires_grad):
    if out is not None:
        from .._core.dispatch import write_made

        return write_made(name, out, t._tl_v)
    return placed(t, device, requires_grad)


def _steps_or(name, t, out, device, requires_grad):
    """The same for numbers in a row: an `out` with room for as many keeps its shape."""
    return _out_or(name, t if out is None or out.numel() != t.numel() else t.reshape(out.shape), out, device, requires_grad)


@composite("torch.range")
def range_(start=0, end=None, step=1, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    """Deprecated: includes the end."""
    if not isinstance(out, (Tensor, type(None))):
        raise no_tensor("range", out)
    warn("torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with Python's range builtin. "
         "Instead, use torch.arange, which produces values in [start, end).")
    for name, x, place in (("start", start, 1), ("end", end, 2)):
        if x is None or (isinstance(x, Tensor) and x.ndim):
            raise TypeError(f"range(): argument '{name}' (position {place}) must be Number, not {type(x).__name__}")
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start:g} -> {end:g}")
    if (start > end) if step > 0 else (start < end):
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    n, dtype = int((end - start) / step) + 1, dtype_for(out, dtype) or config.default_dtype()
    if dtype in WIDE or dtype.category in (dtypes.BOOL, dtypes.COMPLEX):
        raise no_kernel("range_cpu", dtype)
    t = arange(start, start + n * step, step, dtype=dtype, device=device if out is None else None)
    return _steps_or("range", t, out, device, requires_grad)


def _zero_dim(name, start, end):
    wrong = [f"{word} with {x.ndim} dimension(s)" for word, x in (("start", start), ("end", end)) if isinstance(x, Tensor)]
    if any(isinstance(x, Tensor) and x.ndim for x in (start, end)):
        raise RuntimeError(f"{name} only supports 0-dimensional start and end tensors, but got {' and '.join(wrong)}.")


@composite("torch.linspace")
@by_example
def linspace(start, end, steps, *, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """`steps` numbers evenly spaced from start to end, both included."""
    _zero_dim("linspace", start, end)
    start, end = _number(start), _number(end)
    if isinstance(steps, (bool, float)) or not isinstance(start, (int, float, complex)) or not isinstance(end, (int, float, complex)):
        raise TypeError("linspace() takes two numbers and an int")
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    dtype = dtype_for(out, dtype)
    if (dtype is dtypes.bool_ or dtype in WIDE) and steps > 1:
        raise no_kernel("linspace_cpu", dtype)
    if out is None:
        dtype = _complex_steps(start, end, dtype, "linspace") or dtype or config.default_dtype()
    for x in (start, end):
        check_number(x, dtype)
    kinds = tuple(number_kind(x) for x in (start, end))
    t = wrap(record_op(spec_of(OPS["_linspace"], (("steps", int(steps)), ("dtype", dtype)), kinds), (start, end))[0])
    return _steps_or("linspace", t, out, device, requires_grad)


def _complex_steps(start, end, dtype, name="logspace"):
    """The dtype of a row of complex numbers, None of others; torch's error where the asked one is not complex."""
    own = config.default_dtype().complex_here()
    if not any(isinstance(_number(x), complex) for x in (start, end)):
        return dtype if dtype is not None and dtype.is_complex else None
    if dtype is not None and not dtype.is_complex:
        raise RuntimeError(f"torch.{name}(): inferred dtype c10::complex<{'double' if own is dtypes.complex128 else 'float'}> can't be safely cast to passed "
                           f"dtype {dtype.char_name}")
    return dtype or own


@composite("torch.logspace")
@by_example
def logspace(start, end, steps, base=10.0, *, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """base to the power of a linspace."""
    _zero_dim("logspace", start, end)
    dtype = dtype_for(out, dtype)
    if (dtype is dtypes.bool_ or dtype in WIDE) and steps > 1:
        raise no_kernel("logspace_cpu", dtype)
    if dtype is not None and dtype.category == dtypes.INT and steps > 1:  # torch 2.13: the ends are brought to the dtype, the steps between them are float32
        ends = [_number(x) for x in (start, end)]
        for x in ends:
            check_number(x, dtype)
        exponents = linspace(*map(int, ends), steps, dtype=dtypes.float32).to(dtypes.float64)
    elif (wide := _complex_steps(start, end, dtype)) is not None:
        t = filled((), complex(base), wide).pow(linspace(start, end, steps, dtype=wide))
        return _steps_or("logspace", t, out, device, requires_grad)
    else:
        exponents = linspace(start, end, steps, dtype=dtypes.float64)
    t = filled((), float(base), dtypes.float64).pow(exponents).to(dtype or config.default_dtype())
    return _steps_or("logspace", t, out, device, requires_grad)


@composite("torch.eye")
def eye(n, m=None, *, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """Ones on the diagonal."""
    m = n if m is None else m
    if isinstance(n, bool) or isinstance(m, bool):
        raise TypeError("eye() takes ints")
    if n < 0:
        raise RuntimeError(f"n must be greater or equal to 0, got {n}")
    if m < 0:
        raise RuntimeError(f"m must be greater or equal to 0, got {m}")
    dtype = _dtype(dtype_for(out, dtype))
    if dtype in WIDE:
        raise no_kernel("eye", dtype)
    t = wrap(record_op(spec_of(OPS["_eye"], (("n", n), ("m", m), ("dtype", dtype)), ()), ())[0])
    return _out_or("eye", t, out, device, requires_grad)


@composite("torch.scalar_tensor")
def scalar_tensor(s, *, dtype=None, device=None, layout=None, requires_grad=False, pin_memory=False):
    """A 0-dim tensor of the default dtype."""
    s, dtype = _number(s), _dtype(dtype)
    check_stored(s, dtype)
    return placed(filled((), s, dtype), device, requires_grad)


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
def result_type(*args, **kwargs):
    """The dtype that arithmetic on the two gives: (tensor, other), (scalar, tensor) or (scalar1, scalar2), of which a tensor's name takes either."""
    from .._core import words
    from .._core.dispatch import record_number_aval
    from .._ops.casts import promoted

    two = next((found for names in _TWO_NAMES if (found := _pair(names, args, kwargs)) is not None), None)
    if two is None:
        raise words.complaint(*words.known("torch.result_type"), args, kwargs) or TypeError("result_type() received an invalid combination of arguments")
    return promoted([x._tl_v.aval if isinstance(x, Tensor) else record_number_aval(_python_number(x)) for x in two])


def _python_number(x):
    """A number as torch's result_type takes NumPy's: integers as such, every other one as a float."""
    return x if not isinstance(x, np.generic) else int(x) if isinstance(x, np.integer) else 1.0


_TWO_NAMES = (("tensor", "other"), ("scalar", "tensor"), ("scalar1", "scalar2"))


def _pair(names, args, kwargs):
    """The two operands by one signature, or None."""
    if len(args) + len(kwargs) != 2 or len(args) > 2 or any(k not in names[len(args):] for k in kwargs):
        return None
    two = (*args, *[kwargs[k] for k in names[len(args):]])
    fits = all(isinstance(x, Tensor) if n == "tensor" else isinstance(x, (numbers.Number, np.bool_)) or (n == "other" and isinstance(x, Tensor))
               for n, x in zip(names, two))
    return two if fits else None


@composite("torch.broadcast_shapes")
def broadcast_shapes(*shapes):
    """The shape that operands of these shapes broadcast to."""
    shapes = [s for s in shapes if s is not None]
    for s in shapes:
        if not isinstance(s, (int, tuple, list, str)):
            raise RuntimeError(f"Input shapes should be of type ints, a tuple of ints, or a list of ints, got {s}")
    rank = max((1 if isinstance(s, int) else len(s) for s in shapes), default=0)
    out = [1] * rank
    for i, s in enumerate(shapes):
        s = (s,) if isinstance(s, int) else s
        for j in range(-1, -1 - len(s), -1):
            if isinstance(s[j], float):
                raise TypeError(f"torch.Size() takes an iterable of 'int' (item {j + len(s)} is 'float')")
            if s[j] == 1 or s[j] == out[j]:
                continue
            if s[j] < 0 and out[j] == 1:
                raise ValueError("Attempting to broadcast a dimension with negative length!")
            if out[j] != 1:
                raise RuntimeError(f"Attempting to broadcast a dimension of length {s[j]} at {j}! Mismatching argument at index {i} had {s}; "
                                   f"but expected "
                                   f"shape should be broadcastable to {out}")
            out[j] = s[j]
    return Size(out)
