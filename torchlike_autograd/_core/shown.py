"""How public classes print (layer 0): under the names that they have in torch, so that ``print(type(x))`` says what it says there."""

from __future__ import annotations

_PACKAGE = __name__.partition(".")[0]


class Shown(type):
    """The metaclass of public classes."""

    def __repr__(cls):
        package, *path = cls.__module__.split(".")
        if package != _PACKAGE:
            return type.__repr__(cls)
        public = [] if any(part.startswith("_") for part in path) else path
        return f"<class '{'.'.join(['torch', *public, cls.__qualname__])}'>"


__all__ = ["Shown"]
