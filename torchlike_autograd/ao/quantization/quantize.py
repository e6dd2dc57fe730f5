"""torch.ao.quantization.quantize (layer 9): models made ready for quantization and quantized, which says so when it is called."""

from ..._core import publish as _publish

__all__ = ["convert", "prepare", "prepare_qat", "quantize", "quantize_dynamic", "quantize_qat"]

_refused = _publish.refused("torch.ao.quantization", *__all__, why="there are no quantized tensors here")
convert = _refused["convert"]
prepare = _refused["prepare"]
prepare_qat = _refused["prepare_qat"]
quantize = _refused["quantize"]
quantize_dynamic = _refused["quantize_dynamic"]
quantize_qat = _refused["quantize_qat"]
__getattr__ = _publish.missing("torch.ao.quantization.quantize")
