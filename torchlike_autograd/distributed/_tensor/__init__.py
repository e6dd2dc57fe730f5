"""torch.distributed._tensor (layer 9): where torch.distributed.tensor was before it was public."""

from ..device_mesh import DeviceMesh, init_device_mesh  # noqa: F401
from ..tensor import (  # noqa: F401
    DTensor,
    Partial,
    Placement,
    Replicate,
    Shard,
    distribute_module,
    distribute_tensor,
    empty,
    full,
    ones,
    rand,
    randn,
    zeros,
)
