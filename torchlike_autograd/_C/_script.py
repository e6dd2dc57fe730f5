"""Types of TorchScript and of the dispatcher (layer 7): neither is here, so that nothing is ever of one; programs import them for annotations and `isinstance`.

Those that PyTorch does not let Python make either say so in its words; those that it does raise NotImplementedError.
"""

from __future__ import annotations

_TYPES = ("AnyType", "BoolType", "ComplexType", "DeviceObjType", "FloatType", "IntType", "NoneType", "NumberType", "PyObjectType", "StreamObjType",
          "StringType", "SymBoolType", "SymIntType", "TensorType")
_OTHERS = ("Block", "Code", "ExecutionPlan", "Gradient", "GraphExecutorState", "Node", "ScriptClass", "ScriptClassFunction", "ScriptMethod", "ScriptObject",
           "ScriptObjectProperty", "TracingState", "Type", "Use", "Value")
_MADE_BY_PYTHON = ("Graph",)
NAMES = sorted((*_TYPES, *_OTHERS, *_MADE_BY_PYTHON))


def _refuse(self, *args, **kwargs):
    raise TypeError(f"torch._C.{type(self).__name__}: No constructor defined!")


def _absent(self, *args, **kwargs):
    raise NotImplementedError(f"torchlike_autograd: torch._C.{type(self).__name__}: there is no TorchScript")


def _made(name, base=object, init=_refuse):
    return type(name, (base,), {"__init__": init, "__module__": "torch", "__slots__": ()})


globals().update({name: _made(name) for name in _OTHERS})
globals().update({name: _made(name, init=_absent) for name in _MADE_BY_PYTHON})
globals().update({name: _made(name, Type) for name in _TYPES})  # noqa: F821

__all__ = ["NAMES", *NAMES]
