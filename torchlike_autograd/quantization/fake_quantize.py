"""torch.quantization.fake_quantize (layer 9): the older name of torch.ao.quantization.fake_quantize."""

from .._core import publish as _publish
from ..ao.quantization.fake_quantize import (  # noqa: F401
    FakeQuantize,
    FakeQuantizeBase,
    default_fake_quant,
    default_per_channel_weight_fake_quant,
    default_weight_fake_quant,
    disable_fake_quant,
    disable_observer,
    enable_fake_quant,
    enable_observer,
)

__getattr__ = _publish.missing("torch.quantization.fake_quantize")
