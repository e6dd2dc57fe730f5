"""torch.nn.parameter (layer 8): tensors that modules count among their parameters or buffers, and those whose shape is not known yet."""

from __future__ import annotations

import jax
import numpy as np

from .._core import config, devices, donation, dtypes, errors, record
from .._core.hot import PLAIN
from .._core.overriding import disabled_impl
from .._core.state import copy_state, user_fields
from .._core.storage import peek
from .._tensor import Tensor, TensorMeta, _new, from_array, wrap
from .._tensor_members import _has_compatible_shallow_copy_type

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "UninitializedTensorMixin", "is_lazy"]


def _copied(t):
    """A copy of a tensor's data, made at once where that is there: no part of the first training step, which would differ from the others."""
    v = peek(t)
    there = isinstance(v.array, (np.ndarray, jax.Array)) and not isinstance(v.array, jax.core.Tracer)
    if not there or t._tl_laid is not None or t._tl_view is not None or record.thread.state.inference:
        return t.clone()
    copy = v.array.copy() if isinstance(v.array, np.ndarray) else donation.spare(v.array)  # JAX would make 32-bit numbers of NumPy's
    return wrap(record.data(copy, v.aval.dtype, device=v.aval.device))


class _ParameterMeta(TensorMeta):
    """Counts tensors of other classes that are marked as parameters."""

    def __instancecheck__(cls, instance):
        return type.__instancecheck__(cls, instance) or (cls is Parameter and isinstance(instance, Tensor) and getattr(instance, "_is_param", False))


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A leaf tensor that requires grad by default and shares the storage of `data`."""

    _is_param = True
    __torch_function__ = disabled_impl

    def __new__(cls, data=None, requires_grad=True):
        from .._functions.create import filled

        source = filled((0,), 0, config.default_dtype()) if data is None else data
        base = source.detach()
        if type(requires_grad) is not bool:
            raise TypeError(f"_make_subclass(): argument 'require_grad' (position 3) must be bool, not {type(requires_grad).__name__}")
        if requires_grad and base.dtype.category < dtypes.FLOAT:
            raise errors.only_float_requires_grad()
        if type(base) is not type(source) and type(source) not in PLAIN and not isinstance(source, Parameter):
            raise RuntimeError(
                f"Creating a Parameter from an instance of type {type(source).__name__} requires that detach() returns an instance of the same type, but "
                f"return type {type(base).__name__} was found instead. To use the type as a Parameter, please correct the detach() semantics defined by its "
                "__torch_dispatch__() implementation.")
        if type(base) not in PLAIN:  # stays of its class, marked as a parameter
            base._is_param = True
            return base.requires_grad_(requires_grad)
        self = _new(cls)
        copy_state(base, self)
        if requires_grad:
            self._tl_ask(True)
        return self

    def __deepcopy__(self, memo):
        """A Parameter of a copy of the data: gradients, hooks and attributes stay behind."""
        if id(self) not in memo:
            memo[id(self)] = type(self)(_copied(self.data), self.requires_grad)
        return memo[id(self)]

    def __reduce_ex__(self, protocol):
        """What is unpickled is a Parameter, also from a class derived from it, with the attributes that the program gave it."""
        writer = record.thread.state.extra.get("writer")
        if writer is not None:
            return writer.parts_of(self)
        state = user_fields(self)
        return (_rebuilt_with_state, (self.detach(), self.requires_grad, state)) if state else (_rebuilt, (self.detach(), self.requires_grad))


def _rebuilt(data, requires_grad):
    return Parameter(data, requires_grad)


def _rebuilt_with_state(data, requires_grad, state):
    out = Parameter(data, requires_grad)
    out.__dict__.update(state)
    return out


PLAIN.add(Parameter)


class _BufferMeta(TensorMeta):
    """A buffer is any tensor that is marked as one."""

    def __instancecheck__(cls, instance):
        return type.__instancecheck__(cls, instance) or (cls is Buffer and isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False))


class Buffer(Tensor, metaclass=_BufferMeta):
    """`Buffer(data)` is a tensor over the same storage that modules take for a buffer when it is assigned to them."""

    def __new__(cls, data=None, *, persistent=True):
        from .._functions.create import filled

        source = filled((0,), 0, config.default_dtype()) if data is None else data
        t = source.detach().requires_grad_(source.requires_grad)
        t.persistent, t._is_buffer = persistent, True
        return t


# Without a shape

_UNKNOWN = ("Attempted to use an uninitialized parameter in {}. This error happens when you are using a `LazyModule` or explicitly manipulating "
            "`torch.nn.parameter.{}` objects. When using LazyModules Call `forward` with a dummy batch to initialize the parameters before calling "
            "torch functions")


class UninitializedTensorMixin:
    """What parameters and buffers without a shape have in common."""

    _allowed_methods = [getattr(Tensor, name) for name in (
        "__hash__", "size", "copy_", "is_complex", "is_floating_point", "half", "float", "double", "char", "short", "int", "long", "cuda", "cpu", "to",
        "get_device")] + [_has_compatible_shallow_copy_type]

    def materialize(self, shape, device=None, dtype=None):
        """Become an ordinary tensor of a shape, with unspecified values."""
        from .. import empty

        new = empty(shape, device=device if device is not None else self.device, dtype=dtype or self.dtype)
        self.__class__ = self.cls_to_become
        needs = self.requires_grad
        if needs:
            Tensor.requires_grad_(self, False)
        self.data = new
        if needs:
            Tensor.requires_grad_(self)

    @property
    def data(self):
        return self.to(self.dtype)

    @data.setter
    def data(self, new):
        Tensor.data.fset(self, new)

    @property
    def shape(self):
        raise RuntimeError("Can't access the shape of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` when trying to "
                           "load an uninitialized parameter into an initialized one. Call `forward` to initialize the parameters before accessing their "
                           "attributes.")

    def share_memory_(self):
        raise RuntimeError("Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters before calling "
                           "`module.share_memory()`.")

    def __repr__(self):
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, proto):
        return _again, (type(self), self.requires_grad, str(self.device), self.dtype.name)

    def to(self, *args, **kwargs):
        from .. import empty

        return self._tl_like(empty(0, dtype=self.dtype, device=self.device).to(*args, **kwargs))

    def _tl_like(self, other):
        """What has the dtype and device of another one, to be taken over by `data`."""
        return other

    def _of(dtype):
        return lambda self: self.to(dtype)

    half, float, double = _of(dtypes.float16), _of(dtypes.float32), _of(dtypes.float64)
    del _of

    def cpu(self):
        return self

    def cuda(self, device=None):
        devices.key_of("cuda")
        return self


def _again(cls, requires_grad, device, dtype):
    return cls(requires_grad, device, dtypes.DTYPES[dtype])


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter whose shape is not known yet."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        return _empty(cls, requires_grad, device, dtype)

    def __init__(self, requires_grad=True, device=None, dtype=None):
        pass

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.device, self.dtype)
        return memo[id(self)]


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer whose shape is not known yet."""

    cls_to_become = Tensor

    def __new__(cls, requires_grad=False, device=None, dtype=None, persistent=True):
        self = _empty(cls, requires_grad, device, dtype)
        self.persistent, self._is_buffer = persistent, True
        return self

    def _tl_like(self, other):
        return _empty(type(self), self.requires_grad, other.device, other.dtype)

    def __deepcopy__(self, memo):
        raise ValueError(_UNKNOWN.format(_shown(Tensor.__deepcopy__), type(self).__name__))


@classmethod
def _refusing(cls, func, types, args=(), kwargs=None):
    """`__torch_function__` of what has no shape: what needs one is refused, all that Tensor has as a property is not."""
    if func in cls._allowed_methods or type(func).__name__ == "method-wrapper":
        return Tensor.__torch_function__.__func__(cls, func, types, args, kwargs or {})
    raise ValueError(_UNKNOWN.format(_shown(func), cls.__name__))


def _shown(func):
    """How torch prints a function: Tensor's are methods of C, or of Python where their names have underscores."""
    name = getattr(func, "__name__", "")
    if getattr(Tensor, name, None) is not func:
        return func
    return f"<function Tensor.{name} at {hex(id(func))}>" if name.startswith("__") else f"<method '{name}' of 'torch._C.TensorBase' objects>"


def _empty(cls, requires_grad, device, dtype):
    if not vars(cls).get("_tl_asked"):  # only from the first one on: programs without any are not to look at the arguments of all calls
        cls._tl_asked = True
        cls.__torch_function__ = _refusing
    dtype = dtype or config.default_dtype()
    self = _new(cls)
    copy_state(from_array(np.zeros(0, dtype.np), dtype, device=devices.key_of(device)), self)
    if requires_grad:
        Tensor.requires_grad_(self)
    return self




def is_lazy(param):
    """Whether a parameter or buffer has no shape yet."""
    return isinstance(param, UninitializedTensorMixin)
