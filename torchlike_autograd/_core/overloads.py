"""Operators as objects (layer 6): `torch.ops.aten.mm.default` and its like, one object each, for policies and for calling by name."""

from __future__ import annotations

from .._ops.registry import OPS
from . import publish

_made: dict = {}
_packets: dict = {}


class OpOverload:
    """One overload of an operator."""

    def __init__(self, packet, name):
        self._packet, self._overloadname = packet, name
        self.__name__ = f"{packet.__name__}.{name}"
        self.__module__ = "torch._ops.aten"

    @property
    def overloadpacket(self):
        """All overloads of this name."""
        return self._packet

    def name(self):
        """As a schema has it."""
        return f"aten::{self._packet.__name__}" + ("" if self._overloadname == "default" else f".{self._overloadname}")

    def __call__(self, *args, **kwargs):
        return self._packet(*args, **kwargs)

    def __str__(self):
        return f"aten.{self.__name__}"

    def __repr__(self):
        return f"<OpOverload(op='aten.{self._packet.__name__}', overload='{self._overloadname}')>"


class OpOverloadPacket:
    """An operator by its name."""

    def __init__(self, name):
        self.__name__, self.__module__ = name, "torch._ops.aten"

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        found = overload(f"{self.__name__}" if name == "default" else f"{self.__name__}.{name}")
        if found is None:
            raise AttributeError(f"The underlying op of 'aten.{self.__name__}' has no overload name '{name}'")
        return found

    def overloads(self):
        """The names of those that there are."""
        return [n.partition(".")[2] or "default" for n in OPS if n.partition(".")[0] == self.__name__]

    def __call__(self, *args, **kwargs):
        table = publish.load_all()
        f = table.get(f"torch.{self.__name__}") or table.get(f"torch.nn.functional.{self.__name__}") or table.get(f"Tensor.{self.__name__}")
        if f is None:
            raise NotImplementedError(f"torch.ops.aten.{self.__name__} as a function")
        return f(*args, **kwargs)

    def __str__(self):
        return f"aten.{self.__name__}"

    def __repr__(self):
        return f"<OpOverloadPacket(op='aten.{self.__name__}')>"


def overload(name):
    """The object of an operator of the table; None for those without a name in torch."""
    if name.startswith("_") and name not in OPS:
        return None
    found = _made.get(name)
    if found is None and name in OPS and not _own(name):
        base, _, over = name.partition(".")
        found = _made[name] = OpOverload(packet(base), over or "default")
    return found


_OWN = ("_put", "_graft", "_cast", "_copy_", "_ones", "_zeros", "_drawn", "_filled", "_whole", "_rearranged")


def _own(name):
    return name.startswith(_OWN)


def packet(name):
    """The object of all overloads of a name; AttributeError where there are none."""
    publish.load_all()
    found = _packets.get(name)
    if found is None:
        if not any(n.partition(".")[0] == name for n in OPS):
            raise AttributeError(f"'_OpNamespace' 'aten' object has no attribute '{name}'")
        found = _packets[name] = OpOverloadPacket(name)
    return found


__all__ = ["OpOverload", "OpOverloadPacket", "overload", "packet"]
