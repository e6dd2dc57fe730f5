"""torch.testing._internal.common_xpu (layer 8): there is no XPU."""

from ..._core import publish as _publish

XPU_ALREADY_INITIALIZED_ON_IMPORT = PLATFORM_SUPPORTS_FLASH_ATTENTION_XPU = False

__getattr__ = _publish.missing("torch.testing._internal.common_xpu")
