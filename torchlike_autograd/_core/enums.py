"""Enumerations as PyTorch's C++ makes them (layer 0): classes whose members have a name and a value, compare by value within their class, and are true."""

from __future__ import annotations


class Enumeration:
    """What such classes have in common."""

    __members__: dict = {}

    def __new__(cls, value):
        found = next((m for m in cls.__members__.values() if m._tl_value == value), None)
        return found if found is not None else cls._made(None, value)

    @classmethod
    def _made(cls, name, value):
        self = object.__new__(cls)
        self._name, self._tl_value = name, value
        return self

    @property
    def name(self):
        """Its name."""
        return "???" if self._name is None else self._name

    @property
    def value(self):
        """Its number."""
        return self._tl_value

    def __int__(self):
        return self._tl_value

    __index__ = __hash__ = __int__

    def __eq__(self, other):
        return type(self) is type(other) and self._tl_value == other._tl_value

    def __repr__(self):
        return f"<{type(self).__name__}.{self.name}: {self._tl_value}>"

    def __str__(self):
        return f"{type(self).__name__}.{self.name}"

    def __reduce__(self):
        return type(self), (self._tl_value,)


def enumeration(name, module, members, doc):
    """A class with `members`, a dictionary of names and numbers."""
    cls = type(name, (Enumeration,), {"__module__": module, "__doc__": doc, "__members__": {}})
    for n, value in members.items():
        cls.__members__[n] = cls._made(n, value)
        setattr(cls, n, cls.__members__[n])
    return cls


__all__ = ["Enumeration", "enumeration"]
