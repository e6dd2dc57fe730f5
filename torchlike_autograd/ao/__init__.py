"""torch.ao (layer 9): the part of its quantization that floats pass through."""

from .._core import publish as _publish
from . import quantization

__all__ = ["quantization"]
__getattr__ = _publish.missing("torch.ao")
