"""torch.cuda.amp.grad_scaler (layer 8): the older name."""

from __future__ import annotations

from ... import amp as _amp
from ..._core.saying import warn as _warn

__all__ = ["GradScaler"]


class GradScaler(_amp.GradScaler):
    """torch.amp.GradScaler("cuda")."""

    def __init__(self, init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        _warn("`torch.cuda.amp.GradScaler(args...)` is deprecated. Please use `torch.amp.GradScaler('cuda', args...)` instead.", FutureWarning)
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
