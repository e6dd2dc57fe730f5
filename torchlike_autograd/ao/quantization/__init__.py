"""torch.ao.quantization (layer 9): models that can be quantized run in floats, observed and rounded; quantizing them is not here, and says so when asked."""

from ..._core import publish as _publish
from . import fake_quantize, observer
from .fake_quantize import *  # noqa: F403
from .fuse_modules import fuse_modules, fuse_modules_qat  # noqa: F401
from .observer import *  # noqa: F403
from .qconfig import QConfig, get_default_qat_qconfig, get_default_qconfig  # noqa: F401
from .quantize import convert, prepare, prepare_qat, quantize, quantize_dynamic, quantize_qat  # noqa: F401
from .stubs import DeQuantStub, QuantStub, QuantWrapper

__all__ = ["DeQuantStub", "QConfig", "QuantStub", "QuantWrapper", *fake_quantize.__all__, *observer.__all__]
__getattr__ = _publish.missing("torch.ao.quantization")
