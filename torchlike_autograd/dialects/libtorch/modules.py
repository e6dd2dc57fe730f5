"""torch::nn and torch::optim (layer 9): the modules and optimizers of this package with handles.

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = self.register_module("fc", torch.nn.Linear(torch.nn.LinearOptions(2, 1).bias(False)))

        def forward(self, x):
            return torch.relu(self.fc(x))

    optimizer = torch.optim.SGD(Net().parameters(), torch.optim.SGDOptions(0.1).momentum(0.9))
"""

from __future__ import annotations

import types

import torchlike_autograd as _torch

from ..._tensor import Tensor as _Inner
from .handles import KINDS, Options, bare, calling, handle

_Base = _torch.nn.Module


class Holder:
    """A handle of a module of this package."""

    __slots__ = ("_t",)

    def __init__(self, inner):
        self._t = inner

    def get(self):
        """The module of this package."""
        return self._t

    def __call__(self, *args):
        return calling(self._t)(*args)

    forward = __call__

    def __getattr__(self, name):
        found = getattr(self._t, name)
        return calling(found) if callable(found) and not isinstance(found, (_Inner, _Base)) else handle(found)

    def __setattr__(self, name, value):
        if name == "_t":
            object.__setattr__(self, name, value)
        else:
            setattr(self._t, name, bare(value))

    def __getitem__(self, index):
        return handle(self._t[index])

    def __iter__(self):
        return iter([handle(m) for m in self._t])

    def __len__(self):
        return len(self._t)

    size = __len__

    def __repr__(self):
        return repr(self._t)


class Module(_Base):
    """The base of a program's own modules: `forward` takes and returns handles, members are handles."""

    def register_module(self, name, module):
        """Add a child and return it."""
        super().register_module(name, bare(module))
        return module

    def register_parameter(self, name, tensor, requires_grad=True):
        """Add a parameter and return it."""
        super().register_parameter(name, None if bare(tensor) is None else _torch.nn.Parameter(bare(tensor), requires_grad))
        return getattr(self, name)

    def register_buffer(self, name, tensor):
        """Add a buffer and return it."""
        super().register_buffer(name, bare(tensor))
        return tensor

    def parameters(self, recurse=True):
        """The parameters as a list of handles."""
        return handle(super().parameters(recurse))

    def named_parameters(self, *args, **kwargs):
        """Their names too."""
        return handle(super().named_parameters(*args, **kwargs))

    def buffers(self, recurse=True):
        """The buffers as a list of handles."""
        return handle(super().buffers(recurse))

    def __call__(self, *args, **kwargs):
        beneath = any(isinstance(a, _Inner) for a in args)      # called by a module of the package
        out = super().__call__(*map(handle, args), **kwargs)
        return bare(out) if beneath else out

    def __getattr__(self, name):
        return handle(super().__getattr__(name))

    def __setattr__(self, name, value):
        super().__setattr__(name, bare(value))


class _Names(types.ModuleType):
    """A module of this package whose functions and classes take and return handles."""

    def __init__(self, name, of, **own):
        super().__init__(name, of.__doc__)
        vars(self).update(own, _of=of)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        if name.endswith("Options"):
            return Options
        found = getattr(self._of, name)
        if isinstance(found, types.ModuleType):
            return _Names(f"{self.__name__}.{name}", found)
        return calling(found) if callable(found) else found


KINDS.append((_Base, lambda m: m if isinstance(m, Module) else Holder(m)))
nn, optim = _Names("libtorch.nn", _torch.nn, Module=Module), _Names("libtorch.optim", _torch.optim)
fft, linalg, special = (_Names(f"libtorch.{name}", getattr(_torch, name)) for name in ("fft", "linalg", "special"))

__all__ = ["Holder", "Module", "fft", "linalg", "nn", "optim", "special"]
