"""torch.quantization.quantize (layer 9): the older name of torch.ao.quantization.quantize."""

from .._core import publish as _publish
from ..ao.quantization.quantize import (  # noqa: F401
    convert,
    prepare,
    prepare_qat,
    quantize,
    quantize_dynamic,
    quantize_qat,
)

__getattr__ = _publish.missing("torch.quantization.quantize")
