"""torch.testing._internal.common_quantization (layer 8): there are no quantized tensors; names that files import."""

from __future__ import annotations

from ..._core import publish as _publish

_HERE = "torch.testing._internal.common_quantization"
globals().update(_publish.refused(_HERE, "_dynamically_quantize_per_channel", "_group_quantize_tensor", "_group_quantize_tensor_symmetric",
                                  why="there are no quantized tensors here"))
__getattr__ = _publish.missing(_HERE)
