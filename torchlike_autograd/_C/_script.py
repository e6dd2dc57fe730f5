"""Types of TorchScript and of the dispatcher (layer 7): neither is here, so that nothing is ever of one; programs import them for annotations and `isinstance`.

Those that PyTorch does not let Python make either say so in its words.
"""

from __future__ import annotations

_TYPES = ("AnyType", "BoolType", "ComplexType", "DeviceObjType", "FloatType", "IntType", "NoneType", "NumberType", "PyObjectType", "StreamObjType",
          "StringType", "SymBoolType", "SymIntType", "TensorType")
_OTHERS = ("Block", "Code", "ExecutionPlan", "Gradient", "GraphExecutorState", "Node", "ScriptClass", "ScriptClassFunction", "ScriptMethod", "ScriptObject",
           "ScriptObjectProperty", "TracingState", "Type", "Use", "Value")
NAMES = sorted((*_TYPES, *_OTHERS))


def _refuse(self, *args, **kwargs):
    raise TypeError(f"torch._C.{type(self).__name__}: No constructor defined!")


def _made(name, base=object):
    return type(name, (base,), {"__init__": _refuse, "__module__": "torch", "__slots__": ()})


globals().update({name: _made(name) for name in _OTHERS})
globals().update({name: _made(name, Type) for name in _TYPES})  # noqa: F821

__all__ = ["NAMES", *NAMES]
