"""torch.utils (layer 7)."""

from . import _pytree, checkpoint, data, hooks  # noqa: F401

__all__ = ["checkpoint", "data", "hooks"]
