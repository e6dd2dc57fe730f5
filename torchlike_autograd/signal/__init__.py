"""torch.signal (layer 8)."""

from . import windows

__all__ = ["windows"]
