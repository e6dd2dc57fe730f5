"""torch.ops (layer 8): operators by their ATen names, ``torch.ops.aten.add.Tensor(x, y)``, made from the op table and the functions built on it."""

from __future__ import annotations

import sys
import types

from ._core import publish
from ._core.overloads import OpOverload, OpOverloadPacket, packet  # noqa: F401


def _own(namespace, name):
    """An operator of the program's own (torch.library)."""
    from ._library import operators

    if not operators.FORGET:
        operators.FORGET.append(_changed)
    return operators.find(namespace, name)


def _changed(namespace, name):
    """Operators of a name came or went: it is looked for again."""
    known = vars(sys.modules[__name__]).get(namespace)
    if known is not None:
        vars(known).pop(name.partition(".")[0], None)


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


def _profiler_op(name):
    """torch.ops.profiler: ranges that are begun and ended by calls."""
    from .autograd.profiler import record_function

    def begin(name, args=None):
        """Begin a range; its handle."""
        return record_function(name, args).__enter__()

    def end(handle):
        """End it."""
        handle.__exit__(None, None, None)

    return {"_record_function_enter": begin, "_record_function_enter_new": begin, "_record_function_exit": end}.get(name)


publish.load_all()
profiler = OpNamespace("profiler", _profiler_op)
aten = OpNamespace("aten", packet)
sys.modules[__name__].__class__ = _Ops
