"""torch.quantization.fuse_modules (layer 9): the older name of torch.ao.quantization.fuse_modules."""

from .._core import publish as _publish
from ..ao.quantization.fuse_modules import (  # noqa: F401
    fuse_modules,
)

__getattr__ = _publish.missing("torch.quantization.fuse_modules")
