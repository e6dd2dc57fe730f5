"""torch.quantization (layer 9): the older name of torch.ao.quantization."""

from .._core import publish as _publish
from .fake_quantize import *  # noqa: F403
from .fuse_modules import *  # noqa: F403
from .observer import *  # noqa: F403
from .qconfig import *  # noqa: F403
from .quantize import *  # noqa: F403
from .stubs import *  # noqa: F403

__getattr__ = _publish.missing("torch.quantization")
