"""torch.random (layer 7): the default generator."""

from ._core import publish as _publish
from ._functions.random import default_generator

__all__ = ["default_generator", *_publish.install(globals(), "torch.random")]
__getattr__ = _publish.missing("torch.random")
