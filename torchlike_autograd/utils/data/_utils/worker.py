"""torch.utils.data._utils.worker (layer 8): what a worker of a DataLoader can ask, and the numbers that its generators begin with."""

from __future__ import annotations

import numpy as np


def _generate_state(base_seed, worker_id):
    """Four 32-bit numbers for NumPy's generator of one worker."""
    return np.random.SeedSequence([worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]).generate_state(4).tolist()


def __getattr__(name):
    if name in ("WorkerInfo", "get_worker_info"):  # they are beside the loader, which imports this folder
        from .. import dataloader

        return getattr(dataloader, name)
    raise AttributeError(f"module 'torch.utils.data._utils.worker' has no attribute '{name}'")
