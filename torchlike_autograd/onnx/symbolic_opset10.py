"""torch.onnx.symbolic_opset10 (layer 8): a name that libraries import; each function of it is missing, as the export is."""

from .._core import publish as _publish

__getattr__ = _publish.missing("torch.onnx.symbolic_opset10")
