"""torch.testing._internal.common_quantization (layer 8): there are no quantized tensors; names that files import."""

from __future__ import annotations

import unittest

from ..._core import publish as _publish

skipIfNoFBGEMM = unittest.skip("Quantized operations require FBGEMM. FBGEMM is only optimized for CPUs with instruction set support AVX2 or newer.")
skipIfNoQNNPACK = unittest.skip("Quantized operations require QNNPACK.")
skipIfNoONEDNN = unittest.skip("Quantized operations require ONEDNN.")
skipIfNoDynamoSupport = unittest.skip("dynamo doesn't support.")
skipIfNoInductorSupport = unittest.skip("inductor doesn't support.")

_HERE = "torch.testing._internal.common_quantization"
globals().update(_publish.refused(_HERE, "_dynamically_quantize_per_channel", "_group_quantize_tensor", "_group_quantize_tensor_symmetric",
                                  why="there are no quantized tensors here"))
__getattr__ = _publish.missing(_HERE)
