"""torch.ao.quantization.fuse_modules (layer 9): modules joined before they are quantized, which says so when it is called."""

from ..._core import publish as _publish

__all__ = ["fuse_modules", "fuse_modules_qat"]

_refused = _publish.refused("torch.ao.quantization", *__all__, why="there are no quantized tensors here")
fuse_modules = _refused["fuse_modules"]
fuse_modules_qat = _refused["fuse_modules_qat"]
__getattr__ = _publish.missing("torch.ao.quantization.fuse_modules")
