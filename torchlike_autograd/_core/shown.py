"""Metaclasses (layer 0): public classes print under the names that they have in torch, so that ``print(type(x))`` says what it says there."""

from __future__ import annotations

import abc

_PACKAGE = __name__.partition(".")[0]


class Shown(abc.ABCMeta):
    """The metaclass of public classes: one that `class Net(torch.nn.Module, abc.ABC)` may be made with."""

    __instancecheck__ = type.__instancecheck__  # as fast as without abstract classes
    __subclasscheck__ = type.__subclasscheck__

    def __repr__(cls):
        package, *path = cls.__module__.split(".")
        if package != _PACKAGE:
            return type.__repr__(cls)
        public = [] if any(part.startswith("_") for part in path) else path
        return f"<class '{'.'.join(['torch', *public, cls.__qualname__])}'>"


ORDERS: list = []  # f(class made from Tensor, its order of classes) -> that order


class TensorMeta(Shown):
    """`isinstance(x, torch.Tensor)` by the usual rules; subclasses are prepared for `__torch_function__` when they are made."""

    def mro(cls):
        """The order in which attributes are looked for."""
        out = super().mro()
        for f in ORDERS:
            out = f(cls, out)
        return out

    def __setattr__(cls, name, value):
        super().__setattr__(name, value)
        if name == "__torch_function__":
            cls.__bases__ = cls.__bases__  # the order is made again, those of its subclasses too: from now on it may be asked

    def __delattr__(cls, name):
        super().__delattr__(name)
        if name == "__torch_function__":
            cls.__bases__ = cls.__bases__


__all__ = ["ORDERS", "Shown", "TensorMeta"]
