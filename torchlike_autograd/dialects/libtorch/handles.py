"""Handles of tensors and the options of factories (layer 9): libtorch's `at::Tensor` and `at::TensorOptions`."""

from __future__ import annotations

import operator
import types

import torchlike_autograd as _torch

from ..._tensor import Tensor as _Inner
from ...utils.weak import WeakIdKeyDictionary


class TensorOptions:
    """What factories take: `requires_grad(True)`, `dtype(...)`; without an argument each of these tells what is asked for, None where nothing was said."""

    def __init__(self, **given):
        self.given = given

    def requires_grad(self, *value):
        """The options with gradients asked for or not."""
        return self._with("requires_grad", *value) if value else self.given.get("requires_grad", False)

    def dtype(self, *value):
        """The options with a dtype."""
        return self._with("dtype", *value) if value else self.given.get("dtype")

    def device(self, *value):
        """The options with a device."""
        return self._with("device", *value) if value else self.given.get("device")

    def _with(self, name, value):
        return TensorOptions(**{**self.given, name: value})


def requires_grad(value=True):
    """Options of a tensor that requires grad."""
    return TensorOptions(requires_grad=value)


def dtype(value):
    """Options of a tensor of some dtype."""
    return TensorOptions(dtype=value)


def device(value):
    """Options of a tensor on some device."""
    return TensorOptions(device=value)


TYPES = _torch.dtype, _torch.device  # options by themselves where a factory is given them
_hooks = WeakIdKeyDictionary()  # tensor -> what its hooks are removed by, None for those that were
_METHODS = frozenset(("_base", "_version", "nbytes", "output_nr", "retains_grad"))  # attributes in Python


class Tensor:
    """A handle of a tensor; empty without one."""

    __slots__ = ("_t",)

    def __init__(self, inner=None):
        self._t = inner._t if isinstance(inner, Tensor) else inner

    def get(self):
        """The tensor of this package, or None."""
        return self._t

    def defined(self):
        """Whether there is a tensor."""
        return self._t is not None

    def grad(self):
        """The gradient, undefined where there is none; warns where no backward pass would fill it."""
        return Tensor(_defined(self).grad)

    def requires_grad(self):
        """Whether gradients are asked for; False without a tensor."""
        return self._t is not None and self._t.requires_grad

    def set_requires_grad(self, value):
        """Ask for gradients, or not."""
        _defined(self).requires_grad = value
        return self

    def requires_grad_(self, value=True):
        """Likewise."""
        return self.set_requires_grad(value)

    def is_leaf(self):
        """Whether it has no history."""
        return _defined(self).is_leaf

    def grad_fn(self):
        """The node, or None."""
        return _defined(self).grad_fn

    def sizes(self):
        """The shape as a list."""
        return list(_defined(self).shape)

    def data(self):
        """The contents without history."""
        return Tensor(_defined(self).data)

    tensor_data = variable_data = data

    def set_data(self, new):
        """Take the contents of another tensor."""
        _defined(self).data = bare(new)

    def is_view(self):
        """Whether it shows another tensor's elements."""
        return _defined(self)._is_view()

    def strides(self):
        """The steps in memory as a list."""
        return list(_defined(self).stride())

    def scalar_type(self):
        """The dtype."""
        return _defined(self).dtype

    def options(self):
        """What a factory makes tensors of the same kind with."""
        t = _defined(self)
        return TensorOptions(dtype=t.dtype, device=t.device)

    def name(self):
        """C++'s tensors have none."""
        return ""

    def mutable_grad(self):
        """The gradient, to be written to."""
        return Tensor(_defined(self).grad)

    def reset(self):
        """Let the tensor go: an empty handle."""
        self._t = None

    def is_same(self, other):
        """Whether both are handles of one tensor."""
        return self._t is bare(other)

    def itemsize(self):
        """Bytes of an element."""
        return _defined(self).element_size()

    def item(self, dtype=None):
        """The one element as a number (C++ names its type); of a dtype where one is given."""
        t = _defined(self)
        return (t if dtype is None else t.to(dtype)).item()

    def index(self, indices):
        """The elements at a list of indices, slices among them."""
        return self[_places(indices)]

    def index_put_(self, indices, values, accumulate=False):
        """Write there."""
        if accumulate:
            _defined(self).index_put_(tuple(map(bare, indices)), bare(values), True)
        else:
            self[_places(indices)] = values
        return self

    def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
        """Accumulate gradients; RuntimeError for an empty list of inputs."""
        from .passes import backward  # cycle: passes take handles

        if inputs is not None and not list(inputs):
            raise RuntimeError("'inputs' argument to backward cannot be empty")
        backward([self], [gradient], retain_graph, create_graph, inputs or ())

    def register_hook(self, hook):
        """Call `hook(gradient)` with every gradient that arrives, which it may replace; returns the number for `remove_hook`."""
        t = _defined(self)
        if not t.requires_grad:
            raise RuntimeError("cannot register a hook on a variable that doesn't require gradient")
        held = _hooks.setdefault(t, [])
        held.append(t.register_hook(lambda grad: bare(hook(Tensor(grad)))))
        return len(held) - 1

    def remove_hook(self, pos):
        """Remove a hook by its number; RuntimeError for a number that was not given out."""
        held = _hooks.get(_defined(self), ())
        if not 0 <= pos < len(held):
            raise RuntimeError(f"Invalid index, no hook at position {pos}")
        if held[pos] is not None:
            held[pos].remove()
            held[pos] = None

    def __getattr__(self, name):
        found = getattr(_defined(self), name)
        if name in _METHODS:
            return lambda: handle(found)
        return calling(found) if callable(found) and not isinstance(found, _Inner) else handle(found)

    def __getitem__(self, index):
        return Tensor(_defined(self)[bare(index)])

    def __setitem__(self, index, value):
        _defined(self)[bare(index)] = bare(value)

    def __bool__(self):
        return bool(_defined(self))

    def __float__(self):
        return float(_defined(self))

    def __int__(self):
        return int(_defined(self))

    def __len__(self):
        return len(_defined(self))

    def __repr__(self):
        return "[ Tensor (undefined) ]" if self._t is None else repr(self._t)


def _operator(name):
    f = getattr(operator, name)

    def forward(self, *others):
        return Tensor(f(_defined(self), *map(bare, others)))

    def backward(self, other):
        return Tensor(f(bare(other), _defined(self)))

    return forward, backward


def _written(name):
    f = getattr(operator, name)

    def write(self, other):
        f(_defined(self), bare(other))
        return self

    return write


_TWO_WAYS = ("add", "sub", "mul", "truediv", "matmul", "pow", "mod", "and_", "or_", "xor")
for _name in (*_TWO_WAYS, "neg", "invert", "gt", "ge", "lt", "le", "eq", "ne"):
    _forward, _back = _operator(_name)
    setattr(Tensor, f"__{_name.removesuffix('_')}__", _forward)
    if _name in _TWO_WAYS:
        setattr(Tensor, f"__r{_name.removesuffix('_')}__", _back)
    if _name in ("add", "sub", "mul", "truediv"):
        setattr(Tensor, f"__i{_name}__", _written(f"i{_name}"))
Tensor.__hash__ = object.__hash__


def _defined(given):
    if given is None or given._t is None:
        raise RuntimeError("cannot call a method of an undefined tensor")
    return given._t


def _places(indices):
    words = {"...": Ellipsis}
    return tuple(words.get(i, i) if isinstance(i, str) else i for i in indices)


KINDS = []  # (class of this package, what makes a handle of one of it): other handles than those of tensors, whose `_t` is the object


def bare(x):
    """What handles stand for, in lists too."""
    if hasattr(type(x), "_t"):
        return x._t
    return type(x)(map(bare, x)) if type(x) in (list, tuple) else x


def handle(x):
    """Handles of tensors, in lists too; a named tuple is a tuple, a generator a list."""
    if isinstance(x, _Inner):
        return Tensor(x)
    for kind, of in KINDS:
        if isinstance(x, kind):
            return of(x)
    if isinstance(x, tuple) and any(isinstance(t, _Inner) for t in x):
        return tuple(map(handle, x))
    return list(map(handle, x)) if type(x) is types.GeneratorType else type(x)(map(handle, x)) if type(x) in (list, tuple) else x


class Options:
    """Arguments under C++'s names: `LinearOptions(3, 4).bias(False)`."""

    def __init__(self, *args):
        self._args, self._given = args, {}

    def __getattr__(self, name):
        return lambda value: self._given.update({name: value}) or self


_FACTORIES = frozenset(("arange", "empty", "empty_strided", "eye", "full", "linspace", "logspace", "ones", "rand", "randint", "randn", "randperm", "range",
                        "tensor", "zeros"))


def calling(f):
    """A function of this package that takes and returns handles, and options among its arguments."""
    name = getattr(f, "__name__", "")
    factory = name in _FACTORIES or name.startswith("new_") or name.endswith("_like")

    def call(*args, **kwargs):
        options = {}
        plain = []
        for a in args:
            if isinstance(a, TensorOptions):
                options.update(a.given)
            elif isinstance(a, Options):
                plain += map(bare, a._args)
                options.update(a._given)
            elif factory and isinstance(a, TYPES):
                options["device" if isinstance(a, TYPES[1]) else "dtype"] = a
            else:
                plain.append(bare(a))
        return handle(f(*plain, **{k: bare(v) for k, v in kwargs.items()}, **options))

    return call


__all__ = ["Options", "Tensor", "TensorOptions", "bare", "calling", "device", "dtype", "handle", "requires_grad"]
