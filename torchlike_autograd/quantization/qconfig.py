"""torch.quantization.qconfig (layer 9): the older name of torch.ao.quantization.qconfig."""

from .._core import publish as _publish
from ..ao.quantization.qconfig import *  # noqa: F403

__getattr__ = _publish.missing("torch.quantization.qconfig")
