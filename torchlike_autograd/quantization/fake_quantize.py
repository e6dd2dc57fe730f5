"""torch.quantization.fake_quantize (layer 9): the older name of torch.ao.quantization.fake_quantize."""

from .._core import publish as _publish
from ..ao.quantization.fake_quantize import *  # noqa: F403

__getattr__ = _publish.missing("torch.quantization.fake_quantize")
