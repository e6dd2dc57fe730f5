"""torch.nn.parallel.distributed (layer 8)."""

from __future__ import annotations

from ..modules.module import Module

__all__ = ["DistributedDataParallel"]


class DistributedDataParallel(Module):
    """Needs a process group: torch's error without one (there are none here)."""

    def __init__(self, module, device_ids=None, output_device=None, dim=0, broadcast_buffers=None, init_sync=True, process_group=None,
                 bucket_cap_mb=None, find_unused_parameters=False, check_reduction=False, gradient_as_bucket_view=False, static_graph=False, **more):
        super().__init__()
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
