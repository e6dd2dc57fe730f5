"""torch.quantization.stubs (layer 9): the older name of torch.ao.quantization.stubs."""

from .._core import publish as _publish
from ..ao.quantization.stubs import *  # noqa: F403

__getattr__ = _publish.missing("torch.quantization.stubs")
