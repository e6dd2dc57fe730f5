"""torch.amp (layer 8): computing in half precision where it does no harm; the CPU's is not there yet, others are disabled as PyTorch does without a device."""

from . import autocast_mode, grad_scaler  # noqa: F401
from .autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
