"""torch.onnx.errors (layer 8)."""

from .._core import publish as _publish

__all__ = ["OnnxExporterError"]


class OnnxExporterError(RuntimeError):
    """What goes wrong about an export."""


OnnxExporterError.__module__ = "torch.onnx"
__getattr__ = _publish.missing("torch.onnx.errors")
