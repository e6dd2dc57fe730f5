"""torch.onnx (layer 8): nothing is exported here; `jax.export` does that.

What libraries say about their own operators at import (`register_custom_op_symbolic`, `symbolic_helper.parse_args`) is taken and kept, for an export that
raises NotImplementedError.
"""

import re as _re
from enum import IntEnum as _IntEnum

from .._core import publish as _publish
from . import errors as errors
from . import symbolic_helper as symbolic_helper
from .errors import OnnxExporterError

__all__ = ["OnnxExporterError", "OperatorExportTypes", "TrainingMode", "is_in_onnx_export", "register_custom_op_symbolic", "unregister_custom_op_symbolic"]

_SYMBOLIC = {}  # (domain::name, opset version) -> what writes it


TrainingMode = _IntEnum("TrainingMode", ["EVAL", "PRESERVE", "TRAINING"], start=0)
OperatorExportTypes = _IntEnum("OperatorExportTypes", ["ONNX", "ONNX_ATEN", "ONNX_ATEN_FALLBACK", "ONNX_FALLTHROUGH"], start=0)


def is_in_onnx_export() -> bool:
    """False."""
    return False


def export(*args, **kwargs):
    """NotImplementedError."""
    raise NotImplementedError("torch.onnx.export: nothing is exported here; use jax.export")


def _checked(name):
    if not _re.match(r"^[a-zA-Z0-9-_]+::[a-zA-Z-_]+[a-zA-Z0-9-_]*$", name):
        raise OnnxExporterError(f"Failed to register operator {name}. The symbolic name must match the format domain::name, and should start with a letter "
                                "and contain only alphanumeric characters")
    return name


def register_custom_op_symbolic(symbolic_name: str, symbolic_fn, opset_version: int):
    """Keep how an operator of a program's own would be exported; OnnxExporterError for a name that is not `domain::name`."""
    _SYMBOLIC[_checked(symbolic_name), opset_version] = symbolic_fn


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int):
    """Forget it again."""
    _SYMBOLIC.pop((_checked(symbolic_name), opset_version), None)


__getattr__ = _publish.missing("torch.onnx")
