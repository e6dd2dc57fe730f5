"""torch.quantization.utils (layer 9): the older name of torch.ao.quantization.utils."""

from .._core import publish as _publish
from ..ao.quantization.utils import (  # noqa: F401
    calculate_qmin_qmax,
    check_min_max_valid,
    is_per_channel,
    is_per_tensor,
)

__getattr__ = _publish.missing("torch.quantization.utils")
