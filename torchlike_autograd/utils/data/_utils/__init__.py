"""torch.utils.data._utils (layer 8): where programs find `collate`, `pin_memory` and `worker`."""

from . import collate, pin_memory, worker  # noqa: F401

MP_STATUS_CHECK_INTERVAL = 5.0  # seconds between looks at workers
