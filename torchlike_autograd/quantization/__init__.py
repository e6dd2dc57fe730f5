"""torch.quantization (layer 9): the older name of torch.ao.quantization."""

from .._core import publish as _publish
from ..ao.quantization import *  # noqa: F403
from ..ao.quantization import (  # noqa: F401
    convert,
    fuse_modules,
    get_default_qat_qconfig,
    get_default_qconfig,
    prepare,
    prepare_qat,
    quantize,
    quantize_dynamic,
    quantize_qat,
)

__getattr__ = _publish.missing("torch.quantization")
