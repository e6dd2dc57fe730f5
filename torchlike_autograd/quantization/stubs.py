"""torch.quantization.stubs (layer 9): the older name of torch.ao.quantization.stubs."""

from .._core import publish as _publish
from ..ao.quantization.stubs import (  # noqa: F401
    DeQuantStub,
    QuantStub,
    QuantWrapper,
)

__getattr__ = _publish.missing("torch.quantization.stubs")
