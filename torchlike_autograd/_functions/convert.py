"""Conversions of dtype and device (layer 7): `to`, `type`, `float()` and their kin."""

from __future__ import annotations

from .._core import belonging, config, devices, dtypes, layouts
from .._core.composite import composite
from .._core.dispatch import cast_spec
from .._core.hot import unary
from .._core.nothing import no_data
from .._core.numeric import say_once, warn_imaginary
from .._ops.registry import OPS
from .._ops.spec import spec_of
from .._tensor import Tensor


def cast(t, dtype):
    """`t` in another dtype, itself where nothing changes."""
    own = t._tl_v.aval.dtype
    if own.is_complex and not (dtype.is_complex or dtype is dtypes.bool_ or 0 in t._tl_v.aval.shape):
        warn_imaginary()
    return t if own is dtype else unary(cast_spec(dtype), t)


@composite("Tensor.to")
def to(self, *args, dtype=None, device=None, non_blocking=False, copy=False, memory_format=None, other=None):
    """Convert dtype and/or device; `self` where nothing changes and no copy is asked for."""
    flags = 0
    for a in args:
        if isinstance(a, dtypes.dtype):
            dtype = a
        elif isinstance(a, Tensor):
            dtype, device = a.dtype, a.device
        elif isinstance(a, (str, devices.device)) or (isinstance(a, int) and not isinstance(a, bool)):
            device = a
        elif a is None:
            continue
        elif isinstance(a, bool) and a is not args[0]:  # non_blocking, then copy
            flags += 1
            copy = a if flags == 2 else copy
        elif isinstance(a, type) and a in (float, int, bool, complex):
            dtype = {float: dtypes.float64, int: dtypes.int64, bool: dtypes.bool_, complex: dtypes.complex128}[a]
        elif isinstance(a, (bool, float, complex)):  # torch takes it for a tensor to be like
            dtype = dtypes.of_scalar(a)
        elif not isinstance(a, layouts.memory_format):
            raise _refused(self, args, {})
    if sum(isinstance(a, dtypes.dtype) for a in args) > 1 or not (dtype is None or isinstance(dtype, (dtypes.dtype, type))):
        raise _refused(self, args, {} if dtype is None or dtype in args else {"dtype": dtype})
    if other is not None:
        dtype, device = other.dtype, other.device
    if isinstance(dtype, type):
        dtype = {float: dtypes.float64, int: dtypes.int64, bool: dtypes.bool_, complex: dtypes.complex128}[dtype]
    out = self if dtype is None else cast(self, dtype)
    if device is not None:
        out = _move(out, devices.key_of(device))
    form = memory_format if memory_format is not None or not args or not isinstance(args[-1], layouts.memory_format) else args[-1]
    if form is not None:
        return _formatted(self, out, form, copy)
    return unary(cast_spec(out.dtype), out) if copy and out is self else out


def _formatted(t, out, form, copy=False):
    """What `t` was converted to, in a memory format: `t` itself where it lies so."""
    if out is t:
        if not copy and _lies_so(t, form):
            return t
        out = unary(cast_spec(t.dtype), t)
    return out if form is layouts.preserve_format else layouts.laid(out, form)


def _lies_so(t, form):
    """Whether a tensor is taken to be in a memory format: contiguous is what torch calls all that does not have its channels last."""
    wanted = layouts.channels_strides(tuple(t.shape), form)
    if wanted is not None:
        return t.stride() == wanted
    last = layouts.LAST.get(t.ndim)
    return form is layouts.preserve_format or last is None or t.is_contiguous() or t.stride() != layouts.channels_strides(tuple(t.shape), last)


def _refused(t, args, kwargs):
    from .._core import words

    return words.explained("Tensor.to", (t, *args), kwargs) or TypeError("to() received an invalid combination of arguments")


def _move(t, key):
    own = t._tl_v.aval.device
    if own == key or own == "traced" or (own == "cpu" and devices.is_loose(key)):
        return t  # a host value goes to where it is used
    if own == "meta":
        raise no_data()
    if "@" in own and own.partition("@")[0] == key.partition(":")[0]:
        return t  # spread over such devices
    return unary(spec_of(OPS["_to_device"], (("device", key),), ("T",)), t)


def _caster(name, dtype):
    def method(self, memory_format=None):
        out = cast(self, dtype() if callable(dtype) and not isinstance(dtype, dtypes.dtype) else dtype)
        return out if memory_format is None else _formatted(self, out, memory_format)

    method.__name__ = name
    return composite(f"Tensor.{name}")(method)


for _name, _dtype in {"double": dtypes.float64, "float": dtypes.float32, "half": dtypes.float16, "bfloat16": dtypes.bfloat16, "long": dtypes.int64,
                      "int": dtypes.int32, "short": dtypes.int16, "char": dtypes.int8, "byte": dtypes.uint8, "bool": dtypes.bool_,
                      "cfloat": dtypes.complex64, "cdouble": dtypes.complex128}.items():
    _caster(_name, _dtype)


@composite("Tensor.type_as")
def type_as(self, other):
    """This tensor in the dtype of another."""
    return cast(self, other.dtype)


@composite("Tensor.cpu")
def cpu(self, memory_format=None):
    """This tensor on the host."""
    out = _move(self, "cpu")
    return out if memory_format is None else _formatted(self, out, memory_format)


@composite("Tensor.cuda")
def cuda(self, device=None, non_blocking=False, memory_format=None):
    """This tensor on a GPU; torch's error where there is none."""
    return _move(self, devices.key_of("cuda" if device is None else devices.device(device)))


LEGACY = {f"torch.{d.char_name}Tensor": d for d in dtypes.DTYPES.values() if not d.is_complex}


@composite("Tensor.type")
def type_(self, dtype=None, non_blocking=False, **kwargs):
    """The legacy type name, or a conversion to a dtype or legacy type."""
    if dtype is None:
        prefix = "" if self.device.type == "cpu" else f"{self.device.type}."
        return f"torch.{prefix}{self.dtype.char_name}Tensor"
    if dtype is Tensor:
        return cast(self, config.default_dtype())
    if getattr(dtype, "is_cuda", False) is True or (isinstance(dtype, str) and dtype.startswith("torch.cuda.")):
        return _on_cuda(self, dtype)
    if isinstance(dtype, str):
        if dtype not in LEGACY:
            raise ValueError(f"invalid type: '{dtype}'")
        if self.is_meta:
            raise no_data()
        dtype = LEGACY[dtype]
    elif not isinstance(dtype, dtypes.dtype):
        if isinstance(dtype, Tensor) or not (isinstance(dtype, type) or hasattr(dtype, "dtype")):
            raise TypeError("dtype must be a type, str, or dtype object")
        if isinstance(dtype, type) and not isinstance(getattr(dtype, "dtype", None), dtypes.dtype):
            raise ValueError(f"invalid type: '{dtype.__name__}'")
        dtype = dtype.dtype
    return cast(self, dtype)


def _on_cuda(self, kind):
    """This tensor as one of `torch.cuda.FloatTensor`, ...; torch's error where there is no device."""
    dtype = _of_cuda(kind)
    if dtype is None:
        raise ValueError(f"invalid type: '{kind}'")
    if not devices.devices_of("cuda"):
        raise RuntimeError(NO_CUDA)
    return cast(_move(self, devices.key_of("cuda")), dtype)


def _of_cuda(kind):
    """The dtype of `torch.cuda.FloatTensor` or its name; None for what is neither."""
    return LEGACY.get(kind.replace("torch.cuda.", "torch.")) if isinstance(kind, str) else kind.dtype


NO_CUDA = ("Cannot initialize CUDA without ATen_cuda library. PyTorch splits its backend into two shared libraries: a CPU library and a CUDA "
            "library; this error "
            "has occurred because you are trying to use some CUDA functionality, but the CUDA library has not been loaded by the dynamic linker for "
            "some reason."
            "  The CUDA library MUST be loaded, EVEN IF you don't directly use any symbols from the CUDA library! One common culprit is a lack of "
            "-Wl,--no-as-needed in your link arguments; many dynamic linkers will delete dynamic library dependencies if you don't depend on any of their "
            "symbols.  You can check if this has occurred by using ldd on your binary to see if there is a dependency on *_cuda.so library.")


@composite("torch.get_default_dtype")
def get_default_dtype():
    """The dtype of float factories."""
    return config.default_dtype()


@composite("torch.set_default_dtype")
def set_default_dtype(d, /):
    """Change the dtype of float factories and of Python floats."""
    if not isinstance(d, dtypes.dtype):
        raise TypeError("invalid dtype object: only floating-point types are supported as the default type")
    if not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    config.set("default_dtype", d)


@composite("torch.set_default_tensor_type")
def set_default_tensor_type(t, /):
    """Legacy spelling of set_default_dtype."""
    say_once("torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and torch.set_default_device() as "
             "alternatives. (Triggered internally at /pytorch/torch/csrc/tensor/python_tensor.cpp:434.)")
    if getattr(t, "is_cuda", False) or (isinstance(t, str) and t.startswith("torch.cuda.")):
        if not devices.devices_of("cuda"):
            raise TypeError(f"type {t if isinstance(t, str) else f'torch.cuda.{t.__name__}'} not available. Torch not compiled with CUDA enabled.")
        set_default_dtype(_of_cuda(t))
        return set_default_device("cuda")
    set_default_dtype(LEGACY[t] if isinstance(t, str) else t.dtype)


@composite("torch.set_default_device")
def set_default_device(device):
    """Change where factories put tensors."""
    config.set("default_device", None if device is None else devices.device(device))


@composite("torch.get_default_device")
def get_default_device():
    """Where factories put tensors."""
    found = config.get("default_device") or devices.CPU
    if found.index is None and found.type not in ("cpu", "meta"):
        return devices.device(devices.key_of(found))
    return found


@composite("Tensor.get_device")
def get_device(self):
    """-1 for the host, otherwise the device's index."""
    return -1 if self.device.type == "cpu" or self.device.index is None else self.device.index


@composite("Tensor.share_memory_")
def share_memory_(self):
    """Itself: memory is not shared with other processes here."""
    belonging.refuse_memory(self._tl_value())
    if self.is_meta:
        raise RuntimeError("_share_fd_: only available on CPU")
    return self


@composite("Tensor.is_shared")
def is_shared(self):
    """False, also after `share_memory_`: memory is not shared with other processes here."""
    belonging.refuse_memory(self._tl_value())
    return False


def _older_cast(word, dtype):
    @composite(f"torch._cast_{word}")
    def convert(input, non_blocking=False):
        """`input` in the dtype of its name; an older spelling of `to`."""
        return cast(input, dtype)

    return convert


for _word, _dtype in {"Byte": dtypes.uint8, "Char": dtypes.int8, "Double": dtypes.float64, "Float": dtypes.float32, "Half": dtypes.float16, "Int": dtypes.int32,
                      "Long": dtypes.int64, "Short": dtypes.int16}.items():
    _older_cast(_word, _dtype)
