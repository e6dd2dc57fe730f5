"""torch.ao.quantization (layer 9): models that can be quantized run in floats, observed and rounded; quantizing them is not here, and says so when asked."""

from ..._core import publish as _publish
from . import fake_quantize, observer
from .fake_quantize import *  # noqa: F403
from .observer import *  # noqa: F403
from .qconfig import QConfig
from .stubs import DeQuantStub, QuantStub, QuantWrapper

__all__ = ["DeQuantStub", "QConfig", "QuantStub", "QuantWrapper", *fake_quantize.__all__, *observer.__all__]


def _refused(name):
    def refuse(*args, **kwargs):
        raise NotImplementedError(f"torch.ao.quantization.{name}: there are no quantized tensors here")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "NotImplementedError: there are no quantized tensors here."
    return refuse


convert = _refused("convert")
fuse_modules = _refused("fuse_modules")
fuse_modules_qat = _refused("fuse_modules_qat")
get_default_qat_qconfig = _refused("get_default_qat_qconfig")
get_default_qconfig = _refused("get_default_qconfig")
prepare = _refused("prepare")
prepare_qat = _refused("prepare_qat")
quantize = _refused("quantize")
quantize_dynamic = _refused("quantize_dynamic")
quantize_qat = _refused("quantize_qat")
__getattr__ = _publish.missing("torch.ao.quantization")
