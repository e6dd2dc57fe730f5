"""torch.utils (layer 7)."""

from . import checkpoint, hooks

__all__ = ["checkpoint", "hooks"]
