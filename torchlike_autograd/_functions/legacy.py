"""Legacy constructors (layer 7): `torch.Tensor(2, 3)`, `torch.FloatTensor([1.0])` and their kin, `Tensor.new`."""

from __future__ import annotations

import operator

import numpy as np

from .._core import config, devices, dtypes
from .._core.composite import COMPOSITES, composite, named
from .._core.errors import expected_options, only_float_requires_grad
from .._core.layouts import strided
from .._core.state import copy_state
from .._core.state import new as blank
from .._core.words import type_name
from .._tensor import Tensor
from .convert import LEGACY
from .create import _put, filled, unset
from .data import _is_sequence, from_data, say_data_type
from .inplace import set_
from .storages import TypedStorage, UntypedStorage

_alias = named("alias")


def _new(dtype, args, kwargs, only=None, kind="cpu"):
    """A tensor of `dtype` from sizes, data or another tensor (whose dtype must be `only` where that is given); a device is refused that is not of this kind."""
    asked = kwargs.get("device")
    if isinstance(asked, (str, int, devices.device)) and (found := devices.device(asked).type) != kind:
        raise RuntimeError(f"legacy constructor expects device type: {kind} but device type: {found} was passed")
    kwargs = {k: v for k, v in kwargs.items() if k != "device"}
    if "size" in kwargs:
        return filled(_sizes(kwargs["size"]), unset(dtype), dtype)
    unknown = [k for k in kwargs if k not in ("data", "other")]
    if unknown or (len(args) + len(kwargs) > 1 and not all(_is_size(a) for a in args)):
        return _refuse(args, kwargs)
    if not args and not kwargs:
        return filled((0,), 0, dtype)
    x = args[0] if args else next(iter(kwargs.values()))
    if isinstance(x, Tensor):
        if only is not None and x.dtype is not only:
            raise expected_options(only, x.dtype)
        return _alias(x)
    if _is_size(x):
        return filled(_sizes(args), unset(dtype), dtype)
    if isinstance(x, TypedStorage) and x.dtype is not dtype:
        raise RuntimeError(f"Expected a Storage of type {dtype.char_name} or an UntypedStorage, but got type {x.dtype.char_name} for argument 1 'storage'")
    if isinstance(x, (TypedStorage, UntypedStorage)):
        return set_(filled((0,), 0, dtype), x)
    if type(x).__name__ == "Size":
        return filled(tuple(x), unset(dtype), dtype)
    return _from_data(x, dtype)


def _from_data(x, dtype):
    say_data_type(x)
    if not _is_sequence(x):
        kind = type(x)
        raise TypeError(f"new(): data must be a sequence (got {f'numpy.{kind.__name__}' if kind.__module__ == 'numpy' else kind.__name__})")
    return from_data(x, dtype, copy=False)


def _is_size(x):
    return isinstance(x, (int, np.integer)) and not isinstance(x, bool)


def _sizes(args):
    for i, n in enumerate(args):
        if not _is_size(n):
            raise TypeError(f"new(): argument 'size' failed to unpack the object at pos {i + 1} with error \"type must be tuple of ints,but got "
                            f"{type(n).__name__}\"")
    out = tuple(operator.index(n) for n in args)
    if any(n < 0 for n in out):
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(out)}: {list(out)}")
    return out


_OPTIONS = ("(*, torch.device device = None)", "(torch.Storage storage)", "(Tensor other)", "(tuple of ints size, *, torch.device device = None)",
            "(object data, *, torch.device device = None)")


def _refuse(args, kwargs):
    from .._core import words

    if args and _is_size(args[0]):
        _sizes(args)
    raise words.complaint("new", True, [words.Signature(s) for s in _OPTIONS], args, kwargs) or TypeError("new() received an invalid combination of arguments")


def construct(cls, args, kwargs):
    """`Tensor(...)` and subclasses that do not define `__new__`."""
    t = _new(config.default_dtype(), args, kwargs)
    return t if cls is Tensor else _in_class(t, cls)


@composite("torch._assert_async")
def _assert_async(input, assert_msg="Expected Tensor with single nonzero value, but got zero"):
    """RuntimeError where the one value is zero (looked at here and now)."""
    if not bool(input):
        raise RuntimeError(assert_msg)


@composite("torch.detach")
def detach(input):
    """`input.detach()`."""
    return Tensor.detach(input)


@composite("torch.detach_")
def detach_(input):
    """`input.detach_()`."""
    return Tensor.detach_(input)


def _refuse_dispatch(cls):
    """A class that wants to hear of operators below autograd would not be asked."""
    if getattr(cls, "__torch_dispatch__", None) is not None:
        raise NotImplementedError(f"{cls.__name__}.__torch_dispatch__: tensors of a class that has one are not there; its __torch_function__ is asked, and so "
                                  "is a torch.utils._python_dispatch.TorchDispatchMode")


@composite("Tensor.as_subclass")
def as_subclass(self, cls):
    """An alias of this tensor in another class.  Raises NotImplementedError for one with `__torch_dispatch__`."""
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        if not isinstance(cls, type):
            raise TypeError(f"cls must be a type (got {type(cls).__name__})")
        raise TypeError("Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make sure your class inherits from Tensor.")
    return _in_class(_alias(self), cls)


def _in_class(t, cls):
    """A fresh tensor in another class."""
    _refuse_dispatch(cls)
    out = blank(cls)
    copy_state(t, out)
    return out


@composite("Tensor._make_subclass")
def make_subclass(cls, data, require_grad=False):
    """A leaf of class `cls` over the memory of `data`, without its history."""
    if not isinstance(cls, type):
        raise TypeError(f"cls must be a type (got {type(cls).__name__})")
    if not isinstance(data, Tensor):
        raise TypeError(f"_make_subclass(): argument 'data' (position 2) must be Tensor, not {type_name(data)}")
    if type(require_grad) is not bool:
        raise TypeError(f"_make_subclass(): argument 'require_grad' (position 3) must be bool, not {type(require_grad).__name__}")
    if not issubclass(cls, Tensor):
        raise TypeError("Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make sure your class inherits from Tensor.")
    if require_grad and data.dtype.category < dtypes.FLOAT:
        raise only_float_requires_grad()
    _refuse_dispatch(cls)
    out = blank(cls)
    copy_state(Tensor.detach(data), out)  # the class is not asked
    return out._tl_ask(True) if require_grad else out


class tensortype(type):
    """The type of `torch.FloatTensor`, ...: whatever has the dtype is an instance."""

    __module__ = "torch"
    is_xpu = False

    def __new__(mcls, name, bases, members):
        if bases:
            raise TypeError(f"type '{bases[0].__module__}.{bases[0].__name__}' is not an acceptable base type")
        return super().__new__(mcls, name, bases, members)

    def __call__(cls, *args, **kwargs):
        return _new(cls.dtype, args, kwargs, cls.dtype)

    def __instancecheck__(cls, x):
        return isinstance(x, Tensor) and x.dtype is cls.dtype and x._tl_v.aval.device == "cpu" and not x.is_sparse


for _name, _kind in LEGACY.items():
    if _kind not in (dtypes.uint16, dtypes.uint32, dtypes.uint64):
        _short = _name.removeprefix("torch.")
        COMPOSITES[_name] = tensortype(_short, (), {"dtype": _kind, "is_cuda": False, "is_sparse": False, "layout": strided, "__module__": "torch"})


class cudatype(tensortype):
    """The type of `torch.cuda.FloatTensor`, ...: its tensors live on the current CUDA device; without one it makes none."""

    def __call__(cls, *args, **kwargs):
        if not devices.devices_of("cuda"):
            raise TypeError(f"type torch.cuda.{cls.__name__} not available. Torch not compiled with CUDA enabled.")
        return _new(cls.dtype, args, kwargs, kind="cuda").to("cuda", cls.dtype)

    def __instancecheck__(cls, x):
        return isinstance(x, Tensor) and x.dtype is cls.dtype and x.is_cuda


CUDA_TYPES = {_n: cudatype(_n, (), {"dtype": LEGACY[f"torch.{_n}"], "is_cuda": True, "is_sparse": False, "layout": strided, "__module__": "torch.cuda"})
              for _n in ("BFloat16Tensor", "BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor", "IntTensor", "LongTensor",
                         "ShortTensor")}


@composite("Tensor.new")
def new(self, *args, **kwargs):
    """The legacy constructor with this tensor's dtype, on its device."""
    return _put(_new(self.dtype, args, kwargs, self.dtype, self.device.type), self._tl_v.aval.device, False)
