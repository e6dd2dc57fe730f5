"""How public classes print (layer 0): under the names that they have in torch, so that ``print(type(x))`` says what it says there."""

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


__all__ = ["Shown"]
