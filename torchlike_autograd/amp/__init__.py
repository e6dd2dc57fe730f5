"""torch.amp (layer 8): computing in half precision where it does no harm."""

from . import autocast_mode, grad_scaler  # noqa: F401
from .autocast_mode import _enter_autocast, _exit_autocast, autocast, custom_bwd, custom_fwd, is_autocast_available  # noqa: F401
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
