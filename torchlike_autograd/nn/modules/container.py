"""torch.nn.modules.container (layer 8): modules and parameters in sequences and dicts."""

from __future__ import annotations

import collections.abc
import operator
from collections import OrderedDict
from itertools import islice

from ..._core.saying import warn
from ..._tensor import Tensor
from ..parameter import Parameter
from ._names import typename
from .module import Module, _addindent

__all__ = ["Container", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


class Container(Module):
    """Deprecated: modules by keyword."""

    def __init__(self, **kwargs):
        super().__init__()
        warn("`nn.Container` is deprecated. All of its functionality is now implemented in `nn.Module`. Subclass that instead.", FutureWarning)
        for key, value in kwargs.items():
            self.add_module(key, value)


def _place(index, size):
    """An index counted from the front."""
    index = operator.index(index)
    if not -size <= index < size:
        raise IndexError(f"index {index} is out of range")
    return index % size


class _Numbered(Module):
    """Modules under the names "0", "1", ..."""

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __dir__(self):
        return [n for n in super().__dir__() if not n.isdigit()]


def _rename(numbered):
    """Number the modules anew."""
    numbered._modules = {str(i): m for i, m in enumerate(numbered._modules.values())}


def _times(modules, n):
    if not isinstance(n, int):
        raise TypeError(f"unsupported operand type(s) for *: {type(modules)} and {type(n)}")
    if n <= 0:
        raise ValueError(f"Non-positive multiplication factor {n} for {type(modules)}")
    return [m for _ in range(n) for m in modules]


class Sequential(_Numbered):
    """Each module gets what the one before gives."""

    def __init__(self, *args):
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for i, module in enumerate(args):
                self.add_module(str(i), module)

    def forward(self, input):
        for module in self:
            input = module(input)
        return input

    def _get_item_by_idx(self, iterator, idx):
        """The item of an iterator at the place of a module."""
        return next(islice(iterator, _place(idx, len(self)), None))

    def __getitem__(self, idx):
        if isinstance(idx, slice):
            return self.__class__(OrderedDict(list(self._modules.items())[idx]))
        return self._get_item_by_idx(self._modules.values(), idx)

    def __setitem__(self, idx, module):
        setattr(self, self._get_item_by_idx(self._modules.keys(), idx), module)

    def __delitem__(self, idx):
        names = list(self._modules)[idx] if isinstance(idx, slice) else [self._get_item_by_idx(self._modules.keys(), idx)]
        for name in names:
            delattr(self, name)
        _rename(self)

    def __add__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return Sequential(*self, *other)

    def __iadd__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return self.extend(list(other))

    def __mul__(self, other):
        return Sequential(*_times(self, other))

    def __rmul__(self, other):
        return self.__mul__(other)

    def __imul__(self, other):
        return self.extend(_times(self, other)[len(self):])

    def pop(self, key):
        """Remove the module at a place and return it."""
        found = self[key]
        del self[key]
        return found

    def append(self, module):
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index, module):
        """Add a module before a place."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        n = len(self)
        if not -n <= index <= n:
            raise IndexError(f"Index out of range: {index}")
        modules = list(self._modules.values())
        modules.insert(index + n if index < 0 else index, module)
        self._modules = {str(i): m for i, m in enumerate(modules)}
        return self

    def extend(self, sequential):
        """Add several modules at the end."""
        for module in sequential:
            self.append(module)
        return self


class ModuleList(_Numbered):
    """A list of modules that its owner knows of."""

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self += modules

    def _get_abs_string_index(self, idx):
        """The name at a place."""
        return str(_place(idx, len(self)))

    def __getitem__(self, idx):
        if isinstance(idx, slice):
            return self.__class__(list(self._modules.values())[idx])
        return self._modules[self._get_abs_string_index(idx)]

    def __setitem__(self, idx, module):
        setattr(self, self._get_abs_string_index(idx), module)

    def __delitem__(self, idx):
        for name in map(str, range(len(self))[idx]) if isinstance(idx, slice) else [self._get_abs_string_index(idx)]:
            delattr(self, name)
        _rename(self)

    def __iadd__(self, modules):
        return self.extend(modules)

    def __add__(self, other):
        return self.__class__([*self, *other])

    def insert(self, index, module):
        """Add a module before a place."""
        for i in range(len(self._modules), index, -1):
            self._modules[str(i)] = self._modules[str(i - 1)]
        self._modules[str(index)] = module

    def append(self, module):
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def pop(self, key):
        """Remove the module at a place and return it."""
        found = self[key]
        del self[key]
        return found

    def extend(self, modules):
        """Add several modules at the end."""
        if not isinstance(modules, collections.abc.Iterable):
            raise TypeError(f"ModuleList.extend should be called with an iterable, but got {type(modules).__name__}")
        start = len(self)
        for i, module in enumerate(modules):
            self.add_module(str(start + i), module)
        return self

    def __repr__(self):
        runs = []
        for i, text in enumerate(map(repr, self)):
            if runs and runs[-1][2] == text:
                runs[-1][1] = i
            else:
                runs.append([i, i, text])
        if not runs:
            return f"{self._get_name()}()"
        lines = [f"({a}): {_addindent(t, 2)}" if a == b else f"({a}-{b}): {b - a + 1} x {_addindent(t, 2)}" for a, b, t in runs]
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


def _pairs(given, kind, said=None):
    """The (key, value) pairs of anything that a dict can be updated with; torch's words for what cannot be."""
    if not isinstance(given, collections.abc.Iterable):
        raise TypeError(f"{said or kind}.update should be called with an iterable of key/value pairs, but got {type(given).__name__}")
    if isinstance(given, (ModuleDict, ParameterDict, collections.abc.Mapping)):
        return list(given.items())
    out = []
    for i, pair in enumerate(given):
        if not isinstance(pair, collections.abc.Iterable):
            raise TypeError(f"{kind} update sequence element #{i} should be Iterable; is{type(pair).__name__}")
        if len(pair) != 2:
            raise ValueError(f"{kind} update sequence element #{i} has length {len(pair)}; 2 is required")
        out.append((pair[0], pair[1]))
    return out


class ModuleDict(Module):
    """A dict of modules that its owner knows of."""

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key):
        return self._modules[key]

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def __delitem__(self, key):
        del self._modules[key]

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def __contains__(self, key):
        return key in self._modules

    def clear(self):
        """Remove everything."""
        self._modules.clear()

    def pop(self, key):
        """Remove a key and return its module."""
        found = self[key]
        del self[key]
        return found

    def keys(self):
        """The keys."""
        return self._modules.keys()

    def items(self):
        """The pairs."""
        return self._modules.items()

    def values(self):
        """The modules."""
        return self._modules.values()

    def update(self, modules):
        """Add pairs, or those of a dict."""
        for key, module in _pairs(modules, "ModuleDict"):
            self[key] = module


def _described(value, dtype):
    """What a container of parameters says of one value."""
    if not isinstance(value, Tensor):
        return f"Object of type: {type(value).__name__}"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    return f"{kind} containing: [{dtype(value)} of size {'x'.join(str(s) for s in value.size())}]"


class ParameterList(Module):
    """A list of parameters (and of anything else) that its owner knows of; tensors become parameters."""

    def __init__(self, values=None):
        super().__init__()
        self._size = 0
        if values is not None:
            self += values

    def _get_abs_string_index(self, idx):
        """The name at a place."""
        return str(_place(idx, len(self)))

    def __getitem__(self, idx):
        if isinstance(idx, slice):
            return self.__class__([self[i] for i in range(len(self))[idx]])
        return getattr(self, self._get_abs_string_index(idx))

    def __setitem__(self, idx, param):
        name = self._get_abs_string_index(idx)
        if isinstance(param, Tensor) and not isinstance(param, Parameter):
            param = Parameter(param)
        setattr(self, name, param)

    def __len__(self):
        return self._size

    def __iter__(self):
        return iter([self[i] for i in range(len(self))])

    def __iadd__(self, parameters):
        return self.extend(parameters)

    def __dir__(self):
        return [n for n in super().__dir__() if not n.isdigit()]

    def append(self, value):
        """Add a value at the end."""
        self._size += 1
        self[len(self) - 1] = value
        return self

    def extend(self, values):
        """Add several values at the end."""
        if not isinstance(values, collections.abc.Iterable) or isinstance(values, Tensor):
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}")
        for value in values:
            self.append(value)
        return self

    def __call__(self, *args, **kwargs):
        raise RuntimeError("ParameterList should not be called.")

    def extra_repr(self):
        """What it holds, a line each."""
        return "\n".join(f"  ({i}): {_described(v, lambda t: t.dtype)}" for i, v in enumerate(self))


class ParameterDict(Module):
    """A dict of parameters (and of anything else) that its owner knows of; tensors become parameters."""

    def __init__(self, parameters=None):
        super().__init__()
        self._keys = {}
        if parameters is not None:
            self.update(parameters)

    def _key_to_attr(self, key):
        if not isinstance(key, str):
            raise TypeError("Index given to ParameterDict cannot be used as a key as it is not a string (type is "
                            f"'{type(key).__name__}'). Open an issue on github if you need non-string keys.")
        return key

    def __getitem__(self, key):
        return getattr(self, self._key_to_attr(key))

    def __setitem__(self, key, value):
        self._keys[key] = None  # before it is refused, as in torch
        name = self._key_to_attr(key)
        if isinstance(value, Tensor) and not isinstance(value, Parameter):
            value = Parameter(value)
        setattr(self, name, value)

    def __delitem__(self, key):
        del self._keys[key]
        delattr(self, self._key_to_attr(key))

    def __len__(self):
        return len(self._keys)

    def __iter__(self):
        return iter(self._keys)

    def __reversed__(self):
        return reversed(list(self._keys))

    def __contains__(self, key):
        return key in self._keys

    def copy(self):
        """Another dict of the same values."""
        return ParameterDict(OrderedDict((k, self[k]) for k in self._keys))

    def setdefault(self, key, default=None):
        """The value of a key, which is set where it is not there."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self):
        """Remove everything."""
        for k in self._keys.copy():
            del self[k]

    def pop(self, key):
        """Remove a key and return its value."""
        found = self[key]
        del self[key]
        return found

    def popitem(self):
        """Remove the last pair and return it."""
        key, _ = self._keys.popitem()
        self._keys[key] = None
        found = self[key]
        del self[key]
        return key, found

    def get(self, key, default=None):
        """The value of a key, or a default."""
        return self[key] if key in self else default  # noqa: SIM401 - this is `get`

    def fromkeys(self, keys, default=None):
        """A dict with one value for several keys."""
        return ParameterDict((k, default) for k in keys)

    def keys(self):
        """The keys."""
        return self._keys.keys()

    def items(self):
        """The pairs."""
        return ((k, self[k]) for k in self._keys)

    def values(self):
        """The values."""
        return (self[k] for k in self._keys)

    def update(self, parameters):
        """Add pairs, or those of a dict (a plain one in the order of its keys)."""
        pairs = _pairs(parameters, "ParameterDict", "ParametersDict")
        if isinstance(parameters, collections.abc.Mapping) and not isinstance(parameters, OrderedDict):
            pairs = sorted(pairs)
        for key, value in pairs:
            self[key] = value

    def __call__(self, input):
        raise RuntimeError("ParameterDict should not be called.")

    def __or__(self, other):
        out = self.copy()
        out.update(other)
        return out

    def __ror__(self, other):
        out = other.copy()
        out.update(self)
        return out

    def __ior__(self, other):
        self.update(other)
        return self

    def extra_repr(self):
        """What it holds, a line each."""
        return "\n".join(f"  ({k}): {_described(v, typename)}" for k, v in self.items())
