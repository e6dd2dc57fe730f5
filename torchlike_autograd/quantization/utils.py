"""torch.quantization.utils (layer 9): the older name of torch.ao.quantization.utils."""

from .._core import publish as _publish
from ..ao.quantization.utils import *  # noqa: F403

__getattr__ = _publish.missing("torch.quantization.utils")
