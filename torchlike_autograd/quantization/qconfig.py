"""torch.quantization.qconfig (layer 9): the older name of torch.ao.quantization.qconfig."""

from .._core import publish as _publish
from ..ao.quantization.qconfig import (  # noqa: F401
    QConfig,
    get_default_qat_qconfig,
    get_default_qconfig,
)

__getattr__ = _publish.missing("torch.quantization.qconfig")
