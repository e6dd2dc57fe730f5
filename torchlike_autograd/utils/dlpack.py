"""torch.utils.dlpack (layer 7)."""

from .._core import publish as _publish
from .._functions.dlpack import DLDeviceType, from_dlpack, to_dlpack

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]
__getattr__ = _publish.missing("torch.utils.dlpack")
