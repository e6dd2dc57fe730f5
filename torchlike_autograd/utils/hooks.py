"""torch.utils.hooks (layer 7)."""

from __future__ import annotations

from .._core.nodes import RemovableHandle

__all__ = ["RemovableHandle", "unserializable_hook"]


def unserializable_hook(f):
    """Mark a hook as one that is not meant to be stored."""
    f.__torch_unserializable__ = True
    return f
