"""torch.ops (layer 8): operators by their ATen names, ``torch.ops.aten.add.Tensor(x, y)``, made from the op table and the functions built on it."""

from __future__ import annotations

import sys
import types

from ._core import bind, publish
from ._ops.registry import BY_NAME
from ._tensor import Tensor


class OpOverload:
    """One overload of an operator, callable."""

    def __init__(self, packet, overload, call):
        self._packet, self._overload, self._call = packet, overload, call
        self.__name__ = f"{packet.__name__}.{overload}"

    def __call__(self, *args, **kwargs):
        return self._call(*args, **kwargs)

    @property
    def overloadpacket(self):
        """The operator of which it is an overload."""
        return self._packet

    @property
    def namespace(self):
        """"aten"."""
        return self._packet._namespace

    def name(self):
        """Its name in schemas."""
        dotted = "" if self._overload == "default" else f".{self._overload}"
        return f"{self.namespace}::{self._packet.__name__}{dotted}"

    def __str__(self):
        return f"{self.namespace}.{self.__name__}"

    def __repr__(self):
        return f"<OpOverload(op='{self.namespace}.{self._packet.__name__}', overload='{self._overload}')>"


class OpOverloadPacket:
    """An operator with its overloads as attributes; calling it picks one."""

    def __init__(self, namespace, name, call, made):
        self._namespace, self.__name__, self._call, self._made = namespace, name, call, made

    def __call__(self, *args, **kwargs):
        return self._call(*args, **kwargs)

    def overloads(self):
        """The names of the overloads that are known here."""
        return list(self._made)

    def __getattr__(self, overload):
        if overload.startswith("__") or overload not in self._made:
            raise AttributeError(f"The underlying op of '{self._namespace}.{self.__name__}' has no overload name '{overload}'")
        out = OpOverload(self, overload, self._made[overload])
        setattr(self, overload, out)
        return out

    def __str__(self):
        return f"{self._namespace}.{self.__name__}"

    def __repr__(self):
        return f"<OpOverloadPacket(op='{self._namespace}.{self.__name__}')>"


def _slice(self, dim=0, start=None, end=None, step=1):
    """A view of every `step`-th element along a dim."""
    return self[(slice(None),) * (dim % self.ndim) + (slice(start, end, step),)]


def _index(self, indices):
    """What index tensors take, None standing for whole dims."""
    return self[tuple(slice(None) if i is None else i for i in indices)]


def _absent(name):
    def call(*args, **kwargs):
        raise NotImplementedError(f"torch.ops.aten.{name}: not here")

    return call


_MADE = {"slice": {"Tensor": _slice}, "index": {"Tensor": _index}, **{n: {"default": _absent(n)} for n in ("_sparse_addmm", "_sparse_mm_reduce_impl")}}


def _packet(name):
    """The operator of a name: from the table, or from a function or method built on it (then with a default overload alone)."""
    if name in _MADE:
        return OpOverloadPacket("aten", name, next(iter(_MADE[name].values())), _MADE[name])
    if name.endswith("_"):
        plain = _packet(name[:-1])
        method = publish.load_all().get(f"Tensor.{name}")
        return method and OpOverloadPacket("aten", name, method, dict.fromkeys(plain.overloads() if plain is not None else ["default"], method))
    ops = BY_NAME.get(name)
    table = publish.load_all()
    call = table.get(f"torch.{name}") or table.get(f"Tensor.{name}") or getattr(Tensor, name, None)
    if call is None and ops is None:
        return None
    made = {op.schema.overload or "default": bind.make_function(name, [op]) for op in ops or ()}
    return OpOverloadPacket("aten", name, call or bind.make_function(name, ops), made or {"default": call})


def _own(namespace, name):
    """An operator of the program's own (torch.library.custom_op)."""
    from .library import OPERATORS

    op = OPERATORS.get(f"{namespace}::{name}")
    return op and OpOverloadPacket(namespace, name, op, {"default": op})


class OpNamespace(types.ModuleType):
    """Operators of one library."""

    def __init__(self, name, find):
        super().__init__(f"torch.ops.{name}")
        self.__dict__.update(_name=name, _find=find, __file__="torch.ops")

    def __getattr__(self, name):
        out = None if name.startswith("__") else self._find(name)
        if out is None:
            raise AttributeError(f"'_OpNamespace' '{self._name}' object has no attribute '{name}'")
        setattr(self, name, out)
        return out


class _Ops(types.ModuleType):
    """The module itself: a library's operators as attributes; those of other libraries than aten are not there."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(f"module 'torch.ops' has no attribute '{name}'")
        out = OpNamespace(name, lambda op: _own(name, op))
        setattr(self, name, out)
        return out

    def load_library(self, path):
        """OSError: libraries of PyTorch operators cannot be loaded."""
        raise OSError(f"torch.ops.load_library: {path} holds operators for PyTorch's own runtime")


publish.load_all()
aten = OpNamespace("aten", _packet)
sys.modules[__name__].__class__ = _Ops
