"""torch.quantization.observer (layer 9): the older name of torch.ao.quantization.observer."""

from .._core import publish as _publish
from ..ao.quantization.observer import *  # noqa: F403

__getattr__ = _publish.missing("torch.quantization.observer")
