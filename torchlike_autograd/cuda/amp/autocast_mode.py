"""torch.cuda.amp.autocast_mode (layer 8): the older names."""

from __future__ import annotations

from ... import amp as _amp
from ..._core.saying import warn as _warn

__all__ = ["autocast", "custom_bwd", "custom_fwd"]


class autocast(_amp.autocast):
    """torch.amp.autocast("cuda")."""

    def __init__(self, enabled=True, dtype=None, cache_enabled=True):
        _warn("`torch.cuda.amp.autocast(args...)` is deprecated. Please use `torch.amp.autocast('cuda', args...)` instead.", FutureWarning)
        super().__init__("cuda", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


def custom_fwd(fwd=None, *, cast_inputs=None):
    """torch.amp.custom_fwd for "cuda"."""
    _warn("`torch.cuda.amp.custom_fwd(args...)` is deprecated. Please use `torch.amp.custom_fwd(args..., device_type='cuda')` instead.", FutureWarning)
    return _amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd):
    """torch.amp.custom_bwd for "cuda"."""
    _warn("`torch.cuda.amp.custom_bwd(args...)` is deprecated. Please use `torch.amp.custom_bwd(args..., device_type='cuda')` instead.", FutureWarning)
    return _amp.custom_bwd(bwd, device_type="cuda")
