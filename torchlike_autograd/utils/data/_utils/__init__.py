"""torch.utils.data._utils (layer 8): where programs find `collate` and `pin_memory`."""

from . import collate, pin_memory  # noqa: F401

MP_STATUS_CHECK_INTERVAL = 5.0  # seconds between looks at workers
