"""torch.utils (layer 7)."""

from . import checkpoint

__all__ = ["checkpoint"]
